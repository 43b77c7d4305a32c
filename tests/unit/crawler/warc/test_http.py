from __future__ import annotations

import gzip
import io
import zlib
from collections import Counter

import pytest
from fastwarc.stream_io import BrotliWriter, ZstdWriter

from crawler.warc import http
from crawler.warc.http import HttpResponse, dechunk, decode_body, parse_response


class Kept(io.BytesIO):
    """Can be read after FastWARC's writers have closed it."""

    def close(self) -> None:
        pass


def packed(writer_type, data: bytes) -> bytes:
    stream = Kept()
    writer = writer_type(stream)
    writer.write(data)
    writer.close()
    return stream.getvalue()


EMPTY_FRAME = b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"  # of zstd


def gzipped(data: bytes) -> bytes:
    """The same at every call: it is part of a test's name."""
    return gzip.compress(data, mtime=0)


def decoded(body: bytes, *headers: tuple[str, str]) -> tuple[bytes, dict[str, int]]:
    counts: Counter[str] = Counter()
    return decode_body(HttpResponse(200, headers, body), counts), dict(counts)


def test_a_response_is_taken_apart_as_received():
    block = b"HTTP/1.0 404 Not Found\r\nA: 1\r\nb:2 \r\nA: 3\r\n\r\nbody\r\n\r\n"
    response = parse_response(block)
    assert response == HttpResponse(
        404, (("A", "1"), ("b", "2"), ("A", "3")), b"body\r\n\r\n"
    )
    assert response.header("a") == "1, 3"


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200", b"HTTP/1.1 200 ", b"HTTP/2 200 OK", b"HTTP/1.1\t200 \xe9"]
)
def test_status_lines_of_real_servers_are_understood(head):
    assert parse_response(head + b"\r\n\r\n").status == 200


@pytest.mark.parametrize(
    "block",
    [b"", b"<html>", b"ICY 200 OK\r\n\r\n", b"HTTP/1.1 OK\r\n\r\n", b"HTTP/1.1 20\r\n"],
)
def test_bytes_that_do_not_start_like_http_are_not_a_response(block):
    assert parse_response(block) is None


def test_a_head_without_end_is_refused_before_it_costs_anything():
    assert parse_response(b"HTTP/1.1 200 OK\r\n" + b" x\r\n" * 100_000) is None


def test_lines_may_end_in_lf_only_and_a_body_may_hold_anything():
    response = parse_response(b"HTTP/1.1 200 OK\nA: 1\n\n<p>\r\n\r\n</p>")
    assert response == HttpResponse(200, (("A", "1"),), b"<p>\r\n\r\n</p>")


def test_a_folded_header_is_one_value():
    response = parse_response(b"HTTP/1.1 200 OK\r\nA: 1\r\n  2\r\n\t3\r\n\r\n")
    assert response.headers == (("A", "1 2 3"),)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzipped(b"<p>Hello</p>")),
        ("X-GZip", gzipped(b"<p>Hel") + gzipped(b"lo</p>")),
        ("gzip", gzipped(b"<p>Hello</p>") + b"\0\0\0"),
        ("deflate", zlib.compress(b"<p>Hello</p>")),
        ("deflate", zlib.compress(b"<p>Hello</p>", wbits=-15)),
        ("br", packed(BrotliWriter, b"<p>Hello</p>")),
        ("zstd", packed(ZstdWriter, b"<p>Hello</p>")),
        ("deflate, gzip", gzipped(zlib.compress(b"<p>Hello</p>"))),
        ("identity", b"<p>Hello</p>"),
        ("", b"<p>Hello</p>"),
    ],
)
def test_content_codings_are_taken_off(coding, body):
    assert decoded(body, ("Content-Encoding", coding)) == (b"<p>Hello</p>", {})


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "magic"])
def test_a_body_that_was_decoded_already_stays(coding):
    body, counts = decoded(b"<p>Hello</p>", ("Content-Encoding", coding))
    assert body == b"<p>Hello</p>"
    assert counts == {"warc/repaired/encoding": 1}


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_a_damaged_body_keeps_what_comes_before_the_damage(coding, pack):
    text = "".join(f"<p>Paragraph {n * n}</p>" for n in range(20_000)).encode()
    torn = pack(text)[:-30_000]
    body, counts = decoded(torn, ("Content-Encoding", coding))
    assert len(body) > len(text) // 3
    assert text.startswith(body)
    assert counts == {"warc/repaired/encoding": 1}


