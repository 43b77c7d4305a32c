"""Drawings of results, as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def pyplot() -> Any:  # its stubs know less than it can
    """matplotlib's, which only those need who draw."""
    import matplotlib as mpl

    mpl.use("svg")
    # one file for one result: no random ids
    mpl.rcParams["svg.hashsalt"] = "bifocal"
    from matplotlib import pyplot as plt

    return plt


def save(figure: Any, path: Path) -> None:
    """Write a drawing, without a date, and let it go."""
    figure.savefig(path, metadata={"Date": None})
    pyplot().close(figure)
