"""What the frontier stores with a URL: its link, its evidence, and what came of it.

A FrontierStore keeps this as bytes that it does not look into: a list in JSON, without
names, since a shared frontier holds millions of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from crawler.data import (
    NO_EVIDENCE,
    FrontierEntry,
    KnownUrl,
    Lang,
    Link,
    Outcome,
    Rel,
    Score,
    ScoredUrl,
    Site,
    StoredUrl,
    UrlState,
)
from crawler.errors import FrontierError
from crawler.urls import site_of

_DIGITS = 4  # of evidence: as many as `bifocal explain` shows


@dataclass(frozen=True, slots=True)
class Lease:
    """A URL that is being fetched."""

    link: Link
    site: Site
    score: Score
    evidence: Mapping[str, float] = field(default_factory=lambda: NO_EVIDENCE)
    tries: int = 0  # how often it failed before
    scored_at: int = 0  # how many URLs were done when it got its score

    @property
    def url(self) -> str:
        """The URL to fetch."""
        return self.link.url

    @property
    def scored(self) -> ScoredUrl:
        """The link with its score."""
        return ScoredUrl(self.link, self.score, self.evidence)


class Cost(msgspec.Struct, frozen=True, array_like=True):
    """The cost of a download, kept where its site has a budget for it."""

    size: int = 0  # bytes of the body
    seconds: float = 0.0  # that the server took


class Payload(msgspec.Struct, frozen=True, array_like=True):
    """The part of a URL's row that a store does not look into: a list of values."""

    source_url: str | None = None
    anchor: str | None = None
    hreflang: Lang | None = None
    rel: Rel | None = None
    is_seed: bool = False
    evidence: dict[str, float] = {}
    scored_at: int = 0
    tries: int = 0
    outcome: Outcome | None = None
    lang: Lang | None = None  # of a page
    cost: Cost | None = None


_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(Payload).decode


def encode(
    scored: ScoredUrl,
    *,
    scored_at: int,
    tries: int = 0,
    outcome: Outcome | None = None,
    lang: Lang | None = None,
    cost: Cost | None = None,
) -> bytes:
    """The payload of a URL's row."""
    link = scored.link
    return _ENCODE(
        Payload(
            link.source_url,
            link.anchor and link.anchor.encode("utf-8", "replace").decode(),
            link.hreflang,
            link.rel,
            link.is_seed,
            {name: round(value, _DIGITS) for name, value in scored.evidence.items()},
            scored_at,
            tries,
            outcome,
            lang,
            cost,
        )
    )


def decode(payload: bytes) -> Payload:
    """What `encode` wrote; FrontierError for bytes that it did not write."""
    try:
        return _DECODE(payload) if payload else Payload()
    except msgspec.MsgspecError as error:
        raise FrontierError(
            f"a row of the frontier cannot be read: {error} (another version wrote it;"
            " crawl into a new RUN_DIR)"
        ) from error


def entry_of(scored: ScoredUrl, done: int) -> FrontierEntry:
    """A new row; `done`: how many URLs are done by now."""
    link = scored.link
    payload = encode(scored, scored_at=done)
    return FrontierEntry(link.url, site_of(link.url), scored.score, link.depth, payload)


def lease_of(entry: FrontierEntry) -> Lease:
    """The URL of a row, for fetching it."""
    payload = decode(entry.payload)
    link = _link(entry, payload)
    return Lease(
        link,
        entry.site,
        entry.score,
        payload.evidence or NO_EVIDENCE,
        payload.tries,
        payload.scored_at,
    )


def known_of(stored: StoredUrl) -> tuple[KnownUrl, Cost | None]:
    """A stored URL decoded, and what it cost; a done one without outcome is unified."""
    entry, payload = stored.entry, decode(stored.entry.payload)
    outcome = None
    if stored.state == UrlState.DONE:
        outcome = payload.outcome or Outcome.OTHER_SCHEME
    known = KnownUrl(
        _link(entry, payload), entry.site, entry.score, outcome, payload.lang
    )
    return known, payload.cost


def _link(entry: FrontierEntry, payload: Payload) -> Link:
    return Link(
        entry.url,
        payload.source_url,
        payload.anchor,
        payload.hreflang,
        payload.rel,
        entry.depth,
        payload.is_seed,
    )
