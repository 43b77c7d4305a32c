"""A constructor keeps what it is given, and makes empty containers or plain objects.

What takes time, or can fail for other reasons than a wrong argument, has a name of its
own: `open` for files, `of`, `read` or `parse` for values, `load` for models; or it is
done when it is first asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    file
    for folder in ("bifocal", "crawler", "models", "training")
    for file in sorted((ROOT / folder).rglob("*.py"))
]

# Functions that make a plain object, or look at an argument. Of others a call is work,
# but of a class: whether it works, its own constructor says.
PLAIN = {
    *("bool", "bytearray", "deque", "defaultdict", "dict", "float", "frozenset", "int"),
    *("isinstance", "iter", "len", "list", "max", "min", "range", "set", "str"),
    *("super", "tuple", "values", "zip", "count", "lru_cache", "partial", "field"),
    # empty, or all alike: state that grows
    *("np.arange", "np.array", "np.empty", "np.full", "np.zeros"),
    *("time.monotonic", "zlib.decompressobj", "create_looping_call"),
    "super().__init__",
}
# Classes that open something; a constructor does not make one either.
OPENING = {"GzipFile", "InferenceSession", "Popen", "TemporaryDirectory"}
OPENING |= {"NamedTemporaryFile", "TemporaryFile", "SummaryWriter"}
WORK = (
    *(ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await, ast.Yield),
)

# Bases whose subclasses are built by torch's rules, or by Scrapy, which gives them a
# crawler, whose settings they read.
FRAMEWORK_BASES = {"Module", "BaseDownloadHandler", "Downloader", "Spider"}
# The models that settings name (URL_LANGUAGE_MODEL, URL_PAIR_MODEL): whoever calls the
# class, as docs/api.md does, has a model that works, and an error before the crawl.
MODELS = {
    "HashedUrlLanguageModel",
    "HashedUrlPairModel",
    "OnnxUrlLanguageModel",
    "OnnxUrlPairModel",
    "XlmrUrlLanguageModel",
    "XlmrUrlPairModel",
}
EXEMPT = {
    *MODELS,
    "_Encoder",  # base of the Xlmr models
    "_OnnxEncoder",  # base of the Onnx models
    "Browser",  # reads the settings of Scrapy, as the handlers that make it
}


def name_of(node: ast.expr) -> str:
    """The dotted name of what is called, without type arguments."""
    if isinstance(node, ast.Subscript):
        node = node.value
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "lru_cache":
        node = node.func
    return ast.unparse(node)


def is_class(name: str) -> bool:
    last = name.rpartition(".")[2].lstrip("_")
    return last[:1].isupper() and last not in OPENING | MODELS


def work_in(function: ast.FunctionDef) -> Iterator[str]:
    """What a constructor does beside keeping things."""
    for node in ast.walk(function):
        if isinstance(node, WORK):
            yield type(node).__name__
        elif isinstance(node, ast.Call):
            name = name_of(node.func)
            if not (is_class(name) or PLAIN & {name, name.rpartition(".")[2]}):
                yield f"{name}()"


def constructors(tree: ast.AST) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or node.name in EXEMPT:
            continue
        bases = {name_of(base).rpartition(".")[2] for base in node.bases}
        if not bases & FRAMEWORK_BASES:
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    yield node.name, part


def found_in(tree: ast.AST) -> list[str]:
    return [
        f"{name}: {work}"
        for name, constructor in constructors(tree)
        for work in work_in(constructor)
    ]


def test_a_constructor_only_keeps_what_it_is_given():
    found = {
        str(file.relative_to(ROOT)): work
        for file in FILES
        if (work := found_in(ast.parse(file.read_text("utf-8"))))
    }
    assert not found


def test_no_exemption_is_left_over():
    known = {
        node.name
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    assert known >= EXEMPT


@pytest.mark.parametrize(
    "line",
    [
        "self.rows = [int(row) for row in rows]",
        "self.file = path.open()",
        "self.db = sqlite3.connect(path)",
        "atexit.register(self.close)",
        "self.text = Path(rows).read_text()",
        "self.parts = Parts.of(rows)",
        "self.model = HashedUrlPairModel()",
        "for row in rows: self.add(row)",
    ],
)
def test_work_is_seen(line):
    code = f"class A:\n    def __init__(self, rows, path):\n        {line}\n"
    assert found_in(ast.parse(code))


def test_keeping_is_no_work():
    code = """
class A(B):
    def __init__(self, rows, limit=None):
        super().__init__(rows)
        if limit is not None and limit < 0:
            raise UsageError(f"{limit}: not a valid limit")
        self.rows = list(rows)
        self.known: dict[str, int] = {}
        self.groups = UnionFind[str]()
        self.counts = np.zeros(len(rows), np.int32)
"""
    assert not found_in(ast.parse(code))
