"""The compact P(language | URL) that ships: hashed n-grams beside explicit markers.

A URL shows its language in two ways, and a crawler needs both:

* by its words and its host name: hashed character n-grams and whole words
  (`models.ngrams`) select rows of one table, whose scaled sum is the input of a linear
  classifier (Joulin et al., 2017);
* by a marker (`/is/`, `de.`, `?lang=fr`, `.pl`): each marker adds to the scores of the
  languages that it may mean. The amount depends on its place and, through a gate, on
  the n-grams, but not on the language, so that the code of a language with a dozen URLs
  in the training data counts as much as that of a large one.

Needs numpy and scipy only. `training/url_language.py` trains it on the same
`language_inputs`; its card is `models/weights/url_language.md`.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from crawler.data import Lang
from crawler.errors import ModelError
from crawler.handles import Handle, handle_of
from crawler.languages import all_languages, marker_languages
from crawler.urls import host_labels, split
from models.ngrams import PADDING, hashed_ngrams, url_string
from models.rules import UNKNOWN

# Places of a marker. `country`: it names a country and not the language, as `cz` does
# for Czech, or `uk` for English, which is also the code of Ukrainian.
PLACES = (
    *("host", "dir", "file", "query", "suffix"),
    *("host country", "dir country", "file country", "query country"),
)

# Languages below this are not listed; their sum goes to `unk`. A crawl asks for two
# languages, and such a link comes after all others.
_LISTED = 1e-3
_RECENT = 4_096  # URLs whose answers are kept, a few pages' links: 5 MB

FloatArray = npt.NDArray[np.float32]


class LanguageInputs(NamedTuple):
    """The model's input for a batch of URLs."""

    ngrams: npt.NDArray[np.int64]  # (urls, n-grams) buckets, 0 fills the rows
    # One entry for each language that a marker may mean, (entries,):
    rows: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]


def language_inputs(
    urls: Sequence[str], label_index: Mapping[Lang, int], buckets: int
) -> LanguageInputs:
    """The inputs for canonical URLs."""
    marks = sorted(
        {
            (row, place, label_index[lang])
            for row, url in enumerate(urls)
            for place, lang in _markers(url)
            if lang in label_index
        }
    )
    columns = np.array(marks, dtype=np.int64).reshape(-1, 3).T
    return LanguageInputs(
        hashed_ngrams([url_string(url) for url in urls], buckets), *columns
    )


@lru_cache(maxsize=4_096)
def recent_handle(url: str) -> Handle:
    """`handle_of`, cached while both models score the links of a few pages."""
    return handle_of(url)


def _markers(url: str) -> Iterator[tuple[int, Lang]]:
    for marker in recent_handle(url).markers:
        for lang in marker.languages:
            by_country = marker.token in all_languages()[lang].url_codes
            place = f"{marker.place} country" if by_country else marker.place
            yield PLACES.index(place), lang
    country = host_labels(split(url).host)[2].rpartition(".")[2]
    if len(country) == 2:
        for lang in marker_languages(country):
            yield PLACES.index("suffix"), lang


class HashedUrlLanguageModel:
    """P(language | URL), thousands of URLs a second (setting: URL_LANGUAGE_MODEL).

    >>> model = HashedUrlLanguageModel()
    >>> answer = model.predict(["https://example.org/is/um-okkur"])[0]
    >>> max(answer, key=answer.get), round(sum(answer.values()), 6)
    ('is', 1.0)
    """

    def __init__(self, weights: str | Path | None = None) -> None:
        """`weights` is a file that `training` wrote; default: the weights that ship."""
        self._network = _shipped() if weights is None else _Network(_read(weights))
        self.labels = self._network.labels

    def predict(self, urls: Sequence[str]) -> list[Mapping[Lang, float]]:
        """Languages with a probability of at least 0.001; the rest is `unk`."""
        if not urls:
            return []
        probabilities = self.probabilities(urls)
        answers: list[Mapping[Lang, float]] = []
        for row in probabilities:
            listed = np.flatnonzero(row >= _LISTED)
            answer = {
                self.labels[i]: p
                for i, p in zip(listed.tolist(), row[listed].tolist())
                if i
            }
            answer[UNKNOWN] = max(0.0, 1.0 - sum(answer.values()))
            answers.append(answer)
        return answers

    def probabilities(self, urls: Sequence[str]) -> FloatArray:
        """(urls, labels); label 0 is `unk`."""
        return self._network.probabilities(urls)


