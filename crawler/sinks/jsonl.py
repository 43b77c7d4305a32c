"""Sentence pairs, or anything else, as one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crawler.atomic import atomic_text
from crawler.data import CorpusPair, LangPair, Origin

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@contextmanager
def json_lines(path: Path) -> Iterator[Callable[[Mapping[str, Any]], object]]:
    """A file that takes objects, one a line."""
    with atomic_text(path) as out:
        yield lambda item: out.write(_ENCODER.encode(item) + "\n")


@contextmanager
def jsonl_sink(path: Path, langs: LangPair) -> Iterator[Callable[[CorpusPair], object]]:
    """A file that takes pairs, in the form of translations that `datasets` reads."""
    with json_lines(path) as write:
        yield lambda item: write(object_of(item, langs))


def object_of(item: CorpusPair, langs: LangPair) -> dict[str, Any]:
    """A pair as plain data; docs/corpus.md explains the fields."""
    pair = item.pair
    texts = [  # half of a surrogate pair is not a character
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
        "src": origin_of(item.origins[0]),
        "trg": origin_of(item.origins[1]),
    }


def origin_of(origin: Origin) -> dict[str, Any]:
    """Where a page is, as plain data."""
    return {
        "url": origin.url,
        "warc": origin.warc,
        "offset": origin.offset,
        "record_id": origin.record_id,
    }
