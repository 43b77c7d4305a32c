"""A site that links to some of its pages only: GUESS_ADDRESSES asks for the others."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.replay.world import ReplayWorld
from crawler.sinks.pairs import read_pairs
from tests.worlds import build_site, write_warc

SITE = build_site(
    style="dir", concepts=40, untranslated=0.0, switcher="none", near_duplicates=0.0
)
LINKED = 12  # Icelandic pages that a page links to; all English ones are
_LINK = re.compile(rb"<a [^>]*>.*?</a>", re.DOTALL)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """All pages without their links; the home page links to some of them."""
    gold = sorted(SITE.gold("en", "is"))
    known = [url for pair in gold for url in pair if url == pair[0]]
    known += [icelandic for _, icelandic in gold[:LINKED]]
    anchors = "".join(f"<p><a href='{url}'>page</a></p>" for url in known)
    pages = [replace(p, body=_LINK.sub(b"", p.body)) for p in SITE.pages()]
    html = pages[0].headers
    home = replace(pages[0], url=f"https://{SITE.host}/", body=anchors.encode())
    path = tmp_path_factory.mktemp("guesses") / "site.warc.gz"
    write_warc(path, [replace(home, headers=html), *pages])
    return ReplayWorld.open(path), set(gold)


def crawled(world, run_dir, **settings):
    settings = load_profile_settings(RUN_DIR=str(run_dir), **settings)
    summary = replay(f"https://{SITE.host}/", "en,is", settings, world)
    found = {(p.src_url, p.trg_url) for p in read_pairs(run_dir / "pairs.tsv.gz")}
    return found, summary.stats


def test_pages_that_nothing_links_to_are_found_where_their_addresses_follow_from_others(
    world, tmp_path
):
    recording, gold = world
    linked, stats = crawled(recording, tmp_path / "linked")
    assert len(linked & gold) <= LINKED
    assert "frontier/guessed" not in stats
    guessed, stats = crawled(recording, tmp_path / "guessed", GUESS_ADDRESSES=True)
    assert guessed >= gold
    assert stats["frontier/guessed"] >= len(gold) - LINKED
