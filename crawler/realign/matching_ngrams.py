"""Pages of a whole collection that share rare n-grams, shard by shard.

Uszkoreit et al. (2010), section 2.1, for more pages than one process holds. A step
takes all rows of one shard, and names the shard of the next step for each row that it
gives; a disk or Spark's shuffle carries the rows. The result does not depend on the
number of shards or the order of rows.

    pages ─post─▶ postings ─by n-gram─▶ meet ─by src─▶ weigh ─by trg─▶ rank ─by src─▶
    choose ─▶ pairs of pages ─group─▶ groups, which are aligned as sites are

Differs from the paper: pages are ranked by the idf cosine of the matching n-grams, not
of other ones, since that is a sum over shards; and a pair that is in the n-best lists
of both its pages is not a result, but a candidate, as are the other pages that these
are connected with.
See also: `crawler.aligner.candidates.shingles` (the same for one site, in memory).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from crawler.aligner.arrays import places_in
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.candidates.shingles import bridge_of, matching, meetings
from crawler.aligner.profile import AlignProfile
from crawler.data import LangPair, PairScore
from crawler.realign.records import decode
from crawler.urls import hash64

Rows = NDArray[Any]  # of one of the types below
Shards = Iterator[tuple[int, Rows]]
Pages = NDArray[np.uint64]  # hashes of URLs, never 0
Groups = tuple[Pages, NDArray[np.int64]]  # pages, sorted, and the group of each

_POSTING = np.dtype([("gram", "u8"), ("page", "u8"), ("is_trg", "?")])
# A row with src or trg 0 has the weight of all n-grams of its only page. Weights are
# whole numbers, so their sums do not depend on the order.
_MEETING = np.dtype([("src", "u8"), ("trg", "u8"), ("weight", "i8")])
_WEIGHED = np.dtype([*_MEETING.descr, ("whole", "i8")])  # all n-grams of src
_RANKED = np.dtype([("src", "u8"), ("trg", "u8"), ("cosine", "f8"), ("best", "?")])
_PAIR = np.dtype([("src", "u8"), ("trg", "u8")])
_UNIT = 1024  # of a weight: an n-gram on a third of a thousand pages has 32,000
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SHARD_PAGES = 10_000  # their n-grams, 7 KB a page, are sorted in memory
_GROUP_PAGES = 5000  # aligned together: some seconds of work

ALL_SITES = "all-sites"  # the site that pages of a group are of


@dataclass(frozen=True, slots=True)
class MatchingNgrams:
    """The steps after `post`, in their order in `STEPS`."""

    profile: AlignProfile
    pages: int  # of both languages
    shards: int  # of each step

    STEPS = ("meet", "weigh", "rank", "choose")

    @classmethod
    def of(cls, profile: AlignProfile, pages: int) -> MatchingNgrams:
        """Choose the number of shards for a number of pages."""
        return cls(profile, pages, 1 + pages // _SHARD_PAGES)

    def run(self, step: str, rows: Iterable[Rows]) -> Shards:
        """A step by its name, for the rows of a shard."""
        found = list(rows)
        shards: Shards = (
            getattr(self, step)(np.concatenate(found)) if found else iter(())
        )
        return shards

    def post(
        self, records: Iterable[bytes], langs: LangPair, lexicon: Lexicon
    ) -> Shards:
        """The matching n-grams of the pages of some records."""
        bridge = bridge_of(lexicon, config := self.profile.shingles)
        found = [np.empty(0, _POSTING)]
        for data in records:
            features, _ = decode(data, langs)
            if features is not None:
                grams = matching(bridge.encode(features), config, config.sampled_bits)
                rows = np.empty(len(grams), _POSTING)
                rows["gram"], rows["page"] = grams, hash64(features.url)
                rows["is_trg"] = features.lang == langs.trg
                found.append(rows)
        postings = np.concatenate(found)
        yield from self.split(postings, postings["gram"])

    def meet(self, postings: Rows) -> Shards:
        """The pages that share n-grams, weighted by the idf of these."""
        grams, gram = np.unique(postings["gram"], return_inverse=True)
        pages, page = np.unique(postings["page"], return_inverse=True)
        # by n-gram, src first, then by page; a page may have been recorded twice
        side = len(pages)
        keys, _ = _sums((2 * gram + postings["is_trg"]) * side + page)
        gram, row = keys // (2 * side), keys % (2 * side)
        sizes = np.bincount(gram, minlength=len(grams))
        weights = self._weight(sizes)
        weights[sizes > self.profile.shingles.max_pages] = 0
        src, trg, both = meetings(gram, row >= side, self.profile.shingles.max_pages)
        pairs, shared = _sums(row[src] * side + row[trg] - side, weights[both])
        met = np.empty(len(pairs), _MEETING)
        met["src"], met["trg"] = pages[pairs // side], pages[pairs % side]
        met["weight"] = shared
        whole = np.zeros(2 * side, _MEETING)
        whole["src"][:side] = whole["trg"][side:] = pages
        whole["weight"] = np.bincount(row, weights[gram], 2 * side)
        owner = np.r_[met["src"], pages, pages]
        yield from self.split(np.concatenate([met, whole]), owner)

    def _weight(self, pages: int | NDArray[np.int64]) -> NDArray[np.int64]:
        """The weights of n-grams that this many pages have."""
        idf = np.log(self.pages / np.asarray(pages))
        weights: NDArray[np.int64] = np.rint(_UNIT * idf**2).astype(np.int64)
        return weights

    def weigh(self, met: Rows) -> Shards:
        """The meetings of some pages of src, over all shards of n-grams."""
        met = _summed(met)
        weighed = np.zeros(len(met), _WEIGHED)
        for name in _MEETING.names or ():
            weighed[name] = met[name]
        alone = met["trg"] == 0
        places = np.searchsorted(met["src"][alone], met["src"])
        has_src = met["src"] > 0
        weighed["whole"][has_src] = met["weight"][alone][places[has_src]]
        weighed = weighed[~alone]
        yield from self.split(weighed, weighed["trg"])

    def rank(self, weighed: Rows) -> Shards:
        """Cosines, and whether src is among the n best of trg."""
        order = np.lexsort((weighed["src"], weighed["trg"]))
        weighed = weighed[order]
        alone = weighed["src"] == 0
        norms = _summed(weighed[alone][list(_MEETING.names or ())])
        weighed = weighed[~alone]
        places = np.searchsorted(norms["trg"], weighed["trg"])
        lengths = np.sqrt(weighed["whole"].astype(float) * norms["weight"][places])
        ranked = np.empty(len(weighed), _RANKED)
        ranked["src"], ranked["trg"] = weighed["src"], weighed["trg"]
        ranked["cosine"] = weighed["weight"] / np.maximum(lengths, 1)
        ranked["best"] = self._is_best(ranked, "trg", "src")
        yield from self.split(ranked, ranked["src"])

    def choose(self, ranked: Rows) -> Shards:
        """The pairs that are in the n-best lists of both pages; one shard of them."""
        both = ranked["best"] & self._is_best(ranked, "src", "trg")
        pairs = np.empty(np.count_nonzero(both), _PAIR)
        pairs["src"], pairs["trg"] = ranked["src"][both], ranked["trg"][both]
        yield 0, pairs

    def _is_best(self, ranked: Rows, page: str, other: str) -> NDArray[np.bool_]:
        order = np.lexsort((ranked[other], -ranked["cosine"], ranked[page]))
        pages = ranked[page][order]
        starts = np.flatnonzero(np.r_[True, pages[1:] != pages[:-1]][: len(pages)])
        rank = np.arange(len(pages)) - np.repeat(
            starts, np.diff(np.r_[starts, len(pages)])
        )
        best = np.empty(len(ranked), np.bool_)
        best[order] = rank < self.profile.shingles.nearest.n_best
        return best

    def split(self, rows: Rows, keys: Pages) -> Shards:
        """Rows to shards, by a hash of their keys."""
        shards = (keys * _GOLDEN >> np.uint64(33)) % np.uint64(self.shards)
        order = np.argsort(shards, kind="stable")
        ends = np.searchsorted(shards[order], np.arange(self.shards + 1))
        for shard in np.flatnonzero(np.diff(ends)).tolist():
            yield shard, rows[order[ends[shard] : ends[shard + 1]]]


def _sums(
    keys: NDArray[np.int64], values: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each key once, sorted, with the sum of its values, or how often it is there."""
    order = np.argsort(keys)
    keys = keys[order]
    firsts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])
    if values is None or not len(keys):
        return keys[firsts], np.diff(np.r_[firsts, len(keys)])
    return keys[firsts], np.add.reduceat(values[order], firsts)


