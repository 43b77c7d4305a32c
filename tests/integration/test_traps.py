"""A site that never ends: sessions, facets, a calendar, a link that eats its tail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from crawler.data import Outcome
from crawler.frontier.entry import known_of
from crawler.frontier.stores.open import open_frontier
from tests.commands import Run, bifocal, crawl, pair_urls
from tests.webserver import Route, Server, page
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=40, words=100, untranslated=0.2)
FACETS = {"colour": 9, "size": 9, "sort": 9}
_NOTICE = "<p>There are no events here. Come back later, or ask at the office. " * 5


class Traps(dict[str, Route]):
    """The pages of a town, and every trap that a path may name."""

    def __init__(self, pages: dict[str, Route]) -> None:
        super().__init__(pages)
        self._visits = count(1)

    def get(self, path: str, default: Route | None = None) -> Route | None:
        path, _, query = path.partition("?")
        if path in self:
            return self._with_traps(self[path])
        if path == "/shop/":
            return self._shop(dict(parse_qsl(query)))
        if month := re.fullmatch(r"/calendar/(\d+)/(\d+)/", path):
            return self._calendar(int(month[1]), int(month[2]))
        if re.fullmatch(r"(/more)+/", path):
            return page(_NOTICE, '<a href="more/">more</a>')
        return default

    def _with_traps(self, answer: Route) -> bytes:
        """A page whose links carry the visit that this answer is, and more."""
        assert isinstance(answer, bytes)
        visit = f"?visit={next(self._visits):x}"
        body = answer.partition(b"\r\n\r\n")[2].decode()
        body = re.sub(r'(<a href="[^"?#]+)"', rf'\1{visit}"', body)
        more = '<a href="/shop/">Shop</a> <a href="/calendar/2026/1/">Events</a>'
        return page(body, more, '<a href="/more/">more</a>')

    @staticmethod
    def _shop(chosen: dict[str, str]) -> bytes:
        links = [
            f'<a href="/shop/?{urlencode(chosen | {name: value})}">{name} {value}</a>'
            for name, values in FACETS.items()
            for value in range(values)
        ]
        return page(_NOTICE, *links)

    @staticmethod
    def _calendar(year: int, month: int) -> bytes:
        days = "".join(f"<td>{day}" for day in range(1, 29 + month % 3))
        around = [divmod(12 * year + month - 1 + step, 12) for step in (-1, 1, 12)]
        links = [f'<a href="/calendar/{y}/{m + 1}/">{m + 1}</a>' for y, m in around]
        title = f"<h1>{month}/{year}</h1>"
        return page(title, f"<table><tr>{days}</table>", _NOTICE, *links)


def kind_of(path: str) -> str:
    for kind in ("shop", "calendar", "more"):
        if path.startswith(f"/{kind}/"):
            return kind
    return "visit" if "?visit=" in path else "town"


@pytest.fixture(scope="module")
def trapped(tmp_path_factory):
    """(kinds of the paths asked for, run) of a crawl that nobody stops."""
    run_dir = tmp_path_factory.mktemp("traps") / "run"
    with Server() as server:
        server.add(TOWN)
        server.routes = Traps(server.routes)
        seeds = ",".join(server.url(f"/{lang}/") for lang in TOWN.langs)
        # without end, if it were not for what is tested here
        limit = {"CLOSESPIDER_PAGECOUNT": 1000}
        done = crawl(seeds, "en,is", run_dir, DOWNLOAD_DELAY=0, **limit)
        assert done.returncode == 0, done.stderr
        return Counter(map(kind_of, server.paths())), Run(run_dir)


def path_of(url: str) -> str:
    return urlsplit(url).path


def test_the_crawl_ends_by_itself_and_has_every_pair(trapped):
    _, run = trapped
    assert run.stats["finish_reason"] == "finished"
    found = {(path_of(src), path_of(trg)) for src, trg in pair_urls(run)}
    assert found >= {(path_of(src), path_of(trg)) for src, trg in TOWN.gold("en", "is")}


def test_no_trap_takes_many_downloads(trapped):
    asked, _ = trapped
    # 35 copies in a row are proof; of three facets each has to be proved
    assert asked["visit"] < 60 + len(list(TOWN.pages()))
    assert asked["calendar"] < 60
    assert asked["shop"] < 250
    assert asked["more"] < 5


def test_what_was_given_up_is_counted_by_reason(trapped):
    _, run = trapped
    stats = run.stats
    assert stats["frontier/refused/trap/irrelevant_parameter"] > 100
    assert stats["frontier/refused/trap/irrelevant_number"] > 10
    assert stats["frontier/refused/trap/repeated"] > 0
    assert stats["frontier/copies"] > 100


def test_a_url_that_was_skipped_is_explained(trapped):
    _, run = trapped
    (skipped,) = islice(skipped_urls(run), 1)
    said = bifocal("explain", run.path, skipped)
    assert said.returncode == 0, said.stderr
    assert "skipped" in said.stdout
    assert "changes nothing" in said.stdout


def skipped_urls(run: Run) -> Iterator[str]:
    store = open_frontier(f"sqlite:{run.path / 'frontier.sqlite'}")
    try:
        for site in store.sites():
            for known in store.scan(site):
                if known_of(known)[0].outcome == Outcome.SKIPPED:
                    yield known.entry.url
    finally:
        store.close()
