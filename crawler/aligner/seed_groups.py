"""Seed groups: the groups of sites that are aligned first, for others to learn from.

A large site induces a lexicon of its own; a small one has too few pairs for that. So,
where nothing is known of two languages, the groups that have most pairs are aligned
first, each by itself, and the others start with the sum of their lexicons. The result
depends on no order, and both halves can be done in any number of processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile

# The bootstrap of a group is as good with the lexicons of sixteen others as with all of
# them, and the sum of sixteen is small.
_MAX_GROUPS = 16


def seed_groups(
    sizes: Mapping[str, tuple[int, int]], profile: AlignProfile
) -> list[str]:
    """The names of the seed groups, sorted. `sizes`: each group's pages of src, trg.

    These are the groups with most pages on their smaller side, up to what a bootstrap
    takes in; of equal ones the smallest, so that the others do not wait for a giant.
    """
    bootstrap = profile.bootstrap

    def rank(group: str) -> tuple[int, int, str]:
        return -min(*sizes[group], bootstrap.max_pairs), sum(sizes[group]), group

    able = [group for group in sizes if min(sizes[group]) >= bootstrap.min_pairs]
    return sorted(sorted(able, key=rank)[:_MAX_GROUPS])


def merge_lexicons(known: Lexicon | None, learned: Iterable[Lexicon]) -> Lexicon | None:
    """The sum of a known lexicon, if any, and others; None if all are empty."""
    for lexicon in learned:
        if len(lexicon):
            known = known + lexicon if known else lexicon
    return known
