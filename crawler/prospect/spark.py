"""Prospecting on a cluster: one task reads a source, one estimates a share of sites.

    sources ──Prospector──▶ samples ──by name of the site──▶ merged ──▶ estimates

The functions are those of one machine, and so is the result: samples merge in any
order. A lost task is done again. Executors need Python with this project in it
(docs/realign.md says how to send it), and each reads its sources itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from crawler.data import LangPair
from crawler.groups import group_key
from crawler.prospect.estimate import Prospect, estimate
from crawler.prospect.rows import read_rows
from crawler.prospect.sample import Prospector, Samples
from crawler.realign.session import spark_session

if TYPE_CHECKING:
    from crawler.protocols import UrlLanguageModel, UrlPairModel

_TASKS_PER_CORE = 3  # as in crawler.realign.spark
_COUNTS = ""  # the key of what was counted; no site has this name


def prospect_on_spark(
    sources: Sequence[str],
    langs: LangPair,
    models: tuple[UrlLanguageModel, UrlPairModel],
    counts: Counter[str],
    *,
    master: str,
    most_sites: int,
) -> list[Prospect]:
    """The estimates of all sites that the sources name.

    `most_sites`: of one source, as a task has it in memory. Raises RunError.
    """
    with spark_session(master, "bifocal prospect") as context:
        shares = _TASKS_PER_CORE * context.defaultParallelism
        read = partial(_read, langs=langs, most_sites=most_sites)
        estimated = (
            context.parallelize(sources, len(sources))
            .flatMap(read)
            .groupByKey(shares)
            .mapPartitions(partial(_estimated, langs=langs, models=models))
        )
        found: list[Prospect] = []
        for item in estimated.toLocalIterator():
            if isinstance(item, Prospect):
                found.append(item)
            else:
                counts.update(item)
        return found


def _read(
    source: str, langs: LangPair, most_sites: int
) -> Iterator[tuple[str, Samples | Counter[str]]]:
    """The samples of a source, by the name that the sites of a group share."""
    counts: Counter[str] = Counter()
    prospector = Prospector(langs, most_sites)
    prospector.add(read_rows(source, counts), counts)
    taken = prospector.taken()
    for site, sample in taken.sites.items():
        yield group_key(site), Samples({site: sample}, [])
    for group in taken.groups:
        yield group_key(group[0]), Samples({}, [group])
    yield _COUNTS, counts


def _estimated(
    keyed: Iterable[tuple[str, Iterable[Samples | Counter[str]]]],
    langs: LangPair,
    models: tuple[UrlLanguageModel, UrlPairModel],
) -> Iterator[Prospect | Counter[str]]:
    for _, parts in keyed:
        prospector, counts = Prospector(langs), Counter[str]()
        for part in parts:
            if isinstance(part, Samples):
                prospector.merge(part, counts)
            else:
                counts.update(part)
        for sites, sample in prospector.samples().items():
            yield estimate(sites, sample, langs, *models)
        if counts:
            yield counts
