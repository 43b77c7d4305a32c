"""HTTP messages as WARC records hold them: head, transfer coding, content coding.

Archives are full of servers' mistakes, and of writers that decoded a body but kept the
header that says otherwise. So nothing here raises: what can be read is kept, and each
repair is counted under `warc/repaired/`.

In: the block of a response record.  Out: status, headers, decoded body.
"""

from __future__ import annotations

import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import deflate
from fastwarc.stream_io import BrotliReader, ZstdReader

# Six times what is ever parsed of a page (crawler.extract.document.MAX_BODY). A bomb of
# 10 MB unpacks to 10 GB; it ends here.
MAX_DECODED = 32 * 2**20
# Servers and clients stop at 8 to 64 KB; more is an attack or no HTTP.
MAX_HEAD = 256 * 2**10
_MAX_CODINGS = 4  # nobody packs a page more often than this, except to hurt
_PIECE = 64 * 2**10  # bytes decoded at a time
_STEP = 4 * 2**10  # packed bytes handed to zlib at a time
_GZIP = b"\x1f\x8b\x08"  # begins each member
# Each frame of zstd costs 18 microseconds, and its least one has 8 bytes; servers send
# one.
_ZSTD_FRAME = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
_MAX_FRAMES = 1_000

_STATUS_LINE = re.compile(r"HTTP/(\d(?:\.\d)?)[ \t]+(\d{3})(?:[ \t]+(.*))?[ \t]*$")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\n]*)?\r?\n")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response as it was received."""

    status: int
    # in the order received; bytes read as Latin-1, so that encoding gives them back
    headers: tuple[tuple[str, str], ...]
    body: bytes  # as stored: transfer and content codings still on

    def header(self, name: str) -> str:
        """All values of a header, joined; empty if there is none."""
        return ", ".join(v for k, v in self.headers if k.lower() == name)


def parse_response(block: bytes) -> HttpResponse | None:
    r"""Take a response apart; None if it does not start like one.

    >>> parse_response(b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n<p>")
    HttpResponse(status=200, headers=(('Server', 'x'),), body=b'<p>')
    """
    head, separator, body = block.partition(b"\r\n\r\n")
    bare, bare_separator, bare_body = head.partition(b"\n\n")
    if bare_separator:  # a server that ends its lines with LF only
        head, body = bare, bare_body + separator + body
    if len(head) > MAX_HEAD:
        return None
    lines = head.decode("latin-1").split("\n")
    status_line = _STATUS_LINE.match(lines[0].rstrip("\r"))
    if not status_line:
        return None
    headers: list[tuple[str, list[str]]] = []
    for line in lines[1:]:
        if line[:1] in (" ", "\t") and headers:  # a folded line goes on (RFC 9112 5.2)
            headers[-1][1].append(line.strip(" \t\r"))
            continue
        name, colon, value = line.partition(":")
        if colon:
            headers.append((name.strip(" \t"), [value.strip(" \t\r")]))
    joined = tuple((name, " ".join(parts)) for name, parts in headers)
    return HttpResponse(int(status_line[2]), joined, body)


def decode_body(response: HttpResponse, counts: Counter[str]) -> bytes:
    """The body without its transfer and content codings."""
    body = response.body
    if "chunked" in response.header("transfer-encoding").lower():
        body, clean = dechunk(body)
        if not clean:
            counts["warc/repaired/chunked"] += 1
    else:
        declared = response.header("content-length")
        if declared and declared.partition(",")[0].strip() != str(len(body)):
            counts["warc/repaired/content_length"] += 1
    codings = response.header("content-encoding").lower().split(",")
    for coding in codings[: -_MAX_CODINGS - 1 : -1]:
        if body and coding.strip() not in ("", "identity", "none"):
            body, problem = _decode(body, coding.strip())
            if problem:
                counts[f"warc/repaired/{problem}"] += 1
    return body


def dechunk(body: bytes) -> tuple[bytes, bool]:
    r"""A chunked body in one piece, and whether it was chunked by the book.

    What was never chunked stays as it is; after a bad chunk the good ones are kept.

    >>> dechunk(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    (b'abcde', True)
    >>> dechunk(b"<html>")
    (b'<html>', False)
    """
    whole = bytearray()
    position = 0
    while (match := _CHUNK_SIZE.match(body, position)) and len(whole) < MAX_DECODED:
        size = int(match[1], 16)
        if size == 0:
            return bytes(whole), True
        whole += memoryview(body)[match.end() : match.end() + size]
        position = match.end() + size
        if body[position : position + 2] == b"\r\n":
            position += 2
        elif body[position : position + 1] == b"\n":
            position += 1
        else:
            break
    return (bytes(whole) if whole else body), False


def _decode(body: bytes, coding: str) -> tuple[bytes, str | None]:
    """The body without one content coding, and the name of what was wrong with it."""
    if coding in ("gzip", "x-gzip") and (whole := _gunzip(body)) is not None:
        return whole, None
    pieces = _pieces(body, coding)
    if pieces is None:
        return body, "encoding"
    decoded = bytearray()
    problem = None
    try:
        for piece in pieces:
            decoded += piece
            if len(decoded) > MAX_DECODED:
                problem = "bomb"
                break
    except (zlib.error, OSError, EOFError):
        problem = "encoding"
    if problem == "encoding" and not decoded:
        return body, problem  # it was decoded before it was stored, most likely
    del decoded[MAX_DECODED:]
    return bytes(decoded), problem


def _pieces(body: bytes, coding: str) -> Iterator[bytes] | None:
    """The decoded body bit by bit; None for what we do not decode."""
    if coding in ("gzip", "x-gzip"):
        return _inflate(body, zlib.MAX_WBITS | 16)
    if coding in ("deflate", "x-deflate"):
        # RFC 9110 8.4.1.2 means the zlib format; some servers send bare deflate
        zlib_header = body[0] & 15 == 8 and int.from_bytes(body[:2]) % 31 == 0
        return _inflate(body, zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS)
    if coding == "br":
        return _read(BrotliReader(io.BytesIO(body)))
    if coding == "zstd":
        if sum(1 for _ in _ZSTD_FRAME.finditer(body)) > _MAX_FRAMES:
            return None
        return _read(ZstdReader(io.BytesIO(body)))
    return None


def _gunzip(body: bytes) -> bytes | None:
    """A body that is one gzip member as it should be, at once: as nearly all are.

    libdeflate takes a third of the time, but gives all or nothing.
    """
    size = int.from_bytes(body[-4:], "little")  # as the member's end has it
    if 0 < size <= MAX_DECODED and body.find(_GZIP, 1) < 0:
        with suppress(deflate.DeflateError, ValueError):
            return bytes(deflate.gzip_decompress(body))
    return None


def _inflate(body: bytes, window_bits: int) -> Iterator[bytes]:
    """Inflate members until one is not followed by another.

    An error costs what the same call would have returned, so the input goes in small
    steps: a damaged page keeps all but its end.
    """
    position = 0
    while position == 0 or body[position : position + 3] == _GZIP:
        decoder = zlib.decompressobj(window_bits)
        while not decoder.eof and position < len(body):
            step = body[position : position + _STEP]
            position += len(step)
            while step and not decoder.eof:  # its tail is then the next member
                yield decoder.decompress(step, _PIECE)
                step = decoder.unconsumed_tail
        if not decoder.eof:
            yield decoder.flush()
        if not decoder.eof:
            raise EOFError("the body ends inside its content coding")
        position -= len(decoder.unused_data)


def _read(reader: BrotliReader | ZstdReader) -> Iterator[bytes]:
    while piece := reader.read(_PIECE):
        yield piece
