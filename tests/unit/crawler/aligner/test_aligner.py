from __future__ import annotations

import random
from dataclasses import replace

import pytest

from crawler.aligner.aligner import Aligner
from crawler.aligner.profile import AlignProfile
from crawler.data import Document, LangPair
from crawler.errors import RunDirError
from crawler.extract.document import build_document
from tests.worlds import Site, build_site

LANGS = LangPair("en", "is")


def documents(site: Site) -> list[Document]:
    found = [build_document(page) for page in site.pages()]
    return [document for document in found if document]


def accepted(aligner: Aligner) -> set[tuple[str, str]]:
    return {(pair.src_url, pair.trg_url) for pair in aligner.finish()}


def align(site: Site, langs: LangPair = LANGS) -> set[tuple[str, str]]:
    with Aligner(langs) as aligner:
        for document in documents(site):
            aligner.add(document)
        return accepted(aligner)


@pytest.mark.parametrize(
    "style", ["dir", "default", "suffix", "query", "subdomain", "slug"]
)
def test_every_way_to_write_a_language_gives_the_true_pairs(style):
    switcher = "page" if style == "slug" else "none"
    site = build_site(style=style, concepts=40, switcher=switcher, untranslated=0.3)
    assert align(site) == site.gold("en", "is")


def test_pages_are_paired_by_content_where_neither_url_nor_link_tells():
    site = build_site(style="slug", concepts=60, switcher="none", untranslated=0.3)
    gold = site.gold("en", "is")
    found = align(site)
    assert len(found & gold) >= 0.9 * len(gold)
    assert len(found - gold) <= 0.05 * len(found)


def test_how_far_off_the_next_page_is_says_no_more_than_that_it_is_far_off():
    site = build_site(style="slug", concepts=20, switcher="none", untranslated=0.3)
    with Aligner(LANGS) as aligner:
        for document in documents(site):
            aligner.add(document)
        pairs = aligner.finish()
    margins = [p.features[f"margin.{side}"] for p in pairs for side in ("src", "trg")]
    assert max(margins) == AlignProfile().evidence.margin_cap


def test_all_pairs_of_a_small_site_teach():
    # ten of them: 60 % would be fewer than the eight that a lexicon takes
    site = build_site(style="dir", concepts=10, switcher="none", untranslated=0.0)
    with Aligner(LANGS) as aligner:
        for document in documents(site):
            aligner.add(document)
        assert accepted(aligner) == site.gold("en", "is")
        assert aligner.learned


def test_pages_of_a_third_language_are_in_no_pair():
    site = build_site(concepts=30, others=("es", "fr"), others_share=1.0)
    assert align(site) == site.gold("en", "is")


def test_a_pair_comes_out_as_soon_as_its_second_page_is_in():
    site = build_site(style="dir", concepts=12)
    with Aligner(LANGS) as aligner:
        late = 0
        for document in documents(site):
            pairs = aligner.add(document)
            if document.lang == "is":
                late += not any(pair.trg_url == document.url for pair in pairs)
            else:
                assert pairs == []
    assert late == 0


def test_a_pair_names_the_n_best_of_both_pages_if_asked():
    pages = documents(build_site(style="slug", concepts=40, switcher="none"))
    found = {}
    for n in (0, 2):
        profile = AlignProfile(n_best=n, min_score=1e-9, min_share=0.0)
        with Aligner(LANGS, profile) as aligner:
            for document in pages:
                aligner.add(document)
            found[n] = aligner.finish()
    assert [(p.src_url, p.trg_url, p.score) for p in found[0]] == [
        (p.src_url, p.trg_url, p.score) for p in found[2]
    ]
    assert not any(p.src_n_best or p.trg_n_best for p in found[0])
    for pair in found[2]:
        assert 1 <= len(pair.src_n_best) <= 2
        assert (pair.trg_url, pair.score) in pair.src_n_best
        assert (pair.src_url, pair.score) in pair.trg_n_best
        scores = [score for _, score in pair.src_n_best]
        assert scores == sorted(scores, reverse=True)
    assert any(len(pair.src_n_best) == 2 for pair in found[2])


def test_finish_does_not_depend_on_the_order_of_the_pages():
    site = build_site(
        style="slug",
        concepts=40,
        untranslated=0.3,
        near_duplicates=0.3,
        switcher="none",
    )
    pages = documents(site)
    results = []
    for seed in range(3):
        random.Random(seed).shuffle(pages)
        with Aligner(LANGS) as aligner:
            for document in pages:
                aligner.add(document)
            results.append(aligner.finish())
    assert results[0] == results[1] == results[2]
    assert results[0]


def test_a_url_that_comes_twice_changes_nothing():
    pages = documents(build_site(concepts=12))
    changed = [
        replace(page, tokens=("", "<br") * 5, chunks=page.chunks[:5], digest="~")
        for page in pages
    ]
    with Aligner(LANGS) as once, Aligner(LANGS) as twice, Aligner(LANGS) as before:
        for page in pages:
            once.add(page)
        for page in pages + pages + changed:
            twice.add(page)
        for page in changed + pages:
            before.add(page)
        assert once.finish() == twice.finish() == before.finish()


