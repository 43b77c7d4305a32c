"""Train, dev and test, by site and never by URL.

García-Romero et al. (2024), sections 2.1 and 3.1: URLs of one registered domain are
only in one of the splits. A list that somebody fixed (`splits.tsv.gz`) is kept; a site
that is on no list goes where a hash of its name sends it, so that data which arrive
later, or in another order, never move a site.
"""

from __future__ import annotations

import csv
import gzip
import random
from collections.abc import Iterable, Mapping
from pathlib import Path

import xxhash

from crawler.data import Site

TRAIN, DEV, TEST = "train", "dev", "test"
SHARES = (0.8, 0.1, 0.1)  # the authors' code (create_urls_dataset.py)


def split_of(
    site: Site,
    fixed: Mapping[Site, str] | None = None,
    *,
    seed: int = 71213,
    shares: tuple[float, float, float] = SHARES,
) -> str:
    """The split of a site.

    >>> split_of("gov.is", {"gov.is": "test"})
    'test'
    >>> split_of("gov.is") == split_of("gov.is")
    True
    """
    if fixed and site in fixed:
        return fixed[site]
    share = xxhash.xxh64_intdigest(site.encode(), seed) / 2**64
    if share < shares[0]:
        return TRAIN
    return DEV if share < shares[0] + shares[1] else TEST


def fold_of(site: Site, folds: int, *, seed: int = 71213) -> int:
    """The fold of a site in a cross-validation, from 0.

    >>> fold_of("gov.is", 10) == fold_of("gov.is", 10) < 10
    True
    """
    return xxhash.xxh64_intdigest(f"fold/{site}".encode(), seed) % folds


def left_out(
    sites: Iterable[Site], without: Iterable[Site], share: float, *, seed: int
) -> set[Site]:
    """`without`, and so many more that a share of the sites remains.

    Smaller shares are parts of larger ones: what a learning curve adds is new.

    >>> len(left_out(["a.is", "b.is", "c.is", "d.is"], [], 0.25, seed=7))
    3
    """
    order = sorted(set(sites))
    random.Random(seed).shuffle(order)
    return {*without, *order[round(share * len(order)) :]}


def read_splits(path: Path) -> dict[Site, str]:
    """A TSV with the columns registered_domain and split, gzipped or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["registered_domain"]: row["split"] for row in rows}
