"""Whose lessons the others start with, where nothing is known of two languages yet.

A large site finds its own lexicon; a small one has too few pairs to learn from. So the
groups of sites with most to teach are aligned first, each for itself, and the others
start with the sum of what these learned. That depends on no order, and both halves can
be done in any number of processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile

# The bootstrap of a group is as good with sixteen others' lessons as with all of them,
# and a lexicon of sixteen is small.
_TEACHERS = 16


def teachers(sizes: Mapping[str, tuple[int, int]], profile: AlignProfile) -> list[str]:
    """The groups that teach, by name. `sizes`: pages of each group on either side.

    Those that have most pages on their smaller side, up to what the bootstrap takes in;
    of equals the smallest, so that no giant keeps the others waiting.
    """
    bootstrap = profile.bootstrap

    def rank(group: str) -> tuple[int, int, str]:
        return -min(*sizes[group], bootstrap.max_pairs), sum(sizes[group]), group

    able = [group for group in sizes if min(sizes[group]) >= bootstrap.min_pairs]
    return sorted(sorted(able, key=rank)[:_TEACHERS])


def taught(known: Lexicon | None, lessons: Iterable[Lexicon]) -> Lexicon | None:
    """What is known after some lessons, in their order; None: nothing."""
    for learned in lessons:
        if len(learned):
            known = known + learned if known else learned
    return known
