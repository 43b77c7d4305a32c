"""Archives of other writers: real wget, warcio, FastWARC; ARC and WET by the book.

No program that is still to be had writes ARC or WET. Those here are put together byte
for byte: ARC as Heritrix 1 writes version 1 of the format (Burner & Kahle 1996, and the
metadata that Heritrix adds), WET as Common Crawl publishes it.
"""

from __future__ import annotations

import base64
import gc
import gzip
import hashlib
import io
import shutil
import subprocess
import threading
import uuid
import zipfile
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fastwarc.stream_io import GzipWriter, ZstdWriter
from fastwarc.warc import WarcRecord, WarcRecordType
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.aligner.profile import AlignProfile
from crawler.realign.local import align_collection
from crawler.realign.request import AlignRequest
from crawler.replay.world import ReplayWorld
from crawler.warc.reader import iter_pages
from tests.commands import Run, bifocal, pair_urls
from tests.office import make_docx, make_odt
from tests.pdf import make_pdf
from tests.worlds import build_site, write_warc

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
    align_collection(AlignRequest((str(path),), ("en", "is"), out, AlignProfile()))
    return {
        (src.replace("http://", "https://"), trg.replace("http://", "https://"))
        for src, trg in pair_urls(Run(out))
    }


@pytest.mark.parametrize(
    "command",
    [
        ["wget", "--quiet", "--mirror", "--convert-links", "--adjust-extension"],
        ["httrack", "-q", "-O", ".", "-B", "-s0", "-c8", "-%c50"],
    ],
    ids=lambda command: command[0],
)
def test_a_mirror_is_paired_and_becomes_a_corpus(command, proxy, tmp_path):
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed (apt-get install {command[0]})")
    home = SITE.home.replace("https", "http")
    if command[0] == "httrack":
        command = [*command, "-P", proxy.removeprefix("http://")]
    environment = {"http_proxy": proxy, "PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    subprocess.run(
        [*command, home], cwd=mirror, env=environment, check=False, timeout=100
    )
    found = pairs(mirror, tmp_path)
    gold = {(plain(src), plain(trg)) for src, trg in SITE.gold("en", "is")}
    assert {(plain(src), plain(trg)) for src, trg in found} == gold
    made = bifocal("corpus", tmp_path / "pairs", "--out", tmp_path / "corpus")
    assert made.returncode == 0, made.stderr
    assert f"Aligned {len(gold)} pairs of pages" in made.stdout


def plain(url: str) -> str:
    """A URL without what a mirror adds to it."""
    return url.removesuffix("index.html").removesuffix(".html").rstrip("/")


@pytest.mark.parametrize("packing", ["zst", "wacz"])
def test_archives_of_other_tools_are_paired_and_become_a_corpus(packing, tmp_path):
    (tmp_path / "plain").mkdir()
    plain_warc = write_warc(tmp_path / "plain" / "a.warc", SITE.pages())
    path = tmp_path / f"a.warc.{packing}"
    if packing == "zst":
        buffer = io.BytesIO()
        with ZstdWriter(buffer) as writer:
            writer.write(plain_warc.read_bytes())
        path.write_bytes(buffer.getvalue())
    else:
        path = tmp_path / "a.wacz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(plain_warc, "archive/a.warc")
    assert pairs(path, tmp_path) == SITE.gold("en", "is")
    made = bifocal("corpus", tmp_path / "pairs", "--out", tmp_path / "corpus")
    assert made.returncode == 0, made.stderr
    with gzip.open(tmp_path / "corpus" / "en-is.tsv.gz", "rt") as file:
        rows = [line.split("\t") for line in file][1:]
    assert len(rows) > 50


def test_pdf_and_office_files_are_paired_if_asked(tmp_path):
    site = tmp_path / "site"
    for lang, make, end in (
        ("en", make_pdf, "pdf"),
        ("is", make_pdf, "pdf"),
        ("en", make_docx, "docx"),
        ("is", make_odt, "odt"),
    ):
        (site / lang).mkdir(parents=True, exist_ok=True)
        concept = 1 if end == "pdf" else 2
        title, *sentences = SITE.sentences(concept, lang)
        name = "report" if concept == 1 else "form"
        (site / lang / f"{name}.{end}").write_bytes(make(title, sentences))
    home = '<html lang="en"><p>' + " ".join(SITE.sentences(0, "en")) * 5
    (site / "index.html").write_text(home)
    without = pairs(site, tmp_path / "without")
    assert without == set()
    out = tmp_path / "with"
    words = ["--langs", "en,is", "--out", out, "--documents"]
    made = bifocal("align", site, *words)
    assert made.returncode == 0, made.stderr
    stats = Run(out).stats
    assert (stats["pdf/read"], stats["office/read"]) == (2, 2)
    base = "http://site.invalid"
    assert set(pair_urls(Run(out))) == {
        (f"{base}/en/report.pdf", f"{base}/is/report.pdf"),
        (f"{base}/en/form.docx", f"{base}/is/form.odt"),
    }
    made = bifocal("corpus", out, "--out", tmp_path / "corpus")
    assert made.returncode == 0, made.stderr
    assert "Aligned 2 pairs of pages" in made.stdout


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


