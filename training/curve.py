"""Figures of a training as it goes: TSV files, and TensorBoard if it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self


class Curve:
    """Figures of a run as TSV files, and for TensorBoard where that is installed."""

    def __init__(self, out: Path, metric: str, board: Any, *, write: bool) -> None:
        self._write, self._metric, self._out = write, metric, out
        self._board = board

    @classmethod
    def open(cls, out: Path, metric: str, step: int, *, write: bool) -> Self:
        """`step`: what an earlier start logged after this step is done again."""
        if not write:
            return cls(out, metric, None, write=False)
        for name, column in (("steps.tsv", 0), ("curve.tsv", 1)):
            _cut(out / name, column, step)
        board: Any = None  # without stubs
        if importlib.util.find_spec("tensorboard"):
            from torch.utils.tensorboard import SummaryWriter

            writer: Any = SummaryWriter
            board = writer(str(out / "tensorboard"), purge_step=step)
        return cls(out, metric, board, write=True)

    def step(self, step: int, *, epoch: int, loss: float, learning_rate: float) -> None:
        """Log the mean loss of the steps since the last call."""
        if self._write:
            row = {"step": step, "epoch": epoch, "loss": f"{loss:.6g}"}
            row["learning_rate"] = f"{learning_rate:.6g}"
            _append(self._out / "steps.tsv", row)
        if self._board:
            self._board.add_scalar("loss", loss, step)
            self._board.add_scalar("learning rate", learning_rate, step)

    def epoch(
        self,
        number: int,
        *,
        step: int,
        rows: int,
        loss: float,
        learning_rate: float,
        score: float,
        seconds: float,
    ) -> None:
        """Log an epoch."""
        if self._write:
            row = {"epoch": number, "step": step, "rows": rows, "loss": f"{loss:.6g}"}
            row["learning_rate"] = f"{learning_rate:.6g}"
            row[f"dev {self._metric}"] = f"{score:.6g}"
            row["seconds"] = f"{seconds:.1f}"
            _append(self._out / "curve.tsv", row)
        if self._board:
            self._board.add_scalar(f"dev {self._metric}", score, step)

    def close(self) -> None:
        """Write out what TensorBoard has not yet."""
        if self._board:
            self._board.close()


def _append(path: Path, row: Mapping[str, object]) -> None:
    new = not path.exists()
    with path.open("a", encoding="utf-8") as out:
        if new:
            out.write("\t".join(row) + "\n")
        out.write("\t".join(map(str, row.values())) + "\n")


def _cut(path: Path, column: int, step: int) -> None:
    """Drop the rows of steps that will be done again."""
    if path.exists():
        head, *rows = path.read_text("utf-8").splitlines(keepends=True)
        kept = [row for row in rows if int(row.split("\t")[column]) <= step]
        path.write_text("".join([head, *kept]), "utf-8")
