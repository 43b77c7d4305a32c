"""Records carry the features of pages to the process that aligns their site.

A record is bytes, a few KB, so that a file, a pipe and Spark's shuffle carry it alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec

from crawler.aligner.features import pack, unpack
from crawler.data import Lang, LangPair, PageFeatures
from crawler.handles import handle_of


class PageRecord(NamedTuple):
    """The features of a page, or only its declarations about other pages."""

    group: str  # of sites (`crawler.groups.group_key`)
    lang: Lang | None  # of the page; None for declarations about other pages
    page: int | None  # the hash of its URL; None likewise
    data: bytes  # of `encode`


@dataclass(frozen=True, slots=True)
class Versions:
    """The URLs of the versions that a page has, by language.

    `source` is the page that a sitemap names; None if a page declares the versions.
    """

    source: str | None
    urls: Mapping[Lang, tuple[str, ...]]


class _Page(msgspec.Struct, array_like=True):
    url: str
    site: str
    lang: str
    digest: str
    family: str
    size: int
    arrays: bytes


class _Body(msgspec.Struct, array_like=True):
    source: str | None
    urls: dict[Lang, tuple[str, ...]]
    page: _Page | None


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Body)


def encode(features: PageFeatures | None, versions: Versions) -> bytes:
    """The bytes of a record."""
    page = None
    if features is not None:
        arrays = pack(replace(features, declared=()))
        page = _Page(
            features.url,
            features.site,
            features.lang,
            features.digest,
            features.family,
            features.size,
            arrays,
        )
    return _ENCODER.encode(_Body(versions.source, dict(versions.urls), page))


def decode(data: bytes, langs: LangPair) -> tuple[PageFeatures | None, Versions]:
    """The features and declarations of a record, for two languages.

    The features are None if the page is in neither of them, or if there is no page.
    """
    body = _DECODER.decode(data)
    versions = Versions(body.source, body.urls)
    page = body.page
    if page is None or page.lang not in langs:
        return None, versions
    features = unpack(
        page.arrays,
        url=page.url,
        site=page.site,
        lang=page.lang,
        digest=page.digest,
        handle=handle_of(page.url, tuple(langs)).text,
        family=page.family,
        size=page.size,
    )
    declared = body.urls.get(langs.other(page.lang), ())
    return replace(features, declared=declared), versions
