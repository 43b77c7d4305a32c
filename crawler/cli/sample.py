"""Draw pairs of a run for a person to judge, into marks.tsv of the run.

The rows are drawn at random with a seed, so the share that is right is an estimate of
the precision; with --doubtful they are those of the lowest scores, which finds more of
what is wrong. `bifocal review RUN` shows them, or fill the column `verdict` (right,
partly or wrong) in a spreadsheet; `bifocal eval marks RUN` gives the precision.

Example: bifocal sample runs/is1 --sentences 100
"""

from __future__ import annotations

import argparse

from crawler.cli import whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("run_dir", metavar="RUN", help="a run directory")
    parser.add_argument(
        "--sentences", type=whole_number, default=100, metavar="N", help="%(default)s"
    )
    parser.add_argument(
        "--pages", type=whole_number, default=0, metavar="N", help="%(default)s"
    )
    parser.add_argument(
        "--doubtful", action="store_true", help="the lowest scores, not by chance"
    )
    parser.add_argument("--seed", type=whole_number, default=1, help="%(default)s")


def run(args: argparse.Namespace) -> int:
    """Add the rows to the marks of the run."""
    from crawler.corpus.marks import Marks
    from crawler.corpus.sample import draw
    from crawler.rundir import RunDir

    run = RunDir(args.run_dir)
    run.read()
    marks = Marks.read(run.marks)
    drawn = draw(
        run,
        sentences=args.sentences,
        pages=args.pages,
        seed=args.seed,
        doubtful=args.doubtful,
    )
    marks.add_drawn(drawn)
    marks.write(run.marks)
    print(f"Drew {len(drawn)} rows into {run.marks}; `bifocal review` shows them.")
    return 0
