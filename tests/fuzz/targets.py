"""What hostile bytes go through, as functions of bytes: none may raise.

`tests/fuzz/test_corpus.py` gives them every input that ever failed, and hypothesis'
ideas; `python -m tests.fuzz NAME` lets atheris look for more, guided by what each input
reaches.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.data import LangPair, Page
from crawler.errors import BifocalError
from crawler.extract.document import read_page
from crawler.extract.sitemap import looks_like_sitemap, read_sitemap
from crawler.frontier.robots import rules_of
from crawler.frontier.stores.journal import replay, unpack
from crawler.handles import handle_of, stripped_forms
from crawler.seeds import parse_seeds
from crawler.urls import canonicalize, site_of
from crawler.warc.http import HttpResponse, decode_body
from crawler.warc.reader import iter_pages

_LANGS = LangPair("en", "is")
_URL = "https://www.example.org/en/page.html"
_WHEN = datetime(2024, 3, 1, tzinfo=UTC)
_TYPES = ["text/html", "text/html; charset=utf-8", "", "text/html; charset=gb18030"]


def page(data: bytes) -> None:
    """A page of any bytes; the first one chooses what the header says."""
    kind = _TYPES[data[0] % len(_TYPES)] if data else ""
    read_page(Page(_URL, 200, (("Content-Type", kind),), data[1:], _WHEN))


def sitemap(data: bytes) -> None:
    """A sitemap, packed or not."""
    looks_like_sitemap(_URL, data)
    read_sitemap("https://www.example.org/sitemap.xml", data)


def robots(data: bytes) -> None:
    """A robots.txt, and whether it lets us in."""
    rules = rules_of(200, data)
    rules.allows(_URL, "bifocal/0.1")
    rules.crawl_delay("bifocal/0.1")


def url(data: bytes) -> None:
    """A link, as it stands on a page."""
    text = data.decode("utf-8", "replace")
    found = canonicalize(text)
    if found is not None:
        assert canonicalize(found) == found
        site_of(found)
        handle = handle_of(found)
        assert handle_of(found) == handle
        stripped_forms(found)


def seeds(data: bytes) -> None:
    """A list of seeds."""
    with suppress(BifocalError):
        parse_seeds(data.decode("utf-8", "replace").splitlines(), "seeds.txt")


def body(data: bytes) -> None:
    """A body with content codings; the first byte chooses them."""
    codings = ["gzip", "deflate", "gzip, deflate", "gzip, gzip, gzip, gzip, gzip", "x"]
    coding = codings[data[0] % len(codings)] if data else "gzip"
    response = HttpResponse(200, (("Content-Encoding", coding),), data[1:])
    decode_body(response, Counter())


def warc(data: bytes) -> None:
    """A WARC file."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "x.warc"
        path.write_bytes(data)
        with suppress(BifocalError):
            for found in iter_pages(path):
                assert found.url


def journal(data: bytes) -> None:
    """A batch that a worker finds in Redis."""
    with suppress(BifocalError):
        replay("example.org", unpack(data, "redis"))


def lexicon(data: bytes) -> None:
    """A lexicon that somebody gave us."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "lexicon.npz"
        path.write_bytes(data)
        with suppress(BifocalError):
            Lexicon.load(path, _LANGS)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (page, sitemap, robots, url, seeds, body, warc, journal, lexicon)
}
