"""The compact P(parallel | URL, URL) that ships: boosted trees over features of pairs.

Every known sign that two URLs are one page in two languages is a number between 0 and 1
(`FEATURES`): equal handles, swapped markers (Resnik and Smith, 2003), depth, numbers,
queries, the languages that the URL language model finds in both, and how well the words
of the two slugs translate each other.

Words are compared as vectors. A word is the sum of its hashed character n-grams in a
table that was trained to give translations the same direction, and words that matter
great length. So `/en/holiday-home/` is near `/de/ferienhaus/`, and a name is near the
same name in another script.

Needs numpy, scipy and rapidfuzz only. `training/url_pair.py` trains it with the same
`PairFeatures`; its card is `models/weights/url_pair.md`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.fuzz import ratio, token_sort_ratio

from crawler.errors import ModelError
from crawler.handles import stripped_forms
from crawler.urls import host_of
from models.ngrams import hashed_ngrams
from models.trees import Trees
from models.url_language import (
    HashedUrlLanguageModel,
    bag,
    load_weights,
    recent_handle,
)

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

WORD_ORDERS = (2, 3, 4, 5)  # of a word's n-grams; its ends are marked
_MAX_WORD = 40  # characters
_MAX_WORDS = 16  # of a slug
# URLs kept, with their words, some 4 KB each. A crawl compares the new links of a page
# with a page, so old ones are rarely asked for again.
_CACHED = 16_384
_DECIMALS = 3  # of a feature: rounding in a sum must not decide at a tree's threshold

# Added to the log odds where the marker rule joins two URLs (20 to 1). Training cannot
# tell its worth: pairs that the rule joins are never taken as negatives.
_SHARED_FORM = 3.0

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_EXTENSION = re.compile(r"\.(?:x?html?|php\d?|aspx?|jsp|md|pdf)$")


@dataclass(frozen=True, slots=True)
class UrlView:
    """The parts of one URL that features compare, worked out once."""

    host: str
    handle: str
    languages: frozenset[str]
    places: tuple[str, ...]
    forms: frozenset[str]
    segments: tuple[str, ...]  # of the handle's path, without the extension
    extension: str
    query: str
    name: tuple[str, ...]  # the words of the last segment
    folders: tuple[str, ...]  # the words of all others
    folded: str  # the words of the last segment, without accents
    numbers: frozenset[str]

    @classmethod
    def of(cls, url: str) -> UrlView:
        """The parts of a canonical URL.

        >>> UrlView.of("https://example.org/en/blog/2024/our-cats_2.html").name
        ('our', 'cats')
        """
        handle = recent_handle(url)
        _, _, rest = handle.text.partition("/")
        path, _, query = rest.partition("?")
        extension = _EXTENSION.search(path)
        if extension:
            path = path[: extension.start()]
        segments = tuple(segment for segment in path.split("/") if segment)
        name = _words(segments[-1:])
        return cls(
            host_of(url),
            handle.text,
            handle.languages,
            tuple(marker.place for marker in handle.markers),
            stripped_forms(url),
            segments,
            extension[0] if extension else "",
            query,
            name,
            _words(segments[:-1]),
            _without_accents(" ".join(name)),
            frozenset(_NUMBER.findall(f"{path} {query}")),
        )


def _words(segments: Sequence[str]) -> tuple[str, ...]:
    words = _WORD.findall(" ".join(segments))
    return tuple(word[:_MAX_WORD] for word in words[:_MAX_WORDS])


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return "".join(part for part in parts if not unicodedata.combining(part))


@dataclass(frozen=True, slots=True)
class _Known:
    """A URL with its languages and the numbers of its words."""

    view: UrlView
    languages: FloatArray  # (labels,) probabilities
    name: tuple[int, ...]  # numbers of its words
    folders: tuple[int, ...]


class _Vocabulary:
    """The words seen so far, numbered from 1, with their vectors; 0 fills rows."""

    def __init__(self, table: FloatArray) -> None:
        self._table = table
        self._numbers: dict[str, int] = {}
        self.directions = np.zeros((1024, table.shape[1]), dtype=np.float32)
        self.lengths = np.zeros(1024, dtype=np.float32)

    def learn(self, words: Collection[str]) -> None:
        new = sorted(word for word in words if word not in self._numbers)
        if not new:
            return
        first = len(self._numbers) + 1
        while first + len(new) > len(self.lengths):
            self.directions = np.concatenate([self.directions, 0 * self.directions])
            self.lengths = np.concatenate([self.lengths, 0 * self.lengths])
        vectors = bag(word_ngrams(new, len(self._table)), self._table)
        lengths = np.sqrt((vectors * vectors).sum(axis=1)) + np.float32(1e-9)
        self.directions[first : first + len(new)] = vectors / lengths[:, None]
        self.lengths[first : first + len(new)] = lengths
        self._numbers.update(zip(new, range(first, first + len(new))))

    def numbers(self, words: Sequence[str]) -> tuple[int, ...]:
        """The numbers of words that `learn` was given."""
        return tuple(self._numbers[word] for word in words)


_TEXTS = ("name", "folder", "unshared")


class _Meaning(NamedTuple):
    """(pairs,) columns: how well the words of two texts translate each other."""

    cosine: FloatArray  # of the texts
    coverage: FloatArray  # the best cosine of each word, weighted by the words' lengths
    weaker_side: FloatArray  # the same in the direction in which it is lower
    worst_word: FloatArray  # pages of one site may share all words but one
    weight: FloatArray  # how much there is to go by


class PairFeatures:
    """(pairs, FEATURES) numbers for pairs of URLs; keeps recent URLs and words."""

    def __init__(self, table: FloatArray, languages: HashedUrlLanguageModel) -> None:
        """`table` has a row for each n-gram bucket."""
        self._table = table
        self._languages = languages
        self._urls: dict[str, _Known] = {}
        self._words = _Vocabulary(table)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """One row for each pair; the order of its URLs does not matter."""
        self._learn({url for pair in pairs for url in pair})
        known = [(self._urls[min(pair)], self._urls[max(pair)]) for pair in pairs]
        spelled = np.fromiter(
            chain.from_iterable(
                features(one.view, two.view).values()
                for one, two in known
                for features in _SPELLED
            ),
            np.float32,
        )
        one, two = zip(*known)
        names = _padded([url.name for url in one]), _padded([url.name for url in two])
        folders = (
            _padded([url.folders for url in one]),
            _padded([url.folders for url in two]),
        )
        every = [np.concatenate(side, axis=1) for side in zip(names, folders)]
        unshared = _only_first(*every), _only_first(*reversed(every))
        languages = _Languages.of(
            np.array([url.languages for url in one]),
            np.array([url.languages for url in two]),
        )
        columns = [*languages]
        for texts in (names, folders, unshared):  # as _TEXTS names them
            columns += self._meaning(*texts)
        rows: FloatArray = np.concatenate(
            [spelled.reshape(len(pairs), -1), np.stack(columns, axis=1)],
            axis=1,
            dtype=np.float32,
        )
        return np.round(rows, _DECIMALS)

    def _learn(self, urls: Collection[str]) -> None:
        new = sorted(url for url in urls if url not in self._urls)
        if not new:
            return
        if len(self._urls) + len(new) > _CACHED:
            self._urls.clear()
            self._words = _Vocabulary(self._table)
            new = sorted(urls)
        views = [UrlView.of(url) for url in new]
        languages = self._languages.probabilities(new)
        self._words.learn({w for view in views for w in view.name + view.folders})
        for url, view, row in zip(new, views, languages):
            name = self._words.numbers(view.name)
            folders = self._words.numbers(view.folders)
            self._urls[url] = _Known(view, row, name, folders)

    def _meaning(self, one: IntArray, two: IntArray) -> _Meaning:
        """How well the words of (pairs, words) texts translate each other."""
        a, b = self._words.directions[one], self._words.directions[two]
        a_lengths, b_lengths = self._words.lengths[one], self._words.lengths[two]
        products = a @ b.transpose(0, 2, 1)
        best_a = products.max(axis=2, initial=0)
        best_b = products.max(axis=1, initial=0)
        sums = [
            (lengths[:, None, :] @ sides)[:, 0]
            for lengths, sides in ((a_lengths, a), (b_lengths, b))
        ]
        norms = [np.sqrt((total * total).sum(axis=1)) for total in sums]
        weights = [np.maximum(x.sum(axis=1), 1e-9) for x in (a_lengths, b_lengths)]
        forth = (best_a * a_lengths).sum(axis=1) / weights[0]
        back = (best_b * b_lengths).sum(axis=1) / weights[1]
        worst = np.minimum(
            np.where(a_lengths > 0, best_a, 1).min(axis=1, initial=1),
            np.where(b_lengths > 0, best_b, 1).min(axis=1, initial=1),
        )
        less = np.minimum(*weights)
        return _Meaning(
            cosine=np.maximum((sums[0] * sums[1]).sum(axis=1), 0)
            / (norms[0] * norms[1] + 1e-9),
            coverage=(forth + back) / 2,
            weaker_side=np.minimum(forth, back),
            worst_word=worst * (less > 1e-6),
            weight=less / (less + 4),  # a word of the web has a length of 1 to 6
        )


def _padded(rows: Sequence[Sequence[int]]) -> IntArray:
    """(rows, longest) numbers, 0 behind the end of each; one column at least."""
    counts = np.array([len(row) for row in rows])
    width = max(1, int(counts.max(initial=0)))
    numbers = np.zeros((len(rows), width), dtype=np.int64)
    numbers[np.arange(width) < counts[:, None]] = [n for row in rows for n in row]
    return numbers


def _only_first(one: IntArray, two: IntArray) -> IntArray:
    """(rows, words) `one` with 0 in place of numbers that the row of `two` has too."""
    shared = (one[:, :, None] == two[:, None, :]).any(axis=2)
    return np.where(shared, 0, one)


class _Languages(NamedTuple):
    """(pairs,) columns: what the language model sees in the two URLs of a pair."""

    same_language: FloatArray
    known_languages: FloatArray
    less_known: FloatArray

    @classmethod
    def of(cls, one: FloatArray, two: FloatArray) -> _Languages:
        """From (pairs, labels) probabilities of the first and of the second URLs."""
        known = one.max(axis=1), two.max(axis=1)
        return cls(
            same_language=(one * two).sum(axis=1),
            known_languages=known[0] * known[1],
            less_known=np.minimum(*known),
        )


def word_ngrams(words: Sequence[str], buckets: int) -> npt.NDArray[np.int64]:
    """(words, n-grams) buckets of words with their ends marked."""
    return hashed_ngrams([f"^{word}$" for word in words], buckets, WORD_ORDERS)


def _markers(a: UrlView, b: UrlView) -> dict[str, float]:
    both = bool(a.languages) and bool(b.languages)
    differ = both and a.languages.isdisjoint(b.languages)
    return {
        "same_handle": a.handle == b.handle,
        "shared_form": not a.forms.isdisjoint(b.forms),
        "both_marked": both,
        "languages_differ": differ,
        "languages_meet": both and not differ,
        "one_marked": bool(a.languages) != bool(b.languages),
        "none_marked": not a.languages and not b.languages,
        "same_places": a.places == b.places,
        "other_host": a.host != b.host,
    }


def _shape(a: UrlView, b: UrlView) -> dict[str, float]:
    one, two = len(a.segments), len(b.segments)
    deepest = max(one, two, 1)
    equal = [x == y for x, y in zip(a.segments, b.segments)]
    prefix = equal.index(False) if False in equal else len(equal)
    back = [
        x == y for x, y in zip(reversed(a.segments[prefix:]), reversed(b.segments))
    ][: two - prefix]
    suffix = back.index(False) if False in back else len(back)
    return {
        "same_depth": one == two,
        "depth_gap": min(abs(one - two), 4) / 4,
        "two_roots": one == two == 0,
        "one_root": (one == 0) != (two == 0),
        "prefix": prefix / deepest,
        "suffix": suffix / deepest,
        "equal_segments": sum(equal) / deepest,
        "other_segments": min(deepest - sum(equal), 4) / 4,
    }


def _names(a: UrlView, b: UrlView) -> dict[str, float]:
    one, two = (a.segments or ("",))[-1], (b.segments or ("",))[-1]
    lengths = len(one), len(two)
    words = len(a.name), len(b.name)
    return {
        "equal_name": bool(one) and one == two,
        "equal_folders": min(len(a.segments), len(b.segments)) > 1
        and a.segments[:-1] == b.segments[:-1],
        "same_extension": a.extension == b.extension,
        "name_length_gap": min(abs(lengths[0] - lengths[1]), 40) / 40,
        "shorter_name": min(*lengths, 40) / 40,
        "word_count_gap": min(abs(words[0] - words[1]), 8) / 8,
        "word_count": min(sum(words), 20) / 20,
        "fewer_words": min(*words, 8) / 8,
        "shared_words": _jaccard(
            frozenset(a.name + a.folders), frozenset(b.name + b.folders)
        ),
        "name_spelling": ratio(one, two) / 100,
        "folded_spelling": ratio(a.folded, b.folded) / 100,
        "word_spelling": token_sort_ratio(a.folded, b.folded) / 100,
        "folder_spelling": (
            ratio("/".join(a.segments[:-1]), "/".join(b.segments[:-1])) / 100
            if len(a.segments) > 1 or len(b.segments) > 1
            else 1.0
        ),
    }


def _numbers(a: UrlView, b: UrlView) -> dict[str, float]:
    shared = a.numbers & b.numbers
    return {
        "same_numbers": a.numbers == b.numbers,
        "shared_numbers": _jaccard(a.numbers, b.numbers),
        "any_number": bool(a.numbers or b.numbers),
        "no_number_shared": bool(a.numbers and b.numbers and not shared),
        "longest_number": min(max(map(len, shared), default=0), 8) / 8,
        "same_query": a.query == b.query,
        "any_query": bool(a.query or b.query),
    }


# What the strings of two URLs say: each gives numbers from 0 to 1 by name, the same
# names in the same order for every pair.
_SPELLED = (_markers, _shape, _names, _numbers)


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


_NO_URL = UrlView(
    "", "", frozenset(), (), frozenset(), (), "", "", (), (), "", frozenset()
)

# The columns of PairFeatures, in order. `unshared`: without the words of both URLs.
FEATURES = (
    *(name for features in _SPELLED for name in features(_NO_URL, _NO_URL)),
    *_Languages._fields,
    *(f"{words}_{m}" for words in _TEXTS for m in _Meaning._fields),
)


class HashedUrlPairModel:
    """P(parallel | URL, URL), thousands of pairs a second (setting: URL_PAIR_MODEL).

    >>> model = HashedUrlPairModel()
    >>> a = "https://example.org/en/about-us"
    >>> yes, no = model.predict(
    ...     [(a, "https://example.org/is/about-us"), (a, "https://example.org/is/news")]
    ... )
    >>> yes > 0.5 > no
    True
    """

    def __init__(
        self,
        weights: str | Path | None = None,
        languages: HashedUrlLanguageModel | None = None,
    ) -> None:
        """`weights` is a file that `training` wrote; default: the weights that ship."""
        arrays, meta = load_weights(weights, "url_pair.npz")
        try:
            table = arrays["table"].astype(np.float32) * arrays["table_scale"]
            self._trees = Trees.read(arrays)
            self._temperature = float(meta["temperature"])
            if tuple(meta["features"]) != FEATURES:
                raise ValueError("they were trained on other features")
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{weights}: not the weights of a hashed pair model ({error})"
            ) from error
        self.features = PairFeatures(table, languages or HashedUrlLanguageModel())

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair the probability that its pages are translations."""
        if not pairs:
            return []
        inputs = self.features(pairs)
        scores = self._trees.scores(inputs)
        scores += _SHARED_FORM * inputs[:, FEATURES.index("shared_form")]
        scores /= self._temperature
        probabilities = 1 / (1 + np.exp(-np.clip(scores, -50, 50).astype(float)))
        return [
            0.0 if a == b else p for (a, b), p in zip(pairs, probabilities.tolist())
        ]
