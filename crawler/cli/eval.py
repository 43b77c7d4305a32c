"""Evaluate pairs: by the marks of a person, or on the data of a shared task.

marks: DIR is a run with marks.tsv (`bifocal sample`, `bifocal review`). With --gold the
marks of another run judge this one: of what was marked right, how much has it?
wmt16: the WMT16 document alignment task. DIR holds its .lett.gz files and train.pairs.
With --urls a URL model pairs its pages by their addresses alone.

Example: bifocal eval marks runs/is1
Example: bifocal eval marks runs/is2 --gold runs/is1/marks.tsv
Example: bifocal eval wmt16 lett.train --langs en,fr
Example: bifocal eval wmt16 lett.train --urls models/weights/url_pair.npz
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("task", choices=["marks", "wmt16"])
    parser.add_argument("folder", metavar="DIR", help="the run, or the data")
    parser.add_argument("--gold", metavar="TSV", help="of marks: those of another run")
    parser.add_argument("--langs", default="en,fr", help="of wmt16 (%(default)s)")
    parser.add_argument("--profile", help="of wmt16: a TOML file of settings/align")
    parser.add_argument(
        "--urls", metavar="MODEL", help="of wmt16: a URL-pair model (bifocal models)"
    )


def run(args: argparse.Namespace) -> int:
    """Print the precision by marks, or the recall by each rule."""
    return _marks(args) if args.task == "marks" else _wmt16(args)


def _marks(args: argparse.Namespace) -> int:
    from pathlib import Path
    from typing import get_args

    from crawler.corpus.marks import Level, Marks, Precision
    from crawler.corpus.sample import keys_of
    from crawler.errors import RunDirError
    from crawler.rundir import RunDir

    runs = RunDir(args.folder).by_pair()
    files = [Path(args.gold) if args.gold else run.marks for run in runs]
    judged = 0
    for run, file in zip(runs, files, strict=True):
        marks = Marks.read(file)
        for level in get_args(Level):
            precision = Precision.of(marks, level)
            if not precision.judged:
                continue
            judged += precision.judged
            name = f"{run.path.name}: " if len(runs) > 1 else ""
            found = marks.found_in(keys_of(run, level), level) if args.gold else None
            print(f"{name}{level}: {found or precision}")
    if not judged:
        raise RunDirError(
            f"{files[0] if files else args.folder}: has no verdicts (draw rows with"
            " `bifocal sample` and mark them with `bifocal review`)"
        )
    return 0


def _wmt16(args: argparse.Namespace) -> int:
    from pathlib import Path

    from crawler.aligner.profile import AlignProfile
    from crawler.config import load_object, load_profile
    from crawler.data import LangPair
    from crawler.realign.wmt16 import evaluate

    profile = load_profile(AlignProfile, args.profile)
    urls = None
    if args.urls:  # the crawler names the package of models and does not import it
        load_model = load_object("models.installed.load_model")
        urls = load_model(Path(args.urls), "pair")
    print(evaluate(Path(args.folder), LangPair.parse(args.langs), profile, urls))
    return 0
