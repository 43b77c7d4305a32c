"""What may be wrong with a profile, said before anything is made of it."""

from __future__ import annotations

import os

from scrapy.settings import BaseSettings
from scrapy.utils.conf import get_config

from crawler.errors import ProfileError


def check_settings(settings: BaseSettings, defaults: BaseSettings) -> None:
    """Is a number, or a yes or no, where the profile has one?

    Raises ProfileError, which names the setting: what Scrapy raises does not.
    """
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


def check_project() -> None:
    """Is SCRAPY_PROJECT a name that scrapy.cfg knows?

    Scrapy goes on without any settings of ours when it is not. Raises ProfileError.
    """
    name = os.environ.get("SCRAPY_PROJECT", "default")
    config = get_config()
    if config.has_section("settings") and not config.has_option("settings", name):
        names = ", ".join(config.options("settings"))
        raise ProfileError(
            f"SCRAPY_PROJECT={name}: no such profile (there are {names})"
        )
