"""What may be wrong with a profile, said before anything is made of it."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from difflib import get_close_matches

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.conf import get_config
from scrapy.utils.project import get_project_settings

from crawler.crawl.settings import CrawlSettings, read_settings
from crawler.errors import ProfileError, UsageError

# Files beside connections: 25 of a running crawl, code that is loaded late, what the
# final pairing opens.
_OTHER_FILES = 100
_COMMAND_LINE = SETTINGS_PRIORITIES["cmdline"]


def check_settings(settings: BaseSettings, defaults: BaseSettings) -> None:
    """ProfileError for text where the profile has a number, or a yes or no.

    And for a name on the command line that is nearly that of a setting.
    """
    # a model's weights: without them it takes those that ship
    known = {*map(str, defaults), "URL_LANGUAGE_MODEL_DIR", "URL_PAIR_MODEL_DIR"}
    for name in settings:
        if name not in known and settings.getpriority(name) == _COMMAND_LINE:
            close = get_close_matches(name.upper(), sorted(known), 1, 0.8)
            if close:
                raise ProfileError(
                    f"{name}: not a setting (did you mean {close[0]}? docs/settings.md"
                    " lists them)"
                )
    for name, default in defaults.copy_to_dict().items():
        try:
            if isinstance(default, bool):
                settings.getbool(name)
            elif isinstance(default, int | float):
                float(settings[name])
        except (ValueError, TypeError) as error:
            raise ProfileError(
                f"{name}={settings[name]}: {error} (the profile has {default})"
            ) from error


def check_open_files(settings: BaseSettings) -> None:
    """UsageError if a crawl with these settings would run out of file handles."""
    needed = settings.getint("CONCURRENT_REQUESTS") + _OTHER_FILES
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if needed > allowed:
        raise UsageError(
            f"this process may open {allowed} files, and CONCURRENT_REQUESTS="
            f"{settings['CONCURRENT_REQUESTS']} needs {needed} (allow more, ulimit -n"
            " 1024, or ask for fewer pages at a time)"
        )


def check_project() -> None:
    """ProfileError if SCRAPY_PROJECT is not a name that scrapy.cfg knows.

    Scrapy would go on without any settings of ours.
    """
    name = os.environ.get("SCRAPY_PROJECT", "default")
    config = get_config()
    if config.has_section("settings") and not config.has_option("settings", name):
        names = ", ".join(config.options("settings"))
        raise ProfileError(
            f"SCRAPY_PROJECT={name}: no such profile (there are {names})"
        )


def check_spider(settings: BaseSettings | None) -> None:
    """UsageError where no scrapy.cfg names settings of ours: there is no spider."""
    if settings is None or "RUN_DIR" not in settings:
        raise UsageError(
            "no scrapy.cfg of Bifocal in this folder or above it"
            " (`bifocal crawl seeds.txt --langs en,is` crawls from any folder;"
            " `bifocal init DIR --langs en,is` makes a project)"
        )


def project_settings(overrides: Sequence[str] = ()) -> CrawlSettings:
    """The settings of the folder's scrapy.cfg, or ours, as a crawl reads them.

    `overrides`: NAME=VALUE. ProfileError for what is not a setting of that kind.
    """
    check_project()
    settings = get_project_settings()
    if "RUN_DIR" not in settings:  # not started in a folder with a scrapy.cfg of ours
        settings.setmodule("settings.adaptive")
    defaults = settings.copy()
    for override in overrides:
        name, sign, value = override.partition("=")
        if not sign:
            raise ProfileError(f"-s {override}: expected NAME=VALUE")
        settings.set(name, value, priority="cmdline")
    check_settings(settings, defaults)
    read = read_settings(settings.copy_to_dict())
    read.client()  # its settings are valid
    return read