# ---------------------------------------------------------------- by the book


def arc_member(url: str, kind: str, block: bytes) -> bytes:
    """A record of version 1: five columns, a line break, the block, a line break."""
    line = f"{url} 192.0.2.7 20060414181209 {kind} {len(block)}\n"
    return line.encode() + block + b"\n"


def write_arc(path: Path) -> None:
    """One gzip member for each record, as IAH-20060414-00000-crawler.arc.gz."""
    about = (
        b"1 1 InternetArchive\n"
        b"URL IP-address Archive-date Content-type Archive-length\n"
        b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
        b'<arcmetadata xmlns:dc="http://purl.org/dc/elements/1.1/"'
        b' xmlns:arc="http://archive.org/arc/1.0/">\n'
        b"<arc:software>Heritrix 1.8.0 http://crawler.archive.org</arc:software>\n"
        b"<dc:format>ARC file version 1.1</dc:format>\n</arcmetadata>\n"
    )
    members = [
        arc_member(f"filedesc://{path.name}", "text/plain", about),
        arc_member("dns:town.example", "text/dns", b"20060414181205\n192.0.2.7\n"),
    ]
    for url, page in PAGES.items():
        head = (
            "HTTP/1.1 200 OK\r\nDate: Fri, 14 Apr 2006 18:12:09 GMT\r\n"
            f"Content-Length: {len(page.body)}\r\nConnection: close\r\n"
            "Content-Type: text/html; charset=utf-8\r\n\r\n"
        )
        members.append(arc_member(url, "text/html", head.encode() + page.body))
    packed = path.suffix == ".gz"
    path.write_bytes(b"".join(map(gzip.compress, members) if packed else members))


def warc_member(lines: list[str], block: bytes) -> bytes:
    head = "\r\n".join(["WARC/1.0", *lines, f"Content-Length: {len(block)}", "", ""])
    return gzip.compress(head.encode() + block + b"\r\n\r\n")


def write_wet(path: Path) -> None:
    """A member for each record, a description first, as in CC-MAIN-2024-10."""
    about = (
        "Software-Info: ia-web-commons.1.1.10-SNAPSHOT-20240305101012\r\n"
        "Extracted-Date: Tue, 05 Mar 2024 16:33:22 GMT\r\n"
        "robots: checked via crawler-commons 1.5-SNAPSHOT"
        " (https://github.com/crawler-commons/crawler-commons)\r\n"
        "isPartOf: CC-MAIN-2024-10\r\n"
        "operator: Common Crawl Admin (info@commoncrawl.org)\r\n"
        "description: Wide crawl of the web for February/March 2024\r\n"
        "publisher: Common Crawl\r\n\r\n"
    )
    lines = [
        "WARC-Type: warcinfo",
        "WARC-Date: 2024-03-05T16:33:22Z",
        f"WARC-Filename: {path.name}",
        "WARC-Record-ID: <urn:uuid:8f3a1d8c-61ab-4a9e-a1bb-6ee3b1f38a6e>",
        "Content-Type: application/warc-fields",
    ]
    members = [warc_member(lines, about.encode())]
    for concept in range(SITE.concepts):
        for lang in SITE.langs:
            title, sentences = SITE.title(concept, lang), SITE.sentences(concept, lang)
            text = "\n".join([title, *sentences]).encode()
            digest = base64.b32encode(hashlib.sha1(text).digest()).decode()
            lines = [
                "WARC-Type: conversion",
                f"WARC-Target-URI: {SITE.url(concept, lang)}",
                "WARC-Date: 2024-02-20T22:13:05Z",
                f"WARC-Record-ID: <urn:uuid:{uuid.uuid4()}>",
                "WARC-Refers-To: <urn:uuid:3be4d0c1-08f5-4b06-9e55-3a2a3f0c8d52>",
                f"WARC-Block-Digest: sha1:{digest}",
                f"WARC-Identified-Content-Language: {'isl' if lang == 'is' else 'eng'}",
                "Content-Type: text/plain",
            ]
            members.append(warc_member(lines, text))
    path.write_bytes(b"".join(members))


@pytest.mark.parametrize(
    "name", ["IAH-20060414-00000.arc", "IAH-20060414-00000.arc.gz"]
)
def test_arc_by_the_book(tmp_path, name):
    path = tmp_path / name
    write_arc(path)
    counts: Counter[str] = Counter()
    pages = {page.url: page.body for page in iter_pages(path, counts=counts)}
    assert pages == {url: page.body for url, page in PAGES.items()}
    assert not [name for name in counts if "damaged" in name or "repaired" in name]
    assert pairs(path, tmp_path) == SITE.gold("en", "is")


def test_wet_by_the_book(tmp_path):
    path = tmp_path / "CC-MAIN-20240220211055-20240221001055-00000.warc.wet.gz"
    write_wet(path)
    found = pairs(path, tmp_path)
    assert found  # of text alone, without markup and links
    assert len(found & SITE.gold("en", "is")) >= 0.8 * len(SITE.gold("en", "is"))
    stats = Run(tmp_path / "pairs").stats
    assert stats["warc/pages"] == len(SITE.langs) * SITE.concepts
    assert not [name for name in stats if "damaged" in name or "repaired" in name]
