"""No private name of another library, which may change with its next version."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("crawler", "models", "training", "settings", "tests", "benchmarks", "worlds")
# Documented, in spite of the underscore.
DOCUMENTED = ("os._exit", "_asdict", "_replace", "_fields", "etree._Element")
FILES = [
    file
    for folder in ("crawler", "models", "training", "settings")
    for file in sorted((ROOT / folder).rglob("*.py"))
]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_foreign(module: str) -> bool:
    return module.partition(".")[0] not in OURS


def imported(tree: ast.AST) -> dict[str, str]:
    """Local name → the module that it, or what it names, comes from."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                local = name.asname or name.name.partition(".")[0]
                found[local] = name.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                found[name.asname or name.name] = node.module
    return found


def private_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and is_foreign(node.module or ""):
            path = [*(node.module or "").split("."), *(n.name for n in node.names)]
            yield from (f"{node.module}: {part}" for part in path if is_private(part))
        elif isinstance(node, ast.Import):
            for name in node.names:
                if is_foreign(name.name) and any(map(is_private, name.name.split("."))):
                    yield name.name
    names = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            root: ast.expr = node.value
            while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
                root = root.func if isinstance(root, ast.Call) else root.value
            if isinstance(root, ast.Name) and is_foreign(names.get(root.id, "crawler")):
                yield f"{ast.unparse(node)}"
    for node in ast.walk(tree):  # `getattr(engine, "_slot")`
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "setattr", "hasattr")
            and len(node.args) > 1
            and isinstance(node.args[1], ast.Constant)
            and is_private(str(node.args[1].value))
        ):
            yield ast.unparse(node)


def inherited(tree: ast.Module) -> Iterator[str]:
    """Private names of `self` that a class of another library's kind does not set."""
    names = imported(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        bases = [b.id for b in node.bases if isinstance(b, ast.Name)]
        if not any(is_foreign(names.get(base, "crawler")) for base in bases):
            continue
        own = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        own |= {n.name for n in node.body if isinstance(n, ast.AsyncFunctionDef)}
        init = [n for n in ast.walk(node) if isinstance(n, ast.Attribute)]
        own |= {n.attr for n in init if isinstance(n.ctx, ast.Store)}
        own |= {
            target.id
            for n in node.body
            if isinstance(n, ast.Assign | ast.AnnAssign)
            for target in (n.targets if isinstance(n, ast.Assign) else [n.target])
            if isinstance(target, ast.Name)
        }
        for attribute in init:
            if (
                isinstance(attribute.value, ast.Name)
                and attribute.value.id == "self"
                and is_private(attribute.attr)
                and attribute.attr not in own
            ):
                yield f"{node.name}: self.{attribute.attr}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_private_name_of_another_library(file):
    tree = ast.parse(file.read_text("utf-8"))
    found = [*private_names(tree), *inherited(tree)]
    assert not [name for name in found if not name.endswith(DOCUMENTED)]


def test_the_test_sees_private_names():
    tree = ast.parse(
        "from scrapy.utils import _x\nimport os\nos._exit(1)\n"
        "from scrapy import Spider\n"
        "class A(Spider):\n    def b(self): return self._slot\n"
        "getattr(a, '_slot')\n"
    )
    assert len([*private_names(tree), *inherited(tree)]) == 4
