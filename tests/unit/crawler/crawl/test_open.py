from __future__ import annotations

import pytest

from crawler.crawl.open import build_model, build_scorer, open_crawl
from crawler.crawl.settings import CrawlSettings, load_profile_settings, read_settings
from crawler.errors import LanguageError, ProfileError, SeedError
from crawler.frontier.scorers.papers import ProductScorer, UniformScorer
from crawler.wanted import WantedPairs
from models.rules import UrlPairRules

PAIR = WantedPairs.parse("en,is")
RULES = {
    "URL_LANGUAGE_MODEL": "models.rules.UrlLanguageRules",
    "URL_PAIR_MODEL": "models.rules.UrlPairRules",
}


def settings(**values: str) -> CrawlSettings:
    return read_settings(load_profile_settings(**RULES | values))


def test_a_scorer_gets_what_it_asks_for_by_name():
    path = "crawler.frontier.scorers.papers.ProductScorer"
    scorer = build_scorer(settings(URL_SCORER=path), PAIR)
    assert isinstance(scorer, ProductScorer)
    assert scorer.langs == PAIR.only
    assert isinstance(scorer.pair_model, UrlPairRules)


def test_a_scorer_without_models_loads_none():
    path = "crawler.frontier.scorers.papers.UniformScorer"
    nowhere = settings(URL_SCORER=path, URL_PAIR_MODEL="no.such.Model")
    assert isinstance(build_scorer(nowhere, PAIR), UniformScorer)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.such.Scorer", "cannot load 'no.such.Scorer'"),
        ("", "URL_SCORER"),
        ("collections.Counter", "URL_SCORER=collections.Counter: not a scorer"),
        # its constructor asks for what nobody has
        ("crawler.aligner.scorers.lengths.LengthScorer", "URL_SCORER="),
    ],
)
def test_an_error_names_what_is_not_a_scorer(path, message):
    with pytest.raises(ProfileError, match=message):
        build_scorer(settings(URL_SCORER=path), PAIR)


def test_an_error_names_what_is_not_a_model():
    wrong = settings(URL_PAIR_MODEL="json.JSONDecoder")
    with pytest.raises(
        ProfileError, match=r"URL_PAIR_MODEL=json.JSONDecoder: not a model"
    ):
        build_model(wrong, "pair")


SEED = "https://a.example/"


@pytest.mark.parametrize(
    ("seeds", "langs", "changes", "error", "message"),
    [
        (SEED, "en,is", {"ALIGN_PROFILE": "nowhere.toml"}, ProfileError, "nowhere"),
        (SEED, "en,is", {"RETRY_TIMES": "often"}, ProfileError, "RETRY_TIMES=often"),
        (
            SEED,
            "en,is",
            {"URL_SCORER": "no.Such"},
            ProfileError,
            "cannot load 'no.Such",
        ),
        (SEED, "en", {}, LanguageError, "expected two languages"),
        ("", "en,is", {}, SeedError, "no seeds"),
    ],
)
def test_a_mistake_is_reported_before_anything_is_written(
    tmp_path, seeds, langs, changes, error, message
):
    run = tmp_path / "run"
    given = load_profile_settings(RUN_DIR=str(run), PAGE_PROCESS=False, **changes)
    with pytest.raises(error, match=message):
        open_crawl(seeds, langs, given)
    assert not run.exists()
