"""docs/notebook.ipynb runs, and shows what it shows."""

from __future__ import annotations

import json
import os
import re

import pytest

from tests.commands import ROOT
from tests.notebooks import code_cells, run_notebook

pytestmark = pytest.mark.slow

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def outputs(notebook: dict) -> list[str]:
    """Without figures, which change with every model, and without white space."""
    texts = (json.dumps(cell["outputs"]) for cell in code_cells(notebook))
    return [re.sub(r"\\n|[\s\d.─]+", " ", text) for text in texts]


def test_every_cell_gives_what_is_shown(tmp_path, monkeypatch):
    """Written anew with BIFOCAL_NOTEBOOK=1."""
    for name in ("worlds", "seeds"):  # of the checkout, where a reader is
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    made = run_notebook(NOTEBOOK)
    if os.environ.get("BIFOCAL_NOTEBOOK"):
        text = json.dumps(made, indent=1, ensure_ascii=False)
        NOTEBOOK.write_text(f"{text}\n", "utf-8")
    shown = json.loads(NOTEBOOK.read_text("utf-8"))
    assert outputs(made) == outputs(shown)
    assert "186 pages, 37 pairs" in json.dumps(shown)
    assert not re.search(r"/(home|tmp|root)/", NOTEBOOK.read_text("utf-8"))
