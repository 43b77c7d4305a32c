"""A constructor keeps what it is given, and makes empty containers or plain objects.

What takes time, or can fail for other reasons than a wrong argument, has a name of its
own: `open` for files, `of`, `read` or `parse` for values, `load` for models; or it is
done when it is first asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("bifocal", "crawler", "models", "training")

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
FRAMEWORK_BASES |= {"DownloadHandler"}  # the crawler's own BaseDownloadHandler
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


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """Those of each file that has a constructor."""
    return {
        str(file.relative_to(ROOT)): classes_in(ast.parse(text))
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*.py"))
        if "_init__(" in (text := file.read_text("utf-8"))
    }


def classes_in(tree: ast.AST) -> list[ast.ClassDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def method(node: ast.ClassDef, name: str) -> Iterator[ast.FunctionDef]:
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == name:
            yield part


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


def found_in(node: ast.ClassDef) -> list[str]:
    bases = {name_of(base).rpartition(".")[2] for base in node.bases}
    if node.name in EXEMPT or bases & FRAMEWORK_BASES:
        return []
    return [
        f"{node.name}: {work}"
        for constructor in method(node, "__init__")
        for work in work_in(constructor)
    ]


def test_a_constructor_only_keeps_what_it_is_given():
    found = {
        file: work
        for file, nodes in classes().items()
        if (work := [work for node in nodes for work in found_in(node)])
    }
    assert not found


def test_a_post_init_only_validates():
    """It makes nothing that the arguments did not bring."""
    found = [
        f"{file}: {node.name}"
        for file, nodes in classes().items()
        for node in nodes
        for function in method(node, "__post_init__")
        for part in ast.walk(function)
        if isinstance(part, ast.Attribute)
        and (isinstance(part.ctx, ast.Store) or part.attr == "__setattr__")
    ]
    assert not found


def test_no_exemption_is_left_over():
    names = {node.name for nodes in classes().values() for node in nodes}
    assert names >= EXEMPT


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
    assert found_in(*classes_in(ast.parse(code)))


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
    assert not found_in(*classes_in(ast.parse(code)))
