"""The settings that a crawl reads, typed: one field for each upper-case name.

docs/settings.md says what each of them means; `settings/base.py` has the defaults and
their reasons.
"""

from __future__ import annotations

import importlib
import resource
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from crawler.errors import ProfileError
from crawler.fetch.client import ClientConfig
from crawler.fetch.guard import AddressRules
from crawler.fetch.proxy import Proxies
from crawler.rundir import RunDir

# Connections that wait: many more than a polite crawl has sites at a time (32), and a
# quarter of the files that a process may open where nobody has set anything (1024).
_MAX_IDLE = 256
_EXCEPT = "except"  # the hosts that follow
_TLS_VERIFY = {"true": True, "1": True, _EXCEPT: True, "false": False, "0": False}


Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


class CrawlSettings(msgspec.Struct, frozen=True, kw_only=True, rename=str.upper):
    """The settings of one crawl."""

    run_dir: str | None  # None: not named yet
    user_agent: str
    # what is crawled
    scope: str
    frontier_url: str | None
    frontier_max_depth: Count
    url_scorer: str
    scorer_max_urls: Count
    guess_addresses: bool = False
    pair_weights: str | None = None
    any_languages: str | None = None
    url_language_model: str
    url_language_model_dir: str | None = None
    adapt_after: Count = 0
    url_pair_model: str
    url_pair_model_dir: str | None = None
    language_gate: bool
    language_detector: str
    language_samples: str | None = None
    sitemaps: bool
    sitemaps_max: Count
    # pairs
    align_profile: str | None
    pairs: bool
    sentences: bool
    joint_files: bool
    pdf: bool
    page_process: bool | None
    page_memory: Count
    page_seconds: Amount
    # politeness
    robotstxt_obey: bool
    download_delay: Amount
    robots_max_crawl_delay: Amount
    site_concurrency: Count
    retry_times: Count
    retry_wait: Amount
    # downloads
    default_request_headers: dict[str, str | None] | str  # JSON, on a command line
    address_allow: str | list[str] | None
    download_timeout: Amount
    download_maxsize: Count
    download_bind_address: str | None = None
    tls_verify: bool | str
    # limits
    site_max_pages: Count
    site_max_bytes: Count
    site_max_seconds: Amount
    site_scout_pages: Count
    stop_when: Amount
    snowball: Count = 0
    snowball_pages: Count = 0
    run_max_pages: Count
    run_max_bytes: Count
    # WARC
    warc_prefix: str
    warc_max_bytes: Count
    warc_fsync: bool
    warc_revisits: bool
    warc_gzip_level: Count
    # telling people
    progress_interval: Amount
    log_enabled: bool = True
    log_level: str
    log_format: str
    log_dateformat: str
    replay_warcs: str | None
    archive_first: str | None = None
    archive_root: str | None = None
    archive_max_days: Count = 0
    archive_only: bool = False

    @property
    def run(self) -> RunDir:
        """The run directory."""
        return RunDir(self.run_dir or "")

    def request_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of every request."""
        given = self.default_request_headers
        if isinstance(given, str):
            given = msgspec.json.decode(given, type=dict[str, str | None])
        named = {**given, "User-Agent": self.user_agent}
        return [(name.encode(), text.encode()) for name, text in named.items() if text]

    def client(self) -> ClientConfig:
        """The bounds of downloads; ProfileError for a setting that is not valid."""
        allow = self.address_allow or ""
        names = allow.split(",") if isinstance(allow, str) else allow
        word, _, hosts = str(self.tls_verify).strip().lower().partition(" ")
        unverified = frozenset(host.strip(" .") for host in hosts.split(",")) - {""}
        if (word not in _TLS_VERIFY) or (word == _EXCEPT) != bool(unverified):
            raise ProfileError(
                f"TLS_VERIFY={self.tls_verify}: is not True, False, or `except` and"
                " the hosts whose certificates are not checked (except old.example.is)"
            )
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return ClientConfig(
            AddressRules.parse([name for name in names if name.strip()]),
            Proxies.of_environment(),
            seconds=self.download_timeout,
            max_size=self.download_maxsize,
            verify=_TLS_VERIFY[word],
            unverified=unverified,
            max_idle=min(_MAX_IDLE, files // 4),
            bind=self.download_bind_address,
        )


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
