"""`bifocal train` as a module: `accelerate launch -m training language --data DATA`."""

from __future__ import annotations

import argparse
import sys

from training.cli import add_arguments, run
from training.command import run_script


def main(words: list[str]) -> None:
    """Parse the words and train."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    add_arguments(parser)
    sys.exit(run(parser.parse_args(words)))


if __name__ == "__main__":
    run_script(main)
