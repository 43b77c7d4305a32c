"""Pages come from an archive, read by range, before the web is asked."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from datetime import UTC, datetime

import pytest

from crawler.errors import WarcError
from crawler.urls import canonicalize
from crawler.warc.archive import Archive
from crawler.warc.exchange import Exchange
from crawler.warc.reader import iter_records
from crawler.warc.writer import WarcConfig, WarcWriter
from tests.commands import Run, crawl
from tests.rangeserver import ranges_of
from tests.webserver import Server
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=8, words=80)
THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HTML = ((b"Content-Type", b"text/html; charset=utf-8"),)


def recorded(folder, bodies):
    """A WARC file of pages, its sorted CDXJ, and the same as ZipNum."""
    folder.mkdir(exist_ok=True)
    with WarcWriter(folder, WarcConfig(prefix="old")) as writer:
        for url, body in bodies.items():
            writer.write_exchange(Exchange(url, 200, HTML, body, THEN))
    (index,) = folder.glob("*.cdxj")
    lines = index.read_text().splitlines(keepends=True)
    first_level, offset = [], 0
    with (folder / "cdx-00000.gz").open("wb") as file:
        for start in range(0, len(lines), 5):
            block = gzip.compress("".join(lines[start : start + 5]).encode())
            file.write(block)
            key = " ".join(lines[start].split(" ")[:2])
            first_level.append(f"{key}\tcdx-00000.gz\t{offset}\t{len(block)}\n")
            offset += len(block)
    (folder / "cluster.idx").write_text("".join(first_level))
    return index


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    urls = [f"https://a{n % 7}.example.org/page/{n}" for n in range(900)]
    urls += ["https://example.org/", "https://zz.example.org/é?b=1&a=2"]
    urls = [canonicalize(url) for url in urls]
    return folder, recorded(folder, {url: url.encode() for url in urls}), urls


def test_every_page_of_a_sorted_index_is_found_by_a_few_ranges(many):
    folder, index, urls = many
    assert index.stat().st_size > 2 * 65_536
    with ranges_of(folder) as (address, asked):
        archive = Archive.open([f"{address}/{index.name}"])
        for url in [*urls[::50], *urls[-2:]]:
            found = archive.find(url)
            assert (found.page.body, found.page.fetched_at) == (url.encode(), THEN)
            assert ".warc.gz#" in found.source
        assert archive.find("https://a1.example.org/page/none") is None
        assert archive.find("https://zzz.example.org/") is None
    assert archive.counts["archive/miss"] == 2
    assert all(" bytes=" in ranged for ranged in asked)


def test_every_page_of_a_zipnum_index_is_found(many):
    folder, _, urls = many
    archive = Archive.open([str(folder / "cluster.idx")])
    assert [archive.find(url).page.body.decode() for url in urls] == urls
    assert archive.find("https://a.example.org/") is None
    assert archive.find("https://zzz.example.org/") is None


def test_pages_that_are_too_old_are_not_taken(many):
    folder, index, urls = many
    later = datetime(2026, 1, 3, tzinfo=UTC)
    for location in (index, folder):
        assert Archive.open([str(location)]).find(urls[0])
        assert Archive.open([str(location)], since=later).find(urls[0]) is None


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "http://127.0.0.1:9/x", "../x", "gone"]
)
def test_an_index_reads_no_file_outside_of_its_archive(tmp_path, name):
    fields = {"url": "https://a.is/", "mime": "text/html", "status": "200"}
    fields |= {"filename": name, "offset": "0", "length": "99"}
    index = tmp_path / "a.cdxj"
    index.write_text(f"is,a)/ 20260102030405 {json.dumps(fields)}\n")
    (tmp_path / "cluster.idx").write_text(f"is,a)/ 2026\t{name}\t0\t99\n")
    for location in (index, tmp_path / "cluster.idx"):
        archive = Archive.open([str(location)])
        assert archive.find("https://a.is/") is None
        assert archive.counts["archive/hit"] == 0


def test_an_archive_that_is_not_there_is_named(tmp_path):
    with pytest.raises(WarcError, match=r"gone\.cdxj"):
        Archive.open([str(tmp_path / "gone.cdxj")])


@pytest.mark.slow
def test_a_crawl_asks_the_web_only_for_what_the_archive_has_not(tmp_path):
    with Server(host="127.0.7.1") as town:
        town.add(TOWN)
        paths = sorted(town.routes)
        bodies = {p: town.routes[p].partition(b"\r\n\r\n")[2] for p in paths}
        old = {town.url(path): bodies[path] for path in paths[::2]}
        recorded(tmp_path / "archive", old)
        with ranges_of(tmp_path / "archive") as (address, _):
            done = crawl(
                town.url(TOWN.home.removeprefix(f"https://{TOWN.host}")),
                "en,is",
                tmp_path / "run",
                ARCHIVE_FIRST=f"{address}/cluster.idx",
                ARCHIVE_MAX_DAYS=0,
                DOWNLOAD_DELAY=0.01,
            )
        assert done.returncode == 0, done.stderr
        run = Run(tmp_path / "run")
        asked = Counter(town.url(path) for path in town.paths())
    visited = {visit["url"] for visit in run.visits}
    assert {town.url(path) for path in paths} <= visited
    assert not asked.keys() & old.keys()
    assert run.stats["archive/hit"] == len(old)
    records = [record for path in run.warcs for record in iter_records(path)]
    sources = [record for record in records if b"archive: http" in record.block]
    assert {record.url for record in sources} == old.keys()
    assert {r.date for r in records if r.type == "response" and r.url in old} == {THEN}
