"""Write a CDXJ index beside each WARC file that has none.

With an index, a recording opens as a world in seconds, without a scan. Only files that
are plain or compressed record by record (.warc, .warc.gz) can have one.

Example: bifocal index recordings/
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("paths", nargs="+", help="WARC files and folders of them")


def run(args: argparse.Namespace) -> int:
    """Index every file, print one line."""
    from collections import Counter

    from crawler.warc.cdxj import cdxj_line, entry_of, index_path, sidecar, write_cdxj
    from crawler.warc.reader import WHOLE_TYPES, iter_records, warc_files

    counts: Counter[str] = Counter()
    for path in warc_files(args.paths):
        if sidecar(path) is not None:
            counts["indexed"] += 1
            continue
        lines = []
        for record in iter_records(path, counts=counts):
            if record.location is None:
                counts["solid"] += 1
                break
            if record.type in WHOLE_TYPES:
                entry = entry_of(record, record.location, counts)
                if entry:
                    lines.append(cdxj_line(entry))
        else:
            write_cdxj(lines, index_path(path))
            counts["files"] += 1
            counts["urls"] += len(lines)
    damaged = sum(n for name, n in counts.items() if name.startswith("warc/damaged"))
    print(
        f"Indexed {counts['urls']} records of {counts['files']} files"
        f" ({damaged} damaged records left out; skipped: {counts['indexed']} files with"
        f" an index, {counts['solid']} that are compressed as a whole)"
    )
    return 0