def _summed(met: Rows) -> Rows:
    """Each pair once, sorted, with the sum of its weights."""
    pages, ends = np.unique(np.r_[met["src"], met["trg"]], return_inverse=True)
    keys, sums = _sums(ends[: len(met)] * len(pages) + ends[len(met) :], met["weight"])
    summed = np.empty(len(keys), _MEETING)
    if len(keys):
        summed["src"], summed["trg"] = (
            pages[keys // len(pages)],
            pages[keys % len(pages)],
        )
    summed["weight"] = sums
    return summed


def pages_in(pairs: Iterable[PairScore]) -> Pages:
    """The pages of some pairs, and their copies, sorted."""
    urls = (
        url
        for pair in pairs
        for url in (pair.src_url, pair.trg_url, *pair.src_twins, *pair.trg_twins)
    )
    return np.unique(np.fromiter(map(hash64, urls), np.uint64))


def group_of(pages: Pages, groups: Groups | None) -> NDArray[np.int64]:
    """The group of each page, -1 for those that are in none; None: all are in one."""
    if groups is None:
        return np.zeros(len(pages), np.int64)
    known, numbers = groups
    if not len(known):
        return np.full(len(pages), -1)
    places, is_known = places_in(known, pages)
    return np.where(is_known, numbers[places], -1)


def grouped(shards: Iterable[Rows]) -> Groups:
    """The groups that the pairs of `choose` make."""
    return group(np.concatenate([np.empty(0, _PAIR), *shards]), _GROUP_PAGES)


def group(pairs: Rows, size: int) -> Groups:
    """The pages of some pairs, sorted, and the number of the group that each is in.

    Pages that a chain of pairs connects are in one group; small groups are joined up to
    about `size` pages, since a group is a task.
    """
    ends = np.concatenate([pairs["src"], pairs["trg"]])
    if not len(ends):
        return ends, np.empty(0, np.int64)
    pages, ends = np.unique(ends, return_inverse=True)
    one, other = ends[: len(pairs)], ends[len(pairs) :]
    edges = csr_matrix((np.ones(len(pairs)), (one, other)), (len(pages), len(pages)))
    _, labels = connected_components(edges, directed=False)
    _, first, component = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)  # a component goes by its first page
    number = np.empty(len(first), np.int64)
    number[order] = np.arange(len(first))
    sizes = np.bincount(number[component])
    joined = (np.cumsum(sizes) - sizes) // size
    _, joined = np.unique(joined, return_inverse=True)
    return pages, joined[number[component]]
