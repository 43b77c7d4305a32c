"""From declared languages to rows: what the builders of this folder share.

A site says which pages are translations (hreflang, switchers, sitemaps) and is not
always right. Here a declaration becomes a pair when the other page declares it back, or
when the languages of both pages were detected and agree with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from crawler.data import Lang
from crawler.urls import site_of
from training.data.tables import BadRow, PairRow, UrlRow, clean_pair, write_table

URL_COLUMNS = ("url", "lang", "source")
NEGATIVE_COLUMNS = ("url_a", "url_b")
PAIR_COLUMNS = ("url_a", "lang_a", "url_b", "lang_b", "code_only", "source")


@dataclass(frozen=True, slots=True)
class Declared:
    """A page says that another URL is its version in a language."""

    url: str
    other: str
    lang: Lang  # of the other


def declared_pairs(
    declarations: Iterable[Declared],
    languages: Mapping[str, Lang],
    counts: Counter[str],
    *,
    source: str,
    trusted: bool = False,
) -> Iterator[PairRow]:
    """Pairs of URLs that are declared, in the order of their URLs.

    `languages` holds what is known of pages from elsewhere. `trusted` keeps one-sided
    declarations too: in a sitemap both directions stand in one file, often once.
    """
    found: dict[tuple[str, str], Lang] = {}
    for declared in declarations:
        found.setdefault((declared.url, declared.other), declared.lang)
    for url, other in sorted(found):
        if url > other and (other, url) in found:
            continue  # once, from the other side
        lang = found[url, other]
        back = found.get((other, url))
        own = languages.get(url) or back
        reason = _doubt(lang, own, languages.get(other), mutual=back is not None)
        if reason == "one-sided" and trusted and own:
            reason = None
        if reason or own is None or site_of(url) != site_of(other):
            counts[f"dropped/{reason or 'other site'}"] += 1
            continue
        try:
            yield clean_pair(url, own, other, lang, source=source)
        except BadRow as bad:
            counts[f"bad/{bad}"] += 1


def _doubt(
    lang: Lang, own: Lang | None, detected: Lang | None, *, mutual: bool
) -> str | None:
    if own is None:
        return "own language unknown"
    if own == lang:
        return "same language"
    if detected is not None and detected != lang:
        return "declared and detected language differ"
    if not mutual and detected is None:
        return "one-sided"
    return None


def write_urls(path: Path, rows: Iterable[UrlRow]) -> int:
    """Write `url_lang.tsv.gz`; each URL once, in order."""
    unique = {row.url: row for row in rows}
    return write_table(
        path,
        URL_COLUMNS,
        ((url, unique[url].lang, unique[url].source) for url in sorted(unique)),
    )


def write_pairs(path: Path, rows: Iterable[PairRow]) -> int:
    """Write `url_pairs.tsv.gz`; each pair once, in order."""
    unique = {(row.url_a, row.url_b): row for row in rows}
    return write_table(
        path,
        PAIR_COLUMNS,
        (
            (r.url_a, r.lang_a, r.url_b, r.lang_b, _flag(r.code_only), r.source)
            for _, r in sorted(unique.items())
        ),
    )


def write_negatives(path: Path, pairs: Iterable[tuple[str, str]]) -> int:
    """Write `negatives.tsv.gz`: pages that are no translations; each pair once."""
    return write_table(path, NEGATIVE_COLUMNS, sorted(set(pairs)))


def _flag(value: bool | None) -> str | None:
    return None if value is None else str(int(value))
