"""Pair the pages of WARC files: the same result as the crawl that wrote them.

Reads .warc, .warc.gz, .warc.xz and .warc.zst, files and folders, from any crawler.

Example: bifocal align runs/is1/warc --langs en,is --out runs/is1-again
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("paths", nargs="+", help="WARC files and folders of them")
    parser.add_argument("--langs", required=True, help="two languages: en,is")
    parser.add_argument("--out", required=True, help="run directory to write")
    parser.add_argument("--profile", help="TOML file of settings/align")
    parser.add_argument(
        "--lexicon", help="lexicon.npz of an earlier run: start with it"
    )


def run(args: argparse.Namespace) -> int:
    """Align, write pairs.tsv.gz and stats.json, print one line."""
    from crawler.aligner.profile import AlignProfile
    from crawler.config import load_profile
    from crawler.data import LangPair
    from crawler.realign.local import align_warcs

    langs = LangPair.parse(args.langs)
    profile = load_profile(AlignProfile, args.profile)
    stats = align_warcs(args.paths, langs, args.out, profile, lexicon=args.lexicon)
    print(
        f"Read {stats['pages']} pages and found {stats['pairs']} document pairs:"
        f" {args.out}/pairs.tsv.gz"
    )
    return 0
