from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.data import Page
from crawler.errors import ReplayError
from crawler.replay.world import ReplayWorld
from tests.worlds import FETCHED_AT, build_site, write_warc

SITE = build_site(concepts=12)


def page(url: str, status: int = 200, location: str | None = None) -> Page:
    headers = (("Location", location),) if location else ()
    return Page(url, status, headers, url.encode(), FETCHED_AT)


def world(folder: Path, *pages: Page) -> ReplayWorld:
    return ReplayWorld.open(write_warc(folder / "world.warc", pages))


def location(answer: Page) -> str | None:
    assert answer.status == 301
    return answer.header("location")


@pytest.mark.parametrize("suffix", [".warc", ".warc.gz", ".warc.xz"])
def test_a_world_answers_as_the_site_did(tmp_path, suffix):
    write_warc(tmp_path / f"world{suffix}", SITE.pages())
    replayed = ReplayWorld.open(tmp_path)
    assert len(replayed) == len(list(SITE.pages()))
    for expected in SITE.pages():
        answer = replayed.answer(expected.url)
        assert replace(answer, record_id=None) == expected
    assert replayed.counts == {"replay/hit": len(replayed)}
    replayed.close()


def test_a_url_that_was_not_recorded_answers_404(tmp_path):
    replayed = world(tmp_path, page("https://example.org/"))
    for url in (
        "https://example.org/robots.txt",
        "https://example.org/x",
        "https://x/",
    ):
        assert replayed.answer(url).status == 404
        assert replayed.answer(url).url == url
    assert replayed.counts == {"replay/miss": 6}


def test_errors_and_redirects_are_answered_as_recorded(tmp_path):
    replayed = world(
        tmp_path,
        page("https://example.org/gone", 410),
        page("https://example.org/old", 302, "https://example.org/new"),
    )
    assert replayed.answer("https://example.org/gone").status == 410
    moved = replayed.answer("https://example.org/old")
    assert (moved.status, moved.header("location")) == (302, "https://example.org/new")
    assert replayed.counts == {"replay/hit": 2}


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [
        ("https://example.org/dir/", "https://example.org/dir"),
        ("https://example.org/dir/index.html", "https://example.org/dir/"),
        ("https://example.org/dir/index.html", "https://example.org/dir"),
        ("https://example.org/dir/", "https://example.org/dir/index.html"),
        ("https://example.org/page.html", "https://example.org/page"),
        ("https://example.org/page", "https://example.org/page.html"),
        ("https://example.org/page.html?a=1", "https://example.org/page?a=1"),
    ],
)
def test_the_forms_that_servers_treat_alike_lead_to_the_recorded_one(
    tmp_path, recorded, asked
):
    replayed = world(tmp_path, page(recorded))
    assert location(replayed.answer(asked)) == recorded
    assert replayed.answer(recorded).body == recorded.encode()
    assert replayed.counts == {"replay/redirect": 1, "replay/hit": 1}


@pytest.mark.parametrize(
    "asked",
    [
        "https://example.org/dir/page/",
        "https://example.org/page?a=2",
        "https://example.org/",
        "https://www.example.org/page.html",
        "https://example.org:8080/page.html",
        "https://example.org/page.htm",
    ],
)
def test_other_forms_are_misses(tmp_path, asked):
    replayed = world(
        tmp_path,
        page("https://example.org/dir/page.html"),
        page("https://example.org/page.html"),
        page("https://example.org/page?a=1"),
    )
    assert replayed.answer(asked).status == 404


def test_a_redirect_keeps_the_scheme_that_was_asked_for(tmp_path):
    replayed = world(tmp_path, page("http://example.org/dir/"))
    moved = replayed.answer("https://example.org/dir")
    assert location(moved) == "https://example.org/dir/"


def test_http_and_https_are_one(tmp_path):
    replayed = world(tmp_path, page("http://example.org/a"))
    answer = replayed.answer("https://example.org/a")
    assert (answer.status, answer.url) == (200, "https://example.org/a")


def test_of_two_schemes_the_one_that_was_asked_for_answers(tmp_path):
    replayed = world(
        tmp_path,
        page("http://example.org/a", 301, "https://example.org/a"),
        page("https://example.org/a"),
    )
    assert replayed.answer("http://example.org/a").status == 301
    assert replayed.answer("https://example.org/a").status == 200


def test_a_recorded_move_to_https_never_leads_in_a_circle(tmp_path):
    replayed = world(
        tmp_path, page("http://example.org/a", 301, "https://example.org/a")
    )
    assert replayed.answer("http://example.org/a").status == 301
    assert replayed.answer("https://example.org/a").status == 404


def test_spelling_does_not_matter(tmp_path):
    replayed = world(tmp_path, page("https://example.org/a/(b)/%C3%BE"))
    for url in (
        "https://example.org/a/%28b%29/þ",
        "https://EXAMPLE.org//a/(b)/%c3%be",
        "https://example.org/a/./(b)/%C3%BE#part",
    ):
        assert replayed.answer(url).status == 200


@pytest.mark.parametrize(
    "url", ["", "no url", "https://", "mailto:x", "https://\ud800/"]
)
def test_an_invalid_address_is_a_miss(tmp_path, url):
    assert world(tmp_path, page("https://example.org/")).answer(url).status == 404


def test_two_runs_answer_alike(tmp_path):
    urls = [*SITE.lang_by_url(), "https://town.example/en", "https://town.example/no"]
    write_warc(tmp_path / "world.warc.gz", SITE.pages())
    first, second = (ReplayWorld.open(tmp_path) for _ in range(2))
    assert [first.answer(u) for u in urls] == [second.answer(u) for u in urls]


def test_bodies_are_read_when_asked_for_and_few_are_kept(tmp_path):
    site = build_site(concepts=100)
    replayed = world(tmp_path, *site.pages())
    for url in list(replayed.urls()) * 2:
        assert replayed.answer(url).status == 200
    assert len(replayed._cache) == 64


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.warc.gz", b""),
        ("no-warc.warc.gz", b"<html>" * 100),
        ("truncated.warc.gz", None),
        ("only-a-header.warc", b"WARC/1.1\r\nWARC-Type: warcinfo\r\n"),
    ],
)
def test_a_recording_that_cannot_be_read_is_an_error(tmp_path, name, data):
    path = tmp_path / name
    if data is None:
        whole = write_warc(tmp_path / "whole.warc.gz", SITE.pages()).read_bytes()
        data = whole[:-500]
        (tmp_path / "whole.warc.gz").unlink()
    path.write_bytes(data)
    for paths in (path, tmp_path, [path]):
        with pytest.raises(ReplayError) as error:
            ReplayWorld.open(paths)
        assert str(tmp_path) in str(error.value)
        assert "\n" not in str(error.value)
        assert "(" in str(error.value)  # the cure


def test_a_recording_without_pages_is_an_error(tmp_path):
    record = b"WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(record))
    with pytest.raises(ReplayError, match="no page in it"):
        ReplayWorld.open(tmp_path)


def test_a_missing_recording_is_an_error(tmp_path):
    with pytest.raises(ReplayError, match="no such file"):
        ReplayWorld.open(tmp_path / "missing.warc.gz")
