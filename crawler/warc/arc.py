"""ARC, the format of web archives before WARC: its records as WARC records.

warcio reads them, plain or with a gzip member for each. A damaged record ends the file:
nothing in the format says where the next one starts.
"""

from __future__ import annotations

import logging
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

from crawler.warc.remote import Location
from crawler.warc.scan import MAX_RECORD, Found

logger = logging.getLogger(__name__)


def arc_records(
    file: BinaryIO, path: Location, counts: Counter[str]
) -> Iterator[Found]:
    """The responses of an ARC file; what it says of each is given WARC's names."""
    # an eighth of the page process's start, and hardly any collection has ARC files
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    archive = ArchiveIterator(file, no_record_parse=True, arc2warc=True)
    try:
        for record in archive:
            block = record.raw_stream.read(MAX_RECORD + 1)
            if record.rec_type != "response":
                continue
            if len(block) < min(record.length, MAX_RECORD):
                raise EOFError("the file ends inside a record")
            headers = {name.lower(): v for name, v in record.rec_headers.headers}
            fits = len(block) <= MAX_RECORD
            yield Found(archive.offset, "response", headers, block if fits else None)
    except (ArchiveLoadFailed, EOFError, OSError, ValueError, zlib.error) as error:
        counts["warc/damaged/truncated"] += 1
        logger.warning(
            "%s: damaged after byte %d: %s", path, archive.offset, str(error).strip()
        )
