"""Bitext with URLs (TSV of Bitextor, TMX) → pages and pairs; input: files.

Data card. Source: `sent.gz` and `raw.gz` of Bitextor, whose first two columns are the
URLs of a sentence pair (ParaCrawl and MaCoCu are published so), and TMX files with the
URLs in `prop type="source-document"` (ParaCrawl) or in a `url` property. A pair of
pages needs `MIN_SENTENCES` sentence pairs, or it is two pages that share a slogan. The
alignment is automatic: García-Romero et al. trained on MaCoCu v2 as it is. Licences as
the corpus.

    bifocal data build bitext DATA --langs en,is FILE ...   (.gz, .tsv, .tmx)
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from lxml import etree

from crawler.data import Lang, LangPair
from crawler.errors import UsageError
from crawler.languages import known_code
from training.data.tables import BadRow, PairRow, Tables, UrlPair, UrlRow, clean_pair

MIN_SENTENCES = 3  # of two pages; fewer are a shared menu or slogan
_URL_PROPERTIES = ("source-document", "url")


def bitextor_urls(lines: Iterable[str], counts: Counter[str]) -> Iterator[UrlPair]:
    """The URLs of each sentence pair; several on a side (deduplicated files) too."""
    for line in lines:
        cells = line.rstrip("\n").split("\t")
        if cells[0] in ("src_url", "src_deferred"):  # the header of version 8
            continue
        counts["rows"] += 1
        if len(cells) < 4:
            counts["bad/fewer than four columns"] += 1
            continue
        # deduplicated files join the URLs of a sentence with blanks, side by side
        yield from zip(cells[0].split(), cells[1].split())


def tmx_urls(
    file: IO[bytes], langs: LangPair, counts: Counter[str]
) -> Iterator[UrlPair]:
    """The URLs of each translation unit; a damaged file is read up to the damage."""
    units = etree.iterparse(
        file,
        events=("end",),
        tag="tu",
        recover=True,
        resolve_entities=False,
        no_network=True,
    )
    try:
        for _, unit in units:
            counts["rows"] += 1
            sides = {
                lang: urls
                for variant in unit.iter("tuv")
                for lang, urls in [_variant(variant)]
            }
            src, trg = sides.get(langs.src), sides.get(langs.trg)
            if src and trg:
                yield from zip(src, trg)
            else:
                counts["bad/no url on both sides"] += 1
            unit.clear()
    except etree.XMLSyntaxError:
        counts["bad/damaged tmx"] += 1


def _variant(variant: etree._Element) -> tuple[Lang | None, list[str]]:
    tag = variant.get("{http://www.w3.org/XML/1998/namespace}lang")
    urls = [
        (prop.text or "").strip()
        for prop in variant.iter("prop")
        if prop.get("type") in _URL_PROPERTIES
    ]
    return known_code(tag or variant.get("lang")), urls


def page_pairs(
    urls: Iterable[UrlPair],
    langs: LangPair,
    counts: Counter[str],
    *,
    min_sentences: int = MIN_SENTENCES,
    source: str = "bitext",
) -> list[PairRow]:
    """Pairs of pages with enough sentence pairs."""
    sentences = Counter(urls)
    pairs = []
    for (a, b), number in sorted(sentences.items()):
        if number < min_sentences:
            counts["dropped/too few sentences"] += 1
            continue
        try:
            pairs.append(clean_pair(a, langs.src, b, langs.trg, source=source))
        except BadRow as reason:
            counts[f"bad/{reason}"] += 1
    return pairs


def read_file(path: Path, langs: LangPair, counts: Counter[str]) -> Iterator[UrlPair]:
    """The URLs of a TMX or TSV file, gzipped or not."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        if ".tmx" in path.suffixes:
            yield from tmx_urls(file, langs, counts)
        else:
            lines = (line.decode("utf-8", "replace") for line in file)
            yield from bitextor_urls(lines, counts)


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The pairs of pages of one file, and the pages."""
    if langs is None:
        raise UsageError(f"{source}: of which languages? (add --langs, such as en,is)")
    pairs = page_pairs(read_file(Path(source), langs, counts), langs, counts)
    sides = [(p.url_a, p.lang_a) for p in pairs] + [(p.url_b, p.lang_b) for p in pairs]
    return Tables([UrlRow(url, lang, "bitext") for url, lang in sides], pairs)
