"""A URL model of languages that remembers what it said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crawler.data import Lang
from crawler.protocols import UrlLanguageModel

# URLs whose languages are kept: about 50 MB.
_REMEMBERED = 100_000


class RememberedLanguages:
    """Asks a model once about a URL: links repeat on pages, and scorers share it."""

    def __init__(self, model: UrlLanguageModel) -> None:
        """Take the model."""
        self._model = model
        self._said: dict[str, Mapping[Lang, float]] = {}

    def replace(self, model: UrlLanguageModel) -> None:
        """Ask another model from now on, about every URL."""
        self._model = model
        self._said.clear()

    def predict(self, urls: Sequence[str]) -> list[Mapping[Lang, float]]:
        """P(language | URL), those that are new as one batch."""
        new = [url for url in dict.fromkeys(urls) if url not in self._said]
        if len(self._said) + len(new) > _REMEMBERED:
            self._said.clear()
            new = list(dict.fromkeys(urls))
        if new:
            self._said.update(zip(new, self._model.predict(new), strict=True))
        return [self._said[url] for url in urls]


def remembered(model: UrlLanguageModel) -> RememberedLanguages:
    """The model, wrapped once: it is not wrapped again."""
    return (
        model if isinstance(model, RememberedLanguages) else RememberedLanguages(model)
    )
