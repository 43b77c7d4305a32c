"""The saved state of the adaptive order, in parts: counts, and a row for each URL."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crawler.data import Link
from crawler.frontier.scorers.known_urls import (
    NOBODY,
    KnownUrls,
    UrlRecord,
    counts_of,
)
from crawler.frontier.stores.journal import batched

# Rows of a part of the saved state: 10 ms, a page's time.
_PART = 500


def packed(
    counts: Mapping[str, Mapping[Any, Any]], known: KnownUrls
) -> Iterator[bytes]:
    """Pack the counts and the URLs that are known now; each part when it is asked for.

    What becomes of a URL between the call and its row is in the row.
    """
    return _parts(counts, known, list(known.records))


def _parts(
    counts: Mapping[str, Mapping[Any, Any]], known: KnownUrls, names: Iterable[str]
) -> Iterator[bytes]:
    yield _pack({table: [] for table in counts})
    for table, items in counts.items():
        for some in batched(items.items(), _PART):
            yield _pack({table: some})
    for urls in batched(names, _PART):
        yield _pack({"urls": list(_rows(known, urls))})


def _rows(known: KnownUrls, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """What is known of some URLs, others by their numbers."""
    for name in names:
        if name not in known.records:  # forgotten by now
            continue
        url = known.resolve(known.records[name])
        if name != url.url:
            yield {"url": name, "moved_to": url.number}
            if url.url in known.records:  # it has a row of its own
                continue
        yield {
            "url": url.url,
            "number": url.number,
            "outcome": url.outcome,
            "paired": url.paired,
            "copy": url.copy,
            "language": url.language,
            "sources": url.sources,
            "model": url.model,  # whole: near ties would come out otherwise
            "score": url.score,
            "partners": [
                (known.resolve(other).number, kind)
                for other, kind in url.partners.items()
            ],
            "links": [known.resolve(link).number for link in url.links],
        }


def unpacked(state: Iterable[bytes], known: KnownUrls) -> dict[str, dict[Any, Any]]:
    """Add the URLs of a saved state to those known; returns the counts, {} of nothing.

    Raises `zlib.error`, `ValueError`, `KeyError`, `TypeError` or `AttributeError` if
    the state is not one that `packed` made.
    """
    counts: dict[str, dict[Any, Any]] = {}
    numbered: dict[int, UrlRecord] = {}
    moved: dict[str, int] = {}
    others: list[tuple[UrlRecord, Any, Any]] = []  # that a URL names by number
    for part in state:
        tables = json.loads(zlib.decompress(part))
        for row in tables.pop("urls", ()):
            if "moved_to" in row:
                moved[row["url"]] = row["moved_to"]
            elif row["number"] not in numbered:
                url = numbered[row["number"]] = _read_row(row, known)
                others.append((url, row["partners"], row["links"]))
        for table, items in tables.items():
            counts.setdefault(table, {}).update(items)
    if not counts:
        return counts
    for name, number in moved.items():
        if number in numbered:
            known.records[name] = numbered[number]
            known.name(name, numbered[number])
    for url, partners, links in others:
        found = {numbered[n]: kind for n, kind in partners if n in numbered}
        url.partners = found or NOBODY
        url.links = tuple(numbered[n] for n in links if n in numbered)
    known.recount()
    return counts


def _read_row(row: Mapping[str, Any], known: KnownUrls) -> UrlRecord:
    url = known.add(Link(row["url"]))
    url.link = None
    url.outcome, url.paired, url.copy = row["outcome"], row["paired"], row["copy"]
    url.language, url.score = row["language"], row["score"]
    url.sources = counts_of(*row["sources"])
    url.model = tuple(row["model"]) if row["model"] else None
    return url


def _pack(tables: Mapping[str, Any]) -> bytes:
    return zlib.compress(json.dumps(tables, separators=(",", ":")).encode(), 1)
