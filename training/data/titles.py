"""Titles and headings of page pairs → terms; input: run directories, or WARC=PAIRS.

Data card. Source: recorded page pairs: those that a run of Bifocal accepted, or of a
WARC file (or a folder of them) with a TSV table of pairs (`url_a lang_a url_b lang_b`).
Sites built from the manuals in Debian packages give half a million pairs of titles in
some thirty languages, technical in tone (GFDL, GPL, MPL, Apache; the list is in the
model cards). Two pages of a pair give their titles, and their headings one by one when
both have the same sequence of heading levels. Texts that are equal (left untranslated),
longer than eight words or without letters are dropped and counted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from crawler.data import Document, LangPair
from crawler.errors import UsageError
from crawler.extract.document import build_document
from crawler.rundir import RunDir
from crawler.urls import canonicalize
from crawler.warc.reader import iter_pages
from training.data.runs import run_pairs
from training.data.tables import PairRow, Tables, TermPair, read_pairs

MAX_WORDS = 8  # longer ones are sentences, which slugs do not have
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


def site_terms(
    warc: Path, pairs: Iterable[PairRow], source: str, counts: Counter[str]
) -> Iterator[TermPair]:
    """The parallel texts of recorded page pairs, each once for two languages."""
    rows = list(pairs)
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
        for term in pair_terms(row, a, b, source, counts):
            known = seen[term.lang_a, term.lang_b]
            if (term.text_a, term.text_b) not in known:
                known.add((term.text_a, term.text_b))
                yield term


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The parallel texts of a run, or of WARC=PAIRS; of all languages."""
    path, equals, pairs = source.partition("=")
    if equals:
        name = Path(path).name.split(".warc")[0]
        rows = read_pairs(Path(pairs), counts)
        return Tables(terms=site_terms(Path(path), rows, name, counts))
    run = RunDir(source)
    if not run.pairs.exists():
        raise UsageError(
            f"{source}: no pairs.tsv.gz there (give run directories, or WARC=PAIRS.tsv)"
        )
    rows = run_pairs(run, counts)
    return Tables(terms=site_terms(run.warc, rows, run.path.name, counts))
