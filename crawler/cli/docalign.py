"""Print a run's pairs as Bitextor's document aligner does: score and two line numbers.

The two folders hold the `url.gz` of each language, as warc2text and Bitextor write
them; lines are counted from 1. Bitextor's next stage reads the table as it is. With
--translated, the input of bleualign-cpp is printed instead: URLs, and texts in base64.

Example: bifocal docalign runs/is1 shards/en/1/1 shards/is/1/1 > en1_is1.matches
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("directory", help="run directory of `bifocal align`")
    parser.add_argument("src", help="folder of the first language")
    parser.add_argument("trg", help="folder of the second language")
    parser.add_argument(
        "--translated",
        metavar="COLUMN",
        help="column with the translated texts of the first folder (gzip, base64, line"
        " by line): print the input of bleualign-cpp",
    )


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    from pathlib import Path

    from crawler.errors import RunDirError
    from crawler.realign.docalign import bleualign_input, matches
    from crawler.rundir import RunDir
    from crawler.sinks.pairs import read_pairs

    run = RunDir(args.directory)
    if run.run_json.exists():
        run.langs()  # one pair of languages: the folders are of two
    pairs = run.pairs
    if not pairs.exists():
        raise RunDirError(f"{pairs}: no such file (give a run directory with pairs)")
    src, trg = Path(args.src), Path(args.trg)
    rows = (
        bleualign_input(read_pairs(pairs), src, trg, Path(args.translated))
        if args.translated
        else matches(read_pairs(pairs), src, trg)
    )
    for row in rows:
        print(*row, sep="\t")
    return 0
