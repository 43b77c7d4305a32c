"""A finished run of a small synthetic site, for tests of what comes after a crawl."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crawler.data import LangPair, Page, PairScore
from crawler.rundir import RunDir
from crawler.sinks.pairs import write_pairs
from tests.worlds import Site, build_site, write_warc

LANGS = LangPair("en", "is")


def make_run(
    folder: Path,
    site: Site | None = None,
    *,
    change: Callable[[Page], Page] = lambda page: page,
) -> RunDir:
    """A run directory with WARC and the site's true pairs; pages may be changed."""
    site = site or build_site(concepts=6, words=200)
    run = RunDir(folder)
    run.open(LANGS)
    write_warc(run.warc / "site.warc.gz", map(change, site.pages()))
    gold = sorted(site.gold(*LANGS))
    write_pairs(run.pairs, (PairScore(src, trg, 0.9) for src, trg in gold))
    run.write({"langs": list(LANGS), "settings": {"ROBOTSTXT_OBEY": True}})
    return run
