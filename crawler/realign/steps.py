"""The steps from pages to pairs, the same on one machine and on a cluster.

    Piece ──extract──▶ (group, record) ──by group──▶ align_group ──▶ pairs of its sites

A record is what a page tells the aligner: its features, or what it declares of other
pages. It is bytes, a few KB, so that a file, a pipe and Spark's shuffle carry it alike.
In what order the records of a group come does not matter, nor how they are spread over
pieces: pairs follow from the pages alone. A group holds all sites that may be one
(`crawler.groups.group_key`): a name under any public suffix.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from crawler.aligner.aligner import Aligner
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.features import Featurizer, pack, unpack
from crawler.aligner.profile import AlignProfile
from crawler.data import Document, Lang, LangPair, Page, PageFeatures, PairScore, Site
from crawler.extract.document import Reading, read_page
from crawler.extract.plain import build_text_document
from crawler.groups import group_key
from crawler.handles import handle_of
from crawler.switchers import declared_versions
from crawler.urls import hash64, site_of
from crawler.warc.inputs import Piece, Revisit, Revisits, read_piece
from crawler.warc.text_columns import PlainText

# ---------------------------------------------------------------- what travels


class Record(NamedTuple):
    """What a page tells, on its way to where its site is aligned."""

    group: str
    lang: Lang  # of the page; "" where only other pages are spoken of
    page: int  # which page: the hash of its URL; 0 likewise
    data: bytes


@dataclass(frozen=True, slots=True)
class Versions:
    """What a page, or a sitemap, says of the versions that a page has.

    `source` is the page of which a sitemap speaks, and None where another page does.
    """

    source: str | None
    urls: Mapping[Lang, tuple[str, ...]]


_HEAD = struct.Struct("<I")


def encode(features: PageFeatures | None, versions: Versions) -> bytes:
    """A record's bytes: JSON for what is text, then the arrays of the features."""
    fields: dict[str, object] = {"source": versions.source, "urls": versions.urls}
    if features is not None:
        fields |= {
            name: getattr(features, name)
            for name in ("url", "site", "lang", "digest", "family", "size")
        }
    head = json.dumps(fields, separators=(",", ":")).encode()
    arrays = b"" if features is None else pack(replace(features, declared=()))
    return b"".join((_HEAD.pack(len(head)), head, arrays))


def decode(data: bytes) -> tuple[PageFeatures | None, Versions]:
    """What `encode` made bytes of; the features are without handle and declarations."""
    end = _HEAD.size + _HEAD.unpack_from(data)[0]
    fields = json.loads(data[_HEAD.size : end])
    urls = {lang: tuple(found) for lang, found in fields.pop("urls").items()}
    versions = Versions(fields.pop("source"), urls)
    if not fields:
        return None, versions
    return unpack(data[end:], handle="", **fields), versions


# ---------------------------------------------------------------- pieces → records


class Extractor:
    """Pages to records, for any number of languages at once."""

    def __init__(self, langs: Sequence[Lang]) -> None:
        self.langs = tuple(langs)
        self._featurizers = {
            lang: Featurizer(LangPair(lang, next(o for o in langs if o != lang)))
            for lang in langs
        }

    def records(self, item: Page | PlainText, counts: Counter[str]) -> Iterator[Record]:
        """What a page tells; reasons why it tells nothing are counted."""
        if isinstance(item, PlainText):
            reading = Reading(build_text_document(item.url, item.text))
        else:
            reading = read_page(item)
        if reading.reason:
            counts[f"align/dropped/{reading.reason}"] += 1
        if reading.document is not None:
            counts["pages"] += 1
            yield from self._of_document(reading.document, counts)
        elif reading.sitemap is not None:
            for link in reading.sitemap.links:
                if link.rel == "alternate" and link.source_url and link.hreflang:
                    said = Versions(link.source_url, {link.hreflang: (link.url,)})
                    group = group_key(site_of(link.source_url))
                    yield Record(group, "", 0, encode(None, said))

    def _of_document(
        self, document: Document, counts: Counter[str]
    ) -> Iterator[Record]:
        lang = document.lang
        said = Versions(
            None,
            {
                other: found
                for other in self.langs
                if other != lang
                and (found := declared_versions(document.links, other, self.langs))
            },
        )
        if lang is not None and lang in self._featurizers:
            features = self._featurizers[lang].featurize(document)
            group, page = group_key(document.site), hash64(document.url)
            yield Record(group, lang, page, encode(features, said))
        else:
            counts["align/dropped/language"] += 1
        if len(said.urls) > 1:  # a page in a third language may know both versions
            groups = {
                group_key(site_of(u[0])) for u in said.urls.values() if len(u) == 1
            }
            for group in sorted(groups):
                yield Record(group, "", 0, encode(None, said))


