"""Cognates: words of two languages that are written alike, as entries of a lexicon.

Resnik & Smith (2003, section 3.2.1) add them to their dictionaries, found by the method
of Tiedemann (1999): which letters of one language stand for which of the other is
counted in word pairs that are known, and an edit distance with these weights finds
others (`parlament`, `þing` teach nothing; `nation`, `nasjon` teach `ti` and `sj`).

In: the words of pages in both languages, and a Lexicon.  Out: a Lexicon.
Differs from the paper: letters stand for letters one by one. Words of two scripts share
no letter that it could start from, and have no cognates here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein
from rapidfuzz.process import cdist

from crawler.aligner.bridges.lexicon import Lexicon, collect
from crawler.aligner.words import WordIds
from crawler.data import LangPair

MIN_LETTERS = 4  # shorter words are alike by chance
MAX_WORDS = 10_000  # of a side, the most frequent: all with all takes ten seconds
# Share of the longer word's letters. A pair that is less alike is not looked at, nor
# learned from.
_ALIKE = 0.5
MIN_WEIGHT = 0.75
_AT_ONCE = 500  # words whose similarities to all others are held, 20 MB

Weights = Mapping[tuple[str, str], float]


def cognates(
    src: Mapping[str, int], trg: Mapping[str, int], known: Lexicon, langs: LangPair
) -> Lexicon:
    """Links between words written alike; `src` and `trg`: how often each word comes."""
    sides = [_frequent(src), _frequent(trg)]
    ids = WordIds()
    numbers = [[int(ids.encode(word)[0]) for word in side] for side in sides]
    weights = letter_weights(_known_pairs(sides, numbers, known))
    found: list[tuple[int, int]] = []
    for start in range(0, len(sides[0]), _AT_ONCE):
        rows = sides[0][start : start + _AT_ONCE]
        near = cdist(rows, sides[1], scorer=LCSseq.normalized_similarity) >= _ALIKE
        for row, column in np.argwhere(near).tolist():
            if similarity(rows[row], sides[1][column], weights) >= MIN_WEIGHT:
                found.append((numbers[0][start + row], numbers[1][column]))
    ends = np.array(sorted({*found}), np.uint32).reshape(-1, 2)
    return collect(langs, ends[:, 0], ends[:, 1], np.ones(len(ends), np.float32))


def letter_weights(pairs: Iterable[tuple[str, str]]) -> Weights:
    """P(letter of trg | letter of src), by the shortest edits of pairs that are alike.

    >>> weights = letter_weights([("nation", "nasjon"), ("station", "stasjon")])
    >>> weights["t", "s"], weights["i", "j"], weights["n", "n"]
    (0.6666666666666666, 1.0, 1.0)
    """
    counts: Counter[tuple[str, str]] = Counter()
    for one, other in pairs:
        if Levenshtein.normalized_similarity(one, other) >= _ALIKE:
            for step in Levenshtein.opcodes(one, other):
                if step.tag in ("equal", "replace"):
                    a = one[step.src_start : step.src_end]
                    counts.update(zip(a, other[step.dest_start : step.dest_end]))
    totals: Counter[str] = Counter()
    for (letter, _), count in counts.items():
        totals[letter] += count
    return {ends: count / totals[ends[0]] for ends, count in counts.items()}


def similarity(one: str, other: str, weights: Weights) -> float:
    """The weight of the best alignment of letters, over the length of the longer word.

    An equal letter weighs 1, whatever was learned of it.
    """
    row = [0.0] * (len(other) + 1)
    for a in one:
        before, row = row, [0.0]
        for place, b in enumerate(other):
            both = before[place] + (1.0 if a == b else weights.get((a, b), 0.0))
            row.append(max(both, row[place], before[place + 1]))
    return row[-1] / max(len(one), len(other), 1)


def _frequent(words: Mapping[str, int]) -> list[str]:
    long = Counter({w: n for w, n in words.items() if _is_word(w)})
    ranked = sorted(long, key=lambda word: (-long[word], word))
    return ranked[:MAX_WORDS]


def _is_word(word: str) -> bool:
    return len(word) >= MIN_LETTERS and word.isalpha()


def _known_pairs(
    sides: Sequence[Sequence[str]], numbers: Sequence[Sequence[int]], known: Lexicon
) -> list[tuple[str, str]]:
    """The pairs of words that the lexicon links; a number may stand for several."""
    words: tuple[dict[int, str], dict[int, str]] = {}, {}
    for side, ids, table in zip(sides, numbers, words):
        for word, number in zip(side, ids):
            table.setdefault(number, word)
    links = zip(known.src.tolist(), known.trg.tolist())
    return [
        (words[0][a], words[1][b]) for a, b in links if a in words[0] and b in words[1]
    ]
