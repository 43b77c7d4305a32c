"""Evaluate the aligner on the data of a shared task.

wmt16: the WMT16 document alignment task. DIR holds its .lett.gz files and train.pairs.

Example: bifocal eval wmt16 lett.train --langs en,fr
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("task", choices=["wmt16"], help="the shared task")
    parser.add_argument("folder", metavar="DIR", help="the data of the task")
    parser.add_argument("--langs", default="en,fr", help="two languages (en,fr)")
    parser.add_argument("--profile", help="TOML file of settings/align")


def run(args: argparse.Namespace) -> int:
    """Print the recall by each rule, and the stages that lost pairs."""
    from pathlib import Path

    from crawler.aligner.profile import AlignProfile
    from crawler.config import load_profile
    from crawler.data import LangPair
    from crawler.realign.wmt16 import evaluate

    profile = load_profile(AlignProfile, args.profile)
    print(evaluate(Path(args.folder), LangPair.parse(args.langs), profile))
    return 0
