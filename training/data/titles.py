"""Titles and headings of page pairs in recorded sites → parallel short texts.

Data card. Source: WARC files with a table of true or accepted page pairs (`url_a lang_a
url_b lang_b`, as ../shared/worlds/truth has them, or `pairs.tsv.gz` of a Bifocal run):
the sites built from Debian packages give half a million pairs of titles in some thirty
languages, technical in tone (GFDL, GPL, MPL, Apache; the list is in the model cards).
Two pages of a pair give their titles, and their headings one by one when both have the
same sequence of heading levels. Texts that are equal (left untranslated), longer than
eight words, or written in another page's script of digits only are dropped and counted.

    python -m training.data.titles OUT.tsv.gz WARC PAIRS.tsv[.gz] [WARC PAIRS ...]
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from crawler.data import Document
from crawler.extract.document import build_document
from crawler.urls import canonicalize
from crawler.warc.reader import iter_pages
from training.data.tables import BadRow, PairRow, clean_pair, read_rows
from training.data.terms import TermPair, write_terms

MAX_WORDS = 8  # longer ones are sentences, which no slug spells out
_HEADING = re.compile(r"<(h[1-4])\b")
_NUMBERING = re.compile(r"^[\W\d]*\d[\d.]*[\W_]+|\s+[-–|·»:]\s+[^-–|·»:]*$")

Outline = tuple[tuple[str, str], ...]  # (level, text)


def outline(document: Document) -> Outline:
    """The title and the headings of a document, with their levels.

    >>> outline_of(("<h2", "", "</h2", "<p", "", "</p"), ("A day", "in Paris"))
    (('h2', 'A day'),)
    """
    title = (("title", _clean(document.title)),)
    return title + outline_of(document.tokens, document.chunks)


def outline_of(tokens: tuple[str, ...], chunks: tuple[str, ...]) -> Outline:
    """The headings of a linearized page."""
    texts = iter(chunks)
    found: list[tuple[str, str]] = []
    level, parts = None, list[str]()
    for token in tokens:
        if token == "":
            text = next(texts, "")
            if level:
                parts.append(text)
        elif match := _HEADING.match(token):
            level, parts = match[1], []
        elif level and token == f"</{level}":
            found.append((level, _clean(" ".join(parts))))
            level = None
    return tuple(found)


def _clean(text: str) -> str:
    """Without numbering and site name: `2.1. Layers — Manual` is `Layers`."""
    return _NUMBERING.sub("", " ".join(text.split())).strip(" ¶#")


def pair_terms(
    row: PairRow, a: Outline, b: Outline, source: str, counts: Counter[str]
) -> Iterator[TermPair]:
    """The parallel texts of two outlines of the same shape."""
    same_shape = [level for level, _ in a] == [level for level, _ in b]
    if not same_shape:
        counts["dropped/other outline"] += 1
    for (_, text_a), (_, text_b) in zip(a if same_shape else a[:1], b):
        reason = _unusable(text_a, text_b)
        if reason:
            counts[f"dropped/{reason}"] += 1
        else:
            yield TermPair(row.lang_a, text_a, row.lang_b, text_b, source)


def _unusable(a: str, b: str) -> str | None:
    if a.lower() == b.lower():
        return "equal"
    if not any(c.isalpha() for c in a) or not any(c.isalpha() for c in b):
        return "no letters"
    if len(a.split()) > MAX_WORDS or len(b.split()) > MAX_WORDS or len(a + b) > 200:
        return "long"
    return None


def read_page_pairs(path: Path, counts: Counter[str]) -> Iterator[PairRow]:
    """True pairs of a recorded site."""
    for row in read_rows(path, ("url_a", "lang_a", "url_b", "lang_b")):
        try:
            yield clean_pair(row["url_a"], row["lang_a"], row["url_b"], row["lang_b"])
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1


def site_terms(warc: Path, pairs: Path, counts: Counter[str]) -> Iterator[TermPair]:
    """The parallel texts of one recorded site, each once."""
    rows = list(read_page_pairs(pairs, counts))
    wanted = {url for row in rows for url in (row.url_a, row.url_b)}
    outlines: dict[str, Outline] = {}
    for page in iter_pages(warc):
        url = canonicalize(page.url)
        if url in wanted and (document := build_document(page)):
            outlines[url] = outline(document)
    counts["pages"] += len(outlines)
    seen: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        a, b = outlines.get(row.url_a), outlines.get(row.url_b)
        if not a or not b:
            counts["dropped/page not recorded"] += 1
            continue
        for term in pair_terms(row, a, b, warc.name.split(".warc")[0], counts):
            known = seen[term.lang_a, term.lang_b]
            if (term.text_a, term.text_b) not in known:
                known.add((term.text_a, term.text_b))
                yield term


def main(out: Path, inputs: list[Path]) -> None:
    """Write the parallel texts of all sites."""
    counts: Counter[str] = Counter()
    sites = zip(inputs[::2], inputs[1::2])
    written = write_terms(
        out, (t for warc, pairs in sites for t in site_terms(warc, pairs, counts))
    )
    print(f"{written} parallel texts written to {out}; {dict(counts)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
