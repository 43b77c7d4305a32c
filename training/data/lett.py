"""WMT16 .lett files → pages, pairs, negatives; input: a folder with train.pairs.

Data card. Source: the shared task's `lett.train/*.lett.gz` (49 sites) with
`train.pairs` (1,624 pairs), English-French (data.statmt.org/wmt16). A line is one page:
lang, mime, encoding, url, base64(html), base64(text). The gold list is not complete, so
two pages of a site are negatives only when one of them is in the list with another
partner (García-Romero et al. 2024, section 3.1: the links of a gold page). The test
sites (lett.test, 203) are for evaluation only: never build tables of them.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from crawler.data import Lang, LangPair
from crawler.errors import UsageError
from crawler.extract.document import build_document
from crawler.warc.lett import LettPage, read_lett
from training.data.tables import BadRow, PairRow, Tables, UrlPair, UrlRow, clean_pair
from training.negatives import Closure, linked_negatives


def read_gold(path: Path, counts: Counter[str]) -> list[PairRow]:
    """`train.pairs`: English TAB French."""
    pairs = []
    for line in path.read_text("utf-8").splitlines():
        a, _, b = line.partition("\t")
        try:
            pairs.append(clean_pair(a, "en", b.strip(), "fr", source="wmt16"))
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1
    return pairs


def gold_negatives(
    pages: Iterable[LettPage], pairs: Iterable[PairRow], languages: Mapping[str, Lang]
) -> Iterator[UrlPair]:
    """Each page of the gold list with its links to other pages than its partner."""
    gold = [(pair.url_a, pair.url_b) for pair in pairs]
    partners = dict(gold) | {b: a for a, b in gold}
    closure = Closure.of(gold)
    for page in pages:
        document = build_document(page.page) if page.url in partners else None
        if document:
            links = (link.url for link in document.links)
            pair = page.url, partners[page.url]
            yield from linked_negatives(pair, links, languages, closure)


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The rows of a folder of .lett.gz files with its list of true pairs."""
    folder = Path(source)
    lists, files = (sorted(folder.glob(name)) for name in ("*.pairs", "*.lett.gz"))
    if not lists or not files:
        raise UsageError(
            f"{folder}: expected *.lett.gz files and a list *.pairs of true pairs"
            " (lett.train and train.pairs of the WMT16 task)"
        )
    pairs = [pair for path in lists for pair in read_gold(path, counts)]
    gold = {url for pair in pairs for url in (pair.url_a, pair.url_b)}
    languages: dict[str, Lang] = {}
    kept: list[LettPage] = []
    for file in files:
        with gzip.open(file) as lines:
            for page in read_lett(lines, counts):
                languages[page.url] = page.lang
                if page.url in gold:
                    kept.append(page)
    rows = [UrlRow(url, lang, "wmt16") for url, lang in languages.items()]
    return Tables(rows, pairs, gold_negatives(kept, pairs, languages))
