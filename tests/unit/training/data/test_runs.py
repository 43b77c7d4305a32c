from __future__ import annotations

import json
from collections import Counter

from crawler.data import PairScore
from crawler.rundir import RunDir
from crawler.sinks.pairs import write_pairs
from training.data.runs import run_pairs, run_urls


def test_accepted_pairs_and_sure_languages_of_a_run(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"langs": ["en", "is"]}))
    write_pairs(
        tmp_path / "pairs.tsv.gz",
        [
            PairScore("https://a.org/en/x", "https://a.org/is/x", 0.9),
            PairScore("https://a.org/en/y", "https://a.org/is/z", 0.2),
        ],
    )
    common = {"site": "a.org", "status": 200, "time": "2026-01-01T00:00:00Z"}
    visits = [
        {"url": "https://a.org/en/x", "lang": "en", "confidence": 0.98},
        {"url": "https://a.org/mixed", "lang": "en", "confidence": 0.5},
        {"url": "https://a.org/image"},
    ]
    log = "".join(json.dumps(common | visit) + "\n" for visit in visits)
    (tmp_path / "crawl.jsonl").write_text(log + "[1\n[]\n")
    counts = Counter()
    run = RunDir(tmp_path)
    (pair,) = run_pairs(run, counts)
    assert (pair.url_a, pair.lang_a, pair.lang_b) == ("https://a.org/en/x", "en", "is")
    assert [r.url for r in run_urls(run, counts)] == ["https://a.org/en/x"]
    assert counts == {
        "pairs": 2,
        "dropped/low score": 1,
        "rows": 3,
        "dropped/language not sure": 2,
    }


def test_a_run_of_several_pairs_has_those_of_each_and_one_that_goes_on_has_none(
    tmp_path,
):
    pairs = [["en", "is"], ["en", "fi"], ["is", "fi"]]
    about = {"langs": ["en", "is", "fi"], "pairs": pairs}
    (tmp_path / "run.json").write_text(json.dumps(about))
    for src, trg in pairs[:2]:
        part = tmp_path / f"{src}-{trg}"
        part.mkdir()
        (part / "run.json").write_text(json.dumps({"langs": [src, trg]}))
    found = PairScore("https://a.org/en/x", "https://a.org/fi/x", 0.9)
    write_pairs(tmp_path / "en-fi" / "pairs.tsv.gz", [found])
    rows = list(run_pairs(RunDir(tmp_path), Counter()))
    assert [(row.lang_a, row.lang_b) for row in rows] == [("en", "fi")]
