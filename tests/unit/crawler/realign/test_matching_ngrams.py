from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile
from crawler.config import Plugin
from crawler.realign.matching_ngrams import MatchingNgrams, group
from crawler.realign.records import Versions, encode
from crawler.urls import hash64
from tests.lexicons import LANGS, features

ORDER, MOST, BEST = 2, 6, 2
PROFILE = AlignProfile(
    search=Plugin(
        "shingles",
        {"matching_order": ORDER, "max_pages": MOST, "nearest": {"n_best": BEST}},
    )
)


def collection(chance: random.Random) -> dict[str, tuple[str, list[str]]]:
    """URL → language and words; languages share words, as if translated."""
    words = [f"w{n}" for n in range(60)]
    return {
        f"https://{n}.example/": (
            chance.choice([*LANGS]),
            chance.choices(words, k=chance.randrange(2, 40)),
        )
        for n in range(80)
    }


def record(url: str, lang: str, words: list[str]) -> bytes:
    made = replace(features(" ".join(words), lang), url=url)
    return encode(made, Versions(None, {}))


def carried(records: list[bytes], shards: int, chance: random.Random) -> set:
    """The pairs of pages that come out, rows shuffled on the way."""
    matching = MatchingNgrams(PROFILE, len(records), shards)
    chance.shuffle(records)
    third = len(records) // 3
    rows = defaultdict(list)
    for part in (records[:third], records[third:]):
        for shard, found in matching.post(part, LANGS, Lexicon.empty(LANGS)):
            rows[shard].append(found)
    for step in MatchingNgrams.STEPS:
        sent = defaultdict(list)
        for shard in chance.sample(sorted(rows), len(rows)):
            assert shard < shards
            for target, found in matching.run(step, rows[shard]):
                sent[target].append(chance.choice([found, found[::-1]]))
        rows = sent
    return {tuple(pair) for found in rows[0] for pair in found.tolist()}


def by_hand(pages: dict[str, tuple[str, list[str]]]) -> set:
    """The same by dictionaries."""
    postings = defaultdict(set)
    for url, (_, words) in pages.items():
        for start in range(len(words) - ORDER + 1):
            postings[tuple(words[start : start + ORDER])].add(url)
    idf = {gram: log(len(pages) / len(p)) for gram, p in postings.items()}
    weights = {gram: round(1024 * idf[gram] ** 2) for gram in idf}
    shared, whole = defaultdict(int), defaultdict(int)
    for gram, posting in postings.items():
        if len(posting) <= MOST:
            for url in posting:
                whole[url] += weights[gram]
                for other in posting:
                    if pages[url][0] == LANGS.src and pages[other][0] == LANGS.trg:
                        shared[url, other] += weights[gram]
    cosines = {(s, t): w / sqrt(whole[s] * whole[t]) for (s, t), w in shared.items()}
    best = []
    for place in (0, 1):
        lists = defaultdict(list)
        for pair, cosine in cosines.items():
            lists[pair[place]].append((-cosine, hash64(pair[1 - place]), pair))
        best.append({p for found in lists.values() for *_, p in sorted(found)[:BEST]})
    return {(hash64(src), hash64(trg)) for src, trg in best[0] & best[1]}


@pytest.mark.parametrize("seed", range(3))
def test_shards_and_order_change_nothing(seed):
    chance = random.Random(seed)
    pages = collection(chance)
    records = [record(url, lang, words) for url, (lang, words) in pages.items()]
    expected = by_hand(pages)
    assert len(expected) > 10
    for shards in (1, 2, 13):
        assert carried([*records, records[0]], shards, chance) == expected


def test_pages_in_a_chain_are_one_group_and_small_groups_are_joined():
    pairs = np.array(
        [(1, 2), (3, 2), (10, 11), (20, 21)], [("src", "u8"), ("trg", "u8")]
    )
    pages, groups = group(pairs, 3)
    assert pages.tolist() == [1, 2, 3, 10, 11, 20, 21]
    assert groups.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert group(pairs, 100)[1].tolist() == [0] * 7
    assert [len(found) for found in group(pairs[:0], 3)] == [0, 0]
