"""Train, dev and test: every site is in one of them.

García-Romero et al. (2024), sections 2.1 and 3.1: URLs of one registered domain are
only in one of the splits. The table `splits` decides for the sites that it has; for all
others a hash of the name does, so that data which arrive later, or in another order,
never move a site.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from pathlib import Path

import xxhash

from crawler.data import Site
from training.data.tables import find_table, read_table

TRAIN, DEV, TEST = "train", "dev", "test"
SHARES = (0.8, 0.1, 0.1)  # the authors' code (create_urls_dataset.py)

# Recorded sites that crawls are judged on: no model may be trained on them.
JUDGED_SITES: tuple[Site, ...] = (
    *("eccc-msc.github.io", "fullstackopen.com", "guardianproject.info", "hi.is"),
    *("johnxlivingston.github.io", "lls-eustat.github.io", "opentermsarchive.org"),
    *("ropensci.org", "scratchaddons.com", "spyder-ide.org", "vuejs.org"),
    "wet-boew.github.io",
)


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
    """The sites of `without`, and so many more that a share of the sites remains.

    The sites that a smaller share keeps are among those of a larger one.

    >>> len(left_out(["a.is", "b.is", "c.is", "d.is"], [], 0.25, seed=7))
    3
    """
    order = sorted(set(sites))
    random.Random(seed).shuffle(order)
    return {*without, *order[round(share * len(order)) :]}


def read_splits(folder: Path) -> dict[Site, str]:
    """The table `splits` of a folder of data; empty if there is none."""
    path = find_table(folder, "splits")
    rows = read_table(path, "splits") if path else ()
    return {row[0]: row[1] for row in rows}
