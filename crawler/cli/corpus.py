"""Make a corpus of sentence pairs from runs of a crawl or of bifocal align.

Aligns the sentences of every pair of pages, filters them, keeps the best copy of each,
and writes it with its origin: WARC file, offset and record. Files of sentence pairs
(TMX, TSV, JSONL, plain text) are filtered and merged with the rest. A folder of runs in
several languages becomes a folder of corpora, and a file of sentences in all of them.

Example: bifocal corpus runs/is1 runs/is2 --out corpora/en-is
Example: bifocal corpus opus/TED.en memory.tmx --langs en,is --out corpora/clean
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="run directories; files of sentence pairs (.tmx, .tsv, .jsonl, NAME.en)",
    )
    parser.add_argument(
        "--langs", help="en,is; en,fi,sv; en:de,fr (default: of the runs)"
    )
    parser.add_argument("--out", required=True, help="new directory for the corpus")
    parser.add_argument("--profile", help="TOML file of settings/corpus")
    parser.add_argument(
        "--formats",
        default="tsv,tmx,jsonl",
        help="any of tsv, tmx, jsonl, parquet, moses (%(default)s)",
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
        help="override a setting of the profile: --set filters.min_score=0.97",
    )


def run(args: argparse.Namespace) -> int:
    """Build each corpus, print a line for it."""
    from crawler.config import load_profile
    from crawler.corpus.build import CorpusRequest, build_corpus
    from crawler.corpus.multiway import build_corpora
    from crawler.corpus.profile import CorpusProfile
    from crawler.corpus.rights import Removals
    from crawler.corpus.sources import sources
    from crawler.wanted import WantedPairs

    wanted = WantedPairs.parse(args.langs) if args.langs else None
    corpora = sources([Path(source) for source in args.sources], wanted)
    profile = load_profile(CorpusProfile, args.profile, args.set)
    removals = Removals.read(Path(args.remove)) if args.remove else Removals.of(())
    out, requests = Path(args.out), []
    for langs, paths in corpora.items():
        request = CorpusRequest(
            sources=tuple(paths),
            langs=langs,
            out=out / "-".join(langs) if len(corpora) > 1 else out,
            profile=profile,
            formats=tuple(args.formats.split(",")),
            no_formulas=args.no_formulas,
            removals=removals,
            monolingual=args.monolingual,
        )
        requests.append(request)
    if len(requests) == 1:
        _say(build_corpus(requests[0])["counts"], out)
        return 0
    about = build_corpora(requests, out)
    for name, counts in about["pairs"].items():
        _say(counts, out / name)
    several = sum(n for size, n in about["units"].items() if int(size) > 2)
    print(f"{several} sentences in three languages or more: {out}/multiway.*")
    return 0


def _say(counts: Mapping[str, int], out: Path) -> None:
    print(
        f"Aligned {counts.get('corpus/page_pairs', 0)} pairs of pages and kept"
        f" {counts.get('corpus/sentence_pairs', 0)} sentence pairs"
        f" ({counts.get('corpus/copies', 0)} further copies): {out}"
    )
