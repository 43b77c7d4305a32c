from __future__ import annotations

from collections import Counter

from crawler.aligner.profile import AlignProfile
from crawler.aligner.site import align_first_look, align_site
from tests.unit.crawler.aligner.sites import (
    aligner_of,
    collection_of,
    documents,
    with_copies,
)
from tests.worlds import build_site

SITE = build_site(style="dir", concepts=25, untranslated=0.2)
ALIGNER = aligner_of(with_copies(documents(SITE)))
PAGES = collection_of(ALIGNER)


def aligned(profile: AlignProfile | None = None, **options):
    counts = options.pop("counts", Counter())
    return align_site(
        PAGES, ALIGNER.generators, profile or AlignProfile(), counts, **options
    )


RESULT = aligned()


def test_pairs_come_best_first_and_each_page_once():
    scores = [pair.score for pair in RESULT.pairs]
    assert scores == sorted(scores, reverse=True)
    ends = [page for pair in RESULT.accepted for page in pair]
    assert len(ends) == len(set(ends))
    assert {(p.src_url, p.trg_url) for p in RESULT.pairs} == SITE.gold("en", "is")


def test_page_numbers_and_urls_say_the_same():
    for (src, trg), pair in RESULT.accepted.items():
        assert (PAGES.url(src), PAGES.url(trg)) == (pair.src_url, pair.trg_url)


def test_copies_of_a_page_are_named_as_its_twins():
    twins = [page for p in RESULT.pairs for page in (*p.src_twins, *p.trg_twins)]
    assert twins
    assert all(page.endswith("-copy") for page in twins)
    for (src, _), pair in RESULT.accepted.items():
        members = {PAGES.url(page) for page in RESULT.clusters.members(src)}
        assert members == {pair.src_url, *pair.src_twins}


def test_every_accepted_pair_was_scored_and_passes_the_threshold():
    assert RESULT.accepted.keys() <= RESULT.scores.keys()
    assert all(pair.score >= AlignProfile().min_score for pair in RESULT.pairs)
    assert all(pair.score >= AlignProfile().floor for pair in RESULT.scores.values())


def test_aligning_twice_gives_the_same_and_changes_nothing():
    counts = [Counter(), Counter()]
    first, second = (aligned(counts=c) for c in counts)
    assert first.pairs == second.pairs == RESULT.pairs
    assert first.learned.digest == second.learned.digest == RESULT.learned.digest
    assert counts[0] == counts[1]


def test_what_was_given_is_part_of_what_was_used_and_not_of_what_was_learned():
    again = aligned(known=RESULT.learned)
    assert again.lexicon.count.sum() > again.learned.count.sum()
    assert RESULT.lexicon is RESULT.learned


def test_a_first_look_pairs_by_content_alone():
    found = align_first_look(PAGES, AlignProfile())
    assert found.pairs
    assert {name for pair in found.pairs for name in pair.found_by} == {"words"}
    gold = SITE.gold("en", "is")
    right = sum((p.src_url, p.trg_url) in gold for p in found.pairs)
    assert right >= 0.8 * len(found.pairs)


def test_pages_whose_own_version_is_not_here_are_not_paired_with_others():
    site = build_site(style="dir", concepts=40, switcher="page")
    gold = sorted(site.gold("en", "is"))
    kept = {url for pair in gold[:5] for url in pair}
    kept |= {pair[n % 2] for n, pair in enumerate(gold[5:])}
    aligner = aligner_of([d for d in documents(site) if d.url in kept])
    found = align_site(
        collection_of(aligner), aligner.generators, AlignProfile(), Counter()
    )
    assert {(p.src_url, p.trg_url) for p in found.pairs} == {*gold[:5]}


def test_a_first_look_leaves_pages_alone_that_name_another_version():
    pages = [d for d in documents(SITE) if d.lang == "en"]
    others = [d for d in documents(SITE) if d.lang == "is"]
    ends = aligner_of([*pages[::2], *others[1::2]])
    unsure = align_first_look(collection_of(ends), AlignProfile())
    sure = align_first_look(collection_of(ends), AlignProfile(), trust=4.0)
    gold = SITE.gold("en", "is")
    assert {(p.src_url, p.trg_url) for p in unsure.pairs} - gold
    assert {(p.src_url, p.trg_url) for p in sure.pairs} <= gold
