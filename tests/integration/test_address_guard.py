"""No connection is made to a private address, by whatever way it is named."""

from __future__ import annotations

import pytest

from tests.commands import Run, crawl, error_line
from tests.webserver import Server, answer, moved, page, text

QUICK = {"DOWNLOAD_DELAY": 0, "RETRY_WAIT": 0}
INSIDE = {"/": page("<p>Secret."), "/robots.txt": text("User-agent: *")}
# The same host in all the forms that a resolver understands.
NAMES = [
    "127.0.0.1",
    "localhost",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "[::ffff:127.0.0.1]",
]


@pytest.fixture
def inside():
    with Server(INSIDE) as server:
        yield server


def test_no_form_of_a_private_address_is_connected_to(inside, tmp_path):
    seeds = ",".join(f"http://{name}:{inside.port}/" for name in NAMES)
    done = crawl(seeds, "en,is", tmp_path / "run", ADDRESS_ALLOW="", **QUICK)
    line = error_line(done)
    assert "private_address" in line
    assert "ADDRESS_ALLOW" in line
    assert inside.asked == []


def test_no_way_round_leads_to_a_private_address(inside, tmp_path):
    """Redirects, of robots.txt and sitemaps too, meta refresh, bases, alternates."""
    target = inside.url("/")
    routes = {
        "/robots.txt": moved(inside.url("/robots.txt")),
        "/": moved(target),
    }
    more = {
        "/": page(
            "<p>More.",
            f'<a href="{target}">in</a> <a href="/go">go</a> <a href="/refresh">x</a>',
            '<a href="/base">base</a>',
            f'<link rel="alternate" hreflang="is" href="{target}is/">',
            f'<link rel="canonical" href="{target}canonical">',
        ),
        "/go": moved(target),
        "/refresh": page(f'<meta http-equiv="refresh" content="0;url={target}">'),
        "/base": page(f'<base href="{target}"><a href="secret">in</a>'),
        "/map.xml": answer(
            f"<urlset><url><loc>{target}a</loc></url></urlset>",
            content_type="application/xml",
        ),
        "/moved.xml": moved(inside.url("/sitemap.xml")),
    }
    with Server(routes, "127.0.0.2") as one, Server(more, "127.0.0.3") as two:
        maps = (inside.url("/map.xml"), two.url("/map.xml"), two.url("/moved.xml"))
        lines = [f"Sitemap: {url}" for url in maps]
        two.routes["/robots.txt"] = text("User-agent: *", *lines)
        seeds = f"{one.url()},{two.url()},{inside.url()}"
        allow = {"ADDRESS_ALLOW": "127.0.0.2,127.0.0.3"}
        done = crawl(seeds, "en,is", tmp_path / "run", **allow, **QUICK)
        assert done.returncode == 0, done.stderr
        assert {"/", "/refresh", "/base", "/map.xml", "/moved.xml"} <= {*two.paths()}
    assert inside.asked == []
    assert Run(tmp_path / "run").stats["robots/failed/private_address"] >= 1


def test_a_setting_that_means_nothing_is_named(tmp_path):
    done = crawl("http://a.example/", "en,is", tmp_path / "run", ADDRESS_ALLOW="10/8/8")
    assert "ADDRESS_ALLOW=10/8/8" in error_line(done)
