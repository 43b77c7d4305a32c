"""What lexicons over a third language give to a pair of languages with few pages.

    python -m benchmarks.pivot_lexicon WORLDS [--sites NAME …] [--words 50]

Of the articles that a recorded site has in three languages A, B and C, a third stays in
A and B, a third in B and C, and the others become small sites of 15 articles in A and
C, cut to the first words of their main text; addresses and links are hidden. A-B and
B-C are aligned,
and then each small site: with nothing, through the lexicons of the two others
(`crawler.aligner.bridges.pivot`), and through that of the same two thirds in A and C.
Told: mean precision and recall over the small sites. Results: pivot_lexicon.json.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

from benchmarks.aligner_quality import SITE, lexicon_of
from benchmarks.degrade import first_words, main_text
from benchmarks.worlds import RecordedSite, load_sites
from crawler.aligner.aligner import Aligner
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.pivot import through_pivots
from crawler.data import Document, LangPair
from crawler.extract.document import read_page
from crawler.replay.world import address_of
from crawler.warc.reader import iter_pages

RESULTS = Path(__file__).parent / "results" / "pivot_lexicon.json"
_LEAST = 45  # articles in three languages: three times those of a small site
_SMALL = 15


def hidden_pages(site: RecordedSite) -> dict[str, Document]:
    """The main text of a site's pages by address, without their addresses and links."""
    pages = {}
    for number, page in enumerate(iter_pages([site.warc])):
        document = read_page(page).document
        if document is not None:
            pages.setdefault(
                address_of(page.url),
                replace(document, url=f"https://{SITE}/{number}", site=SITE, links=()),
            )
    return dict(zip(pages, main_text(list(pages.values()))))


def articles(
    site: RecordedSite, langs: Sequence[str], pages: dict[str, Document]
) -> list[list[Document]]:
    """The articles that are there in each of three languages."""
    first, pivot, last = langs
    to_last = dict(site.true_pairs(LangPair(pivot, last)))
    found = []
    for src, middle in sorted(site.true_pairs(LangPair(first, pivot))):
        urls = (src, middle, to_last.get(middle))
        known = [pages[url] for url in urls if url in pages]
        if [page.lang for page in known] == list(langs):
            found.append(known)
    return found


def align(
    documents: Sequence[Document], langs: LangPair, known: Lexicon | None
) -> set[tuple[str, str]]:
    """The pairs of pages that are accepted."""
    with Aligner(langs, known=known) as aligner:
        for document in documents:
            aligner.add(document)
        return {(pair.src_url, pair.trg_url) for pair in aligner.finish()}


def measure(
    whole: Sequence[Sequence[Document]], langs: Sequence[str], words: int
) -> dict[str, Any]:
    """One site, three languages."""
    first, pivot, last = langs
    chosen = random.Random(0).sample(whole, len(whole))
    third = len(chosen) // 3
    left, right, others = chosen[:third], chosen[third : 2 * third], chosen[2 * third :]
    wanted = LangPair(first, last)
    taught = {
        LangPair(first, pivot): [page for a, b, _ in left for page in (a, b)],
        LangPair(pivot, last): [page for _, b, c in right for page in (b, c)],
    }
    lexicons = {two: lexicon_of(pages, two) for two, pages in taught.items()}
    own = [page for a, _, c in (*left, *right) for page in (a, c)]
    known = {
        "alone": None,
        "pivot": through_pivots(wanted, {p: x for p, x in lexicons.items() if x}),
        "own": lexicon_of(own, wanted),
    }
    right_ones, accepted, true = Counter[str](), Counter[str](), 0
    for start in range(0, len(others) - _SMALL + 1, _SMALL):
        site = others[start : start + _SMALL]
        pages = [first_words(page, words) for a, _, c in site for page in (a, c)]
        truth = {(a.url, c.url) for a, _, c in site}
        true += len(truth)
        for way, lexicon in known.items():
            found = align(pages, wanted, lexicon)
            right_ones[way] += len(found & truth)
            accepted[way] += len(found)
    return {
        "true": true,
        **{
            way: {
                "precision": round(right_ones[way] / max(accepted[way], 1), 4),
                "recall": round(right_ones[way] / true, 4),
            }
            for way in known
        },
    }


def rows(site: RecordedSite, words: int) -> Iterator[dict[str, Any]]:
    """All triples of a site's languages that its truth has enough articles of."""
    pages = hidden_pages(site)
    names = sorted({lang for pair in site.pairs for lang in pair.split("-")})
    for langs in permutations(names, 3):
        if langs[0] < langs[2]:
            whole = articles(site, langs, pages)
            if len(whole) >= _LEAST:
                told = measure(whole, langs, words)
                yield {"site": site.name, "langs": langs, "words": words, **told}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("worlds", type=Path, nargs="+")
    parser.add_argument("--sites", nargs="+", default=())
    parser.add_argument("--words", type=int, default=50)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args(argv)
    found = []
    for folder in args.worlds:
        for site in load_sites(folder, names=args.sites):
            for row in rows(site, args.words):
                found.append(row)
                print(json.dumps(row), flush=True)
    args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
