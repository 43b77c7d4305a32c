"""The steps from pages to pairs, the same on one machine and on a cluster.

    Piece ──extract──▶ PageRecord ──by group──▶ align_group ──▶ pairs of its sites

The pairs follow from the pages alone: the order of the records of a group and their
distribution over pieces do not matter. A group holds all sites that may be one
(`crawler.groups.group_key`): a name under any public suffix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from crawler.aligner.aligner import Aligner
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.features import Featurizer
from crawler.aligner.profile import AlignProfile
from crawler.data import Document, Lang, LangPair, Page, PairScore, Rel, Site
from crawler.extract.bounded import PageReader
from crawler.extract.convert import as_html
from crawler.extract.detectors.open import DetectorConfig, open_detector
from crawler.extract.document import Reading, read_page
from crawler.extract.plain import build_text_document
from crawler.groups import group_key
from crawler.protocols import LanguageDetector
from crawler.realign.records import PageRecord, Versions, decode, encode
from crawler.switchers import declared_versions, versions_of_others
from crawler.urls import hash64, site_of
from crawler.warc.inputs import Piece, Revisit, Revisits, read_piece
from crawler.warc.text_columns import PlainText

# ---------------------------------------------------------------- pieces → records


class Extractor:
    """Pages to records, for any number of languages at once.

    `documents`: read PDF and office files, too. `head`: see `Featurizer`.
    """

    def __init__(
        self,
        langs: Sequence[Lang],
        *,
        documents: bool = False,
        languages: DetectorConfig | None = None,
        head: bool = False,
    ) -> None:
        self.langs = tuple(langs)
        self._head = head
        self._documents = documents
        self._languages = languages

    @cached_property
    def _detector(self) -> LanguageDetector:
        return open_detector(self.langs, self._languages)

    @cached_property
    def _featurizers(self) -> dict[Lang, Featurizer]:
        return {
            lang: Featurizer(
                LangPair(lang, next(o for o in self.langs if o != lang)),
                head=self._head,
            )
            for lang in self.langs
        }

    def records(
        self,
        item: Page | PlainText,
        counts: Counter[str],
        reader: PageReader | None = None,
    ) -> Iterator[PageRecord]:
        """The records of a page; a reason for there being none is counted."""
        reader = reader or PageReader()
        reading = reader.read(item.url, partial(self._read, item, counts))
        if reading.reason:
            counts[f"align/dropped/{reading.reason}"] += 1
        if reading.document is not None:
            counts["pages"] += 1
            for document in reading.documents:
                yield from self._of_document(document, counts)
        elif reading.sitemap is not None:
            for link in reading.sitemap.links:
                if link.rel == Rel.ALTERNATE and link.source_url and link.hreflang:
                    said = Versions(link.source_url, {link.hreflang: (link.url,)})
                    group = group_key(site_of(link.source_url))
                    yield PageRecord(group, None, None, encode(None, said))

    def _read(self, item: Page | PlainText, counts: Counter[str]) -> Reading:
        if isinstance(item, PlainText):
            return Reading(build_text_document(item.url, item.text, self._detector))
        page = as_html(item, counts) if self._documents else item
        return read_page(page, detector=self._detector, langs=self.langs)

    def _of_document(
        self, document: Document, counts: Counter[str]
    ) -> Iterator[PageRecord]:
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
            yield PageRecord(group, lang, page, encode(features, said))
        else:
            counts["align/dropped/language"] += 1
        listed = versions_of_others(document.links, document.url, self.langs)
        others = [
            Versions(None, {lang: (url,) for lang, url in urls.items()})
            for urls in listed
        ]
        if len(said.urls) > 1:  # a page in a third language may know both versions
            others.append(said)
        for versions in others:
            groups = {
                group_key(site_of(u[0])) for u in versions.urls.values() if len(u) == 1
            }
            for group in sorted(groups):
                yield PageRecord(group, None, None, encode(None, versions))


@dataclass(slots=True)
class Extraction:
    """The findings in a piece beside its records; complete when these are read."""

    counts: Counter[str] = field(default_factory=Counter)
    revisits: list[Revisit] = field(default_factory=list)
    found: set[str] = field(
        default_factory=set
    )  # URLs of revisits whose page was found


def extract(
    piece: Piece,
    extractor: Extractor,
    extraction: Extraction,
    revisits: Revisits | None = None,
    reader: PageReader | None = None,
) -> Iterator[PageRecord]:
    """The records of a piece; with `revisits`, those of the pages that these repeat."""
    for item in read_piece(piece, extraction.counts, revisits):
        if isinstance(item, Revisit):
            extraction.revisits.append(item)
            continue
        if revisits is not None:
            extraction.found.add(item.url)
        yield from extractor.records(item, extraction.counts, reader)


# ---------------------------------------------------------------- records → pairs


UrlPair = tuple[str, str]
UrlVerdicts = Mapping[UrlPair, float | None]  # None: not enough evidence


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The pairs of a group, by site and then best first, and the learned lexicon."""

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
    """Pair the pages of a group. `spill`: a folder for a group too large for memory.

    `site`: treat all pages as pages of this site.
    """
    with _filled(records, langs, profile, known, spill=spill, site=site) as aligner:
        pairs = aligner.finish()
        learned = aligner.learned or Lexicon.empty(langs)
        return GroupResult(pairs, learned, aligner.counts)


def judge_group(
    records: Iterable[bytes],
    langs: LangPair,
    profile: AlignProfile,
    known: Lexicon | None,
    asked: Sequence[UrlPair],
    *,
    spill: Path | None = None,
) -> UrlVerdicts:
    """What the aligner says of pairs of addresses of a group; `known`: all it knows."""
    with _filled(records, langs, profile, known, spill=spill) as aligner:
        return dict(zip(asked, aligner.verdicts(asked), strict=True))


@contextmanager
def _filled(
    records: Iterable[bytes],
    langs: LangPair,
    profile: AlignProfile,
    known: Lexicon | None,
    *,
    spill: Path | None,
    site: Site | None = None,
) -> Iterator[Aligner]:
    """An aligner that has the pages of a group."""
    with ExitStack() as stack:
        store = None
        if spill is not None:
            folder = TemporaryDirectory(prefix="bifocal-", dir=spill)
            store = Path(stack.enter_context(folder), "group.sqlite")
        aligner = stack.enter_context(Aligner(langs, profile, store=store, known=known))
        counts = aligner.counts
        for data in records:
            page, versions = decode(data, langs)
            if page is not None:
                taken = aligner.store.put(replace(page, site=site or page.site))
                if taken is None:  # its declarations hold, whichever came first
                    aligner.store.declare(page.url, page.declared)
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
        yield aligner
