from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from crawler.aligner.candidates import hamming
from crawler.aligner.candidates.planner import plan, recall_of, upper_bound
from crawler.aligner.candidates.signatures import (
    SIGNATURES,
    SignaturesConfig,
    _chunks,
    minhash,
    near_signatures,
    random_projection,
    simhash,
    sliding_window,
)
from crawler.errors import ProfileError


def pairs_of_cosine(cosine: float, count: int, seed: int = 0, size: int = 300):
    """Unit vectors in pairs of about that cosine, and unrelated ones between pairs."""
    chance = np.random.default_rng(seed)
    one = chance.standard_normal((count, size))
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    noise = chance.standard_normal((count, size))
    noise -= one * (noise * one).sum(axis=1, keepdims=True)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    other = cosine * one + math.sqrt(1 - cosine**2) * noise
    return csr_matrix(one.astype(np.float32)), csr_matrix(other.astype(np.float32))


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.bitwise_count(a ^ b).sum(axis=-1, dtype=np.int64)


@pytest.mark.parametrize(("bits", "error"), [(64, 0.14), (200, 0.08), (1000, 0.04)])
def test_random_projection_estimates_the_cosine(bits, error):
    # Ture et al., table 1: mean errors .123, .069 and .033
    sides = [random_projection(side, bits, 5) for side in pairs_of_cosine(0.5, 400)]
    estimated = np.cos(math.pi * distance(*sides) / bits)
    assert np.abs(estimated - 0.5).mean() < error


def test_the_threshold_is_the_papers():
    assert SignaturesConfig().max_distance == pytest.approx(400, abs=5)
    assert math.cos(400 * math.pi / 1000) == pytest.approx(0.309, abs=0.001)


def test_minhash_agrees_as_often_as_the_sets_do():
    rows = csr_matrix(np.array([[1] * 60 + [0] * 40, [0] * 20 + [1] * 60 + [0] * 20]))
    one, other = minhash(rows, 2048, 3)
    # of the terms that differ every second has the same bit
    assert distance(one, other) / 2048 == pytest.approx((1 - 40 / 80) / 2, abs=0.03)


def test_simhash_of_equal_pages_is_equal_and_of_opposite_ones_opposite():
    vectors = csr_matrix(np.array([[1.0, 2, 4], [1, 2, 4], [-1, -2, -4]]))
    one, same, opposite = simhash(vectors, 64, 1)
    assert (one == same).all()
    assert np.bitwise_count(one ^ opposite).sum() == 64


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_what_a_signature_promises_is_near_what_it_finds(name):
    # pages of 60 terms, of which each pair shares 30 to 60
    chance = np.random.default_rng(0)
    rows = np.zeros((40, 400), np.float32)
    columns = np.zeros((40, 400), np.float32)
    for n in range(40):
        terms = chance.permutation(400)
        rows[n, terms[:60]] = 60**-0.5
        columns[n, terms[n % 30 : 60 + n % 30]] = 60**-0.5
    cosines = (rows * columns).sum(axis=1)
    expected = cosines / (2 - cosines) if name == "minhash" else cosines  # Jaccard's
    config = SignaturesConfig(signature=name, bits=2000, min_cosine=0.1, tables=0)
    pages = list(range(40)), list(range(100, 140))
    found = near_signatures(*pages, csr_matrix(rows), csr_matrix(columns), config)
    errors = [found.pairs[n, 100 + n] - expected[n] for n in range(40)]
    assert np.abs(errors).mean() < 0.04


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_the_largest_distance_is_that_of_the_least_cosine(name):
    config = SignaturesConfig(signature=name)
    least = SIGNATURES[name].cosine(config.max_distance, config.bits)
    assert least == pytest.approx(config.min_cosine, abs=0.01)
    assert least >= config.min_cosine


def test_an_unknown_signature_is_refused():
    with pytest.raises(ProfileError, match="'md5' is not one of random_projection"):
        SignaturesConfig(signature="md5")


@pytest.mark.parametrize("compiled", [True, False])
def test_both_scans_find_what_a_double_loop_finds(compiled, monkeypatch):
    if compiled:
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(hamming, "_compiled", lambda: None)
    chance = np.random.default_rng(0)
    table = chance.integers(0, 1 << 63, (40, 2), dtype=np.uint64)
    in_trg = chance.random(40) < 0.5
    every = np.bitwise_count(table[:, None] ^ table[None]).sum(axis=2)
    found = hamming.window_pairs(table, in_trg, 7, 60)
    expected = {
        (i, j, int(every[i, j]))
        for i in range(40)
        for j in range(i + 1, min(i + 8, 40))
        if in_trg[i] != in_trg[j] and every[i, j] <= 60
    }
    assert set(map(tuple, found.tolist())) == expected
    src, trg = table[~in_trg], table[in_trg]
    near = hamming.all_pairs(src, trg, 60)
    assert {tuple(pair[:2]) for pair in near.tolist()} == {
        (i, j)
        for i in range(len(src))
        for j in range(len(trg))
        if np.bitwise_count(src[i] ^ trg[j]).sum() <= 60
    }


def test_a_window_over_everything_is_brute_force():
    one, other = (random_projection(side, 128, 1) for side in pairs_of_cosine(0.7, 30))
    config = SignaturesConfig(bits=128, tables=1, window=60, min_cosine=0.2)
    expected = hamming.all_pairs(one, other, config.max_distance)
    assert sliding_window(one, other, config).tolist() == expected.tolist()


def test_chunks_change_nothing():
    one, other = (random_projection(side, 128, 1) for side in pairs_of_cosine(0.7, 50))
    whole = SignaturesConfig(bits=128, tables=3, window=5, min_cosine=0.2)
    parts = SignaturesConfig(bits=128, tables=3, window=5, min_cosine=0.2, chunk=12)
    assert sliding_window(one, other, whole).tolist() == (
        sliding_window(one, other, parts).tolist()
    )
    assert [list(range(40)[part]) for part in _chunks(40, 25, 3)] == [
        list(range(25)),
        list(range(22, 40)),
    ]


def test_the_plan_is_what_the_window_then_finds():
    count, cosine = 400, 0.6
    rows, columns = pairs_of_cosine(cosine, count)
    config = SignaturesConfig(bits=512, tables=20, window=10, min_cosine=0.5)
    found = near_signatures(range(count), range(count), rows, columns, config)
    measured = sum((n, n) in found.pairs for n in range(count)) / count
    expected = recall_of(cosine, 20, 10, 2 * count, config)
    assert measured == pytest.approx(expected, abs=0.08)


def test_nothing_finds_more_than_the_signatures_keep():
    config = SignaturesConfig(bits=100)
    bound = upper_bound(0.31, config)
    assert plan(1000, 1000, bound + 0.01, 0.31, config) == []
    ways = plan(100_000, 100_000, bound - 0.05, 0.31, config)
    assert all(way.recall <= bound + 1e-9 for way in ways)
    assert [way.comparisons for way in ways] == sorted(w.comparisons for w in ways)


def test_for_a_small_site_brute_force_is_the_plan():
    assert plan(500, 500, 0.85, 0.35)[0].is_brute_force
    assert not plan(1_470_000, 3_440_000, 0.7, 0.35)[0].is_brute_force
