"""Politeness, proved by servers that log every request with its time.

One crawl of many hosts, each with a wish of its own: what was asked for, when, and over
how many connections is read from the servers' logs, not from ours.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest

from tests.commands import crawl
from tests.webserver import Asked, Server, answer, moved, page, reset, text
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=6, words=60, hreflang=True)
ENGLISH = " ".join(TOWN.sentences(3, "en"))
DELAY, RETRY_WAIT, MOST = 0.15, 0.6, 1.2  # seconds; MOST: ROBOTS_MAX_CRAWL_DELAY
CONTACT = "bifocal-test/1.0 (+mailto:webmaster@example.org)"


def soon() -> str:
    """Two seconds from now as an HTTP date, which has no fractions."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)


def retry_at_a_date(connection) -> None:
    body = answer(status="503 Service Unavailable", retry_after=soon())
    connection.sendall(body)


def robots(*lines: str) -> dict[str, bytes]:
    return {"/robots.txt": text(*lines)}


def chain(hops: int) -> dict[str, bytes]:
    """A robots.txt that is so many redirects away."""
    steps = ["/robots.txt", *(f"/hop{n}" for n in range(1, hops))]
    rules = {"/rules": text("User-agent: *", "Disallow: /no")}
    return {a: moved(b) for a, b in pairwise([*steps, "/rules"])} | rules


TOO_MANY = "429 Too Many Requests"
# Host → what differs from a plain site with the pages of LINKS.
HOSTS = {
    "plain": {},
    # --- rules: /no… must not be asked for, /yes… must
    "groups of our name are one": robots(
        *("User-agent: bifocal-test", "Disallow: /no-1", ""),
        *("User-agent: *", "Disallow: /", ""),
        *("user-AGENT: Bifocal-Test", "Disallow: /no-2", "Disallow: /no/"),
    ),
    "a group of many names": robots(
        *("User-agent: other", "User-agent: bifocal-test", "Disallow: /no"),
        *("User-agent: *", "Allow: /"),
    ),
    "somebody else's group": robots("User-agent: other", "Disallow: /"),
    "wildcards": robots(
        *("User-agent: *", "Disallow: /*/2.print$", "Disallow: /no-*"),
        "Disallow: /*?sid=",
    ),
    "the longest rule": robots(
        *("User-agent: *", "Disallow: /", "Allow: /yes", "Allow: /$", "Allow: /fr"),
        *("Disallow: /yes/no", "Allow: /no-1$"),
    ),
    "allow wins a tie": robots("User-agent: *", "Disallow: /yes-1", "Allow: /yes-1"),
    "an empty rule": robots("User-agent: *", "Disallow:"),
    "per cent signs": robots("User-agent: *", "Disallow: /fr%C3%A9tt", "Disallow: /no"),
    "comments and case": robots(
        *("# none", "USER-AGENT: * # all", "  disallow : /no  # not this"),
        "Crawl-Delay : 0.5",
    ),
    # --- statuses of robots.txt (RFC 9309, 2.3.1)
    "401": {"/robots.txt": answer(status="401 Unauthorized")},
    "403": {"/robots.txt": answer(status="403 Forbidden")},
    "410": {"/robots.txt": answer(status="410 Gone")},
    "500": {"/robots.txt": answer(status="500 Internal Server Error")},
    "503": {"/robots.txt": answer(status="503 Service Unavailable")},
    "robots 429": {"/robots.txt": answer(status=TOO_MANY)},
    "no answer": {"/robots.txt": reset},
    "five redirects": chain(5),
    "six redirects": chain(6),
    # --- pauses
    "crawl-delay": robots("User-agent: *", "Crawl-delay: 0.5"),
    "crawl-delay of days": robots("User-agent: *", "Crawl-delay: 86400"),
    "request-rate": robots("User-agent: *", "Request-rate: 1/1s"),
    "503, seconds": {
        "/yes-1": [
            answer(status="503 Service Unavailable", retry_after="1"),
            page(ENGLISH),
        ]
    },
    "503, a date": {"/yes-1": [retry_at_a_date, page(ENGLISH)]},
    "429, seconds": {"/yes-1": [answer(status=TOO_MANY, retry_after="1"), page("x")]},
    "429, nothing": {"/yes-1": [answer(status=TOO_MANY), page(ENGLISH)]},
    "429, always": dict.fromkeys(
        ["/yes-1", "/yes-2"], answer(status=TOO_MANY, retry_after="1")
    ),
    "reset": {"/yes-1": [reset, reset, page(ENGLISH)]},
}
LINKS = ("/yes-1", "/yes-2", "/yes/no-3", "/no-1", "/no-2", "/no/1", "/fr%C3%A9tt")
LINKS = (*LINKS, "/a/2.print", "/a/2.print.html", "/yes-3?sid=1")
MAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>'


