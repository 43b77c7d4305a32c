"""The compact P(parallel | URL, URL) that ships: what two URLs share, and what differs.

Every known sign that two URLs are one page in two languages becomes a number between 0
and 1 (`FEATURES`): equal handles, which markers were swapped (Resnik and Smith, 2003),
depth, numbers, queries, the languages that the URL language model sees in both, and how
well the words of the two slugs translate each other. Boosted trees weigh them.

Words are compared as vectors: a word is the sum of its hashed character n-grams in a
table that was trained so that translations point the same way, and long vectors are
words that matter. `/en/holiday-home/` and `/de/ferienhaus/` meet there, and so do names
in two scripts.

Needs numpy, scipy and rapidfuzz only. `training/url_pair.py` trains it with the same
`PairFeatures`; its card is `models/weights/url_pair.md`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

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
# URLs kept, with their words, some 4 KB each: what is compared is new mostly, and of
# two pages that are a pair the links that they had when they were fetched.
_CACHED = 16_384
_DECIMALS = 3  # of a number: rounding in a sum must not decide at a tree's threshold

# Added to the log odds where the marker rule joins two URLs (20 to 1). Training cannot
# say how much that is worth: what the rule joins is taken for no negative.
_SHARED_FORM = 3.0

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_EXTENSION = re.compile(r"\.(?:x?html?|php\d?|aspx?|jsp|md|pdf)$")

# The numbers that the trees see of a pair, in this order; all are 0 to 1.
_SEEN_IN_STRINGS = (
    # markers
    *("same_handle", "shared_form", "both_marked", "languages_differ"),
    *("languages_meet", "one_marked", "none_marked", "same_places", "other_host"),
    # shape
    *("same_depth", "depth_gap", "two_roots", "one_root", "prefix", "suffix"),
    *("equal_segments", "other_segments", "equal_name", "equal_folders"),
    *("same_extension", "name_length_gap", "shorter_name", "word_count_gap"),
    *("word_count", "fewer_words"),
    # spelling
    *("shared_words", "name_spelling", "folded_spelling", "word_spelling"),
    "folder_spelling",
    # numbers and queries
    *("same_numbers", "shared_numbers", "any_number", "no_number_shared"),
    *("longest_number", "same_query", "any_query"),
)
_SEEN_BY_LANGUAGE_MODEL = ("same_language", "known_languages", "less_known")
_MEANING = ("cosine", "coverage", "weaker_side", "worst_word", "weight")
FEATURES = (
    *_SEEN_IN_STRINGS,
    *_SEEN_BY_LANGUAGE_MODEL,
    *(f"name_{measure}" for measure in _MEANING),
    *(f"folder_{measure}" for measure in _MEANING),
    *(f"unshared_{measure}" for measure in _MEANING),  # without words of both URLs
)


@dataclass(frozen=True, slots=True)
class UrlView:
    """What is looked at in one URL, worked out once."""

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
        """Take a canonical URL apart.

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
    """A URL with what the two tables say of it."""

    view: UrlView
    languages: FloatArray  # (labels,) probabilities
    name: tuple[int, ...]  # numbers of its words
    folders: tuple[int, ...]


class _Vocabulary:
    """The words that were met, numbered; number 0 is no word, a vector of zeros."""

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
        """Of words that were learned."""
        return tuple(self._numbers[word] for word in words)


class PairFeatures:
    """(pairs, FEATURES) numbers for pairs of URLs; remembers URLs and words."""

    def __init__(self, table: FloatArray, languages: HashedUrlLanguageModel) -> None:
        """`table` has a row for each n-gram bucket."""
        self._table = table
        self._languages = languages
        self._urls: dict[str, _Known] = {}
        self._words = _Vocabulary(table)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """One row for each pair; the same whichever URL comes first."""
        self._learn({url for pair in pairs for url in pair})
        known = [(self._urls[min(pair)], self._urls[max(pair)]) for pair in pairs]
        strings = [_features(one.view, two.view) for one, two in known]
        one, two = zip(*known)
        names = _padded([url.name for url in one]), _padded([url.name for url in two])
        folders = (
            _padded([url.folders for url in one]),
            _padded([url.folders for url in two]),
        )
        every = [np.concatenate(side, axis=1) for side in zip(names, folders)]
        columns = [
            np.array(strings, dtype=np.float32),
            _language_features(
                np.array([url.languages for url in one]),
                np.array([url.languages for url in two]),
            ),
            self._meaning(*names),
            self._meaning(*folders),
            self._meaning(
                _only_first(every[0], every[1]), _only_first(every[1], every[0])
            ),
        ]
        rows: FloatArray = np.concatenate(columns, axis=1, dtype=np.float32)
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

    def _meaning(self, one: IntArray, two: IntArray) -> FloatArray:
        """(pairs, _MEANING): how well the words of two texts translate each other.

        The cosine of the texts; for each word its best cosine on the other side,
        averaged with the words' lengths as weights, the mean and the minimum of both
        directions; the word that is found worst (two pages of one site may share all
        words but one); and how much there is to go by.
        """
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
        columns = [
            np.maximum((sums[0] * sums[1]).sum(axis=1), 0)
            / (norms[0] * norms[1] + 1e-9),
            (forth + back) / 2,
            np.minimum(forth, back),
            worst * (less > 1e-6),
            less / (less + 4),  # a word of the web has a length of 1 to 6
        ]
        return np.stack(columns, axis=1).astype(np.float32)


