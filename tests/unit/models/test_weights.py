"""The weights that ship are those that were measured."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

WEIGHTS = Path(__file__).resolve().parents[3] / "models" / "weights"


def test_every_file_of_weights_has_its_digest():
    """After a training: sha256sum *.npz > SHA256SUMS."""
    sums = dict(
        reversed(line.split())
        for line in (WEIGHTS / "SHA256SUMS").read_text().splitlines()
    )
    found = {
        path.name: sha256(path.read_bytes()).hexdigest()
        for path in WEIGHTS.glob("*.npz")
    }
    assert sums == found
