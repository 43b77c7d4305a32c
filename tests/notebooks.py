"""Notebooks without Jupyter: their code cells, in order, in one namespace."""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any


def run_notebook(path: Path) -> dict[str, Any]:
    """The notebook with the outputs that its cells have now."""
    notebook = json.loads(path.read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), 1):
        printed, result = _run("".join(cell["source"]), names)
        cell["execution_count"] = number
        cell["outputs"] = []
        if printed:
            said = printed.splitlines(keepends=True)
            cell["outputs"].append(
                {"output_type": "stream", "name": "stdout", "text": said}
            )
        if result is not None:
            shown = repr(result).splitlines(keepends=True)
            cell["outputs"].append(
                {
                    "output_type": "execute_result",
                    "execution_count": number,
                    "data": {"text/plain": shown},
                    "metadata": {},
                }
            )
    return notebook


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _run(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """Run a cell: what it prints, and the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    result = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            result = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), result
