from __future__ import annotations

import random
import zlib

import pytest

from crawler.warc.record import compress


@pytest.mark.parametrize("size", [0, 300, 25_000, 2_000_000])
@pytest.mark.parametrize("level", [1, 6, 9])
def test_a_record_of_any_size_is_one_gzip_member(size, level):
    record = random.Random(size).randbytes(size // 2).hex().encode().ljust(size)
    packed = compress(record, level)
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert decoder.decompress(packed) == record
    assert decoder.eof
    assert decoder.unused_data == b""


@pytest.mark.parametrize("size", [300, 50_000])
def test_equal_records_give_equal_bytes(size):
    record = bytes(range(256)) * (size // 256)
    assert compress(record, 6) == compress(record, 6)
