from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="extra `train` is not installed")
pytest.importorskip("duckdb", reason="extra `train` is not installed")
pytest.importorskip("accelerate", reason="extra `train` is not installed")

from crawler.errors import UsageError
from crawler.sinks.pairs import write_pairs
from models.url_language import HashedUrlLanguageModel
from training.adapt import MAX_LOSS, adapt

KINDS = {"archive": "is", "records": "fi"}  # names in English on pages in others
PAGES = 60


def make_run(folder, pages=PAGES):
    """A run whose pages no word of their URLs gives away."""
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"langs": ["is", "fi"]}))
    write_pairs(folder / "pairs.tsv.gz", [])
    common = {"site": "skjol.org", "status": 200, "time": "2026-01-01T00:00:00Z"}
    visits = [
        common | {"url": url_of(kind, number), "lang": lang, "confidence": 0.99}
        for kind, lang in KINDS.items()
        for number in range(pages)
    ]
    log = "".join(json.dumps(visit) + "\n" for visit in visits)
    (folder / "crawl.jsonl").write_text(log)
    return str(folder)


def url_of(kind, number):
    return f"https://skjol.org/{kind}/item{number}"


def best(model, urls):
    return [max(answer, key=answer.get) for answer in model.predict(urls)]


def test_a_model_learns_what_a_crawl_found_and_forgets_nothing(tmp_path, capsys):
    path = adapt([make_run(tmp_path / "run")], tmp_path / "out")
    unseen = [url_of(kind, number) for kind in KINDS for number in (700, 800, 900)]
    truth = [KINDS[url.split("/")[3]] for url in unseen]
    adapted = best(HashedUrlLanguageModel(path), unseen)
    shipped = best(HashedUrlLanguageModel(), unseen)
    right = [sum(map(str.__eq__, truth, found)) for found in (shipped, adapted)]
    assert right[0] < right[1] == len(unseen)
    chosen = capsys.readouterr().out.splitlines()[-3]
    before, after = chosen.rpartition("reference ")[2].split(" → ")
    assert float(after) >= float(before) - MAX_LOSS
    assert best(HashedUrlLanguageModel(path), ["https://x.org/mt/a"]) == ["mt"]


def test_a_run_without_pages_is_refused(tmp_path):
    with pytest.raises(UsageError):
        adapt([make_run(tmp_path / "run", pages=0)], tmp_path / "out")
