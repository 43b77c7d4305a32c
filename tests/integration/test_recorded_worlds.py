"""The recorded real sites answer as the server that their truth was made with."""

from __future__ import annotations

import gzip

import pytest

from crawler.replay.world import ReplayWorld

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module", params=["irhpcwiki.hi.is", "vuejs.org"])
def site(request):
    return request.param


@pytest.fixture(scope="module")
def world(shared, site):
    opened = ReplayWorld.open(shared / "worlds" / "warcs" / f"{site}.warc.xz")
    yield opened
    opened.close()


def test_every_page_of_the_truth_is_there(shared, site, world):
    with gzip.open(shared / "worlds" / "truth" / f"{site}.pages.tsv.gz", "rt") as file:
        urls = [line.partition("\t")[0] for line in file][1:]
    assert urls
    assert {world.answer(url).status for url in urls} == {200}


def test_forms_that_were_not_recorded_lead_to_those_that_were(site, world):
    leading = 0
    for url in list(world.urls()):
        for form in (url.removesuffix("/"), url.removesuffix("index.html"), url + "/"):
            answer = world.answer(form)
            if answer.status == 301:
                leading += 1
                location = answer.header("location")
                assert location is not None
                assert world.answer(location).status == 200
    assert leading > 50


def test_robots_txt_was_not_recorded(site, world):
    assert world.answer(f"https://{site}/robots.txt").status == 404