def test_a_declared_copy_that_nobody_translated_is_refused():
    site = build_site(style="default", concepts=12, hreflang=True)
    pages = {page.url: page for page in documents(site)}
    english, icelandic = (site.url(5, lang) for lang in ("en", "is"))
    copy = replace(
        pages[icelandic],
        tokens=pages[english].tokens,
        chunks=pages[english].chunks,
        digest="copy",
    )
    with Aligner(LANGS) as aligner:
        for page in pages.values():
            aligner.add(copy if page.url == icelandic else page)
        assert accepted(aligner) == site.gold("en", "is") - {(english, icelandic)}


def test_a_copy_of_a_page_is_named_as_its_twin_and_not_paired_again():
    site = build_site(style="dir", concepts=30)
    pages = documents(site)
    print_view = replace(pages[8], url=pages[8].url + "?print=1")
    with Aligner(LANGS) as aligner:
        for page in [*pages, print_view]:
            aligner.add(page)
        found = aligner.finish()
    assert {(p.src_url, p.trg_url) for p in found} == site.gold("en", "is")
    (pair,) = (p for p in found if pages[8].url in (p.src_url, p.trg_url))
    assert (print_view.url,) in (pair.src_twins, pair.trg_twins)


def test_a_sitemap_declares_pairs_that_nothing_else_shows():
    site = build_site(style="slug", concepts=12, switcher="none")
    url_a, url_b = site.url(7, "en"), site.url(7, "is")
    with Aligner(LANGS) as aligner:
        for page in documents(site):
            aligner.add(page)
        pairs = aligner.declare(url_a, url_b, "is")
        assert [(pair.src_url, pair.trg_url) for pair in pairs] == [(url_a, url_b)]
        assert (url_a, url_b) in accepted(aligner)


def test_pages_that_came_together_complete_the_same_pairs():
    pages = documents(build_site(concepts=12))

    def given(aligner, together):
        for start in range(0, len(pages), together):
            added = [aligner.put(p) for p in pages[start : start + together]]
            for pairs in aligner.compare(added):
                yield [(pair.src_url, pair.trg_url) for pair in pairs]

    with Aligner(LANGS) as alone, Aligner(LANGS) as together:
        found = list(given(alone, 1))
        assert sum(map(len, found)) == 12
        assert list(given(together, 5)) == found
        assert together.finish() == alone.finish()


def test_a_page_may_be_replaced_before_another_is_compared_with_it():
    english, icelandic = documents(build_site(concepts=1))
    other = replace(icelandic, digest="")  # the smaller one counts
    with Aligner(LANGS) as aligner:
        added = [aligner.put(page) for page in (icelandic, english, other)]
        found = [pair for pairs in aligner.compare(added) for pair in pairs]
        assert {(p.src_url, p.trg_url) for p in found} == {(english.url, other.url)}


def test_a_stopped_crawl_goes_on_with_the_same_file(tmp_path):
    pages = documents(build_site(concepts=20))
    with Aligner(LANGS) as whole:
        for page in pages:
            whole.add(page)
        expected = whole.finish()
    path = tmp_path / "aligner.sqlite"
    with Aligner(LANGS, store=path) as first:
        for page in pages[:15]:
            first.add(page)
    with Aligner(LANGS, store=path) as second:
        for page in pages[10:]:
            second.add(page)
        assert second.finish() == expected


def test_the_file_of_another_language_pair_is_refused(tmp_path):
    path = tmp_path / "aligner.sqlite"
    Aligner(LANGS, store=path).close()
    with pytest.raises(RunDirError, match=r"langs is en,is, not en,fr"):
        Aligner(LangPair("en", "fr"), store=path).open()


def test_two_sites_do_not_meet():
    one, two = build_site("one.example", concepts=8), build_site("two.example")
    english = [page for page in documents(one) if page.lang == "en"]
    icelandic = [page for page in documents(two) if page.lang == "is"]
    with Aligner(LANGS) as aligner:
        for page in english + icelandic:
            assert aligner.add(page) == []
        assert aligner.finish() == []


def test_a_verdict_tells_a_pair_from_two_pages_and_from_too_little_evidence():
    site = build_site(style="slug", concepts=60, switcher="page", untranslated=0.3)
    english = [page for page in documents(site) if page.lang == "en"]
    gold = dict(site.gold("en", "is"))
    with Aligner(LANGS) as aligner:
        assert aligner.verdict(*next(iter(gold.items()))) is None  # neither is known
        for document in documents(site):
            aligner.add(document)
        right = aligner.verdicts([*gold.items()])
        # nobody names these pairs; that they are wrong is learned from the others
        wrong = aligner.verdicts([*zip(gold, [*gold.values()][1:])])
        same = aligner.verdict(english[0].url, english[1].url)
    assert same == 0.0
    assert sum(p is not None and p > 0.8 for p in right) >= 0.9 * len(right)
    assert sum(p is not None and p < 0.2 for p in wrong) >= 0.9 * len(wrong)


def test_two_pages_whose_words_no_lexicon_covers_are_not_refused_yet():
    site = build_site(style="slug", concepts=2, switcher="none", untranslated=0.0)
    with Aligner(LANGS) as aligner:
        for document in documents(site):
            aligner.add(document)
        verdicts = aligner.verdicts([*site.gold("en", "is")])
    assert verdicts
    assert all(verdict is None or verdict >= 0.5 for verdict in verdicts)
