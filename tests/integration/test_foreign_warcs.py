"""WARC files of other writers: real wget, warcio, FastWARC."""

from __future__ import annotations

import gc
import io
import shutil
import subprocess
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fastwarc.stream_io import GzipWriter
from fastwarc.warc import WarcRecord, WarcRecordType
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.aligner.profile import AlignProfile
from crawler.realign.local import align_collection
from crawler.realign.request import Request
from crawler.replay.world import ReplayWorld
from crawler.warc.reader import iter_pages
from tests.commands import Run, pair_urls
from tests.worlds import build_site

SITE = build_site(concepts=8, switcher="page")
PAGES = {page.url: page for page in SITE.pages()}


class Handler(BaseHTTPRequestHandler):
    """The site under its own host name, in chunks, to whoever asks as a proxy."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        page = PAGES.get(self.path.replace("http://", "https://", 1))
        body = page.body.replace(b"https://", b"http://") if page else b""
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(body), 1000):
            chunk = body[start : start + 1000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args) -> None:
        pass


@pytest.fixture(scope="module")
def proxy():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("compression", [[], ["--no-warc-compression"]])
@pytest.mark.skipif(not shutil.which("wget"), reason="wget is not installed")
def test_wget(proxy, tmp_path, compression):
    command = ["wget", "--quiet", "--recursive", "--level=9", "--warc-file=wget"]
    command += [*compression, "--delete-after", SITE.home.replace("https", "http")]
    environment = {"http_proxy": proxy, "PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=False, timeout=60)
    (path,) = tmp_path.glob("wget.warc*")
    counts: Counter[str] = Counter()
    bodies = {
        page.url.replace("http://", "https://"): page.body.replace(
            b"http://", b"https://"
        )
        for page in iter_pages(path, counts=counts)
        if page.status == 200
    }
    assert bodies == {url: page.body for url, page in PAGES.items()}
    assert not [name for name in counts if "damaged" in name or "repaired" in name]
    world = ReplayWorld.open(path)
    assert world.answer(SITE.home).status == 200
    assert world.answer("https://town.example/robots.txt").status == 404
    assert pairs(path, tmp_path) == SITE.gold("en", "is")


def pairs(path: Path, tmp_path: Path) -> set[tuple[str, str]]:
    """What `bifocal align` finds in a file."""
    out = tmp_path / "pairs"
    align_collection(Request((str(path),), ("en", "is"), out, AlignProfile()))
    return {
        (src.replace("http://", "https://"), trg.replace("http://", "https://"))
        for src, trg in pair_urls(Run(out))
    }


def write_warcio(path: Path) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=path.suffix == ".gz", warc_version="1.0")
        writer.write_record(writer.create_warcinfo_record(path.name, {"a": "b"}))
        for url, page in PAGES.items():
            http = StatusAndHeaders("200 OK", list(page.headers), protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(
                    url, "response", io.BytesIO(page.body), http_headers=http
                )
            )


def write_fastwarc(path: Path) -> None:
    with path.open("wb") as file:
        stream = GzipWriter(file) if path.suffix == ".gz" else file
        for url, page in PAGES.items():
            record = WarcRecord()
            record.init_headers(record_type=WarcRecordType.response)
            record.headers["WARC-Target-URI"] = url
            record.set_bytes_content(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
                + page.body
            )
            record.headers["Content-Type"] = "application/http; msgtype=response"
            record.write(stream, checksum_data=True)
        if stream is not file:
            stream.close()  # one member for all records, as FastWARC does by default


# warcio leaves its temporary files to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("write", [write_warcio, write_fastwarc])
@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_other_libraries(tmp_path, write, name):
    path = tmp_path / name
    write(path)
    gc.collect()
    counts: Counter[str] = Counter()
    pages = {page.url: page.body for page in iter_pages(path, counts=counts)}
    assert pages == {url: page.body for url, page in PAGES.items()}
    assert not [name for name in counts if "/d" in name or "repaired" in name]
    world = ReplayWorld.open(path)
    assert [world.answer(url).body for url in PAGES] == [p.body for p in PAGES.values()]
    world.close()
    assert pairs(path, tmp_path) == SITE.gold("en", "is")
