"""Readers of what others wrote, as functions of bytes: none may raise.

`tests/fuzz/test_corpus.py` gives them every input that ever failed, and hypothesis'
ideas; `python -m tests.fuzz NAME` lets atheris look for more, guided by what each input
reaches; `tests/hostile/shapes.py` has inputs of any size for them.
"""

from __future__ import annotations

import gzip
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
from crawler.lines import printable
from crawler.rundir import RunDir
from crawler.seeds import parse_seeds
from crawler.sinks.pairs import read_pairs
from crawler.urls import canonicalize, site_of
from crawler.visits import read_visits
from crawler.warc.cdxj import read_cdxj
from crawler.warc.inputs import Piece, read_piece
from crawler.warc.reader import iter_pages, page_of
from crawler.warc.record import Record
from tests.hostile.shapes import CHARSETS

_LANGS = LangPair("en", "is")
_URL = "https://www.example.org/en/page.html"
_WHEN = datetime(2024, 3, 1, tzinfo=UTC)
# A file system in memory, where there is one.
_FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None


def _read(body: bytes, content_type: str) -> None:
    _read_whole(Page(_URL, 200, (("Content-Type", content_type),), body, _WHEN))


def _read_whole(page: Page) -> None:
    reason = read_page(page).reason or ""
    assert not reason.startswith("unreadable"), reason


@contextmanager
def _file(name: str, data: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=_FAST) as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        with suppress(BifocalError):
            yield path


def page(data: bytes) -> None:
    """A page in UTF-8, as its header says."""
    _read(data, "text/html; charset=utf-8")


def encoded_page(data: bytes) -> None:
    """A page of any bytes; the first one chooses the encoding that the header names."""
    names = ["", *CHARSETS]
    charset = names[(data[0] + 1) % len(names)] if data else ""
    _read(data[1:], f"text/html; charset={charset}" if charset else "text/html")


def sitemap(data: bytes) -> None:
    """A sitemap."""
    looks_like_sitemap(_URL, data)
    read_sitemap("https://www.example.org/sitemap.xml", data)


def packed_sitemap(data: bytes) -> None:
    """A sitemap that is packed, or says so."""
    read_sitemap("https://www.example.org/sitemap.xml.gz", data)
    read_sitemap("https://www.example.org/sitemap.xml.gz", b"\x1f\x8b\x08" + data)


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


def response(data: bytes) -> int | None:
    """An HTTP answer with its head and its codings, as a WARC record holds it.

    Returns the bytes of the body without its codings.
    """
    record = Record("response", {"warc-target-uri": _URL}, data, "x.warc", 0, len(data))
    found = page_of(record, Counter())
    if found is None:
        return None
    _read_whole(found)
    return len(found.body)


def body(data: bytes) -> int | None:
    """A body with content codings; the first byte chooses them."""
    codings = ["gzip", "deflate", "gzip, deflate", "gzip, gzip, gzip, gzip", "br"]
    coding = codings[data[0] % len(codings)] if data else "zstd"
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n".encode()
    return response(head + data[1:])


def warc(data: bytes) -> None:
    """A WARC file."""
    with _file("x.warc", data) as path:
        for found in iter_pages(path):
            assert found.url


def _piece(name: str, data: bytes) -> None:
    with _file(name, data) as path:
        for item in read_piece(Piece(str(path)), Counter()):
            assert item.url


def arc(data: bytes) -> None:
    """An ARC file."""
    _piece("x.arc", data)


def lett(data: bytes) -> None:
    """A .lett file."""
    _piece("x.lett", data)


def packed_lett(data: bytes) -> None:
    """A .lett.gz file; the input is what it unpacks to."""
    _piece("x.lett.gz", gzip.compress(data, 1))


def wet(data: bytes) -> None:
    """A WET file."""
    _piece("x.wet", data)


def cdxj(data: bytes) -> None:
    """A CDXJ index."""
    with _file("x.cdxj", data) as path:
        for entry in read_cdxj(path):
            assert entry is None or entry.location.length > 0


def visits(data: bytes) -> None:
    """The log of a crawl."""
    with _file("crawl.jsonl", data) as path:
        for visit in read_visits(path):
            assert visit.url == printable(visit.url)


def about(data: bytes) -> None:
    """A run.json."""
    with _file("run.json", data) as path:
        RunDir(path.parent).read()


def pairs(data: bytes) -> None:
    """A pairs.tsv.gz; the input is what it unpacks to."""
    with _file("pairs.tsv.gz", gzip.compress(data, 1)) as path:
        for pair in read_pairs(path):
            assert 0 <= pair.score <= 1


def journal(data: bytes) -> None:
    """A batch that a worker finds in Redis."""
    with suppress(BifocalError):
        replay("example.org", unpack(data, "redis"))


def lexicon(data: bytes) -> None:
    """A lexicon that somebody gave us."""
    with _file("lexicon.npz", data) as path:
        Lexicon.load(path, _LANGS)


# Reads an input; returns its size, if that is another one when it is unpacked.
Target = Callable[[bytes], int | None]
TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        *(page, encoded_page, sitemap, packed_sitemap, robots, url, seeds, response),
        *(body, warc, arc, lett, packed_lett, wet, cdxj, visits, about, pairs),
        *(journal, lexicon),
    )
}
