"""WMT16 document alignment data (.lett) → URL rows, pairs, genuine negatives.

Data card. Source: the shared task's `lett.train/*.lett.gz` (49 sites) with
`train.pairs` (1,624 pairs), English-French (data.statmt.org/wmt16). A line is one page:
lang, mime, encoding, url, base64(html), base64(text). The gold list is not complete, so
two pages of a site are negatives only when one of them is in the list with another
partner (García-Romero et al. 2024, section 3.1: the links of a gold page). The
test sites (lett.test, 203) are for evaluation only and must never be read with this.

    python -m training.data.lett OUTDIR train.pairs FILE.lett.gz ...
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from crawler.data import Lang
from crawler.extract.document import build_document
from crawler.warc.lett import LettPage, read_lett
from training.data.evidence import write_negatives, write_pairs, write_urls
from training.data.tables import BadRow, PairRow, UrlRow, clean_pair
from training.negatives import Closure, UrlPair, linked_negatives


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
    """The pages of the gold list with what they link beside their partners."""
    gold = [(pair.url_a, pair.url_b) for pair in pairs]
    partners = dict(gold) | {b: a for a, b in gold}
    closure = Closure(gold)
    for page in pages:
        document = build_document(page.page) if page.url in partners else None
        if document:
            links = (link.url for link in document.links)
            pair = page.url, partners[page.url]
            yield from linked_negatives(pair, links, languages, closure)


def main(out: Path, gold_file: Path, files: list[Path]) -> None:
    """Write URL rows, pairs, and `negatives.tsv.gz` (url_a, url_b)."""
    counts: Counter[str] = Counter()
    pairs = read_gold(gold_file, counts)
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
    urls = write_urls(out / "url_lang.tsv.gz", rows)
    number = write_pairs(out / "url_pairs.tsv.gz", pairs)
    negatives = write_negatives(
        out / "negatives.tsv.gz", gold_negatives(kept, pairs, languages)
    )
    print(
        f"{urls} URLs, {number} pairs and {negatives} genuine negatives written to"
        f" {out}; {dict(counts)}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
