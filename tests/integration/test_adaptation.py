"""A crawl whose language model learns while it goes on (ADAPT_AFTER)."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import datetime

import pytest

pytest.importorskip("torch", reason="extra `train` is not installed")
pytest.importorskip("accelerate", reason="extra `train` is not installed")

from crawler.crawl.adaptation import Adaptation
from crawler.crawl.log import Visit
from crawler.crawl.open import adaptable_model
from crawler.crawl.settings import load_profile_settings, read_settings
from crawler.errors import ProfileError
from crawler.rundir import RunDir
from models.url_language import HashedUrlLanguageModel
from tests.commands import DEMO, DEMO_SEEDS, Run, crawl
from tests.unit.training.test_adapt import make_run, url_of

pytestmark = [pytest.mark.models, pytest.mark.slow]

UNSEEN = [url_of("records", number) for number in (700, 800, 900)]  # Finnish pages
PATIENCE = 300
TOLD = {"depth": 1, "source_url": None, "score": 0.5, "evidence": {}, "scored_at": 0}


def best(model) -> list[str]:
    return [max(said, key=said.get) for said in model.predict(UNSEEN)]


def read_pages(adaptation: Adaptation, run: RunDir) -> None:
    """Tell of the pages of a run, and wait until what follows of them has happened."""
    for line in run.crawl_log.read_text().splitlines():
        told = {**TOLD, **json.loads(line)}
        told["fetched_at"] = datetime.fromisoformat(told.pop("time"))
        adaptation.visited(Visit(**told))
    adaptation.tick(0.0)
    until = time.monotonic() + PATIENCE
    while adaptation.is_running and time.monotonic() < until:
        time.sleep(0.1)
        adaptation.tick(0.0)


def opened(folder, pages: int, **settings):
    values = {"RUN_DIR": str(folder), "ADAPT_AFTER": 100, **settings}
    read = read_settings(load_profile_settings(**values))
    model, counts = adaptable_model(read), Counter()
    make_run(folder, pages)
    return Adaptation(read, model, HashedUrlLanguageModel, counts), model, counts


def test_what_a_crawl_has_found_scores_the_links_that_come_later(tmp_path):
    run = RunDir(tmp_path / "run")
    adaptation, model, counts = opened(run.path, pages=60)
    before = best(model)
    read_pages(adaptation, run)
    adaptation.close()
    assert counts == {"adapt/started": 1, "adapt/replaced": 1}
    assert before != ["fi"] * 3 == best(model)
    assert not (run.path / "adapting").exists()
    # a session that goes on begins with what was learned, or it could not be resumed
    values = load_profile_settings(RUN_DIR=str(run.path), ADAPT_AFTER=100)
    assert best(adaptable_model(read_settings(values))) == ["fi"] * 3


def test_too_few_pages_start_nothing_and_a_training_that_fails_changes_nothing(
    tmp_path, caplog
):
    run = RunDir(tmp_path / "few")
    adaptation, _, counts = opened(run.path, pages=40)
    read_pages(adaptation, run)
    assert counts == {}
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"no weights")
    run = RunDir(tmp_path / "run")
    adaptation, model, counts = opened(run.path, pages=60)
    before = best(model)
    run.run_json.write_text("[]")
    read_pages(adaptation, run)
    assert counts == {"adapt/started": 1, "adapt/failed": 1}
    assert best(model) == before
    assert "adapting.log" in caplog.text


def test_a_crawl_adapts_and_ends_when_it_ends(tmp_path):
    run = Run(tmp_path / "run")
    settings = {"ADAPT_AFTER": 40, "REPLAY_WARCS": DEMO, "DOWNLOAD_DELAY": 0.05}
    done = crawl(DEMO_SEEDS, "en,is", run.path, **settings)
    assert done.returncode == 0, done.stderr
    assert run.stats["adapt/started"] >= 1
    ended = ("adapt/replaced", "adapt/no_gain", "adapt/unfinished")
    assert sum(run.stats.get(name, 0) for name in ended) == run.stats["adapt/started"]
    assert not (run.path / "adapting").exists()
    replaced = run.stats.get("adapt/replaced", 0) > 0
    assert (run.path / "url_language.npz").exists() == replaced


@pytest.mark.parametrize("model", ["models.rules.UrlLanguageRules", "a.b.C"])
def test_only_the_compact_model_can_be_adapted(tmp_path, model):
    values = load_profile_settings(
        RUN_DIR=str(tmp_path / "run"), ADAPT_AFTER=100, URL_LANGUAGE_MODEL=model
    )
    with pytest.raises(ProfileError, match="cannot be adapted"):
        adaptable_model(read_settings(values))
