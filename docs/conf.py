"""How Sphinx makes a website of these pages: `make docs`.

The pages are plain Markdown that reads well where the repository is shown. What only a
website needs is added here: the table of contents, from the links of index.md, and the
repository's address for what is linked but lies outside of docs/.
"""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from typing import Any

_DOCS = Path(__file__).parent
_ROOT = _DOCS.parent
_REPOSITORY = "https://github.com/bifocal-crawler/bifocal"

project = "Bifocal"
html_title = "Bifocal"
extensions = ["myst_parser"]
exclude_patterns = ["images"]
myst_heading_anchors = 4  # as the repository's own page makes them: formats.md#cdxj
html_theme = "furo"
html_theme_options = {"source_repository": _REPOSITORY, "source_directory": "docs/"}
html_copy_source = False


def setup(app: Any) -> None:
    """Let Sphinx call `prepare` for each page that it reads."""
    app.connect("source-read", prepare)


def prepare(app: Any, name: str, source: list[str]) -> None:
    """Complete the text of a page; `source` holds it as its only item."""
    if name in ("index", "decisions/README"):
        source[0] += contents(source[0])
    folder = (_DOCS / name).parent
    source[0] = re.sub(
        r"\]\((?!\w+:|#)([^)\s]+)\)",
        lambda link: f"]({address(folder, link[1])})",
        source[0],
    )


def contents(index: str) -> str:
    """The pages that an index links to, for the side of every page."""
    names = dict.fromkeys(re.findall(r"\]\(([\w/-]+)\.md\)", index))
    return "\n".join(("\n```{toctree}", ":hidden:", "", *names, "```\n"))


def address(folder: Path, link: str) -> str:
    """A relative link as it is, or the repository's address of what is no page here."""
    file, _, anchor = link.partition("#")
    target = Path(os.path.normpath(folder / file))
    if target.is_relative_to(_DOCS) and target.suffix in (".md", ".png"):
        return link
    kind = "tree" if target.is_dir() else "blob"
    url = f"{_REPOSITORY}/{kind}/main/{target.relative_to(_ROOT)}"
    return f"{url}#{anchor}" if anchor else url
