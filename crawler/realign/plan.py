"""The plan of an offline alignment, for one machine and for a cluster alike.

    pages ─▶ records ─▶ seed groups ─lexicons─▶ other groups ─▶ across sites ─▶ files

An executor does the steps: `machine` on this machine, `spark` on a cluster. The files
are the same, byte for byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile
from crawler.aligner.seed_groups import merge_lexicons, seed_groups
from crawler.data import LangPair, PairScore
from crawler.realign.matching_ngrams import Groups, MatchingNgrams
from crawler.realign.request import AlignRequest, summary
from crawler.sinks.pairs import write_pairs
from crawler.warc.inputs import Piece

Sizes = tuple[int, int]  # pages of src, pages of trg


class PairJob(Protocol):
    """The groups of sites for two languages; their results stay where they are made."""

    def sizes(self) -> Mapping[str, Sizes]:
        """The groups that have pages in both languages."""
        ...

    def learn(self, groups: Sequence[str], known: Lexicon | None) -> list[Lexicon]:
        """Align groups; the lexicon that each learned."""
        ...

    def align(self, groups: Collection[str], known: Lexicon | None) -> None:
        """Align groups."""
        ...

    def unpaired(self) -> Sizes:
        """Find the pages that are in none of the pairs so far; returns their number."""
        ...

    def match(self, matching: MatchingNgrams, known: Lexicon) -> Groups:
        """The groups of unpaired pages that share rare n-grams."""
        ...

    def align_across(self, groups: Groups | None, known: Lexicon | None) -> None:
        """Align unpaired pages, whatever their sites; None: all are one group."""
        ...

    def pairs(self) -> Iterator[PairScore]:
        """The pairs of all groups by name, then those across sites."""
        ...

    def counts(self) -> Counter[str]:
        """The counters of all groups."""
        ...


class Executor(Protocol):
    """A place that does the steps."""

    def extract(self, pieces: Sequence[Piece]) -> Counter[str]:
        """Read the records of all pages; returns the counters."""
        ...

    def job(self, langs: LangPair) -> PairJob:
        """The groups for two languages."""
        ...


def align_pages(
    request: AlignRequest,
    inputs: Sequence[str],
    known: Mapping[LangPair, Lexicon | None],
    executor: Executor,
) -> dict[str, Any]:
    """Fill a run directory for each two languages; returns the stats of all.

    `known`: the lexicon that each two languages start with.
    """
    runs = {langs: request.run(langs) for langs in known}
    counts: Counter[str] = Counter()
    pieces = request.pieces(inputs, counts)
    for langs, run in runs.items():
        run.open(langs)
        run.write(request.about(langs, inputs, known[langs]))
    counts.update(executor.extract(pieces))
    for langs, run in runs.items():
        job = executor.job(langs)
        lexicon = _align(job, request.profile, known[langs])
        if request.across_sites:
            _align_across(job, request.profile, lexicon)
        if lexicon:
            lexicon.save(run.lexicon)
        pairs = write_pairs(run.pairs, job.pairs())
        stats = counts + job.counts()
        run.write_stats({**stats, "pages": counts["pages"], "pairs": pairs})
    return summary(runs.values())


def _align(
    job: PairJob, profile: AlignProfile, known: Lexicon | None
) -> Lexicon | None:
    """Align each group of sites; returns the lexicon that is known at the end.

    The seed groups come first; the others start with the sum of their lexicons, unless
    a lexicon was known before.
    """
    sizes = job.sizes()
    first = seed_groups(sizes, profile)
    learned = merge_lexicons(known, job.learn(first, known))
    job.align(sizes.keys() - set(first), known or learned)
    return learned


def _align_across(job: PairJob, profile: AlignProfile, known: Lexicon | None) -> None:
    """Align the pages without a partner, whatever their sites.

    Up to the number of pages that one site may have for an exhaustive comparison, all
    of them are one group.
    """
    sizes = job.unpaired()
    if not min(sizes):
        return
    groups = None
    if known and max(sizes) > profile.max_content_pages:
        groups = job.match(MatchingNgrams.of(profile, sum(sizes)), known)
    job.align_across(groups, known)
