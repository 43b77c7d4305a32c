"""town.example in English, town.test in Icelandic: one site on two domains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.commands import Run, bifocal, crawl, pair_urls
from tests.worlds import build_site, write_warc

TOWN = build_site(
    "town.example", style="subdomain", concepts=30, words=100, untranslated=0.2
)
OURS, THEIRS = "https://is.town.example/", "https://www.town.test/"


def moved(text: str) -> str:
    return text.replace(OURS, THEIRS)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    pages = [
        replace(
            page,
            url=moved(page.url),
            body=moved(page.body.decode()).encode(),
        )
        for page in TOWN.pages()
    ]
    world = write_warc(folder / "town.warc.gz", pages)
    done = crawl(TOWN.home, "en,is", folder / "run", REPLAY_WARCS=world)
    assert done.returncode == 0, done.stderr
    return Run(folder / "run")


def test_a_crawl_of_one_domain_pairs_it_with_the_other(run):
    gold = {(src, moved(trg)) for src, trg in TOWN.gold("en", "is")}
    assert set(pair_urls(run)) == gold
    assert run.stats["frontier/joined"] == 1
    assert {visit["site"] for visit in run.visits} == {"town.example", "town.test"}


def test_pairing_the_warc_files_again_sees_the_same_group(run, tmp_path):
    done = bifocal("align", run.path / "warc", "--langs", "en,is", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert pair_urls(Run(tmp_path)) == pair_urls(run)
