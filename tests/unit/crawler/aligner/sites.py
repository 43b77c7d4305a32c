"""Small made-up sites as the stages of the aligner see them."""

from __future__ import annotations

import weakref
from collections import Counter
from dataclasses import replace

from crawler.aligner.aligner import Aligner
from crawler.aligner.collection import Collection
from crawler.aligner.evidence import SiteTexts
from crawler.aligner.profile import AlignProfile
from crawler.data import Document, LangPair
from crawler.extract.document import build_document
from tests.worlds import Site

LANGS = LangPair("en", "is")


def documents(site: Site) -> list[Document]:
    found = [build_document(page) for page in site.pages()]
    return [document for document in found if document]


def with_copies(found: list[Document]) -> list[Document]:
    """Some pages, and every fourth of them at another address besides."""
    copies = [replace(d, url=f"{d.url}-copy", links=()) for d in found[::4]]
    return [*found, *copies]


def aligner_of(
    pages: Site | list[Document], profile: AlignProfile | None = None
) -> Aligner:
    """An aligner that has every page of a site; it is closed with its last use."""
    aligner = Aligner(LANGS, profile)
    weakref.finalize(aligner, aligner.store.close)
    for document in pages if isinstance(pages, list) else documents(pages):
        aligner.put(document)
    return aligner


def collection_of(aligner: Aligner) -> Collection:
    [site] = aligner.store.sites()
    return Collection.of(aligner.store, site, aligner.profile.boilerplate)


def texts_of(aligner: Aligner, counts: Counter[str] | None = None) -> SiteTexts:
    counts = Counter() if counts is None else counts
    pages = collection_of(aligner)
    return SiteTexts.of(pages, aligner.generators, aligner.profile, counts)


def urls_of(texts: SiteTexts, pairs) -> set[tuple[str, str]]:
    url = texts.collection.url
    return {(url(src), url(trg)) for src, trg in pairs}
