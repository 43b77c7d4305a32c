"""A wildcard in the DNS: every name of a domain is a host, and each links to more.

The names are resolved by a proxy, as a server with such a domain would be.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.commands import Run, crawl, pair_urls
from tests.hostile.attacks import ENGLISH, ICELANDIC, Endless, links, number
from tests.webserver import Server, page, text

PAGES = 80  # SITE_MAX_PAGES
GOOD = "http://good.example"


def answer_of(url: str) -> bytes:
    """What any host of the world answers."""
    parts = urlsplit(url)
    if parts.path == "/robots.txt":
        return text("User-agent: *", *(f"Disallow: /x{n}" for n in range(5000)))
    if parts.hostname == "good.example":
        return {
            "/": page("<p>Welcome", links("/en/", "/is/")),
            "/en/": page(f"<p>{ENGLISH}", links("/is/"), title="The harbour"),
            "/is/": page(f"<p>{ICELANDIC}", links("/en/"), title="Höfnin"),
        }[parts.path]
    first = number(parts.hostname.partition(".")[0]) * 20
    more = [f"http://h{first + n}.wild.example/" for n in range(1, 21)]
    return page(f"<p>{ENGLISH}", links(*more))


def test_hosts_without_end(tmp_path):
    with Server() as proxy:
        proxy.routes = Endless(answer_of, {})
        done = crawl(
            f"http://h0.wild.example/,{GOOD}/",
            "en,is",
            tmp_path / "run",
            proxies={"http_proxy": f"http://{proxy.host}:{proxy.port}"},
            DOWNLOAD_DELAY=0,
            SITE_MAX_PAGES=PAGES,
        )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    run = Run(tmp_path / "run")
    assert pair_urls(run) == [(f"{GOOD}/en/", f"{GOOD}/is/")]
    asked = [path for path in proxy.paths() if "wild.example" in path]
    assert len(asked) <= 2 * PAGES + 2  # a robots.txt for each host
    assert run.stats["frontier/copies"] > PAGES / 2
