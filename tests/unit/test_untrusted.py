"""Nothing that is read may become code: no module of ours has the means."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for room in ("crawler", "models", "training", "settings", "benchmarks")
    for path in (ROOT / room).rglob("*.py")
)
# They run what they read, or can be made to.
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
CALLS = {"eval", "exec", "compile", "__import__"}
# Calls that are safe with this argument only.
ARGUMENTS = {"np.load": ("allow_pickle", False), "torch.load": ("weights_only", True)}


def name_of(node: ast.expr) -> str:
    """`torch.load` of a call of torch.load."""
    return ast.unparse(node)


def findings(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names.append(node.module or "")
            found += [f"imports {n}" for n in names if n.split(".")[0] in MODULES]
        elif isinstance(node, ast.Call):
            name = name_of(node.func)
            values = {
                k.arg: k.value.value
                for k in node.keywords
                if isinstance(k.value, ast.Constant)
            }
            safe = ARGUMENTS.get(name.replace("numpy", "np"))
            if name in CALLS or (safe and values.get(safe[0]) != safe[1]):
                found.append(f"calls {name}")
            if values.get("shell") is True or name in ("os.system", "os.popen"):
                found.append(f"gives text to a shell: {name}")
            if name.endswith("yaml.load"):
                found.append("yaml.load builds any object")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_can_run_what_it_reads(path):
    assert findings(path.read_text("utf-8")) == []


def test_no_statement_of_sql_is_put_together_from_values():
    """Where a statement is an f-string, only names of ours stand in it."""
    formatted = [
        f"{path.name}: {ast.unparse(node.args[0])}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and name_of(node.func).endswith((".execute", ".executemany"))
        and node.args
        and isinstance(node.args[0], ast.JoinedStr | ast.BinOp)
    ]
    assert [line for line in formatted if "pragma" not in line.lower()] == []


@pytest.mark.parametrize(
    "bad",
    [
        "import pickle",
        "from joblib import load",
        "eval('1')",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
        "subprocess.run(text, shell=True)",
        "os.system(text)",
    ],
)
def test_what_is_forbidden_is_found(bad):
    assert findings(bad)
