from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.aligner.features import Featurizer
from crawler.aligner.store import PageStore
from crawler.data import LangPair
from crawler.extract.document import build_document
from crawler.urls import url_key
from tests.worlds import build_site

LANGS = LangPair("en", "is")


@pytest.fixture
def store(tmp_path):
    store = PageStore.open(LANGS, tmp_path / "aligner.sqlite")
    yield store
    store.close()


def pages_of(**options):
    featurizer = Featurizer(LANGS)
    pages = (build_document(page) for page in build_site(**options).pages())
    return [featurizer.featurize(page) for page in pages if page]


def test_the_smaller_digest_of_a_url_stays(store):
    page = pages_of(concepts=1)[0]
    later, earlier = replace(page, digest="b"), replace(page, digest="a")
    assert store.put(later) == store.put(earlier)  # the same page, so the same id
    assert store.put(later) is None
    (row,) = store.rows(page.site)
    assert row.digest == "a"


def test_a_page_is_found_by_the_handle_of_its_other_version(store):
    english, icelandic = pages_of(concepts=1)
    page = store.put(icelandic)
    assert store.same_handle(english.handle, "is", 5) == [page]
    assert store.same_handle(english.handle, "en", 5) == []


def test_declared_links_lead_both_ways(store):
    english, icelandic = pages_of(concepts=1, style="slug", hreflang=True)
    ids = [store.put(english), store.put(icelandic)]
    assert store.declared_by(english.url, "is", 5) == [ids[1]]
    assert store.declaring(english.url, "is", 5) == [ids[1]]
    assert set(store.declarations(english.site)) == {tuple(ids), tuple(ids[::-1])}


def test_rows_come_by_url_whatever_the_order_of_putting(store):
    pages = pages_of(concepts=8)
    for page in reversed(pages):
        store.put(page)
    urls = [row.url for row in store.rows(pages[0].site)]
    assert urls == sorted(page.url for page in pages)


def test_the_best_pair_of_a_page_is_remembered(store):
    store.emit(1, 2, 0.6)
    store.emit(1, 3, 0.8)
    assert [store.best_emitted(page) for page in (1, 2, 3, 4)] == [0.8, 0.6, 0.8, 0]


@pytest.mark.parametrize(
    "other",
    [
        "http://town.example/a",
        "https://www.town.example/a/",
        "https://town.example/a/index.html",
    ],
)
def test_addresses_of_one_page_have_one_key(other):
    assert url_key(other) == url_key("https://town.example/a/")
    assert url_key(other) != url_key("https://town.example/b/")


def test_links_to_pages_that_are_not_here_are_told_too(store):
    english, icelandic = pages_of(concepts=1, style="slug", hreflang=True)
    one = store.put(english)
    named = [ends for *_, ends in store.versions(english.site)]
    assert named == [None]
    other = store.put(icelandic)
    found = {(source, target) for source, _, target in store.versions(english.site)}
    assert found == {(one, other), (other, one)}


def test_links_are_checked_by_the_pairs_that_were_given(store):
    english, icelandic = pages_of(concepts=1, style="slug", hreflang=True)
    one = store.put(english)
    assert store.checked_links(english.site) == (0, 0)
    other = store.put(icelandic)
    assert store.checked_links(english.site) == (0, 1)
    store.emit(one, other, 0.9)
    assert store.checked_links(english.site) == (1, 1)