class _Weights(NamedTuple):
    """The content of a file of weights."""

    labels: tuple[Lang, ...]
    table: FloatArray  # (buckets, width)
    out: FloatArray  # (width, labels)
    out_bias: FloatArray
    gate: FloatArray  # (width, places)
    gate_bias: FloatArray
    gate_scale: np.float32


def _read(path: str | Path | None) -> _Weights:
    arrays, meta = load_weights(path, "url_language.npz")
    try:
        if len(arrays["gate_bias"]) != len(PLACES):
            raise ValueError("they were trained with other places of markers")
        # the temperature (Guo et al., 2017) is one more factor of the last layer
        temperature = np.float32(meta["temperature"])
        return _Weights(
            tuple(meta["labels"]),
            arrays["table"].astype(np.float32) * arrays["table_scale"],
            arrays["out_weight"].T / temperature,
            arrays["out_bias"] / temperature,
            arrays["gate_weight"].T,
            arrays["gate_bias"],
            np.float32(meta["trust"]) / temperature,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"{path}: not the weights of a hashed language model ({error})"
        ) from error


class _Network:
    """Computes answers and keeps the last ones, which the pair model asks for again."""

    def __init__(self, weights: _Weights) -> None:
        self.labels = weights.labels
        self._weights = weights
        self._label_index = dict(zip(weights.labels, range(len(weights.labels))))
        self._recent: dict[str, FloatArray] = {}

    def probabilities(self, urls: Sequence[str]) -> FloatArray:
        """(urls, labels)."""
        new = [url for url in dict.fromkeys(urls) if url not in self._recent]
        if new:
            if len(self._recent) + len(new) > _RECENT:
                self._recent.clear()
                new = list(dict.fromkeys(urls))
            self._recent.update(zip(new, self._compute(new)))
        return np.array([self._recent[url] for url in urls]).reshape(
            len(urls), len(self.labels)
        )

    def _compute(self, urls: Sequence[str]) -> FloatArray:
        weights = self._weights
        inputs = language_inputs(urls, self._label_index, len(weights.table))
        hidden = bag(inputs.ngrams, weights.table)
        scores = hidden @ weights.out + weights.out_bias
        gates = np.logaddexp(0, hidden @ weights.gate + weights.gate_bias)  # softplus
        np.add.at(
            scores,
            (inputs.rows, inputs.labels),
            gates[inputs.rows, inputs.places] * weights.gate_scale,
        )
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return np.asarray(scores, dtype=np.float32)


@cache
def _shipped() -> _Network:
    """The weights that ship, read once for the language and the pair model."""
    return _Network(_read(None))


def bag(ngrams: npt.NDArray[np.int64], table: FloatArray) -> FloatArray:
    """(texts, width): sum of the table's rows, divided by the root of their number."""
    counts = np.count_nonzero(ngrams != PADDING, axis=1)
    scales = 1 / np.sqrt(np.maximum(counts, 1))
    chosen = csr_array(
        (
            np.repeat(scales, counts).astype(np.float32),
            ngrams[ngrams != PADDING],
            np.concatenate([[0], np.cumsum(counts)]),
        ),
        shape=(len(ngrams), len(table)),
    )
    total: FloatArray = chosen @ table
    return total


def load_weights(
    path: str | Path | None, shipped: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of an .npz file and the JSON table `meta` among them."""
    source: Any = (
        Path(path) if path else resources.files("models") / "weights" / shipped
    )
    if path and Path(path).is_dir():
        raise ModelError(
            f"{path}: a folder where a file of weights belongs (is it an encoder?"
            f" `bifocal models use {path}` prints the settings)"
        )
    try:
        with (
            source.open("rb") as stream,
            np.load(stream, allow_pickle=False) as content,
        ):
            arrays = {name: content[name] for name in content.files}
        meta = json.loads(str(arrays.pop("meta")))
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"{source}: cannot be read as weights ({error}; give a .npz file that"
            " `bifocal train` wrote)"
        ) from error
    return arrays, meta