def routes_of(server: Server, differs: dict) -> dict:
    anchors = "\n".join(f'<a href="{link}">more</a>' for link in LINKS)
    home = f"http://{server.host}:{server.port}"
    rules = text("User-agent: *", f"Sitemap: {home}/map.xml")
    pages = {path: page(f"<p>{ENGLISH} {path}") for path in LINKS}
    sitemap = {"/map.xml": answer(MAP, content_type="application/xml")}
    start = {"/": page(f"<p>{ENGLISH}", anchors), "/robots.txt": rules}
    return start | pages | sitemap | differs


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """The hosts after the crawl."""
    found = {}
    for number, (name, differs) in enumerate(HOSTS.items(), start=1):
        server = found[name] = Server(host=f"127.0.3.{number}").__enter__()
        server.routes = routes_of(server, differs)
    done = crawl(
        ",".join(server.url() for server in found.values()),
        *("en,is", tmp_path_factory.mktemp("polite") / "run"),
        DOWNLOAD_DELAY=DELAY,
        RETRY_WAIT=RETRY_WAIT,
        ROBOTS_MAX_CRAWL_DELAY=MOST,
        USER_AGENT=CONTACT,
    )
    for server in found.values():
        server.__exit__()
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return found


def pauses(asked: list[Asked]) -> list[float]:
    """Seconds between the end of an answer and the next request."""
    return [b.came - (a.answered or a.came) for a, b in pairwise(asked)]


def after(server: Server, path: str) -> list[float]:
    """The pauses that follow an answer to a path."""
    return [
        pause
        for asked, pause in zip(server.asked, pauses(server.asked))
        if asked.path == path
    ]


# --------------------------------------------------------------------- rules

ALL = set(LINKS)
ASKED = {
    "plain": ALL,
    "groups of our name are one": ALL - {"/no-1", "/no-2", "/no/1"},
    "a group of many names": ALL - {"/no-1", "/no-2", "/no/1"},
    "somebody else's group": ALL,
    "wildcards": ALL - {"/a/2.print", "/no-1", "/no-2", "/yes-3?sid=1"},
    "the longest rule": {"/yes-1", "/yes-2", "/yes-3?sid=1", "/no-1", "/fr%C3%A9tt"},
    "allow wins a tie": ALL,
    "an empty rule": ALL,
    "per cent signs": ALL - {"/fr%C3%A9tt", "/no-1", "/no-2", "/no/1"},
    "comments and case": ALL - {"/no-1", "/no-2", "/no/1"},
    "401": ALL,
    "403": ALL,
    "410": ALL,
    "500": set(),
    "503": set(),
    "robots 429": set(),
    "no answer": set(),
    "five redirects": ALL - {"/no-1", "/no-2", "/no/1"},
    "six redirects": ALL,  # RFC 9309, 2.3.1.2: may be taken for unavailable
}


@pytest.mark.parametrize("name", ASKED)
def test_only_what_robots_txt_allows_is_asked_for(servers, name):
    server = servers[name]
    paths = server.paths()
    assert paths[0] == "/robots.txt"
    assert set(paths) & ALL == ASKED[name]
    assert ("/" in paths) == bool(ASKED[name])


# --------------------------------------------------------------------- pauses

LEAST = {
    "comments and case": 0.5,
    "crawl-delay": 0.5,
    "crawl-delay of days": MOST,
    "request-rate": 1.0,
}


def is_robots(asked: Asked) -> bool:
    return asked.path.startswith(("/robots.txt", "/hop", "/rules"))


@pytest.mark.parametrize("name", HOSTS)
def test_there_is_a_pause_after_every_answer(servers, name):
    """Of our delay, or of theirs; redirects of robots.txt are one request.

    So is what Twisted asks again at once when a connection that was kept open is reset
    (RFC 9110, section 9.2.2).
    """
    asked = servers[name].asked
    least = LEAST.get(name, DELAY)
    for pause, (before, behind) in zip(pauses(asked), pairwise(asked)):
        again = before.path == behind.path and not before.answered
        if not again and not (is_robots(before) and is_robots(behind)):
            # a pause that robots.txt asks for is known when that has come
            assert pause >= (DELAY if is_robots(before) else least) - 0.001


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("503, seconds", 1.0),
        ("503, a date", 1.0),  # dates have whole seconds: two, less than one lost
        ("429, seconds", 1.0),
        ("429, nothing", RETRY_WAIT),
        ("429, always", 1.0),
    ],
)
def test_a_server_that_asks_for_patience_gets_it(servers, name, least):
    """Also when the page is given up: its site is asked for another one later."""
    found = after(servers[name], "/yes-1")
    if name == "429, always":
        found += after(servers[name], "/yes-2")
        assert len(found) >= 5  # three tries each; the last may be the end
    else:
        del found[1:]
    assert min(found) >= least


def test_a_server_that_breaks_off_gets_patience(servers):
    """After the second time at the latest: Twisted may ask once more at once."""
    asked = [asked.came for asked in servers["reset"].asked if asked.path == "/yes-1"]
    assert asked[2] - asked[1] >= RETRY_WAIT


# --------------------------------------------------------------------- who we are


@pytest.mark.parametrize("name", HOSTS)
def test_one_request_at_a_time_over_one_connection(servers, name):
    server = servers[name]
    for before, behind in pairwise(server.asked):
        assert behind.came >= before.answered
    assert server.most_connections == 1


def test_every_request_says_whom_to_write_to(servers):
    asked = [asked for server in servers.values() for asked in server.asked]
    assert {a.headers["user-agent"] for a in asked} == {CONTACT}
    assert {"/robots.txt", "/map.xml", "/"} <= {a.path for a in asked}


def test_without_a_setting_the_project_can_be_written_to():
    from settings import base

    assert re.search(r"\(\+https?://\S+\)", base.USER_AGENT)
