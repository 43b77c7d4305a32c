"""Pair the pages of a collection, for example of WARC files.

Reads WARC (.gz, .xz, .zst or plain), WACZ, ARC, WET (text only), .lett, the folders of
warc2text and Bitextor, and folders of pages: a site's own files, mirrors of wget and
HTTrack. Give files, folders, patterns, `-` for a WARC file on standard input, or
addresses (https://…, s3://…; extra `remote`). Of several pairs of languages each has a
folder of its own, and files beside these join them. docs/realign.md has all of it.

Example: bifocal align runs/is1/warc --langs en,is --out runs/is1-again --jobs 2
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from crawler.cli import whole_number
from crawler.errors import UsageError

if TYPE_CHECKING:
    from crawler.wanted import WantedPairs

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument(
        "paths", nargs="+", help="files, folders, patterns, addresses, or -"
    )
    parser.add_argument(
        "--langs", default="", help="en,is; en,fi,sv; en:de,fr (default: of the run)"
    )
    parser.add_argument("--pairs", default="", help="instead of --langs: en-fi,sv-fi")
    parser.add_argument("--out", required=True, help="run directory to write")
    parser.add_argument(
        "--by-pair",
        action="store_true",
        help="of several pairs of languages: no file of all, only those of each pair",
    )
    parser.add_argument("--profile", help="TOML file of settings/align")
    parser.add_argument(
        "--lexicon",
        help="start with the lexicon of an earlier run: its lexicon.npz or directory",
    )
    parser.add_argument(
        "--cdx",
        nargs="+",
        default=(),
        metavar="INDEX",
        help="CDXJ files: read only pages that have a translation by their URLs",
    )
    parser.add_argument(
        "--across-sites",
        action="store_true",
        help="look for translations on every site, not only on the site of the page",
    )
    parser.add_argument(
        "--documents",
        action="store_true",
        help="read PDF, DOCX and ODT files, too (extras `pdf`, `office`)",
    )
    parser.add_argument(
        "--detector",
        default="cld2",
        help="what tells languages: cld2, heliport (extra `languages`), the file of a"
        " fastText model (extra `fasttext`), or a class",
    )
    parser.add_argument(
        "--samples",
        metavar="CODE=FILE,…",
        help="texts in languages that the detector does not know",
    )
    parser.add_argument(
        "--jobs", type=whole_number, default=1, help="processes (default 1)"
    )
    parser.add_argument(
        "--memory", default="4G", help="for all processes together (default 4G)"
    )
    parser.add_argument(
        "--spark",
        metavar="MASTER",
        help="run on a cluster: local[2], spark://HOST:PORT, yarn (extra `spark`)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue a run that was killed"
    )


def run(args: argparse.Namespace) -> int:
    """Align, write pairs.tsv.gz and stats.json, print one line."""
    from pathlib import Path

    from crawler.aligner.profile import AlignProfile
    from crawler.config import load_profile
    from crawler.extract.detectors.open import DetectorConfig
    from crawler.realign.local import align_collection
    from crawler.realign.request import AlignRequest

    wanted = _wanted(args)
    request = AlignRequest(
        tuple(args.paths),
        tuple(wanted),
        Path(args.out),
        load_profile(AlignProfile, args.profile),
        Path(args.lexicon) if args.lexicon else None,
        tuple(args.cdx),
        args.across_sites,
        args.documents,
        DetectorConfig(args.detector, args.samples),
        wanted=wanted.pairs,
        joint=not args.by_pair,
    )
    if args.jobs < 1:
        raise UsageError(f"--jobs {args.jobs}: give a number of at least 1")
    if args.spark:
        if args.resume or args.jobs > 1:
            raise UsageError(
                "--spark does not take --jobs or --resume (Spark has its own tasks)"
            )
        from crawler.realign.spark import align_on_spark

        stats = align_on_spark(request, args.spark)
    else:
        stats = align_collection(
            request,
            jobs=args.jobs,
            memory=_memory(args.memory),
            resume=args.resume,
        )
    print(
        f"Read {stats['pages']} pages and found {stats['pairs']} document pairs:"
        f" {args.out}/{'*/' if args.by_pair and not wanted.only else ''}pairs.tsv.gz"
    )
    return 0


def _wanted(args: argparse.Namespace) -> WantedPairs:
    """The pairs that are asked for; else those of the run whose pages these are."""
    from pathlib import Path

    from crawler.rundir import RunDir
    from crawler.wanted import WantedPairs

    if not args.langs and not args.pairs:
        for path in map(Path, args.paths):
            for folder in (path, path.parent):
                if (folder / "run.json").exists():
                    return RunDir(folder).shown()
    return WantedPairs.parse(args.langs, args.pairs)


def _memory(text: str) -> int:
    """Bytes; `4G` is 4 GiB."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if not found:
        raise UsageError(f"--memory {text!r}: not a valid size (write 4G or 800M)")
    return round(float(found[1]) * _UNITS[found[2].upper()])
