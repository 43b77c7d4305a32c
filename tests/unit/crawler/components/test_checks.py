from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.components.checks import check_settings
from crawler.errors import ProfileError

DEFAULTS = Settings({"RETRY_TIMES": 2, "DOWNLOAD_DELAY": 1.0, "SITEMAPS": True})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RETRY_TIMES", "many"),
        ("DOWNLOAD_DELAY", "1s"),
        ("DOWNLOAD_DELAY", None),
        ("SITEMAPS", "perhaps"),
    ],
)
def test_a_setting_that_is_not_a_number_is_named(name, value):
    with pytest.raises(ProfileError, match=f"{name}={value}: .*the profile has "):
        check_settings(Settings({name: value}), DEFAULTS)


def test_numbers_may_be_written_as_text():
    given = {"RETRY_TIMES": "3", "DOWNLOAD_DELAY": "1e-2", "SITEMAPS": "0"}
    check_settings(Settings(given), DEFAULTS)
    check_settings(DEFAULTS, DEFAULTS)


def test_the_weights_of_a_model_may_be_named():
    given = Settings()
    given.set("URL_PAIR_MODEL_DIR", "runs/pair", "cmdline")
    check_settings(given, Settings({"URL_PAIR_MODEL": "models.rules.UrlPairRules"}))
    given.set("URL_PAIR_MODEL_DIRR", "runs/pair", "cmdline")
    with pytest.raises(ProfileError, match="did you mean URL_PAIR_MODEL_DIR"):
        check_settings(given, DEFAULTS)
