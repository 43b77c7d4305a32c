from __future__ import annotations

from crawler.aligner.profile import AlignProfile
from crawler.aligner.seed_groups import merge_lexicons, seed_groups
from tests.lexicons import lexicon


def test_those_teach_that_have_most_to_teach_and_the_smallest_of_equals():
    profile = AlignProfile()
    enough = profile.bootstrap.max_pairs
    sizes = {f"s{n:02}": (20 + n, 20 + n) for n in range(20)}
    sizes |= {"giant": (90_000, 80_000), "large": (enough, enough), "few": (7, 9000)}
    chosen = seed_groups(sizes, profile)
    assert chosen == sorted(["giant", "large", *(f"s{n:02}" for n in range(6, 20))])
    assert seed_groups({"few": (7, 9000)}, profile) == []


def test_lessons_add_up():
    one, other = lexicon(("a", "b", 2.0)), lexicon(("a", "b", 1.0), ("c", "d", 1.0))
    assert merge_lexicons(None, []) is None
    both = merge_lexicons(None, [one, one + other])
    assert both is not None
    assert sorted(both.count.tolist()) == [1.0, 5.0]
    assert merge_lexicons(one, []) is one
