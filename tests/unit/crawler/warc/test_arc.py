from __future__ import annotations

import gzip
from collections import Counter

import pytest

from crawler.warc.reader import iter_pages
from tests.worlds import build_site

PAGES = list(build_site(concepts=4).pages())
# The head of a file that Heritrix wrote in 2004, as the Internet Archive has it.
ABOUT = b"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<arcmetadata xmlns:arc="http://archive.org/arc/1.0/">
<arc:software>Heritrix 1.0.5-20040923164426 http://crawler.archive.org</arc:software>
</arcmetadata>

"""


def member(url: str, kind: str, block: bytes) -> bytes:
    """A record: URL, address, date, media type and length, then the block."""
    line = f"{url} 209.237.234.249 20040925000741 {kind} {len(block)}\n"
    return line.encode() + block + b"\n"


def members() -> list[bytes]:
    columns = b"1 1 InternetArchive\nURL IP-address Archive-date Content-type"
    head = member(
        "filedesc://a.arc", "text/plain", columns + b" Archive-length\n" + ABOUT
    )
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
    return [head] + [member(p.url, "text/html", answer + p.body) for p in PAGES]


def pages(path) -> tuple[list[tuple[str, bytes]], Counter[str]]:
    counts: Counter[str] = Counter()
    return [(p.url, p.body) for p in iter_pages(path, counts=counts)], counts


@pytest.mark.parametrize("packed", [False, True])
def test_the_pages_of_an_arc_file(tmp_path, packed):
    path = tmp_path / ("a.arc.gz" if packed else "a.arc")
    path.write_bytes(
        b"".join(map(gzip.compress, members())) if packed else b"".join(members())
    )
    found, counts = pages(tmp_path)
    assert found == [(page.url, page.body) for page in PAGES]
    assert not [name for name in counts if "damaged" in name or "dropped" in name]
    (date,) = {page.fetched_at.isoformat() for page in iter_pages(path)}
    assert date == "2004-09-25T00:07:41+00:00"


@pytest.mark.parametrize("packed", [False, True])
def test_a_torn_arc_file_keeps_what_came_before(tmp_path, packed):
    path = tmp_path / "a.arc"
    parts = [gzip.compress(m) for m in members()] if packed else members()
    path.write_bytes(b"".join(parts)[: -len(parts[-1]) // 2])
    found, counts = pages(path)
    assert found == [(page.url, page.body) for page in PAGES[:-1]]
    assert counts["warc/damaged/truncated"] == 1
