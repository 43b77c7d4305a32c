"""From settings to objects: the one place where names become parts.

A scorer gets what its constructor asks for by name: `langs`, `language_model`,
`pair_model`. So a plug-in from outside needs no registration, and a profile without
models loads none.
"""

from __future__ import annotations

import inspect
from importlib.metadata import version
from typing import Any

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from crawler.aligner.aligner import Aligner
from crawler.aligner.profile import AlignProfile
from crawler.config import load_object, load_profile, to_table
from crawler.data import LangPair
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.store import open_frontier
from crawler.protocols import UrlScorer
from crawler.rundir import RunDir


def run_dir(crawler: Crawler) -> RunDir:
    """The run directory of a crawl."""
    return RunDir(crawler.settings["RUN_DIR"])


def build_frontier(crawler: Crawler) -> Frontier:
    """The frontier of a crawl, as its settings and its spider say."""
    settings = crawler.settings
    spider: Any = crawler.spider
    url = settings["FRONTIER_URL"] or f"sqlite:{run_dir(crawler).frontier}"
    return Frontier(
        open_frontier(url),
        build_scorer(settings, spider.langs),
        Scope(spider.scope),
        max_depth=settings.getint("FRONTIER_MAX_DEPTH"),
    )


def build_scorer(settings: BaseSettings, langs: LangPair) -> UrlScorer:
    """The scorer that URL_SCORER names, with the models that it asks for."""
    kind = load_object(settings["URL_SCORER"])
    wanted = inspect.signature(kind).parameters
    parts: dict[str, Any] = {}
    if "langs" in wanted:
        parts["langs"] = langs
    if "language_model" in wanted:
        parts["language_model"] = build_model(settings, "URL_LANGUAGE_MODEL")
    if "pair_model" in wanted:
        parts["pair_model"] = build_model(settings, "URL_PAIR_MODEL")
    scorer: UrlScorer = kind(**parts)
    return scorer


def build_model(settings: BaseSettings, name: str) -> Any:  # either model protocol
    """The model that a setting names, from MODEL_DIR if it takes one."""
    kind = load_object(settings[name])
    directory = settings.get(name.replace("_MODEL", "_MODEL_DIR"))
    return kind(directory) if directory else kind()


def build_aligner(crawler: Crawler, langs: LangPair) -> Aligner:
    """The embedded aligner, with its memory in the run directory."""
    profile = load_profile(AlignProfile, crawler.settings["ALIGN_PROFILE"])
    return Aligner(langs, profile, store=run_dir(crawler).aligner)


def describe_run(crawler: Crawler) -> dict[str, Any]:
    """What run.json says: the question, and every setting as it was resolved."""
    spider: Any = crawler.spider
    settings = crawler.settings
    return {
        "bifocal": version("bifocal"),
        "langs": list(spider.langs),
        "seeds": spider.seeds,
        "scope": spider.scope,
        "profile": settings["URL_SCORER"],
        "align": to_table(load_profile(AlignProfile, settings["ALIGN_PROFILE"])),
        "settings": {
            name: settings[name]
            for name in sorted(settings)
            if settings.getpriority(name) != 0
        },
    }
