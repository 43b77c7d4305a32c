"""From settings to objects: the one place where names become parts.

A scorer gets what its constructor asks for by name: `langs`, `language_model`,
`pair_model`, `counts`. So a plug-in from outside needs no registration, and a profile
without models loads none.
"""

from __future__ import annotations

import inspect
from collections import Counter
from importlib.metadata import version
from typing import Any

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from crawler.aligner.profile import AlignProfile
from crawler.config import load_object, load_profile, to_table
from crawler.data import LangPair
from crawler.errors import ProfileError
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.site_yield import RunBudget, SiteBudget, SiteYield
from crawler.frontier.stores.open import open_frontier
from crawler.protocols import UrlScorer
from crawler.rundir import RunDir
from crawler.urls import without_password


def run_dir(crawler: Crawler) -> RunDir:
    """The run directory of a crawl."""
    return RunDir(crawler.settings["RUN_DIR"])


def build_frontier(
    crawler: Crawler,
    langs: LangPair,
    scorer: UrlScorer,
    scope: Scope,
    counts: Counter[str],
) -> Frontier:
    """The frontier of a crawl, in the storage that the settings name."""
    settings = crawler.settings
    url = settings["FRONTIER_URL"] or f"sqlite:{run_dir(crawler).frontier}"
    return Frontier(
        open_frontier(url),
        scorer,
        scope,
        max_depth=settings.getint("FRONTIER_MAX_DEPTH"),
        sites=SiteYield(langs, site_budget(settings)),
        budget=RunBudget(
            pages=settings.getint("RUN_MAX_PAGES"),
            bytes=settings.getint("RUN_MAX_BYTES"),
        ),
        counts=counts,
    )


def other_runs(crawler: Crawler) -> list[RunDir]:
    """The run directories beside ours that share our frontier."""
    spider: Any = crawler.spider
    ours = run_dir(crawler).path.resolve()
    run = spider.frontier.store.run
    if run is None:
        return []
    beside = [RunDir(path.parent) for path in sorted(ours.parent.glob("*/run.json"))]
    return [
        other
        for other in beside
        if other.path != ours and other.read().get("shared_run") == run
    ]


def site_budget(settings: BaseSettings) -> SiteBudget:
    """What one site may cost."""
    return SiteBudget(
        pages=settings.getint("SITE_MAX_PAGES"),
        bytes=settings.getint("SITE_MAX_BYTES"),
        seconds=settings.getfloat("SITE_MAX_SECONDS"),
        scout=settings.getint("SITE_SCOUT_PAGES"),
    )


def build_scorer(
    settings: BaseSettings, langs: LangPair, counts: Counter[str] | None = None
) -> UrlScorer:
    """The scorer that URL_SCORER names, with the models that it asks for."""
    path = settings["URL_SCORER"]
    kind = load_object(path)
    if not callable(getattr(kind, "score", None)):
        raise ProfileError(
            f"URL_SCORER={path}: no scorer (name a class with a method `score`)"
        )
    wanted = inspect.signature(kind).parameters
    parts: dict[str, Any] = {}
    if "langs" in wanted:
        parts["langs"] = langs
    if "counts" in wanted:
        parts["counts"] = counts
    if "max_urls" in wanted:
        parts["max_urls"] = settings.getint("SCORER_MAX_URLS")
    if "language_model" in wanted:
        parts["language_model"] = build_model(settings, "URL_LANGUAGE_MODEL")
    if "pair_model" in wanted:
        parts["pair_model"] = build_model(settings, "URL_PAIR_MODEL")
    try:
        scorer: UrlScorer = kind(**parts)
    except TypeError as error:
        raise ProfileError(
            f"URL_SCORER={path}: {error} (its constructor may ask for langs,"
            " language_model, pair_model, counts and max_urls)"
        ) from error
    return scorer


def build_model(settings: BaseSettings, name: str) -> Any:  # either model protocol
    """The model that a setting names, from MODEL_DIR if it takes one."""
    kind = load_object(settings[name])
    if not callable(getattr(kind, "predict", None)):
        raise ProfileError(
            f"{name}={settings[name]}: no model (name a class with a method `predict`)"
        )
    directory = settings.get(name.replace("_MODEL", "_MODEL_DIR"))
    return kind(directory) if directory else kind()


def build_align_profile(settings: BaseSettings) -> AlignProfile:
    """How pairs are found, as the TOML file of ALIGN_PROFILE says."""
    return load_profile(AlignProfile, settings["ALIGN_PROFILE"])


def describe_run(crawler: Crawler, profile: AlignProfile) -> dict[str, Any]:
    """What run.json says: the question, and every setting as it was resolved."""
    spider: Any = crawler.spider
    settings = crawler.settings
    resolved = settings.copy_to_dict()
    if resolved["FRONTIER_URL"]:
        resolved["FRONTIER_URL"] = without_password(resolved["FRONTIER_URL"])
    return {
        "bifocal": version("bifocal"),
        "scrapy": version("scrapy"),
        "langs": list(spider.langs),
        "seeds": spider.seeds,
        "scope": spider.scope,
        "worker": spider.frontier.store.worker,
        "shared_run": spider.frontier.store.run,
        "profile": settings["URL_SCORER"],
        "align": to_table(profile),
        "settings": {
            name: resolved[name]
            for name in sorted(resolved)
            if settings.getpriority(name) != 0  # 0: as Scrapy has it
        },
    }
