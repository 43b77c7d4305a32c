"""Make tables for training the URL models, of crawls, WARC files, corpora, indexes.

Example: bifocal data build runs data/mine runs/*
  bifocal data build hreflang data/mine warcs/*.warc.gz
  bifocal data build common-crawl data/mine 'cc-index/*.parquet'
  bifocal data build --help                      all sources

An input that was read is not read again, and a build that was killed goes on. Rows are
counted, each is kept once, and sites are split into train, dev and test.
"""

from __future__ import annotations

import argparse

from crawler.config import load_object


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of `training.data.cli`: the crawler names what it does not import."""
    load_object("training.data.cli.add_arguments")(parser)


def run(args: argparse.Namespace) -> int:
    """Build."""
    status: int = load_object("training.data.cli.run")(args)
    return status
