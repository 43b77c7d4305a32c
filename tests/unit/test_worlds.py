"""The synthetic sites keep what `tests.worlds` promises."""

from __future__ import annotations

from typing import get_args

import pytest

from crawler.extract.document import build_document
from crawler.urls import canonicalize, site_of
from crawler.warc.reader import iter_pages
from tests.worlds import Style, build_site, many_sites, write_warc

STYLES = get_args(Style)


def all_options(style: str):
    return build_site(
        style=style,
        langs=("en", "is", "es"),
        others=("fr", "fi"),
        concepts=60,
        words=60,
        untranslated=0.3,
        near_duplicates=0.3,
        hreflang=True,
    )


def reachable(site, seeds: list[str]) -> set[str]:
    links = {
        page.url: [link.url for link in build_document(page).links]
        for page in site.pages()
    }
    found, waiting = set(seeds), list(seeds)
    while waiting:
        for url in links[waiting.pop()]:
            if url not in found:
                found.add(url)
                waiting.append(url)
    return found


@pytest.mark.parametrize("style", STYLES)
def test_every_page_has_one_canonical_url_and_its_language(style):
    site = all_options(style)
    pages = list(site.pages())
    langs = site.lang_by_url()
    assert [page.url for page in pages] == list(langs)
    assert all(canonicalize(url) == url for url in langs)
    assert {site_of(url) for url in langs} == {"town.example"}
    for page in pages:
        assert build_document(page).lang == langs[page.url], page.url


@pytest.mark.parametrize("style", STYLES)
def test_every_page_can_be_reached_from_home_and_no_link_is_dead(style):
    site = all_options(style)
    assert reachable(site, [site.home]) == set(site.lang_by_url())


def test_without_switcher_each_language_is_an_island():
    site = build_site(concepts=15, switcher="none")
    assert len(reachable(site, [site.home])) == 15
    assert len(reachable(site, site.seeds)) == 30


def test_true_pairs_join_the_languages_that_exist():
    site = all_options("default")
    langs = site.lang_by_url()
    gold = site.gold("en", "is")
    assert 30 < len(gold) < 60
    assert {(langs[src], langs[trg]) for src, trg in gold} == {("en", "is")}
    assert site.gold("is", "en") == {(trg, src) for src, trg in gold}


def test_translations_share_names_and_numbers_and_no_two_pages_are_alike():
    site = build_site(concepts=40, words=300)
    documents = [build_document(page) for page in site.pages()]
    assert len({document.digest for document in documents}) == len(documents)
    for concept in range(40):
        english = site.sentences(concept, "en")
        icelandic = site.sentences(concept, "is")
        assert len(english) == len(icelandic) == 25
        for one, other in zip(english, icelandic, strict=True):
            assert {w for w in one.split() if w.strip(".").isdigit()} == {
                w for w in other.split() if w.strip(".").isdigit()
            }


def test_an_untidy_site_lacks_some_sentences_and_says_some_two_in_one():
    site = build_site(concepts=40, words=300, untidy=True)
    all_beads = []
    for concept in range(40):
        texts = [" ".join(site.sentences(concept, lang)) for lang in site.langs]
        beads = site.beads(concept, *site.langs)
        assert all(a in texts[0] and b in texts[1] for a, b in beads)
        all_beads += beads
    assert len(all_beads) < 40 * 25  # of a tidy one
    assert {a.count(".") - b.count(".") for a, b in all_beads} == {-1, 0, 1}
    assert b'<html lang="en">' in site.page(3, "is").body


def test_same_options_same_bytes_another_seed_other_texts(tmp_path):
    first, second, third = (
        write_warc(tmp_path / f"{n}.warc.gz", build_site(seed=seed).pages())
        for n, seed in enumerate((1, 1, 2))
    )
    assert first.read_bytes() == second.read_bytes() != third.read_bytes()


def test_many_sites_are_many_registered_domains(tmp_path):
    kind = build_site(concepts=3)
    pages = (page for site in many_sites(5, kind) for page in site.pages())
    path = write_warc(tmp_path / "many.warc.gz", pages)
    assert len({site_of(page.url) for page in iter_pages(path)}) == 5


def test_a_language_without_phrases_is_refused():
    with pytest.raises(ValueError, match="no phrases for"):
        build_site(langs=("en", "mt"))
