"""Laws of the WARC rooms: what goes in comes out, and nothing that comes in hurts."""

from __future__ import annotations

import gzip
import lzma
import shutil
import tempfile
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from itertools import accumulate
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from crawler.errors import WarcError
from crawler.replay.world import ReplayWorld, address_of
from crawler.urls import canonicalize
from crawler.warc.exchange import Exchange
from crawler.warc.http import MAX_DECODED, HttpResponse, decode_body, parse_response
from crawler.warc.reader import iter_pages, iter_records, read_page
from crawler.warc.writer import WarcConfig, WarcWriter
from tests.worlds import build_site, response_record, write_warc


@contextmanager
def scratch():
    """tmp_path is one for all examples of a law."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


# A header name without what ends it; a value without line ends, NUL and outer blanks.
names = st.binary(min_size=1, max_size=20).filter(
    lambda name: not set(name) & set(b"\r\n\0:") and name.strip(b" \t") == name
)
values = st.binary(max_size=60).filter(
    lambda value: not set(value) & set(b"\r\n\0") and value.strip(b" \t") == value
)
# These say how a body is to be read; what they do to it has its own tests.
_READ = {b"content-encoding", b"transfer-encoding", b"content-length"}
headers = st.lists(
    st.tuples(names, values).filter(lambda header: header[0].lower() not in _READ),
    max_size=8,
).map(tuple)
urls = (
    st.builds(
        "https://{}.example{}/{}".format,
        st.sampled_from(["a", "þ", "xn--a"]),
        st.sampled_from(["", ":8080"]),
        st.text(max_size=30),
    )
    .map(canonicalize)
    .filter(lambda url: url is not None)
)
exchanges = st.builds(
    Exchange,
    url=urls,
    status=st.integers(100, 999),
    response_headers=headers,
    body=st.binary(max_size=3000),
    fetched_at=st.datetimes(
        datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)
    ),
    reason=st.text(max_size=20),
    request_headers=headers,
)


@given(st.lists(exchanges, min_size=1, max_size=5), st.integers(0, 9))
@settings(deadline=None)
def test_what_is_written_is_read(written, level):
    with scratch() as folder:
        with WarcWriter(folder, WarcConfig(max_bytes=5000, level=level)) as warc:
            locations = [warc.write_exchange(exchange) for exchange in written]
        counts: Counter[str] = Counter()
        read = list(iter_pages(folder, counts=counts))
        assert [read_page(location, folder) for location in locations] == read
        for exchange, page, location in zip(written, read, locations, strict=True):
            assert page.url == exchange.url
            assert page.status == exchange.status
            assert page.body == exchange.body
            assert page.fetched_at == exchange.fetched_at
            assert page.record_id == location.record_id
            assert exchange.response_headers == tuple(
                (name.encode("latin-1"), value.encode("latin-1"))
                for name, value in page.headers
            )
        assert {name for name in counts if "/d" in name} == set()
        for file in folder.glob("*.warc.gz"):
            with file.open("rb") as stream:  # the reference reader sees the same blocks
                theirs = [
                    record.raw_stream.read()
                    for record in WarcioIterator(stream, no_record_parse=True)
                ]
            assert theirs == [record.block for record in iter_records(file)]


RECORDS = [response_record(page) for page in build_site(concepts=2, words=300).pages()]
PLAIN = b"".join(RECORDS)
FILES = [PLAIN, b"".join(map(gzip.compress, RECORDS)), gzip.compress(PLAIN)]
FILES.append(lzma.compress(PLAIN))


@st.composite
def mutated(draw) -> bytes:
    """A WARC file after some accidents."""
    data = bytearray(draw(st.sampled_from(FILES)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 2000)))
        data[start:end] = draw(
            st.one_of(
                st.binary(max_size=40),
                st.just(bytes(end - start)),
                st.just(data[start:end] * 2),
                st.sampled_from([b"WARC/1.0\r\n", b"\x1f\x8b\x08", b"\r\n\r\n"]),
            )
        )
    return bytes(data)


@given(mutated())
@settings(deadline=None, max_examples=200)
def test_no_file_makes_the_reader_raise_anything_but_its_own_error(data):
    with scratch() as folder:
        path = folder / "a.warc"
        path.write_bytes(data)
        with suppress(WarcError):
            list(iter_pages(path))


@given(st.sampled_from([bytes, gzip.compress]), st.data())
@settings(deadline=None)
def test_a_torn_file_has_all_records_that_are_whole(pack, data):
    packed = [pack(record) for record in RECORDS]
    ends = list(accumulate(map(len, packed)))
    cut = data.draw(st.integers(ends[0], ends[-1]))
    with scratch() as folder:
        path = folder / "torn.warc"
        path.write_bytes(b"".join(packed)[:cut])
        counts: Counter[str] = Counter()
        found = len(list(iter_records(path, counts=counts)))
    missing = 4 if pack is bytes else 0  # the line ends behind a block say nothing
    assert found == sum(end - missing <= cut for end in ends)
    torn = all(not end - missing <= cut <= end for end in ends)
    assert counts["warc/damaged/truncated"] == torn


@given(st.binary(max_size=400), st.lists(st.tuples(names, values), max_size=4))
def test_no_response_makes_decoding_raise(body, some):
    decoded = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in some)
    for coding in ("gzip", "deflate", "br", "zstd", "gzip, br"):
        for transfer in ("chunked", "identity"):
            response = HttpResponse(
                200,
                (
                    *decoded,
                    ("Content-Encoding", coding),
                    ("Transfer-Encoding", transfer),
                ),
                body,
            )
            assert len(decode_body(response, Counter())) <= MAX_DECODED


@given(st.binary(max_size=400))
def test_no_block_makes_parsing_raise(block):
    parse_response(block)
    parsed = parse_response(b"HTTP/1.1 200 OK\r\n" + block)
    assert parsed is not None
    assert parsed.status == 200


SITE = build_site(concepts=3)


@cache
def world() -> ReplayWorld:
    with scratch() as folder:  # a solid file is repacked, so it is not needed any more
        path = folder / "world.warc.xz"
        return ReplayWorld.open(write_warc(path, SITE.pages()))


@given(st.text(), st.sampled_from(sorted(SITE.lang_by_url())))
def test_a_world_answers_anything(tail, url):
    for asked in (tail, url + tail, f"https://{tail}"):
        assert world().answer(asked).status in (200, 301, 404)


@given(urls)
def test_scheme_and_double_slashes_do_not_change_an_address(url):
    address = address_of(url)
    assert address == address_of(f"http://{address}")
    assert address == address_of(
        f"https://{address}".replace(".example/", ".example//")
    )
