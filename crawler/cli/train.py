"""Train the URL models: language, pair, or both; needs the extra `train`.

Example: bifocal train all --data data/mine    the compact models, on a CPU core
  bifocal train language --profile base --data data/mine --out runs/xlmr
  accelerate launch -m training pair --profile base --data data/mine     several GPUs
  bifocal train distil --teacher runs/xlmr/model --profile compact --data data/mine

A training that was stopped or killed goes on when the same command is given again.
"""

from __future__ import annotations

import argparse

from crawler.config import load_object


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of `training.cli`: the crawler names what it does not import."""
    load_object("training.cli.add_arguments")(parser)


def run(args: argparse.Namespace) -> int:
    """Train."""
    status: int = load_object("training.cli.run")(args)
    return status
