"""Make a corpus of sentence pairs from runs of a crawl or of bifocal align.

Aligns the sentences of every pair of pages, filters them, keeps the best copy of each,
and writes it with its origin: WARC file, offset and record.

Example: bifocal corpus runs/is1 runs/is2 --langs en,is --out corpora/en-is
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run directories")
    parser.add_argument("--langs", required=True, help="two languages: en,is")
    parser.add_argument("--out", required=True, help="new directory for the corpus")
    parser.add_argument("--profile", help="TOML file of settings/corpus")
    parser.add_argument(
        "--formats",
        default="tsv,tmx,jsonl",
        help="any of tsv, tmx, jsonl, parquet (%(default)s)",
    )
    parser.add_argument(
        "--no-formulas",
        action="store_true",
        help="put an apostrophe before TSV cells that a spreadsheet would run (=1+1)",
    )
    parser.add_argument("--remove", help="file with sites and addresses to leave out")
    parser.add_argument(
        "--monolingual",
        action="store_true",
        help="also write the sentences without a partner, one file for each language",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting of the profile: --set filters.min_score=0.5",
    )


def run(args: argparse.Namespace) -> int:
    """Build the corpus, print one line."""
    from pathlib import Path

    from crawler.config import load_profile
    from crawler.corpus.build import CorpusRequest, build_corpus
    from crawler.corpus.profile import CorpusProfile
    from crawler.corpus.rights import Removals
    from crawler.data import LangPair

    request = CorpusRequest(
        runs=tuple(map(Path, args.runs)),
        langs=LangPair.parse(args.langs),
        out=Path(args.out),
        profile=load_profile(CorpusProfile, args.profile, args.set),
        formats=tuple(args.formats.split(",")),
        no_formulas=args.no_formulas,
        removals=Removals.read(Path(args.remove)) if args.remove else Removals.of(()),
        monolingual=args.monolingual,
    )
    counts = build_corpus(request)["counts"]
    print(
        f"Aligned {counts.get('corpus/page_pairs', 0)} pairs of pages and kept"
        f" {counts.get('corpus/sentence_pairs', 0)} sentence pairs"
        f" ({counts.get('corpus/copies', 0)} further copies): {args.out}"
    )
    return 0
