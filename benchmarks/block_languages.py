"""The languages of the blocks of pages in two, made of true pairs of recorded sites.

    python -m benchmarks.block_languages WORLDS [--sites SITE ...] [--pairs 40]

Of each pair of pages (`benchmarks/worlds.py` says what WORLDS holds) four pages are
made: one half in either language (`halves`); both side by side in a table (`sides`); a
menu in the other language above, in no element that says so (`menu`); a quotation in
the other language (`quote`). The rest are taken to be in the language of their page,
but for what is in no language or not translated: blocks that both pages of the pair
have, of which less than three in four characters are letters, and blocks of 60
characters and more that heliport (extra `languages`), a detector that the crawler does
not ask here, takes for another language.

Right is a block that is in the document of its language and in no other; `texts`
weighs blocks by their characters. `plain`: the blocks of the pages as they were that
are lost, which should be none.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from crawler.data import Block, Document, Lang, Page
from crawler.extract.detectors.heliport import HeliportDetector
from crawler.extract.document import read_page
from crawler.extract.text import CODE, blocks_of
from crawler.languages import known_code
from crawler.protocols import LanguageDetector
from crawler.replay.world import address_of
from crawler.warc.reader import iter_pages

RESULTS = Path(__file__).parent / "results" / "block_languages.json"
_MAX_BLOCKS = 40  # of a page
_MIN_BLOCKS = 6
_QUOTE = 80  # characters of a quotation at least
_MENU_ENTRY, _MENU_LEAST, _MENU = 40, 5, 20  # characters of an entry at most, entries
_LETTERS = 0.75
_TELLING = 60  # characters from which on a detector's word is taken


@dataclass(frozen=True, slots=True)
class Side:
    """The blocks of one page of a pair."""

    lang: Lang
    blocks: tuple[Block, ...]


Labelled = tuple[Lang, str]  # a block of a made page: its language, its text


Pair = tuple[tuple[str, Lang], ...]  # the address and the language of each page


def true_pairs(truth: Path) -> Iterator[Pair]:
    """The true pairs of a site."""
    with gzip.open(truth, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            yield tuple(
                (address_of(row[f"url_{side}"]), known_code(row[f"lang_{side}"]) or "")
                for side in "ab"
            )


def sides_of(
    pair: Pair, pages: dict[str, Page], detector: LanguageDetector
) -> tuple[Side, ...]:
    """Both pages of a pair without what they share; () if one is missing or short."""
    documents = []
    for url, lang in pair:
        document = read_page(pages[url]).document if url in pages else None
        if document is None or not lang:
            return ()
        documents.append((lang, _main(document)))
    both = set.intersection(*({block.text for block in b} for _, b in documents))
    sides = tuple(
        Side(
            lang,
            tuple(
                block
                for block in blocks
                if block.text not in both and _may_be(block.text, lang, detector)
            )[:_MAX_BLOCKS],
        )
        for lang, blocks in documents
    )
    short = any(len(side.blocks) < _MIN_BLOCKS for side in sides)
    return () if short or sides[0].lang == sides[1].lang else sides


def _main(document: Document) -> list[Block]:
    blocks = blocks_of(document.tokens, document.chunks)
    return [
        block
        for block in {b.text: b for b in blocks}.values()
        if not block.boilerplate
        and block.tag not in CODE
        and sum(c.isalpha() or c == " " for c in block.text)
        >= _LETTERS * len(block.text)
    ]


def _may_be(text: str, lang: Lang, detector: LanguageDetector) -> bool:
    """May a text be in a language? Short ones may."""
    return len(text) < _TELLING or detector.detect(text).lang == lang


def _tagged(block: Block) -> str:
    tag = block.tag if re.fullmatch("h[1-6]", block.tag) else "p"
    return f"<{tag}>{html.escape(block.text)}</{tag}>\n"


def halves(a: Side, b: Side) -> tuple[str, list[Labelled]]:
    """One page below the other."""
    body = "".join(map(_tagged, (*a.blocks, *b.blocks)))
    return body, [(s.lang, block.text) for s in (a, b) for block in s.blocks]


def side_by_side(a: Side, b: Side) -> tuple[str, list[Labelled]]:
    """A table with a column for each page."""
    rows, labels = [], []
    for cells in zip_longest(a.blocks, b.blocks):
        cut = [html.escape(cell.text) if cell else "" for cell in cells]
        rows.append(f"<tr><td>{cut[0]}</td><td>{cut[1]}</td></tr>\n")
        labels += [(side.lang, cell.text) for side, cell in zip((a, b), cells) if cell]
    return f"<table>{''.join(rows)}</table>", labels


def menu(a: Side, b: Side) -> tuple[str, list[Labelled]]:
    """The first page below a menu made of short blocks of the second."""
    entries = [x.text for x in b.blocks if len(x.text) <= _MENU_ENTRY][:_MENU]
    if len(entries) < _MENU_LEAST:
        return "", []
    links = "".join(f"<li><a href=/x>{html.escape(e)}</a></li>" for e in entries)
    body = f"<ul>{links}</ul>" + "".join(map(_tagged, a.blocks))
    return body, [
        *((b.lang, entry) for entry in entries),
        *((a.lang, block.text) for block in a.blocks),
    ]


def quote(a: Side, b: Side) -> tuple[str, list[Labelled]]:
    """The first page with a block of the second in the middle."""
    said = [block for block in b.blocks if len(block.text) >= _QUOTE][:1]
    if not said:
        return "", []
    middle = len(a.blocks) // 2
    before, after = a.blocks[:middle], a.blocks[middle:]
    quoted = "".join(f"<blockquote>{_tagged(block)}</blockquote>" for block in said)
    body = "".join(map(_tagged, before)) + quoted + "".join(map(_tagged, after))
    labels = [(s, x.text) for s, x in ((a.lang, b) for b in before)]
    labels += [(b.lang, block.text) for block in said]
    return body, labels + [(a.lang, block.text) for block in after]


KINDS = {"halves": halves, "sides": side_by_side, "menu": menu, "quote": quote}


def judged(body: str, labels: list[Labelled], langs: tuple[Lang, Lang]) -> Counter[str]:
    """How many blocks of a made page are where they belong."""
    page = Page.of_html("https://example.org/", f"<html><body>{body}</body></html>")
    reading = read_page(page, langs=langs)
    places: dict[str, set[Lang | None]] = defaultdict(set)
    for document in reading.documents:
        for block in blocks_of(document.tokens, document.chunks):
            places[block.text].add(document.lang)
    found = {document.lang for document in reading.documents}
    counts = Counter[str]()
    for lang, text in labels:
        folded = " ".join(text.split())
        expected = {lang} & found
        right = places.get(folded, set()) == expected
        counts.update(
            blocks=1, right=right, characters=len(text), texts=right * len(text)
        )
    return counts


def of_site(
    warc: Path, pairs: Sequence[Pair], detector: LanguageDetector
) -> dict[str, Any]:
    """How many blocks of the pages made of these pairs are right, by kind of page."""
    wanted = {url for pair in pairs for url, _ in pair}
    pages = {
        address: page
        for page in iter_pages([warc])
        if page.status == 200 and (address := address_of(page.url)) in wanted
    }
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        if sides := sides_of(pair, pages, detector):
            langs = (sides[0].lang, sides[1].lang)
            for kind, make in KINDS.items():
                for a, b in (sides, sides[::-1]):
                    counts[kind].update(judged(*make(a, b), langs))
            for side in sides:
                body, labels = "".join(map(_tagged, side.blocks)), side.blocks
                counts["plain"].update(
                    judged(body, [(side.lang, x.text) for x in labels], langs)
                )
    return {kind: dict(count) for kind, count in counts.items()}


def shares(counts: dict[str, int]) -> dict[str, float]:
    """Right blocks, and characters in right blocks, as shares."""
    return {
        "blocks": counts["blocks"],
        "right": round(counts["right"] / max(1, counts["blocks"]), 4),
        "texts": round(counts["texts"] / max(1, counts["characters"]), 4),
    }


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", type=Path, nargs="+")
    parser.add_argument("--sites", nargs="*", help="default: all")
    parser.add_argument("--pairs", type=int, default=40, help="of a site, at most")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    detector = HeliportDetector()
    rows: dict[str, Any] = {}
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for worlds in args.worlds:
        for path in sorted(worlds.glob("warcs/*.warc.*")):
            site = path.name.partition(".warc.")[0]
            truth = worlds / "truth" / f"{site}.truth.tsv.gz"
            if (args.sites and site not in args.sites) or site.startswith("bare."):
                continue
            pairs = list(true_pairs(truth))
            pairs = pairs[:: max(1, len(pairs) // args.pairs)][: args.pairs]
            counts = of_site(path, pairs, detector)
            for kind, count in counts.items():
                totals[kind].update(count)
            rows[site] = {kind: shares(count) for kind, count in counts.items()}
            print(site, {k: r["right"] for k, r in rows[site].items()}, flush=True)
    figures = {
        "machine": machine("pycld2", "selectolax"),
        "all": {kind: shares(count) for kind, count in totals.items()},
        "sites": rows,
    }
    args.out.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    print(json.dumps(figures["all"], indent=2))


if __name__ == "__main__":
    main()
