"""Sentence pairs, or anything else, as one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawler.data import CorpusPair, LangPair, Origin
from crawler.sinks.whole import WholeFile

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class LinesFile:
    """Writes objects as lines of JSON."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        self._file = WholeFile(path)

    def write(self, item: Mapping[str, Any]) -> None:
        """Append an object."""
        self._file.write(_ENCODER.encode(item) + "\n")

    def close(self) -> None:
        """Put the file in its place."""
        self._file.close()

    def discard(self) -> None:
        """Leave nothing behind."""
        self._file.discard()


class JsonlSink:
    """Writes one pair a line, in the form that `datasets` takes for translations."""

    def __init__(self, path: Path, langs: LangPair) -> None:
        """Open the file."""
        self._file = LinesFile(path)
        self._langs = langs

    def write(self, item: CorpusPair) -> None:
        """Append a pair."""
        self._file.write(object_of(item, self._langs))

    def close(self) -> None:
        """Put the file in its place."""
        self._file.close()

    def discard(self) -> None:
        """Leave nothing behind."""
        self._file.discard()


def object_of(item: CorpusPair, langs: LangPair) -> dict[str, Any]:
    """A pair as plain data; docs/corpus.md explains the fields."""
    pair = item.pair
    texts = [  # half of a surrogate pair is no character
        text.encode("utf-8", "replace").decode()
        for text in (pair.src_text, pair.trg_text)
    ]
    return {
        "id": item.id,
        "translation": dict(zip(langs, texts, strict=True)),
        "score": round(pair.score, 4),
        "pair_score": round(pair.pair_score, 4),
        "bead": list(pair.bead),
        "blocks": list(pair.blocks),
        "places": list(pair.places),
        "copies": item.copies,
        "src": _origin(item.origins[0]),
        "trg": _origin(item.origins[1]),
    }


def _origin(origin: Origin) -> dict[str, Any]:
    return {
        "url": origin.url,
        "warc": origin.warc,
        "offset": origin.offset,
        "record_id": origin.record_id,
    }
