"""Versions of one article in several languages, as tab-separated text, gzipped.

The document pairs of all pairs of languages are joined, best first: two versions belong
to one article if a pair says so, and an article has one page in each language. A pair
that would give it a second one contradicts a better pair and is left out; twins of a
page (other addresses of its text) count as that page. One row an article, a column a
language, and the lowest score of the pairs that hold it together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from crawler.atomic import atomic_text
from crawler.data import Lang, LangPair, PairScore, Score
from crawler.unionfind import UnionFind


@dataclass(frozen=True, slots=True)
class Cluster:
    """The versions of an article: an address for each of its languages."""

    urls: Mapping[Lang, str]
    score: Score  # the lowest of the pairs that hold it together


_T = TypeVar("_T")
# A version: its language, what tells it from others, and what stands for it.
Member = tuple[Lang, Hashable, _T]


def joined(
    pairs: Iterable[tuple[Score, Member[_T], Member[_T]]],
) -> Iterator[tuple[Mapping[Lang, _T], Score]]:
    """Versions that pairs join, best pairs first, at most one in each language.

    A pair that would give a second one contradicts a better pair and joins nothing.
    With each goes the lowest score of the pairs that hold it together.
    """
    groups: dict[Hashable, dict[Lang, _T]] = {}  # version → its group
    keys: dict[int, list[Hashable]] = {}  # versions of a group, by identity
    scores: dict[int, Score] = {}  # likewise
    for score, *ends in pairs:
        two = []
        for lang, key, value in ends:
            if key not in groups:
                groups[key] = {lang: value}
                keys[id(groups[key])] = [key]
            two.append(groups[key])
        src, trg = two
        if src is trg or src.keys() & trg.keys():
            continue  # joined already, or a contradiction
        src |= trg
        for key in (gone := keys.pop(id(trg))):
            groups[key] = src
        keys[id(src)] += gone
        # the group that is gone leaves no score to another one at its place
        scores[id(src)] = min(score, scores.get(id(src), 1), scores.pop(id(trg), 1))
    for number, group in {id(group): group for group in groups.values()}.items():
        if len(group) > 1:
            yield group, scores[number]


def clusters_of(
    pairs: Iterable[tuple[LangPair, Iterable[PairScore]]],
) -> list[Cluster]:
    """The articles of several lists of pairs, in the order of their addresses."""
    twins = UnionFind[str]()
    edges: list[tuple[Score, str, str, LangPair]] = []
    for langs, found in pairs:
        for pair in found:
            for url, others in (
                (pair.src_url, pair.src_twins),
                (pair.trg_url, pair.trg_twins),
            ):
                for other in others:
                    twins.join(url, other)
            edges.append((pair.score, pair.src_url, pair.trg_url, langs))
    edges.sort(key=lambda edge: (-edge[0], *edge[1:3]))
    members = (
        (
            score,
            (langs.src, twins.find(src), src),
            (langs.trg, twins.find(trg), trg),
        )
        for score, src, trg, langs in edges
    )
    return sorted(
        (Cluster(*group) for group in joined(members)),
        key=lambda cluster: sorted(cluster.urls.values()),
    )


def implied(
    clusters: Iterable[Cluster], langs: LangPair, known: Iterable[PairScore]
) -> Iterator[PairScore]:
    """Two versions of an article that no pair joins: a third one joins both.

    Their score is that of a chain of two pairs, each at least as good as the worst of
    the article. A page of a known pair is left alone.
    """
    taken = {
        url
        for pair in known
        for url in (pair.src_url, pair.trg_url, *pair.src_twins, *pair.trg_twins)
    }
    for cluster in clusters:
        src, trg = (cluster.urls.get(lang) for lang in langs)
        if src and trg and src not in taken and trg not in taken:
            found_by = frozenset({"transitive"})
            yield PairScore(src, trg, cluster.score**2, found_by=found_by)


def write_clusters(
    path: Path, langs: Sequence[Lang], clusters: Iterable[Cluster]
) -> int:
    """Replace a file by these articles, whole or not at all; returns their number."""
    count = 0
    with atomic_text(path, level=9, errors="surrogatepass") as out:
        out.write("\t".join((*langs, "score")) + "\n")
        for cluster in clusters:
            cells = [cluster.urls.get(lang, "") for lang in langs]
            out.write("\t".join((*cells, f"{cluster.score:.6f}")) + "\n")
            count += 1
    return count
