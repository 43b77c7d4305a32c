"""The plan of an offline alignment, for one machine and for a cluster alike.

    pages ─▶ records ─▶ seed groups ─lexicons─▶ other groups ─▶ across sites ─▶ files

An executor does the steps: `machine` on this machine, `spark` on a cluster. The files
are the same, byte for byte.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.bridges.pivot import Pivots, pairable
from crawler.aligner.profile import AlignProfile
from crawler.aligner.seed_groups import merge_lexicons, seed_groups
from crawler.data import LangPair, PairScore
from crawler.groups import group_key
from crawler.realign.matching_ngrams import Groups, MatchingNgrams
from crawler.realign.request import AlignRequest, load_lexicon, summary
from crawler.realign.steps import UrlPair, UrlVerdicts
from crawler.rundir import RunDir
from crawler.sinks.pairs import write_pairs
from crawler.sinks.several import join_articles, write_joint_files
from crawler.urls import site_of
from crawler.wanted import WantedPairs
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

    def verdicts(
        self, asked: Mapping[str, Sequence[UrlPair]], known: Lexicon | None
    ) -> UrlVerdicts:
        """What the aligner says of pairs of addresses, by group."""
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

    `known`: the lexicon that each two languages start with; of those that have none,
    some start with one over a third language (`crawler.aligner.bridges.pivot`).
    """
    runs = {langs: request.run(langs) for langs in known}
    counts: Counter[str] = Counter()
    about = request.about(inputs)
    pieces = request.pieces(inputs, counts)
    for langs, run in runs.items():
        run.open(langs)
        lexicon = known[langs]
        run.write(
            {**about, "langs": list(langs), "lexicon": lexicon and lexicon.digest}
        )
    counts.update(executor.extract(pieces))
    jobs = {langs: executor.job(langs) for langs in runs}
    stats = {}
    pivots = Pivots({langs: pairable(job.sizes()) for langs, job in jobs.items()})
    for langs in pivots:
        job, run = jobs[langs], runs[langs]
        lexicon = known[langs] or pivots.lexicon(langs)
        lexicon = _align(job, request.profile, lexicon)
        pivots.learned(langs, lexicon)
        if request.across_sites:
            _align_across(job, request.profile, lexicon)
        if lexicon:
            lexicon.save(run.lexicon)
        pairs = write_pairs(run.pairs, job.pairs())
        counted = counts + job.counts()
        stats[langs] = Counter({**counted, "pages": counts["pages"], "pairs": pairs})
    articles = _join(request, about, runs, jobs, stats) if len(runs) > 1 else {}
    for langs, run in runs.items():
        run.write_stats(stats[langs])
    total = summary(runs.values())
    if len(runs) > 1:
        RunDir(request.out).write_stats(total | articles)
    return total


def _join(
    request: AlignRequest,
    about: Mapping[str, Any],
    runs: Mapping[LangPair, RunDir],
    jobs: Mapping[LangPair, PairJob],
    stats: Mapping[LangPair, Counter[str]],
) -> dict[str, int]:
    """Write what several pairs of languages have in common, and the pairs it implies.

    As a crawl does at its end. Adds to the stats of each pair; returns more of them.
    """
    out, wanted = RunDir(request.out), WantedPairs(request.pairs)

    def judge(langs: LangPair, urls: Sequence[UrlPair]) -> list[float | None]:
        asked = defaultdict(list)
        for pair in urls:
            asked[group_key(site_of(pair[0]))].append(pair)
        sizes, path = jobs[langs].sizes(), runs[langs].lexicon
        within = {group: asked[group] for group in sorted(asked.keys() & sizes.keys())}
        known = load_lexicon(path, langs) if path.exists() else None
        said = jobs[langs].verdicts(within, known) if within else {}
        return [said.get(pair) for pair in urls]

    min_score = request.profile.min_score
    articles, added = join_articles(out, wanted, runs, min_score, judge)
    for langs, count in added.items():
        stats[langs].update({"align/transitive": count, "pairs": count})
    pairs = [list(pair) for pair in wanted.pairs]
    out.write({**about, "langs": list(wanted), "pairs": pairs, "lexicon": None})
    if request.joint:
        write_joint_files(out, wanted)
    by_pair = {f"pairs/{'-'.join(langs)}": stats[langs]["pairs"] for langs in runs}
    return {"clusters": articles, **by_pair}


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
