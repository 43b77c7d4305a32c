from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler.components.assembly import (
    build_align_profile,
    build_model,
    build_scorer,
)
from crawler.data import LangPair
from crawler.errors import ProfileError
from crawler.frontier.scorers.papers import ProductScorer, UniformScorer
from models.rules import UrlPairRules

PAIR = LangPair("en", "is")
RULES = {
    "URL_LANGUAGE_MODEL": "models.rules.UrlLanguageRules",
    "URL_PAIR_MODEL": "models.rules.UrlPairRules",
}


def settings(**values: str) -> Settings:
    return Settings(RULES | values)


def test_a_scorer_gets_what_it_asks_for_by_name():
    path = "crawler.frontier.scorers.papers.ProductScorer"
    scorer = build_scorer(settings(URL_SCORER=path), PAIR)
    assert isinstance(scorer, ProductScorer)
    assert scorer.langs == PAIR
    assert isinstance(scorer.pair_model, UrlPairRules)


def test_a_scorer_without_models_loads_none():
    path = "crawler.frontier.scorers.papers.UniformScorer"
    nowhere = settings(URL_SCORER=path, URL_PAIR_MODEL="no.such.Model")
    assert isinstance(build_scorer(nowhere, PAIR), UniformScorer)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.such.Scorer", "cannot load 'no.such.Scorer'"),
        ("", "cannot load ''"),
        ("collections.Counter", "URL_SCORER=collections.Counter: no scorer"),
        # its constructor asks for what nobody has
        ("crawler.aligner.scorers.lengths.LengthScorer", "URL_SCORER="),
    ],
)
def test_what_is_no_scorer_is_told(path, message):
    with pytest.raises(ProfileError, match=message):
        build_scorer(settings(URL_SCORER=path), PAIR)


def test_what_is_no_model_is_told():
    wrong = settings(URL_PAIR_MODEL="json.JSONDecoder")
    with pytest.raises(
        ProfileError, match=r"URL_PAIR_MODEL=json.JSONDecoder: no model"
    ):
        build_model(wrong, "URL_PAIR_MODEL")


def test_an_align_profile_that_is_not_there_is_told():
    with pytest.raises(ProfileError, match=r"nowhere.toml"):
        build_align_profile(Settings({"ALIGN_PROFILE": "nowhere.toml"}))