@pytest.mark.parametrize(
    ("coding", "bomb"),
    [
        ("gzip", gzipped(bytes(2**21))),
        # members that end in the same step of packed bytes
        ("gzip", gzipped(bytes(2**18)) * 1000),
        ("deflate", zlib.compress(bytes(2**21))),
        ("br", packed(BrotliWriter, bytes(2**21))),
        ("zstd", packed(ZstdWriter, bytes(2**21))),
    ],
)
def test_a_bomb_ends_at_the_limit(monkeypatch, coding, bomb):
    monkeypatch.setattr(http, "MAX_DECODED", 2**20)
    body, counts = decoded(bomb, ("Content-Encoding", coding))
    assert len(body) == 2**20
    assert counts == {"warc/repaired/bomb": 1}


def test_a_page_packed_a_hundred_times_is_unpacked_a_few_times_only():
    body = b"<p>"
    for _ in range(6):
        body = gzip.compress(body)
    unpacked, _ = decoded(body, ("Content-Encoding", ", ".join(["gzip"] * 6)))
    assert gzip.decompress(gzip.decompress(unpacked)) == b"<p>"


def test_chunks_are_joined():
    assert dechunk(b"3;name=x\r\nabc\r\n02\nde\n0\r\nTrailer: x\r\n\r\n") == (
        b"abcde",
        True,
    )


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b"3\r\nabc\r\n5\r\nde", b"abcde"),  # ends inside a chunk
        (b"3\r\nabc\r\nzz\r\n", b"abc"),  # no size
        (b"3\r\nabcdef", b"abc"),  # a chunk longer than it says
        (b"FFFFFFFF\r\nabc", b"abc"),
        (b"FFFFFFFFFFFFFFFFFF\r\nabc", b"FFFFFFFFFFFFFFFFFF\r\nabc"),
        (b"<html>", b"<html>"),
        (b"", b""),
    ],
)
def test_wrong_chunking_keeps_what_it_can(body, kept):
    assert dechunk(body) == (kept, False)
    assert decoded(body, ("Transfer-Encoding", "chunked")) == (
        kept,
        {"warc/repaired/chunked": 1},
    )


def test_chunks_come_off_before_the_content_coding():
    page = gzip.compress(b"<p>Hello</p>")
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(page), page)
    headers = (("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip"))
    assert decoded(chunked, *headers) == (b"<p>Hello</p>", {})


def test_a_wrong_content_length_is_counted_and_the_body_kept():
    assert decoded(b"<p>", ("Content-Length", "3")) == (b"<p>", {})
    assert decoded(b"<p>", ("Content-Length", "3, 3")) == (b"<p>", {})
    assert decoded(b"<p>", ("Content-Length", "9")) == (
        b"<p>",
        {"warc/repaired/content_length": 1},
    )


@pytest.mark.parametrize("size", [2**16, 2**17 - 5, 200_000])
def test_members_of_any_size_are_read_to_the_end_of_the_last(size):
    member = b"a" * size
    assert decoded(gzipped(member) * 5, ("Content-Encoding", "gzip")) == (
        member * 5,
        {},
    )


@pytest.mark.parametrize("frame", [b"\x50\x2a\x4d\x18" + bytes(4), EMPTY_FRAME])
def test_a_body_of_many_empty_frames_is_not_unpacked(frame):
    body, counts = decoded(frame * 2000, ("Content-Encoding", "zstd"))
    assert len(body) == 2000 * len(frame)
    assert counts == {"warc/repaired/encoding": 1}
