"""The compact P(parallel | URL, URL) that ships: what two URLs share, and what differs.

Every known sign that two URLs are one page in two languages becomes a number between 0
and 1 (`FEATURES`): equal handles, which markers were swapped (Resnik and Smith, 2003),
depth, numbers, queries, the languages that the URL language model sees in both, and how
well the words of the two slugs translate each other. A small network weighs them.

Words are compared as vectors: a word is the sum of its hashed character n-grams in a
table that was trained so that translations point the same way, and long vectors are
words that matter. `/en/holiday-home/` and `/de/ferienhaus/` meet there, and so do names
in two scripts.

Needs numpy, scipy and rapidfuzz only. `training/url_pair.py` trains it with the same
`PairFeatures`; its card is `models/weights/url_pair.md`.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rapidfuzz.fuzz import ratio

from crawler.errors import ModelError
from crawler.handles import handle_of, stripped_forms
from crawler.urls import host_of
from models.ngrams import hashed_ngrams
from models.url_language import HashedUrlLanguageModel, bag, load_weights

FloatArray = npt.NDArray[np.float32]

WORD_ORDERS = (2, 3, 4, 5)  # of a word's n-grams; its ends are marked
_MAX_WORD = 40  # characters
_MAX_WORDS = 16  # of a slug
_CACHED = 100_000  # URLs and words kept: the links of a site repeat on all its pages

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_EXTENSION = re.compile(r"\.(?:x?html?|php\d?|aspx?|jsp|md|pdf)$")

# The numbers that the network sees of a pair, in this order; all are 0 to 1.
FEATURES = (
    # markers
    *("same_handle", "shared_form", "both_marked", "languages_differ"),
    *("languages_meet", "one_marked", "none_marked", "same_places", "other_host"),
    # shape
    *("same_depth", "depth_gap", "two_roots", "one_root", "prefix", "suffix"),
    *("equal_segments", "equal_name", "equal_folders", "same_extension"),
    *("name_length_gap", "word_count_gap", "word_count"),
    # spelling
    *("shared_words", "name_spelling", "folder_spelling"),
    # numbers and queries
    *("same_numbers", "shared_numbers", "any_number", "no_number_shared"),
    *("longest_number", "same_query", "any_query"),
    # languages, by the language model
    *("same_language", "known_languages"),
    # meaning
    *("name_cosine", "name_coverage", "name_weaker_side", "name_worst_word"),
    *("folder_cosine", "folder_coverage", "folder_weaker_side", "folder_worst_word"),
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
    numbers: frozenset[str]

    @classmethod
    def of(cls, url: str) -> UrlView:
        """Take a canonical URL apart.

        >>> UrlView.of("https://example.org/en/blog/2024/our-cats_2.html").name
        ('our', 'cats')
        """
        handle = handle_of(url)
        _, _, rest = handle.text.partition("/")
        path, _, query = rest.partition("?")
        extension = _EXTENSION.search(path)
        if extension:
            path = path[: extension.start()]
        segments = tuple(segment for segment in path.split("/") if segment)
        return cls(
            host_of(url),
            handle.text,
            handle.languages,
            tuple(marker.place for marker in handle.markers),
            stripped_forms(url),
            segments,
            extension[0] if extension else "",
            query,
            _words(segments[-1:]),
            _words(segments[:-1]),
            frozenset(_NUMBER.findall(f"{path} {query}")),
        )


def _words(segments: Sequence[str]) -> tuple[str, ...]:
    words = _WORD.findall(" ".join(segments))
    return tuple(word[:_MAX_WORD] for word in words[:_MAX_WORDS])


@dataclass(frozen=True, slots=True)
class _Known:
    """A URL with what the two tables say of it."""

    view: UrlView
    languages: FloatArray  # (labels,) probabilities
    name: tuple[FloatArray, FloatArray]  # directions (words, width), lengths (words,)
    folders: tuple[FloatArray, FloatArray]


class PairFeatures:
    """(pairs, FEATURES) numbers for pairs of URLs; remembers URLs and words."""

    def __init__(self, table: FloatArray, languages: HashedUrlLanguageModel) -> None:
        """`table` has a row for each n-gram bucket."""
        self._table = table
        self._languages = languages
        self._urls: OrderedDict[str, _Known] = OrderedDict()
        self._words: OrderedDict[str, FloatArray] = OrderedDict()

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """One row for each pair."""
        self._learn({url for pair in pairs for url in pair})
        rows = [_features(self._urls[a], self._urls[b]) for a, b in pairs]
        return np.array(rows, dtype=np.float32).reshape(len(pairs), len(FEATURES))

    def _learn(self, urls: Collection[str]) -> None:
        new = sorted(url for url in urls if url not in self._urls)
        if not new:
            return
        if len(self._urls) + len(new) > _CACHED:
            self._urls.clear()
            self._words.clear()
            new = sorted(urls)
        views = [UrlView.of(url) for url in new]
        languages = self._languages.probabilities(new)
        self._learn_words({w for view in views for w in view.name + view.folders})
        for url, view, row in zip(new, views, languages):
            name, folders = self._vectors(view.name), self._vectors(view.folders)
            self._urls[url] = _Known(view, row, name, folders)

    def _learn_words(self, words: Collection[str]) -> None:
        new = sorted(word for word in words if word not in self._words)
        if new:
            ngrams = word_ngrams(new, len(self._table))
            self._words.update(zip(new, bag(ngrams, self._table)))

    def _vectors(self, words: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        width = self._table.shape[1]
        vectors = np.array([self._words[w] for w in words], dtype=np.float32)
        vectors = vectors.reshape(len(words), width)
        lengths = np.sqrt((vectors * vectors).sum(axis=1)) + np.float32(1e-9)
        return vectors / lengths[:, None], lengths


def word_ngrams(words: Sequence[str], buckets: int) -> npt.NDArray[np.int64]:
    """(words, n-grams) buckets of words with their ends marked."""
    return hashed_ngrams([f"^{word}$" for word in words], buckets, WORD_ORDERS)


def _features(one: _Known, two: _Known) -> tuple[float, ...]:
    a, b = one.view, two.view
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
        bool(names[0]) and names[0] == names[1],
        min(depths) > 1 and folders[0] == folders[1],
        a.extension == b.extension,
        min(abs(len(names[0]) - len(names[1])), 40) / 40,
        min(abs(word_counts[0] - word_counts[1]), 8) / 8,
        min(sum(word_counts), 20) / 20,
        _jaccard(frozenset(a.name + a.folders), frozenset(b.name + b.folders)),
        ratio(*names) / 100,
        ratio(*folders) / 100 if deepest > 1 else 1.0,
        a.numbers == b.numbers,
        _jaccard(a.numbers, b.numbers),
        bool(a.numbers or b.numbers),
        bool(a.numbers and b.numbers and not shared),
        min(max(map(len, shared), default=0), 8) / 8,
        a.query == b.query,
        bool(a.query or b.query),
        float(one.languages @ two.languages),
        float(one.languages.max() * two.languages.max()),
        *_meaning(one.name, two.name),
        *_meaning(one.folders, two.folders),
    )


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


def _meaning(
    one: tuple[FloatArray, FloatArray], two: tuple[FloatArray, FloatArray]
) -> tuple[float, float, float, float]:
    """Cosine of two texts, and how well the words of each are found in the other.

    For each word its best cosine on the other side, averaged with the words' lengths
    as weights: the mean and the minimum of both directions. Last the word that is found
    worst: two pages of one site may share all words but one.
    """
    (a, a_lengths), (b, b_lengths) = one, two
    if not len(a) or not len(b):
        return 0.0, 0.0, 0.0, 0.0
    products = a @ b.T
    inner = float(a_lengths @ products @ b_lengths)
    norms = _norm(a, a_lengths) * _norm(b, b_lengths)
    best_a, best_b = products.max(axis=1), products.max(axis=0)
    forth = float(best_a @ a_lengths) / float(a_lengths.sum())
    back = float(best_b @ b_lengths) / float(b_lengths.sum())
    return (
        max(0.0, inner / (norms + 1e-9)),
        max(0.0, (forth + back) / 2),
        max(0.0, min(forth, back)),
        max(0.0, min(float(best_a.min()), float(best_b.min()))),
    )


def _norm(directions: FloatArray, lengths: FloatArray) -> float:
    total = lengths @ directions
    return float(np.sqrt(total @ total))


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
            self._layers = [
                (arrays[f"weight_{i}"].T, arrays[f"bias_{i}"])
                for i in range(int(meta["layers"]))
            ]
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
        hidden = self.features(pairs)
        for weight, bias in self._layers[:-1]:
            hidden = np.maximum(hidden @ weight + bias, 0)
        weight, bias = self._layers[-1]
        scores = (hidden @ weight + bias)[:, 0].astype(float) / self._temperature
        probabilities = 1 / (1 + np.exp(-np.clip(scores, -50, 50)))
        return [
            0.0 if a == b else p for (a, b), p in zip(pairs, probabilities.tolist())
        ]
