"""From settings to a crawl: the one place where names become parts.

A scorer gets what its constructor asks for by name: `langs`, `language_model`,
`pair_model`, `counts`, `max_urls`, `guess`. So a plug-in from outside needs no
registration, and a profile without models loads none.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any, Literal, cast

from crawler.aligner.profile import AlignProfile
from crawler.config import load_object, load_profile, to_table
from crawler.crawl.adaptation import Adaptation, check_adaptable
from crawler.crawl.child import Child, start_child, wants_process
from crawler.crawl.crawl import Crawl
from crawler.crawl.intake import Intake, IntakeConfig
from crawler.crawl.log import CrawlLog, Observer
from crawler.crawl.page_process import AsyncIntake, InProcess, PageProcess
from crawler.crawl.periodic import Clockwork, Periodic
from crawler.crawl.politeness import Politeness
from crawler.crawl.settings import CrawlSettings, read_settings
from crawler.crawl.spare_time import EVERY
from crawler.crawl.take_over import TakeOver
from crawler.data import LangPair
from crawler.errors import FATAL_ERRORS, ProfileError
from crawler.extract.bounded import ReadingLimits, ReadingNote
from crawler.extract.detectors.open import DetectorConfig, open_detector
from crawler.frontier.entry import known_of
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.many_pairs import MaxOverPairs, SumOverPairs
from crawler.frontier.scorers.remembered import RememberedLanguages, remembered
from crawler.frontier.site_yield import RunBudget, SiteBudget, SiteYield
from crawler.frontier.snowball import Snowball
from crawler.frontier.stores.open import open_frontier
from crawler.protocols import LearningScorer, UrlLanguageModel, UrlScorer, Workers
from crawler.rundir import RunDir
from crawler.seeds import read_seeds
from crawler.urls import without_password
from crawler.wanted import WantedPairs
from crawler.warc.writer import WarcConfig


def open_crawl(
    seeds: str | Sequence[str],
    langs: str,
    settings: Mapping[str, Any],
    *,
    scope: str = "",
    child: Child | None = None,
    about: Mapping[str, Any] | None = None,
) -> Crawl:
    """Open a run: begin it, or go on with the one of the setting RUN_DIR.

    `seeds`: as `read_seeds` takes them, or URLs; `langs`: codes or names as
    `crawler.wanted` reads them; `settings`: by upper-case name, see
    `load_profile_settings`; `scope`: setting SCOPE; `child`: the process of the intake,
    if it was started already; `about`: what else run.json is to say. A mistake in any
    of them is a BifocalError, before anything is written.
    """
    urls = read_seeds(seeds if isinstance(seeds, str) else ",".join(seeds))
    read = read_settings(settings)
    if read.run_dir is None:
        raise ProfileError("RUN_DIR is not set (name a folder for the run)")
    wanted = WantedPairs.parse(langs, any_of=read.any_languages or "")
    read.client()  # its settings are valid
    run = read.run
    wanted = run.as_before(wanted)
    counts: Counter[str] = Counter()
    bounds = Scope(scope or read.scope)
    if child is None and wants_process(read):
        child = start_child(read)  # it starts while the models are read
    languages = adaptable_model(read) if read.adapt_after else None
    scorer = build_scorer(read, wanted, counts, languages)
    profile = load_profile(AlignProfile, read.align_profile)
    open_detector(  # a mistake is told before anything is written
        tuple(wanted), DetectorConfig(read.language_detector, read.language_samples)
    )
    resumed = run.open(wanted)
    frontier = build_frontier(read, wanted, scorer, bounds, counts)
    note = ReadingNote.open(run.reading)  # of a session that was killed
    note.close()
    intake, periodic = _open_intake(read, wanted, frontier, child)
    observers: list[Observer] = []
    if languages is not None:
        load = load_object(read.url_language_model)
        adaptation = Adaptation(read, languages, load, counts)
        observers.append(adaptation)
        periodic.append(adaptation)
    workers = frontier.workers
    run.describe(
        wanted,
        {
            "bifocal": version("bifocal-crawler"),
            "seeds": urls,
            "scope": bounds.kind,
            "worker": workers.worker,
            "shared_run": workers.run,
            "profile": read.url_scorer,
            "align": to_table(profile),
            "settings": {
                name: _shown(name, settings[name]) for name in sorted(settings)
            },
            **(about or {}),
        },
    )
    frontier.restore()
    frontier.seed(urls)
    frontier.commit()
    log = CrawlLog.open(run.crawl_log)
    crawl = Crawl(
        read,
        wanted,
        urls,
        frontier,
        intake,
        polite=Politeness.of(read),
        resumed=resumed,
        killers=note.killers,
        observers=[log, *observers],
        periodic=periodic,
    )
    intake.listen(done=crawl.commit, failed=crawl.fail)
    return crawl


def _shown(name: str, value: object) -> object:
    return without_password(str(value)) if name == "FRONTIER_URL" and value else value


def build_frontier(
    settings: CrawlSettings,
    wanted: WantedPairs,
    scorer: UrlScorer,
    scope: Scope,
    counts: Counter[str],
) -> Frontier:
    """The frontier of a crawl, in the storage that the settings name."""
    url = settings.frontier_url or f"sqlite:{settings.run.frontier}"
    budget = SiteBudget(
        pages=settings.site_max_pages,
        bytes=settings.site_max_bytes,
        seconds=settings.site_max_seconds,
        scout=settings.site_scout_pages,
        stop_when=settings.stop_when,
        trial=settings.snowball_pages,
    )
    store = open_frontier(url)
    if settings.snowball and isinstance(store, Workers):
        raise ProfileError(
            f"SNOWBALL={settings.snowball}: several workers cannot take new sites"
            " (leave FRONTIER_URL unset, or name the sites as seeds)"
        )
    frontier = Frontier(
        store,
        scorer,
        scope,
        max_depth=settings.frontier_max_depth,
        sites=SiteYield(wanted, budget),
        budget=RunBudget(pages=settings.run_max_pages, bytes=settings.run_max_bytes),
        snowball=Snowball(tuple(wanted), settings.snowball),
        counts=counts,
    )
    if isinstance(scorer, SumOverPairs):
        scorer.known_of = lambda sites: (
            known_of(stored)[0] for site in sites for stored in store.scan(site)
        )
    return frontier


def _open_intake(
    settings: CrawlSettings,
    wanted: WantedPairs,
    frontier: Frontier,
    child: Child | None,
) -> tuple[AsyncIntake, list[Periodic]]:
    """The intake of a crawl, opened."""
    config = _intake_config(settings, wanted, frontier.workers.worker)
    run = settings.run
    if child is not None:
        process = PageProcess(child, config)
        process.open()
        return process, []
    try:
        intake = Intake.open(config, frontier.counts)
    except FATAL_ERRORS as error:
        raise run.error(error) from error
    periodic: list[Periodic] = [Clockwork(EVERY, intake.use_spare_time)]
    if settings.pairs and frontier.workers.run is not None:
        others = partial(_other_runs, run, frontier.workers.run)
        take_over = TakeOver(frontier, intake, others)
        intake.elsewhere = take_over.pages_of
        periodic.append(take_over)
    return InProcess(intake), periodic


def _intake_config(
    settings: CrawlSettings, wanted: WantedPairs, worker: str
) -> IntakeConfig:
    return IntakeConfig(
        run_dir=str(settings.run.path),
        langs=str(wanted),
        warc=WarcConfig(
            prefix=settings.warc_prefix,
            worker=re.sub(r"[^\w.-]", "_", worker),
            max_bytes=settings.warc_max_bytes,
            level=settings.warc_gzip_level,
            fsync=settings.warc_fsync,
            revisits=settings.warc_revisits,
            info={
                "http-header-user-agent": settings.user_agent,
                "robots": "obey" if settings.robotstxt_obey else "ignore",
            },
        ),
        pairs=settings.pairs,
        sentences=settings.sentences,
        joint=settings.joint_files,
        align_profile=settings.align_profile,
        languages=DetectorConfig(settings.language_detector, settings.language_samples),
        readable=("pdf",) if settings.pdf else (),
        limits=ReadingLimits(settings.page_memory, settings.page_seconds),
    )


def _other_runs(run: RunDir, shared: str) -> list[RunDir]:
    """The run directories beside this one whose workers share its frontier."""
    ours = run.path.resolve()
    beside = [RunDir(path.parent) for path in sorted(ours.parent.glob("*/run.json"))]
    return [
        other
        for other in beside
        if other.path != ours and other.read().get("shared_run") == shared
    ]


def build_scorer(
    settings: CrawlSettings,
    wanted: WantedPairs,
    counts: Counter[str] | None = None,
    languages: UrlLanguageModel | None = None,
) -> UrlScorer:
    """The scorer that URL_SCORER names, with the models that it asks for.

    One that asks for two languages is made for each wanted pair, if there are several.
    `languages`: the language model; default: the one that the settings name.
    """
    path = settings.url_scorer
    kind = load_object(path)
    if not callable(getattr(kind, "score", None)):
        raise ProfileError(
            f"URL_SCORER={path}: not a scorer (name a class with a method `score`)"
        )
    asked = inspect.signature(kind).parameters
    parts: dict[str, Any] = {"langs": wanted.only, "counts": counts}
    parts["max_urls"] = settings.scorer_max_urls
    parts["guess"] = settings.guess_addresses
    if "language_model" in asked:
        parts["language_model"] = languages or build_model(settings, "language")
    if "pair_model" in asked:
        parts["pair_model"] = build_model(settings, "pair")

    def build(**more: Any) -> UrlScorer:
        given = {name: part for name, part in (parts | more).items() if name in asked}
        try:
            scorer: UrlScorer = kind(**given)
        except TypeError as error:
            raise ProfileError(
                f"URL_SCORER={path}: {error} (its constructor may ask for langs,"
                " language_model, pair_model, counts, max_urls and guess)"
            ) from error
        return scorer

    if wanted.only or "langs" not in asked:
        return build()
    if "language_model" in parts:
        parts["language_model"] = remembered(parts["language_model"])
    first, *_ = wanted.pairs

    def build_for(pair: LangPair) -> UrlScorer:
        # what the scorers count is of the same URLs: once is enough
        return build(langs=pair, counts=counts if pair == first else Counter())

    if not isinstance(build_for(first), LearningScorer):
        return MaxOverPairs({pair: build_for(pair) for pair in wanted.pairs})
    return SumOverPairs(
        wanted,
        cast(Callable[[LangPair], LearningScorer], build_for),
        wanted.weights(settings.pair_weights or ""),
        parts.get("language_model"),
    )


def adaptable_model(settings: CrawlSettings) -> RememberedLanguages:
    """The language model of a crawl that adapts it; a resumed run has its own weights.

    Raises ProfileError if it cannot be adapted.
    """
    check_adaptable(settings.url_language_model)
    weights = settings.run.url_language
    if not weights.is_file():
        return RememberedLanguages(build_model(settings, "language"))
    return RememberedLanguages(load_object(settings.url_language_model)(weights))


def build_model(settings: CrawlSettings, kind: Literal["language", "pair"]) -> Any:
    """The URL model that a setting names, from its directory if one is given.

    Either protocol of models: the caller knows which it asked for.
    """
    name = f"URL_{kind.upper()}_MODEL"
    path: str = getattr(settings, name.lower())
    model = load_object(path)
    if not callable(getattr(model, "predict", None)):
        raise ProfileError(
            f"{name}={path}: not a model (name a class with a method `predict`)"
        )
    directory: str | None = getattr(settings, f"{name.lower()}_dir")
    return model(directory) if directory else model()