def _padded(rows: Sequence[Sequence[int]]) -> IntArray:
    """(rows, longest) numbers, 0 behind the end of each; one column at least."""
    counts = np.array([len(row) for row in rows])
    width = max(1, int(counts.max(initial=0)))
    numbers = np.zeros((len(rows), width), dtype=np.int64)
    numbers[np.arange(width) < counts[:, None]] = [n for row in rows for n in row]
    return numbers


def _only_first(one: IntArray, two: IntArray) -> IntArray:
    """The numbers of each row of `one` that are not in that row of `two`."""
    shared = (one[:, :, None] == two[:, None, :]).any(axis=2)
    return np.where(shared, 0, one)


def _language_features(one: FloatArray, two: FloatArray) -> FloatArray:
    same = (one * two).sum(axis=1)
    known = one.max(axis=1), two.max(axis=1)
    return np.stack([same, known[0] * known[1], np.minimum(*known)], axis=1)


def word_ngrams(words: Sequence[str], buckets: int) -> npt.NDArray[np.int64]:
    """(words, n-grams) buckets of words with their ends marked."""
    return hashed_ngrams([f"^{word}$" for word in words], buckets, WORD_ORDERS)


def _features(a: UrlView, b: UrlView) -> tuple[float, ...]:
    depths = len(a.segments), len(b.segments)
    deepest = max(*depths, 1)
    equal = [x == y for x, y in zip(a.segments, b.segments)]
    prefix = equal.index(False) if False in equal else len(equal)
    back = [
        x == y for x, y in zip(reversed(a.segments[prefix:]), reversed(b.segments))
    ][: len(b.segments) - prefix]
    suffix = back.index(False) if False in back else len(back)
    names = (a.segments or ("",))[-1], (b.segments or ("",))[-1]
    folders = "/".join(a.segments[:-1]), "/".join(b.segments[:-1])
    word_counts = len(a.name), len(b.name)
    both = bool(a.languages) and bool(b.languages)
    differ = both and a.languages.isdisjoint(b.languages)
    shared = a.numbers & b.numbers
    return (
        a.handle == b.handle,
        not a.forms.isdisjoint(b.forms),
        both,
        differ,
        both and not differ,
        bool(a.languages) != bool(b.languages),
        not a.languages and not b.languages,
        a.places == b.places,
        a.host != b.host,
        depths[0] == depths[1],
        min(abs(depths[0] - depths[1]), 4) / 4,
        depths == (0, 0),
        (depths[0] == 0) != (depths[1] == 0),
        prefix / deepest,
        suffix / deepest,
        sum(equal) / deepest,
        min(deepest - sum(equal), 4) / 4,
        bool(names[0]) and names[0] == names[1],
        min(depths) > 1 and folders[0] == folders[1],
        a.extension == b.extension,
        min(abs(len(names[0]) - len(names[1])), 40) / 40,
        min(len(names[0]), len(names[1]), 40) / 40,
        min(abs(word_counts[0] - word_counts[1]), 8) / 8,
        min(sum(word_counts), 20) / 20,
        min(*word_counts, 8) / 8,
        _jaccard(frozenset(a.name + a.folders), frozenset(b.name + b.folders)),
        ratio(*names) / 100,
        ratio(a.folded, b.folded) / 100,
        token_sort_ratio(a.folded, b.folded) / 100,
        ratio(*folders) / 100 if deepest > 1 else 1.0,
        a.numbers == b.numbers,
        _jaccard(a.numbers, b.numbers),
        bool(a.numbers or b.numbers),
        bool(a.numbers and b.numbers and not shared),
        min(max(map(len, shared), default=0), 8) / 8,
        a.query == b.query,
        bool(a.query or b.query),
    )


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


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
        """Load the shipped weights, or those of a file that `training` has written."""
        arrays, meta = load_weights(weights, "url_pair.npz")
        try:
            table = arrays["table"].astype(np.float32) * arrays["table_scale"]
            self._trees = Trees.read(arrays)
            self._temperature = float(meta["temperature"])
            if tuple(meta["features"]) != FEATURES:
                raise ValueError("trained on other features")
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{weights}: no weights of a hashed pair model ({error})"
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
