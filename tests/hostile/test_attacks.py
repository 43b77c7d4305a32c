"""One crawl of all hostile sites together: each ends within its limit, and costs the
others nothing.
"""

from __future__ import annotations

import re
from contextlib import ExitStack

import pytest

from tests.commands import PATIENCE, Run, crawl, pair_urls
from tests.hostile.attacks import (
    ATTACKS,
    KEPT,
    LIMITS,
    site,
)
from tests.webserver import Server

_SECONDS = 8  # of an answer; robots.txt is asked for three times
_PAGES = 30  # of a site
# A request that fails is sent again when its connection was kept open.
_AGAIN = 3


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """The servers and the run."""
    path = tmp_path_factory.mktemp("hostile") / "run"
    with ExitStack() as stack:
        servers = {}
        for number, (name, attack) in enumerate(ATTACKS.items(), start=1):
            servers[name] = stack.enter_context(Server(host=f"127.0.2.{number}"))
            site(attack, servers[name])
        seeds = ",".join(server.url() for server in servers.values())
        limits = LIMITS | {"DOWNLOAD_TIMEOUT": _SECONDS, "SITE_MAX_PAGES": _PAGES}
        limits["SITEMAPS_MAX"] = 10  # they are asked for before the pages
        done = crawl(seeds, "en,is", path, patience=3 * PATIENCE, **limits)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert "ERROR forged" not in done.stderr.replace("%20", " ").split("\n")
    return servers, Run(path)


@pytest.fixture(scope="module")
def pairs(crawled):
    return set(pair_urls(crawled[1]))


@pytest.fixture(scope="module")
def reasons(crawled):
    """(site, path) → why a page was not kept."""
    servers, run = crawled
    origins = {server.host: server.url("") for server in servers.values()}
    return {
        (visit["site"], visit["url"].removeprefix(origins[visit["site"]])): (
            KEPT if visit["kept"] else visit["reason"]
        )
        for visit in run.visits
    }


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(crawled, pairs, reasons, name):
    servers, run = crawled
    attack, server = ATTACKS[name], servers[name]
    assert ((server.url("/en/"), server.url("/is/")) in pairs) == attack.pair
    for path, reason in attack.reasons.items():
        assert reasons[server.host, path] == reason
    for counter in attack.counters:
        assert run.stats[counter] >= 1
    assert len(server.asked) <= _PAGES + _AGAIN + 5  # robots.txt and its redirects


def test_nobody_is_let_in(crawled, reasons):
    """No file, no private address, no host of nobody's was asked for."""
    _, run = crawled
    hosts = {host for host, _ in reasons}
    assert all(host.startswith("127.0.2.") for host in hosts)
    assert "private_address" not in " ".join(run.stats)


def test_no_file_is_named_by_a_page(crawled):
    _, run = crawled
    ours = re.compile(
        r"(run|stats)\.json|crawl\.jsonl|(frontier|aligner|texts)\.sqlite(-wal|-shm)?"
        r"|(pairs|sentences)\.tsv\.gz|lexicon\.npz|warc/bifocal-[\d-]+\.(warc\.gz|cdxj)"
    )
    for path in run.path.rglob("*"):
        name = str(path.relative_to(run.path))
        assert path.is_dir() or ours.fullmatch(name), name


def test_no_request_outlasts_the_limit(crawled):
    servers, _ = crawled
    for server in servers.values():
        for asked in server.asked:
            if not asked.answered:  # the server never came to an end
                assert asked.gone - asked.came < 2 * _SECONDS
