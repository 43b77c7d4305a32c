"""Lexicon: which words translate which, learned from pages that were paired.

Segments that stand side by side in two parallel pages go through the first model of
Brown et al. (1993), five rounds of EM in each direction. What both directions agree on
stays: the geometric mean of the two probabilities must exceed 0.02 and the expected
number of links 0.5, and a word keeps its eight best translations
(docs/sources.md#the-lexicon).

A lexicon is a table of link counts between word ids (`crawler.aligner.words`), so two
lexicons add up: what earlier sites of a language pair taught helps the next one.

In: pairs of word-id arrays.  Out: a Lexicon, saved as .npz (no pickle).
See also: `segments` (what stands side by side), `projection` and `scorers.tsim` (use).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from crawler.aligner.arrays import ranges, unique_inverse
from crawler.data import LangPair
from crawler.errors import ProfileError

Segment = tuple[NDArray[np.uint32], NDArray[np.uint32]]
_VERSION = 2  # 2: of words the first five letters


@dataclass(frozen=True, slots=True)
class LexiconConfig:
    """Limits and thresholds of learning a lexicon."""

    iterations: int = 5  # as in docs/sources.md#the-lexicon
    min_probability: float = 0.02  # of the geometric mean of both directions
    min_count: float = 0.5
    max_translations: int = 8  # of one word
    max_segment: int = 50  # words; a longer one says too little of too many pairs
    max_links: int = 3_000_000  # bounds time and memory: 1.5 s, 250 MB


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """Expected links between words, sorted by src, then trg."""

    langs: LangPair
    src: NDArray[np.uint32]
    trg: NDArray[np.uint32]
    count: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.src)

    def __add__(self, other: Lexicon) -> Lexicon:
        """Both lexicons' links."""
        return collect(
            self.langs,
            np.concatenate([self.src, other.src]),
            np.concatenate([self.trg, other.trg]),
            np.concatenate([self.count, other.count]),
        )

    def reversed(self) -> Lexicon:
        """The same links, from trg to src."""
        langs = LangPair(self.langs.trg, self.langs.src)
        return collect(langs, self.trg, self.src, self.count)

    def clearest(self, share: float) -> Lexicon:
        """The links with that share of the probability of one of their words' best."""
        likely = np.sqrt(self.p_src() * self.p_trg())
        best = np.minimum(_best(self.src, likely), _best(self.trg, likely))
        kept = likely >= share * best
        return Lexicon(self.langs, self.src[kept], self.trg[kept], self.count[kept])

    def pruned(self, most: int, min_count: float = 0.0) -> Lexicon:
        """The `most` likeliest translations of each word, of those seen so often."""
        seen = np.flatnonzero(self.count >= min_count)
        likely = np.sqrt(self.p_src() * self.p_trg())[seen]
        ranks = [
            _rank(unique_inverse(word[seen])[1], likely)
            for word in (self.src, self.trg)
        ]
        kept = seen[np.maximum(*ranks) < most]
        return Lexicon(self.langs, self.src[kept], self.trg[kept], self.count[kept])

    @property
    def digest(self) -> str:
        """Equal for equal lexicons; in `stats.json`, and its file, to tell damage."""
        state = xxhash.xxh3_64(str(self.langs).encode())
        for array in (self.src, self.trg, self.count):
            state.update(array.tobytes())
        return state.hexdigest()

    def p_src(self) -> NDArray[np.float32]:
        """p(src word | trg word) of each entry."""
        return self.count / _totals(self.trg, self.count)

    def p_trg(self) -> NDArray[np.float32]:
        """p(trg word | src word) of each entry."""
        return self.count / _totals(self.src, self.count)

    def held(self) -> NDArray[np.float32]:
        """The share of each entry's count that is left without one sighting.

        Most lexicons were learned from the very sentences that they are to judge, where
        each would confirm itself (leaving one out, Wuebker et al. 2010). What was seen
        once says nothing then. A dictionary, whose entries all count one, was not
        learned from any page, and nothing is left out.
        """
        left_out = 0 if (self.count == 1).all() else 1
        held: NDArray[np.float32] = (
            np.maximum(self.count - np.float32(left_out), 0) / self.count
        )
        return held

    def save(self, path: Path) -> None:
        """Write the table; `load` reads it."""
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                version=np.array(_VERSION),
                langs=np.array(list(self.langs)),
                digest=np.array(self.digest),
                src=self.src,
                trg=self.trg,
                count=self.count,
            )

    @classmethod
    def load(cls, path: Path, langs: LangPair) -> Lexicon:
        """A lexicon of these languages, in either direction; ProfileError if not."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as table:
                if int(table["version"]) != _VERSION:
                    raise ValueError(f"version {table['version']}, not {_VERSION}")
                known = [str(lang) for lang in table["langs"]]
                columns = {str(k): table[k] for k in ("src", "trg", "count")}
                digest = str(table["digest"]) if "digest" in table else None
            if sorted(known) != sorted(langs):
                raise ValueError(f"languages {','.join(known)}, not {langs}")
            if len({column.shape for column in columns.values()}) != 1:
                raise ValueError("columns of different lengths")
            if not (np.isfinite(columns["count"]) & (columns["count"] > 0)).all():
                raise ValueError("counts that are not above 0")
            saved = cls(LangPair(*known), *columns.values())
            if digest not in (None, saved.digest):  # earlier files have none
                raise ValueError(f"its digest is {saved.digest}, not {digest}")
        except Exception as error:  # zipfile and numpy say "damaged" in many words
            raise ProfileError(
                f"{path}: not a lexicon: {_cause(error)} (give a lexicon.npz of an"
                " earlier run)"
            ) from error
        if known != list(langs):
            columns["src"], columns["trg"] = columns["trg"], columns["src"]
        return collect(
            langs,
            columns["src"].astype(np.uint32),
            columns["trg"].astype(np.uint32),
            columns["count"].astype(np.float32),
        )

    @classmethod
    def empty(cls, langs: LangPair) -> Lexicon:
        """A lexicon that knows nothing."""
        none = np.empty(0, np.uint32)
        return cls(langs, none, none, np.empty(0, np.float32))


def induce(
    segments: Sequence[Segment], langs: LangPair, config: LexiconConfig | None = None
) -> Lexicon:
    """The lexicon of segment pairs, src first; repeated pairs count once."""
    config = config or LexiconConfig()
    chosen = _distinct(segments, config)
    if not chosen:
        return Lexicon.empty(langs)
    links = _Links.between(chosen)
    forward = _expected(links.src_of, links.of_trg, config.iterations)
    backward = _expected(links.trg_of, links.of_src, config.iterations)
    count = np.sqrt(forward * backward)
    probability = np.sqrt(
        forward
        / np.bincount(links.src_of, forward)[links.src_of]
        * backward
        / np.bincount(links.trg_of, backward)[links.trg_of]
    )
    kept = np.flatnonzero(
        (probability > config.min_probability) & (count > config.min_count)
    )
    ranks = [
        _rank(word[kept], probability[kept]) for word in (links.src_of, links.trg_of)
    ]
    kept = kept[np.maximum(*ranks) < config.max_translations]
    return collect(
        langs,
        links.src_words[links.src_of[kept]],
        links.trg_words[links.trg_of[kept]],
        count[kept].astype(np.float32),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """Every possible link of every segment, by its type: which word with which."""

    src_words: NDArray[np.uint32]
    trg_words: NDArray[np.uint32]
    src_of: NDArray[np.int64]  # of each type: its word
    trg_of: NDArray[np.int64]
    of_src: csr_matrix  # (src token × type): the links of each token
    of_trg: csr_matrix

    @classmethod
    def between(cls, segments: Sequence[Segment]) -> _Links:
        src_words, src_ids = unique_inverse(
            np.concatenate([src for src, _ in segments])
        )
        trg_words, trg_ids = unique_inverse(
            np.concatenate([trg for _, trg in segments])
        )
        rows = np.array([len(src) for src, _ in segments])
        columns = np.array([len(trg) for _, trg in segments])
        # a src token is linked to all trg tokens of its segment
        width = np.repeat(columns, rows)
        ends = np.r_[0, np.cumsum(width)]
        first = np.repeat(np.cumsum(columns) - columns, rows)
        trg_token = ranges(first, width)
        pair = np.repeat(src_ids * len(trg_words), width) + trg_ids[trg_token]
        types, type_of = unique_inverse(pair)
        by_src = csr_matrix((type_of, trg_token, ends), (len(src_ids), len(trg_ids)))
        by_trg = by_src.tocsc()
        return cls(
            src_words,
            trg_words,
            types // len(trg_words),
            types % len(trg_words),
            *(
                csr_matrix(
                    (np.ones(len(links.data)), links.data, links.indptr),
                    (len(links.indptr) - 1, len(types)),
                )
                for links in (by_src, by_trg)
            ),
        )


def _expected(
    given: NDArray[np.int64], links: csr_matrix, iterations: int
) -> NDArray[np.float64]:
    """Expected links of each type, when each token comes from one `given` word.

    IBM model 1 with a uniform empty word. `given` is a type's word in the language that
    the tokens are not in.
    """
    probability = np.full(len(given), 1 / len(given))
    empty = 1 / len(given)
    counts: NDArray[np.float64] = probability
    for _ in range(iterations):
        counts = probability * (links.T @ (1 / (links @ probability + empty)))
        probability = counts / np.bincount(given, counts)[given]
        empty = 1e-3  # a word without a translation has to come from somewhere
    return counts


def _distinct(segments: Sequence[Segment], config: LexiconConfig) -> list[Segment]:
    """Segments as they are used: short, different, and not too many."""
    chosen: dict[tuple[bytes, bytes], Segment] = {}
    room = config.max_links
    for src, trg in segments:
        if not 0 < len(src) <= config.max_segment:
            continue
        if not 0 < len(trg) <= config.max_segment:
            continue
        key = (src.tobytes(), trg.tobytes())
        if key in chosen or key[0] == key[1]:
            continue
        room -= len(src) * len(trg)
        if room < 0:
            break
        chosen[key] = (src, trg)
    return list(chosen.values())


def _rank(word: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.int64]:
    """Of each entry how many better ones its word has."""
    order = np.lexsort((-value, word))
    sorted_words = word[order]
    starts = np.flatnonzero(np.r_[True, sorted_words[1:] != sorted_words[:-1]])
    lengths = np.diff(np.r_[starts, len(word)])
    rank = np.empty(len(word), np.int64)
    rank[order] = np.arange(len(word)) - np.repeat(starts, lengths)
    return rank


def _totals(
    words: NDArray[np.uint32], count: NDArray[np.float32]
) -> NDArray[np.float32]:
    """For each entry the sum of the counts of its word."""
    _, number = unique_inverse(words)
    return np.bincount(number, count)[number].astype(np.float32)


def _best(
    words: NDArray[np.uint32], values: NDArray[np.float32]
) -> NDArray[np.float32]:
    """For each entry the largest value of its word."""
    known, number = unique_inverse(words)
    best = np.zeros(len(known), np.float32)
    np.maximum.at(best, number, values)
    return best[number]


def collect(
    langs: LangPair,
    src: NDArray[np.uint32],
    trg: NDArray[np.uint32],
    count: NDArray[np.float32],
) -> Lexicon:
    """Sorted entries; equal ones become one."""
    pairs = src.astype(np.uint64) << np.uint64(32) | trg.astype(np.uint64)
    distinct, number = np.unique(pairs, return_inverse=True)
    return Lexicon(
        langs,
        (distinct >> np.uint64(32)).astype(np.uint32),
        (distinct & np.uint64(0xFFFFFFFF)).astype(np.uint32),
        np.bincount(number, count, len(distinct)).astype(np.float32),
    )


def _cause(error: Exception) -> str:
    """What is wrong with a file; numpy takes whatever it does not know for a pickle."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "an unknown format" if "pickled" in str(error) else str(error)
