"""Pairs from the translations that pages declare.

A site declares translations by hreflang, language menus and sitemaps, not always
rightly. A declaration becomes a pair if the other page declares it back, or if the
languages of both pages were detected and agree with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from crawler.data import Lang
from crawler.urls import site_of
from training.data.tables import BadRow, PairRow, clean_pair


@dataclass(frozen=True, slots=True)
class Declared:
    """A page declares another URL its version in a language."""

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
