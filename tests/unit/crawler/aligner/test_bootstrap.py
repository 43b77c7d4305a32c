from __future__ import annotations

import random
from dataclasses import replace

import pytest

from crawler.aligner.bootstrap import (
    Knowledge,
    Lesson,
    bootstrap,
    compare,
    compare_by_shape,
    learn,
    neighbours,
)
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile, BootstrapConfig
from tests.lexicons import LANGS, lexicon
from tests.unit.crawler.aligner.sites import aligner_of, documents, texts_of, urls_of
from tests.worlds import build_site

# no URL and no link says anything: all is found by content
SITE = build_site(style="slug", concepts=30, switcher="none", untranslated=0.2)
TEXTS = texts_of(aligner_of(SITE))
GOLD = SITE.gold("en", "is")
START = Knowledge.before(TEXTS, None)


def with_config(**options) -> object:
    config = replace(BootstrapConfig(), **options)
    return replace(TEXTS, profile=AlignProfile(bootstrap=config))


def rows(found) -> dict:
    return {pair: (s.score, s.features) for pair, s in found.scores.items()}


def test_the_first_round_finds_seeds_that_are_right():
    found, known = compare(TEXTS, START, seeding=True)
    seeds = urls_of(TEXTS, found.accepted(TEXTS, known.clusters))
    assert len(seeds & GOLD) >= 0.9 * len(seeds) >= 0.9 * 8
    assert {name for s in found.scores.values() for name in s.found_by} == {"words"}


def test_a_round_changes_nothing_that_it_was_given():
    before = START.clusters.sets(), dict(START.segments), START.lexicon
    first, known = compare(TEXTS, START, seeding=True)
    again, _ = compare(TEXTS, START, seeding=True)
    assert rows(first) == rows(again)
    assert (START.clusters.sets(), dict(START.segments), START.lexicon) == before
    learned = known.after(learn(TEXTS, known, sorted(first.scores), 1.0, first.usual))
    assert learned.lexicon
    assert known.lexicon is None


def test_while_seeds_are_looked_for_only_mutual_neighbours_are_candidates():
    found, _ = compare(TEXTS, START, seeding=True)
    for (src, trg), cosine in found.near.pairs.items():
        assert found.near.ranked[src][0][1] == cosine == found.near.ranked[trg][0][1]


def test_more_is_found_through_what_the_first_round_taught():
    first, _ = compare(TEXTS, START, seeding=True)
    last, known = bootstrap(TEXTS, None)
    found = urls_of(TEXTS, last.accepted(TEXTS, known.clusters))
    assert len(found & GOLD) >= len(first.accepted(TEXTS, START.clusters))
    assert len(found & GOLD) >= 0.95 * len(GOLD)
    assert known.learned
    assert known.lexicon is known.learned


def test_the_rounds_depend_on_the_pages_alone():
    pages = documents(SITE)
    random.Random(3).shuffle(pages)
    texts = texts_of(aligner_of(pages))
    assert rows(bootstrap(TEXTS, None)[0]) == rows(bootstrap(texts, None)[0])


def test_a_given_lexicon_takes_the_place_of_the_first_round():
    _, known = bootstrap(TEXTS, None)
    given = known.lexicon
    last, again = bootstrap(TEXTS, given)
    assert again.given is given
    assert len(again.lexicon) >= len(given)
    assert urls_of(TEXTS, last.accepted(TEXTS, again.clusters)) >= GOLD & urls_of(
        TEXTS, compare(TEXTS, START, seeding=True)[0].scores
    )


def test_few_pairs_teach_nothing():
    found, known = compare(TEXTS, START, seeding=True)
    sure = found.accepted(TEXTS, known.clusters)
    few = TEXTS.profile.bootstrap.min_pairs - 1
    lesson = learn(TEXTS, known, sure[:few], 1.0, found.usual)
    assert not len(lesson.lexicon)
    assert learn(TEXTS, known, sure, 1.0, found.usual).lexicon


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"at_least": 8, "max_pairs": 1500}, 0.5),  # the share asked for
        ({"at_least": 1500, "max_pairs": 1500}, 1.0),  # all, where they are few
        ({"at_least": 1500, "max_pairs": 9}, 9),  # never more than this
    ],
)
def test_the_best_pairs_teach_and_how_many_says_the_profile(options, expected):
    texts = with_config(**options, max_length_difference=9.0)
    sure = sorted(compare(TEXTS, START, seeding=True)[0].scores)
    count = round(expected * len(sure)) if expected <= 1 else expected
    seeds = learn(texts, START, sure, 0.5, 0.0).seeds
    assert seeds == sure[:count]


def test_pages_of_an_unusual_length_ratio_teach_nothing():
    sure = sorted(compare(TEXTS, START, seeding=True)[0].scores)
    assert not learn(TEXTS, START, sure, 1.0, usual=5.0).seeds


def test_a_lesson_that_taught_nothing_changes_no_lexicon():
    known = replace(START, learned=lexicon(("a", "b", 2.0)), seeds=[(0, 1)])
    known = replace(known, lexicon=known.learned)
    after = known.after(Lesson(Lexicon.empty(LANGS), [], {(0, 1): []}))
    assert (after.lexicon, after.seeds) == (known.lexicon, known.seeds)
    assert after.segments == {(0, 1): []}


def test_what_earlier_sites_taught_and_this_one_are_added_up():
    given, own = lexicon(("horse", "hestur", 2.0)), lexicon(("sea", "haf", 3.0))
    after = Knowledge.before(TEXTS, given).after(Lesson(own, [], {}))
    assert len(after.lexicon) == 2
    assert after.learned is own


def test_of_a_giant_site_only_pages_without_a_partner_are_compared():
    site = build_site(style="dir", concepts=20, untranslated=0.5)
    texts = texts_of(aligner_of(site, AlignProfile(max_content_pages=2)))
    known = lexicon(("horse", "hestur", 2.0))
    partnered = {page for pair in texts.proposed for page in pair}
    near = neighbours(texts, known, seeding=True)
    assert partnered
    assert partnered.isdisjoint(page for pair in near.pairs for page in pair)
    assert not neighbours(texts, None, seeding=True).pairs


def test_shapes_are_compared_of_pages_without_a_partner_alone():
    last, known = bootstrap(TEXTS, None)
    again = compare_by_shape(TEXTS, known, last)
    paired = {page for pair in last.accepted(TEXTS, known.clusters) for page in pair}
    new = again.scores.keys() - last.scores.keys()
    assert paired.isdisjoint(page for pair in new for page in pair)
    pages = map(TEXTS.collection.features, TEXTS.sides[0])
    assert not any(map(TEXTS.profile.shapes.has_few_words, pages))
