"""The prose of the demo world: reading a content file, and making HTML of it.

A content file holds one concept, a section per language that opens with the language
and the end of the page's address: `[is: gas-i-hogunum/]`. The rest is a small Markdown:
`#`, `##`, paragraphs, `- ` and `1. ` lists, `| cells |` whose first row is a head,
`![caption](file)`, `*emphasis*` and `[text](target)`. A target is an address, or the
name of a concept (`research/gas`), which means its page in the same language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

Resolve = Callable[[str], str]  # the target of a link to its address

_SECTION = re.compile(r"^\[(\w\w): ?(.*)\]$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^]]+)\]\(([^)]+)\)")
_IMAGE = re.compile(r"!\[([^]]+)\]\(([^)]+)\)")
_EMPHASIS = re.compile(r"\*([^*]+)\*")


@dataclass(frozen=True, slots=True)
class Text:
    """One concept in one language."""

    concept: str  # folder/file of the content: research/gas
    lang: str
    tail: str  # the end of the page's address
    source: str  # the prose

    @property
    def section(self) -> str:
        """The folder that the concept lies in."""
        return self.concept.partition("/")[0]

    @property
    def title(self) -> str:
        """The first heading."""
        return self.source.partition("\n")[0].removeprefix("# ")

    @property
    def lead(self) -> str:
        """The first paragraph, without markup."""
        return _plain(next(b for b in blocks(self.source) if not b.startswith("#")))


def read_texts(folder: Path) -> list[Text]:
    """Every text below a folder, in the order of the files' names."""
    texts = []
    for path in sorted(folder.glob("*/*.md")):
        concept = path.relative_to(folder).with_suffix("").as_posix()
        _, *parts = _SECTION.split(path.read_text(encoding="utf-8"))
        for lang, tail, source in zip(parts[::3], parts[1::3], parts[2::3]):
            texts.append(Text(concept, lang, tail, source.strip()))
    return texts


def blocks(source: str) -> list[str]:
    """The parts of a text that blank lines separate."""
    return source.split("\n\n")


def to_html(source: str, resolve: Resolve) -> str:
    """The HTML of a text; it is well-formed XML too."""
    return "\n".join(_block(block, resolve) for block in blocks(source))


def summary(text: str, length: int = 150) -> str:
    """The beginning of a text, cut at a word."""
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"


def _block(block: str, resolve: Resolve) -> str:
    if block.startswith("## "):
        return f"<h2>{_inline(block[3:], resolve)}</h2>"
    if block.startswith("# "):
        return f"<h1>{_inline(block[2:], resolve)}</h1>"
    if image := _IMAGE.fullmatch(block):
        caption, file = escape(image[1]), image[2]
        return (
            f'<div class="figure"><img src="/images/{file}" alt="{caption}" />'
            f"<p><small>{caption}</small></p></div>"
        )
    lines = block.split("\n")
    if block.startswith("|"):
        return "<table>\n" + "\n".join(_rows(lines, resolve)) + "\n</table>"
    if block.startswith(("- ", "1. ")):
        tag = "ul" if block.startswith("- ") else "ol"
        items = [_inline(line.partition(" ")[2], resolve) for line in lines]
        return f"<{tag}>\n" + "\n".join(f"<li>{i}</li>" for i in items) + f"\n</{tag}>"
    return f"<p>{_inline(' '.join(lines), resolve)}</p>"


def _rows(lines: list[str], resolve: Resolve) -> Iterator[str]:
    for number, line in enumerate(lines):
        tag = "td" if number else "th"
        cells = [_inline(cell.strip(), resolve) for cell in line.strip("| ").split("|")]
        yield "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _inline(text: str, resolve: Resolve) -> str:
    text = _EMPHASIS.sub(r"<em>\1</em>", escape(text, quote=False))
    return _LINK.sub(
        lambda m: f'<a href="{escape(resolve(m[2].replace("&amp;", "&")))}">{m[1]}</a>',
        text,
    )


def _plain(text: str) -> str:
    return _EMPHASIS.sub(r"\1", _LINK.sub(r"\1", text)).replace("\n", " ")


def by_concept(texts: list[Text]) -> dict[str, dict[str, Text]]:
    """Texts as concept → language → text."""
    return {
        concept: {text.lang: text for text in group}
        for concept, group in groupby(texts, key=lambda text: text.concept)
    }
