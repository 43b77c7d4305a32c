"""The arguments of `bifocal data`."""

from __future__ import annotations

import argparse
import ast
from importlib import resources
from pathlib import Path

from crawler.data import LangPair
from training.data.build import SOURCES, build


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb `build`, with the sources that it reads."""
    verbs = parser.add_subparsers(title="what", metavar="WHAT", required=True)
    listed = "\n".join(f"  {name:14}{_purpose(name)}" for name in SOURCES)
    make = verbs.add_parser(
        "build",
        help="make the tables that training reads",
        description=f"Make the tables that training reads.\n\nsources:\n{listed}",
        epilog="An input is read once; give more inputs later, of any source.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    make.add_argument("source", choices=SOURCES, metavar="SOURCE", help="one of these")
    make.add_argument("data", type=Path, metavar="FOLDER", help="gets the tables")
    make.add_argument("inputs", nargs="*", metavar="INPUT", help="files or folders")
    make.add_argument("--langs", help="of bitext, such as en,is")


def _purpose(name: str) -> str:
    """The first line of a builder's docstring, read without importing it."""
    module = SOURCES[name].rpartition(".")[2]
    text = resources.files("training.data").joinpath(f"{module}.py").read_text("utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def run(args: argparse.Namespace) -> int:
    """Build."""
    langs = LangPair.parse(args.langs) if args.langs else None
    build(args.source, args.data, args.inputs, langs)
    return 0
