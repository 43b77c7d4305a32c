from __future__ import annotations

import functools
import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.sentences.path import Band, Gaps, cheapest_path

PRIORS = {(1, 1): 0.8, (1, 2): 0.1, (2, 1): 0.05, (3, 2): 0.05}


@dataclass(frozen=True)
class Random:
    """Costs that come from nowhere, the same whenever they are asked for."""

    rows: int
    columns: int
    seed: int

    def part(self, rows, columns):
        return Part(self, rows, columns)

    @functools.cache  # noqa: B019
    def whole(self, a, b):
        rng = np.random.default_rng([self.seed, a, b])
        shape = max(self.rows - a + 1, 0), max(self.columns - b + 1, 0)
        return rng.normal(0, 3, shape).astype(np.float32)


@dataclass(frozen=True)
class Part:
    costs: Random
    rows: slice
    columns: slice

    def matrix(self, a, b):
        return self.costs.whole(a, b)[
            self.rows.start : self.rows.stop - a + 1,
            self.columns.start : self.columns.stop - b + 1,
        ]


def cheapest(costs, gaps, n, m, band):
    """Every path there is, by recursion; `run`: the side whose run goes on."""

    @functools.cache
    def best(i, j, run):
        if not band.first[i] <= j <= band.last[i]:
            return np.inf
        if (i, j) == (n, m):
            return 0.0
        ways = [np.inf]
        for (a, b), prior in PRIORS.items():
            if i + a <= n and j + b <= m:
                here = float(costs.whole(a, b)[i, j]) - np.log(prior)
                ways.append(here + best(i + a, j + b, ""))
        if i < n:
            begin = gaps.begin * (run != "src")
            ways.append(begin + gaps.src[i] + best(i + 1, j, "src"))
        if j < m:
            begin = gaps.begin * (run != "trg")
            ways.append(begin + gaps.trg[j] + best(i, j + 1, "trg"))
        return min(ways)

    return best(0, 0, "")


def cost_of(beads, costs, gaps):
    total, run = 0.0, ""
    for bead in beads:
        if bead.is_pair:
            total += float(costs.whole(*bead.size)[bead.src, bead.trg])
            total -= np.log(PRIORS[bead.size])
            run = ""
        else:
            side = "src" if bead.size[0] else "trg"
            total += gaps.begin * (run != side)
            total += gaps.src[bead.src] if bead.size[0] else gaps.trg[bead.trg]
            run = side
    return total


def some_gaps(n, m, rng):
    return Gaps(rng.random() * 3, *(rng_array(rng, size) for size in (n, m)))


def rng_array(rng, size):
    return np.array([rng.random() * 2 for _ in range(size)])


@pytest.mark.parametrize("seed", range(30))
def test_the_path_is_the_cheapest_there_is_and_costs_what_it_says(seed):
    rng = random.Random(seed)
    n, m = rng.randrange(9), rng.randrange(9)
    costs, gaps, band = Random(n, m, seed), some_gaps(n, m, rng), Band.whole(n, m)
    beads, total = cheapest_path([costs], PRIORS, gaps, band)
    assert total == pytest.approx(cheapest(costs, gaps, n, m, band), abs=1e-4)
    assert total == pytest.approx(cost_of(beads, costs, gaps), abs=1e-4)


@pytest.mark.parametrize("seed", range(30))
def test_a_path_stays_in_its_band(seed):
    rng = random.Random(seed)
    n, m = rng.randrange(4, 10), rng.randrange(4, 10)
    middle = np.linspace(0, m, n + 1).round().astype(int)
    band = Band((middle - 2).clip(0), (middle + 2).clip(0, m))
    costs, gaps = Random(n, m, seed), some_gaps(n, m, rng)
    beads, total = cheapest_path([costs], PRIORS, gaps, band)
    assert all(band.first[b.src] <= b.trg <= band.last[b.src] for b in beads)
    assert total == pytest.approx(cheapest(costs, gaps, n, m, band), abs=1e-4)


def test_strips_do_not_show(monkeypatch):
    n, m = 40, 35
    rng = random.Random(5)
    costs, gaps, band = Random(n, m, 5), some_gaps(n, m, rng), Band.whole(n, m)
    whole = cheapest_path([costs], PRIORS, gaps, band)
    monkeypatch.setattr("crawler.aligner.sentences.path._STRIP", 7)
    assert cheapest_path([costs], PRIORS, gaps, band) == whole


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_a_band_through_nodes_has_a_way_through_each_of_them(n, m, data):
    nodes = sorted(
        (data.draw(st.integers(0, n)), data.draw(st.integers(0, m))) for _ in range(2)
    )
    nodes = [(i, j) for (i, _), j in zip(nodes, sorted(j for _, j in nodes))]
    band = Band.whole(n, m).through(nodes)
    gaps = Gaps(1.0, np.ones(n), np.ones(m))
    beads, total = cheapest_path([Random(n, m, 0)], {(1, 1): 1e-30}, gaps, band)
    assert total < np.inf
    passed = {(b.src, b.trg) for b in beads} | {(n, m)}
    assert passed >= set(nodes)
