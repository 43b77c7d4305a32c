"""The journal of a site: what happened to its URLs, in batches that pack well.

An event is a push `("p", url, score, depth, payload)`, with a 1 at its end if the URL
is done since; or the end of a lease as done, `("d", url, score, payload)`, or as
pending again, `("b", …)`, where None leaves what was.
`("o", n)` is the place of a site among all. `("f", state)` is a filter of URLs that are
done and forgotten (`bloom.py`); the last one counts. A journal that comes from
elsewhere is checked before anything is made of it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from crawler.data import FrontierEntry, Site, StoredUrl, UrlState
from crawler.errors import FrontierError

T = TypeVar("T")
Event = tuple[Any, ...]

_MAX_BATCH = 64_000_000  # bytes of a batch, unpacked: more is no batch of ours
# What most batches have in common. zlib starts with it in its window, so that the few
# links of one page take two thirds of what they took.
_COMMON = (
    rb'"\"r\":\"nofollow\",\"seed\":1,\"t\":1,\"o\":\"?\"}"],["d","https://www.'
    rb'.org/.com/.is/.fr/.html",null,"{\"d\":1,\"n\":0,\"s\":\"https://\",\"a\":\"\",'
    rb"\"l\":\"en\",\"r\":\"alternate\",\"e\":{\"hreflang\":1.0,\"p_language\":0."
    rb"\"p_parallel\":0.\"handle\":1.0,\"switcher\":1.0,\"yield\":0.\"pending\":0."
    rb'}}"],["b","http://",0.5,null],[["o",1],["p","https://'
)


def pushed(entry: FrontierEntry) -> Event:
    """The event of a push."""
    return ("p", entry.url, entry.score, entry.depth, text_of(entry.payload))


def text_of(payload: bytes | None) -> str | None:
    """A payload as JSON can say it: a character a byte."""
    return None if payload is None else payload.decode("latin-1")


def pack(events: Iterable[Event]) -> bytes:
    """A batch of events."""
    text = json.dumps(list(events), separators=(",", ":")).encode()
    packer = zlib.compressobj(6, zdict=_COMMON)
    return packer.compress(text) + packer.flush()


def unpack(batch: bytes, where: str) -> list[list[Any]]:
    """The events of a batch; FrontierError for what no worker of ours has written."""
    try:
        reader = zlib.decompressobj(zdict=_COMMON)
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
        case ["p", str(), int() | float(), int(), str(payload)] | [
            "p",
            str(),
            int() | float(),
            int(),
            str(payload),
            1,
        ]:
            return _is_bytes(payload)
        case ["d" | "b", str(), int() | float() | None, str() | None as payload]:
            return payload is None or _is_bytes(payload)
        case ["o", int()] | ["f", list()]:
            return True
    return False


def _is_bytes(text: str) -> bool:
    return text.isascii() or max(text) <= "\xff"


def entries_of(site: Site, events: Iterable[Sequence[Any]]) -> list[FrontierEntry]:
    """The URLs that others pushed."""
    return [
        FrontierEntry(event[1], site, event[2], event[3], event[4].encode("latin-1"))
        for event in events
        if event[0] == "p"
    ]


@dataclass(slots=True)
class History:
    """What a journal comes to."""

    known: list[StoredUrl] = field(default_factory=list)  # in the order of first pushes
    place: int | None = None  # of the site among all; None: nobody has had it yet
    forgotten: list[Any] = field(default_factory=list)  # the state of a filter


def replay(site: Site, events: Iterable[Sequence[Any]]) -> History:
    """Read a journal: each URL once, in its last state."""
    history = History()
    known: dict[str, tuple[FrontierEntry, bool]] = {}
    for event in events:
        match event:
            case ["o", place]:
                history.place = place
            case ["f", state]:
                history.forgotten = state
            case ["p", url, score, _, _, *done]:
                before = known.get(url)
                if before is None or (not before[1] and score > before[0].score):
                    (entry,) = entries_of(site, [event])
                    known[url] = (entry, bool(done))
            case [kind, url, score, payload] if url in known:
                old = known[url][0]
                entry = FrontierEntry(
                    url,
                    site,
                    old.score if score is None else score,
                    old.depth,
                    old.payload if payload is None else payload.encode("latin-1"),
                )
                known[url] = (entry, kind == "d")
    history.known = [
        StoredUrl(entry, UrlState.DONE if done else UrlState.PENDING)
        for entry, done in known.values()
    ]
    return history


def events_of(history: History) -> Iterator[Event]:
    """The shortest journal that comes to this."""
    if history.place is not None:
        yield ("o", history.place)
    if history.forgotten:
        yield ("f", history.forgotten)
    for item in history.known:
        event = pushed(item.entry)
        yield (*event, 1) if item.state == UrlState.DONE else event
