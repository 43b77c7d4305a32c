"""What robots.txt says, by RFC 9309: one set of rules per origin.

Fetching is the caller's: the crawl fetches robots.txt like any page, through the site
gate, before the first page of an origin, so that politeness and the WARC know of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from protego import Protego

from crawler.urls import canonicalize

# RFC 9309, section 2.5: a crawler must parse at least the first 500 KiB.
MAX_ROBOTS_BYTES = 512_000


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin."""

    parser: Protego | None  # None: everything is allowed, or everything is not
    allow_all: bool = True
    sitemaps: tuple[str, ...] = field(default=())
    size: int = 0  # bytes that were read

    def allows(self, url: str, user_agent: str) -> bool:
        """May this user agent fetch the URL?"""
        if self.parser is None:
            return self.allow_all
        return bool(self.parser.can_fetch(url, user_agent))

    def crawl_delay(self, user_agent: str) -> float:
        """Seconds between two requests that the site asks for; 0.0 if it does not."""
        if self.parser is None:
            return 0.0
        delay = self.parser.crawl_delay(user_agent)
        rate = self.parser.request_rate(user_agent)
        asked = max(delay or 0.0, rate.seconds / rate.requests if rate else 0.0)
        return max(0.0, float(asked))


ALLOW_ALL = RobotsRules(None, allow_all=True)
REFUSE_ALL = RobotsRules(None, allow_all=False)


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical URL.

    >>> origin_of("https://example.org:8080/a?b"), origin_of("http://example.org")
    ('https://example.org:8080', 'http://example.org')
    """
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}"


def rules_of(status: int, body: bytes) -> RobotsRules:
    """The rules that an answer to /robots.txt means.

    RFC 9309, section 2.3.1: 4xx, or a redirect too many, means that there are none; a
    server error means that nobody may come (until it is asked again).
    """
    if 200 <= status < 300:
        text = body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace").lstrip("\ufeff")
        parser = Protego.parse(text.replace("\x00", ""))
        sitemaps = tuple(
            url for line in parser.sitemaps if (url := canonicalize(line.strip()))
        )
        return RobotsRules(
            parser, sitemaps=sitemaps, size=min(len(body), MAX_ROBOTS_BYTES)
        )
    return ALLOW_ALL if 300 <= status < 500 else REFUSE_ALL
