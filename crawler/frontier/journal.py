"""The journal of a site: what happened to its URLs, in batches that pack well.

An event is a push `("p", url, score, depth, payload)`, the end of a lease as done,
`("d", url, score, payload)`, or as pending again, `("b", …)`; None leaves what was. A
journal that comes from elsewhere is checked before anything is made of it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from crawler.data import FrontierEntry, KnownUrl, Site
from crawler.errors import FrontierError

T = TypeVar("T")
Event = tuple[Any, ...]

_MAX_BATCH = 64_000_000  # bytes of a batch, unpacked: more is no batch of ours


def pushed(entry: FrontierEntry) -> Event:
    """The event of a push."""
    return ("p", entry.url, entry.score, entry.depth, text_of(entry.payload))


def text_of(payload: bytes | None) -> str | None:
    """A payload as JSON can say it: a character a byte."""
    return None if payload is None else payload.decode("latin-1")


def pack(events: Iterable[Event]) -> bytes:
    """A batch of events."""
    return zlib.compress(json.dumps(list(events), separators=(",", ":")).encode(), 6)


def unpack(batch: bytes, where: str) -> list[list[Any]]:
    """The events of a batch; FrontierError for what no worker of ours has written."""
    try:
        reader = zlib.decompressobj()
        text = reader.decompress(batch, _MAX_BATCH)
        events = json.loads(text) if reader.eof else None
        if isinstance(events, list) and all(map(_is_event, events)):
            return events
    except (zlib.error, ValueError):
        pass
    raise FrontierError(f"{where}: a journal is damaged (delete the run's keys)")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of so many items, the last one shorter (itertools has it from 3.12 on)."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def _is_event(event: Any) -> bool:
    match event:
        case ["p", str(), int() | float(), int(), str()]:
            return True
        case ["d" | "b", str(), int() | float() | None, str() | None]:
            return True
    return False


def entries_of(site: Site, events: Iterable[Sequence[Any]]) -> list[FrontierEntry]:
    """The URLs that others pushed."""
    return [
        FrontierEntry(url, site, score, depth, payload.encode("latin-1"))
        for kind, url, score, depth, payload in events
        if kind == "p"
    ]


def replay(site: Site, events: Iterable[Sequence[Any]]) -> list[KnownUrl]:
    """What a journal comes to: each URL once, in the order of first pushes."""
    known: dict[str, tuple[FrontierEntry, bool]] = {}
    for event in events:
        before = known.get(event[1])
        if event[0] == "p":
            (entry,) = entries_of(site, [event])
            if before is None or (not before[1] and entry.score > before[0].score):
                known[entry.url] = (entry, False)
        elif before is not None:
            kind, url, score, payload = event
            old = before[0]
            known[url] = (
                FrontierEntry(
                    url,
                    site,
                    old.score if score is None else score,
                    old.depth,
                    old.payload if payload is None else payload.encode("latin-1"),
                ),
                kind == "d",
            )
    return [
        KnownUrl(entry, "done" if done else "pending") for entry, done in known.values()
    ]


def events_of(known: Iterable[KnownUrl]) -> Iterator[Event]:
    """The shortest journal that comes to this."""
    for item in known:
        yield pushed(item.entry)
        if item.state == "done":
            yield ("d", item.entry.url, None, None)
