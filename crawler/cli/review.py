"""Mark the pairs and sentences of a run in the browser, right, partly or wrong.

Serves the report on this machine alone, at an address that nobody can guess. Each mark
is in marks.tsv of the run at once; rows that `bifocal sample` drew are listed apart.
`bifocal eval marks` gives the precision, `bifocal corpus` leaves out what is wrong and
adapts the scores. Ctrl-C ends it.

Example: bifocal review runs/is1
Example: bifocal review runs/is1 --pairs 10000 --port 8765
"""

from __future__ import annotations

import argparse

from crawler.cli import whole_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("run_dir", metavar="RUN", help="a run directory")
    parser.add_argument(
        "--pairs",
        type=whole_number,
        default=1000,
        metavar="N",
        help="number of pairs that can be read, evenly over the scores (%(default)s)",
    )
    parser.add_argument(
        "--port", type=whole_number, default=0, help="default: any that is free"
    )


def run(args: argparse.Namespace) -> int:
    """Print the address and answer until Ctrl-C."""
    from contextlib import suppress

    from crawler.reports.review import open_review
    from crawler.rundir import RunDir

    run = RunDir(args.run_dir)
    with open_review(run, port=args.port, most=args.pairs) as server:
        print(f"Open {server.url} in a browser; Ctrl-C ends it.", flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    print(f"The marks are in {', '.join(str(one.marks) for one in run.by_pair())}.")
    return 0