@dataclass(slots=True)
class Extraction:
    """What a piece holds beside its records; complete when they have been read."""

    counts: Counter[str] = field(default_factory=Counter)
    revisits: list[Revisit] = field(default_factory=list)
    found: set[str] = field(default_factory=set)  # URLs of revisits, with their page


def extract(
    piece: Piece,
    extractor: Extractor,
    extraction: Extraction,
    revisits: Revisits | None = None,
) -> Iterator[Record]:
    """The records of a piece; with `revisits`, of the pages that stand for those."""
    for item in read_piece(piece, extraction.counts, revisits):
        if isinstance(item, Revisit):
            extraction.revisits.append(item)
            continue
        if revisits is not None:
            extraction.found.add(item.url)
        yield from extractor.records(item, extraction.counts)


# ---------------------------------------------------------------- records → pairs


def pairs_of(langs: Sequence[Lang]) -> list[LangPair]:
    """Every combination of languages, in the order in which they were named.

    >>> [str(pair) for pair in pairs_of(["en", "is", "pl"])]
    ['en,is', 'en,pl', 'is,pl']
    """
    return [LangPair(src, trg) for src, trg in combinations(langs, 2)]


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The pairs of a group, by site and then best first, and what they taught."""

    pairs: list[PairScore]
    learned: Lexicon
    counts: Counter[str]


def align_group(
    records: Iterable[bytes],
    langs: LangPair,
    profile: AlignProfile,
    known: Lexicon | None = None,
    *,
    spill: Path | None = None,
    site: Site | None = None,
) -> GroupResult:
    """Pair the pages of a group. `spill`: a folder, for one too large for memory.

    `site`: the group is one, whatever sites its pages are of.
    """
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        store = None
        if spill is not None:
            folder = TemporaryDirectory(prefix="bifocal-", dir=spill)
            store = Path(stack.enter_context(folder), "group.sqlite")
        aligner = stack.enter_context(Aligner(langs, profile, store=store, known=known))
        for data in records:
            features, versions = decode(data)
            if features is not None and features.lang in langs:
                declared = versions.urls.get(langs.other(features.lang), ())
                handle = handle_of(features.url, tuple(langs)).text
                features = replace(
                    features,
                    site=site or features.site,
                    handle=handle,
                    declared=declared,
                )
                taken = aligner.store.put(features)
                if taken is None:  # what it declares holds, whichever came first
                    aligner.store.declare(features.url, declared)
                if site is not None:
                    counts["align/across"] += taken is not None
                elif taken is None:
                    counts["align/dropped/duplicate"] += 1
                else:
                    counts["align/pages"] += 1
            elif versions.source is None:
                src, trg = (versions.urls.get(lang, ()) for lang in langs)
                if len(src) == 1 and trg:
                    aligner.store.declare(src[0], trg)
            else:
                for lang in langs:
                    aligner.store.declare(versions.source, versions.urls.get(lang, ()))
        pairs = aligner.finish()
        counts.update(aligner.counts)
        learned = aligner.learned or Lexicon.empty(langs)
        return GroupResult(pairs, learned, counts)
