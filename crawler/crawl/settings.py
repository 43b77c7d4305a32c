"""The settings that a crawl reads, typed: one field for each upper-case name.

docs/settings.md says what each of them means; `settings/base.py` has the defaults and
their reasons.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import msgspec

from crawler.errors import ProfileError
from crawler.rundir import RunDir


class CrawlSettings(msgspec.Struct, frozen=True, kw_only=True, rename=str.upper):
    """The settings of one crawl."""

    run_dir: str | None  # None: not named yet
    user_agent: str
    # what is crawled
    scope: str
    frontier_url: str | None
    frontier_max_depth: int
    url_scorer: str
    scorer_max_urls: int
    url_language_model: str
    url_language_model_dir: str | None = None
    url_pair_model: str
    url_pair_model_dir: str | None = None
    language_gate: bool
    sitemaps: bool
    sitemaps_max: int
    # pairs
    align_profile: str | None
    pairs: bool
    sentences: bool
    pdf: bool
    page_process: bool | None
    # politeness
    robotstxt_obey: bool
    download_delay: float
    robots_max_crawl_delay: float
    site_concurrency: int
    retry_times: int
    retry_wait: float
    # limits
    site_max_pages: int
    site_max_bytes: int
    site_max_seconds: float
    site_scout_pages: int
    run_max_pages: int
    run_max_bytes: int
    # WARC
    warc_prefix: str
    warc_max_bytes: int
    warc_fsync: bool
    warc_gzip_level: int
    # telling people
    progress_interval: float
    log_enabled: bool = True
    log_level: str
    log_format: str
    log_dateformat: str
    replay_warcs: str | None

    @property
    def run(self) -> RunDir:
        """The run directory."""
        return RunDir(self.run_dir or "")


def read_settings(values: Mapping[str, Any]) -> CrawlSettings:
    """The settings of a mapping; text (`-s RETRY_TIMES=3`) becomes numbers.

    Raises ProfileError, which names the setting that is missing or of a wrong type.
    """
    try:
        return msgspec.convert(
            {name: _plain(value) for name, value in values.items()},
            CrawlSettings,
            strict=False,
        )
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$.")
        name = place.rstrip("`")
        given = f"{name}={values.get(name)}: " if name else ""
        raise ProfileError(f"{given}{message} (docs/settings.md lists them)") from error


def _plain(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def load_profile_settings(
    profile: str = "settings.adaptive", **changes: object
) -> dict[str, Any]:
    """The settings of a profile, a module of upper-case names, with some changed.

    For a crawl that is started from Python:
    `load_profile_settings(RUN_DIR="runs/x", REPLAY_WARCS="world.warc.gz")`.
    Raises ProfileError for a profile that cannot be imported.
    """
    try:
        module = importlib.import_module(profile)
    except ImportError as error:
        raise ProfileError(f"{profile}: {error} (name a module of settings)") from error
    values = {name: value for name, value in vars(module).items() if name.isupper()}
    return {**values, **changes}
