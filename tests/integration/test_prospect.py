"""A probe: a real crawl of a few pages corrects what URLs promise."""

from __future__ import annotations

import csv

import pytest

from tests.commands import Run, bifocal
from tests.webserver import Server
from tests.worlds import build_site

pytestmark = pytest.mark.slow
TOWN = build_site("town.example", concepts=12, words=80)
# Its addresses have two languages, and its pages one.
FALSE = build_site("false.example", concepts=12, words=80, langs=("en", "fr"))
CALM = [
    "-s",
    "RETRY_WAIT=0.1",
    "-s",
    "ADDRESS_ALLOW=127.0.0.0/8",
    "-s",
    "DOWNLOAD_DELAY=0.01",
]


def test_what_a_probe_finds_corrects_the_estimates(tmp_path):
    out, urls = tmp_path / "sites.tsv", tmp_path / "urls.txt"
    words = ["prospect", "--langs", "en,is", urls, "--out", out]
    with Server(host="127.0.6.1") as true, Server(host="127.0.6.2") as false:
        true.add(TOWN)
        false.add(FALSE)
        lines = [true.url(path) for path in true.routes if "/" in path[1:]]
        for path in list(false.routes):
            lines.append(false.url(path.replace("/fr/", "/is/")))
            false.routes[path.replace("/fr/", "/is/")] = false.routes[path]
        urls.write_text("\n".join(lines))
        assert bifocal(*words).returncode == 0
        before = rows(out)
        done = bifocal(*words, "--probe", "12", *CALM)
        assert done.returncode == 0, done.stderr
    after = rows(out)
    assert {row["found"] for row in before.values()} == {"0"}
    good, bad = after["127.0.6.1"], after["127.0.6.2"]
    assert int(good["probed"]) >= 12 <= int(bad["probed"])
    assert int(good["found"]) > int(bad["found"]) == 0
    assert float(bad["pairs"]) < float(before["127.0.6.2"]["pairs"]) / 2
    assert float(good["pairs"]) >= int(good["found"])
    assert list(after) == ["127.0.6.1", "127.0.6.2"]
    run = Run(tmp_path / "sites.probe")
    assert len(run.visits) >= 24  # and kept, for the crawl that goes on from here
    assert run.warcs


def rows(path):
    with path.open(encoding="utf-8") as file:
        return {row["site"]: row for row in csv.DictReader(file, delimiter="\t")}


def test_a_probe_that_fetches_nothing_is_one_clear_error(tmp_path):
    (tmp_path / "urls.txt").write_text("http://127.0.6.9:9/en/\nhttp://127.0.6.9:9/is/")
    words = ["prospect", "--langs", "en,is", tmp_path / "urls.txt"]
    words += ["--out", tmp_path / "sites.tsv", "--probe", "2", *CALM]
    done = bifocal(*words, "-s", "RETRY_TIMES=0")
    lines = [line for line in done.stderr.splitlines() if "error: " in line]
    assert done.returncode == 1
    assert "the probe has not come to its end" in lines[-1]
