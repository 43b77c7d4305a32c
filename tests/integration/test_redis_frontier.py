"""Several workers, one frontier: leases, late returns, a Redis that goes away."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from crawler.data import FrontierEntry, Link, PageFacts, StoredUrl
from crawler.errors import FrontierError, UsageError
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.scorers.papers import UniformScorer
from crawler.frontier.site_yield import RunBudget, SiteBudget, SiteYield
from crawler.frontier.stores.open import open_frontier
from crawler.frontier.stores.redis import RedisFrontier
from crawler.wanted import WantedPairs
from tests.commands import bifocal
from tests.redis_server import RedisServer

PAGES = 30  # of a site: page n links to 2n + 1 and 2n + 2


def entry(site: str, page: int, score: float = 0.5) -> FrontierEntry:
    return FrontierEntry(f"https://{site}/{page}", site, score, page, b"{}")


@pytest.fixture
def run(redis_server):
    name = uuid.uuid4().hex

    def open_worker(worker: str, **options: object) -> RedisFrontier:
        return RedisFrontier.open(redis_server.url(name, worker=worker, **options))

    return open_worker


@pytest.fixture
def client(redis_server):
    with redis_server.client() as opened:
        yield opened


def key_of(store: RedisFrontier, name: str) -> str:
    return store._redis.prefix + name


def kill(store: RedisFrontier) -> None:
    """Nobody renews its lease any more; a test may wait for the end of it."""
    store._lease.stop()


def crawl(store: RedisFrontier, fetched: list[tuple[str, str, float]]) -> None:
    """Fetch all that there is, as one worker; ends when nobody has anything left."""
    while len(store) or store.open_elsewhere():
        found = store.pop()
        if found is None:
            time.sleep(0.05)
            continue
        fetched.append((found.site, found.url, time.monotonic()))
        time.sleep(0.001)
        page = found.depth
        links = [entry(found.site, n) for n in (2 * page + 1, 2 * page + 2)]
        store.push([link for link in links if link.depth < PAGES])
        store.release(found.url, done=True)
        store.commit()
    store.close()


def test_workers_share_the_sites_and_fetch_each_url_once(run):
    sites = [f"{n}.is" for n in range(12)]
    logs: list[list[tuple[str, str, float]]] = [[], [], []]
    first = run("0")
    first.push([entry(site, 0) for site in sites])
    first.commit()
    threads = [threading.Thread(target=crawl, args=(first, logs[0]))]
    threads += [
        threading.Thread(target=crawl, args=(run(str(n)), logs[n])) for n in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    urls = Counter(url for log in logs for _, url, _ in log)
    assert len(urls) == len(sites) * PAGES
    assert set(urls.values()) == {1}
    owners = {
        site: {n for n in range(3) for s, *_ in logs[n] if s == site} for site in sites
    }
    assert all(len(workers) == 1 for workers in owners.values())


def test_a_late_worker_gets_a_share_of_the_sites(run):
    first = run("first", pause=0)
    first.push([entry(f"{n}.is", page) for n in range(4) for page in range(9)])
    pages = 0
    for n in (3, 2, 2, 1, 1, 1, 0, 0, 0, 0):
        found = first.pop({f"{m}.is" for m in range(4) if m != n})
        first.release(found.url, done=True)
        pages += 1
    in_hand = first.pop({"0.is", "1.is", "2.is"})
    first.commit()
    late = run("late")
    first._looked = float("-inf")
    assert first.pop().site in ("0.is", "3.is")
    assert set(first.sites()) == {"0.is", "3.is"}  # one is in hand
    late._looked = float("-inf")
    assert late.pop().site in ("1.is", "2.is")
    assert set(late.take_adopted()) == {"1.is", "2.is"}
    assert first.holds(in_hand.url)
    assert late.counts()["done"] == pages


def test_only_a_site_that_was_asked_rests_when_it_changes_hands(run):
    first = run("first", pause=3600)
    first.push([entry(f"{n}.is", page) for n in range(4) for page in range(9)])
    asked = first.pop()
    first.release(asked.url, done=True)
    first.close()
    late = run("late", pause=3600)
    late._looked = float("-inf")
    assert late.pop().site != asked.site
    assert set(late.sites()) == {f"{n}.is" for n in range(4)} - {asked.site}
    assert late.open_elsewhere()


def test_what_is_pushed_to_a_site_of_another_worker_gets_there(run):
    ours, theirs = run("a"), run("b")
    ours.push([entry("a.is", 0)])
    ours.commit()
    assert theirs.push([entry("a.is", 1, 0.9)] * 2).ignored == 2
    theirs.commit()
    assert theirs.pop() is None
    assert theirs.open_elsewhere()
    ours.push([entry("a.is", 2, 0.1)])
    ours.commit()
    assert [ours.pop().depth for _ in range(3)] == [1, 0, 2]


def test_a_killed_worker_loses_its_sites_and_nothing_else(run):
    dead = run("dead", lease=0.3)
    dead.push([entry("a.is", page, 0.1 * page) for page in range(5)])
    dead.release(dead.pop().url, done=True, payload=b"page 4")
    dead.commit()
    in_hand = dead.pop()
    dead.push([entry("a.is", 77)])  # never committed
    kill(dead)
    time.sleep(0.5)

    heir = run("heir", lease=5)
    found = []
    assert heir.take_adopted() == []
    while item := heir.pop():
        found.append(item.depth)
        heir.release(item.url, done=True)
    assert found == [3, 2, 1, 0]
    assert (heir.take_adopted(), heir.take_adopted()) == (["a.is"], [])
    assert next(iter(k for k in heir.scan("a.is") if k.state == "done"))
    heir.commit()

    # it was not dead: what it writes now is refused, and it lets the site go
    dead.release(in_hand.url, done=False)
    dead.commit()
    assert dead.sites() == ()
    assert dead.pop() is None
    assert heir.counts() == {"pending": 0, "leased": 0, "done": 5}
    urls = {known.entry.url: known for known in heir.scan("a.is")}
    assert urls["https://a.is/4"] == StoredUrl(
        FrontierEntry("https://a.is/4", "a.is", 0.4, 4, b"page 4"), "done"
    )


def test_the_last_url_of_a_site_is_not_lost_while_it_is_in_hand(run):
    dead, other = run("dead", lease=0.3), run("other")
    dead.push([entry("a.is", 0)])
    dead.commit()
    url = dead.pop().url
    dead._write(["a.is"])  # as when the lease is renewed
    other._looked = float("-inf")
    assert other.pop() is None
    assert other.open_elsewhere()  # it does not end before the others
    kill(dead)
    time.sleep(0.5)
    other._looked = float("-inf")
    assert other.pop().url == url
    other.release(url, done=True)
    other.commit()
    other._looked = float("-inf")
    assert other.pop() is None
    assert not other.open_elsewhere()


def test_a_worker_keeps_its_sites_in_a_step_that_is_longer_than_its_lease(run):
    busy, other = run("busy", lease=0.4), run("other", lease=0.4)
    busy.push([entry("a.is", 0), entry("a.is", 1)])
    busy.commit()
    in_hand = busy.pop()
    end = time.monotonic() + 1.6
    while time.monotonic() < end:  # as a long alignment: nothing is asked meanwhile
        other._looked = float("-inf")
        assert other.pop() is None
        time.sleep(0.05)
    busy.release(in_hand.url, done=True)
    busy.commit()
    assert busy.sites() == ("a.is",)


def test_a_worker_that_hangs_does_not_keep_its_sites(run):
    hanging, other = run("hanging", lease=0.1), run("other", pause=0)
    hanging.push([entry("a.is", 0)])
    hanging.commit()
    end = time.monotonic() + 10
    while other.pop() is None:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_url_in_hand_when_its_site_is_lost_may_still_be_released(run):
    late = run("late", lease=0.2)
    late.push([entry("a.is", 0), entry("a.is", 1)])
    late.commit()
    url = late.pop().url
    kill(late)
    time.sleep(0.4)
    other = run("other")
    assert other.pop() is not None
    late._looked = late._renewed = float("-inf")  # some time has passed
    assert not late.holds(url)  # here it learns
    late.release(url, done=True)
    with pytest.raises(ValueError, match="not leased"):
        late.release(url, done=True)


def test_a_long_journal_is_written_anew_and_says_the_same(run, client):
    store = run("a")
    store.push([entry("a.is", 0)])
    for page in range(1, 200):
        found = store.pop()
        store.push([entry("a.is", page), entry("a.is", page + 1000, 0.1)])
        store.release(found.url, done=True, payload=f"{page}".encode())
        store.commit()
    before = list(store.scan("a.is"))
    store.close()
    again = run("a")  # the same name: no pause
    again.push([entry("a.is", 5000, 0.0)])
    assert list(again.scan("a.is"))[:-1] == before
    assert client.llen(key_of(again, "site:a.is")) < 130


def test_a_restart_of_redis_with_its_data_costs_a_wait(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("r"), aof=True).start()
    store = open_frontier(server.url("run", worker="a"))
    store.push([entry("a.is", page) for page in range(10)])
    store.commit()
    found = store.pop()
    server.kill()
    later = threading.Timer(1.0, server.start)
    later.start()
    store.release(found.url, done=True)
    store.commit()  # waits until it is back
    later.join()
    store.close()
    again = open_frontier(server.url("run", worker="a"))
    again.push([])
    while again.pop() is None:
        time.sleep(0.1)
    assert again.counts()["done"] == 1
    again.close()
    server.kill()


def test_a_closed_site_delays_no_other(run):
    ours, theirs = run("a"), run("b")
    ours.push([entry("a.is", 0), entry("a.is", 1)])
    ours.commit()
    assert theirs.pop() is None
    assert theirs.open_elsewhere()
    ours.release(ours.pop().url, done=True)
    ours.close_site("a.is")
    assert ours.push([entry("a.is", 2)]).added == 1  # it stays known
    ours.commit()
    theirs._looked = float("-inf")
    assert theirs.pop() is None
    assert not theirs.open_elsewhere()
    # who wants more of it, in a later session, takes it and has all of it
    ours.close()
    later = run("a")
    later.push([entry("a.is", 0)])
    assert sorted(k.entry.depth for k in later.scan("a.is")) == [0, 1, 2]


def test_counters_are_of_all_workers(run):
    ours, theirs = run("a"), run("b")
    ours.tally({"pages": 2})
    theirs.tally({"pages": 3})
    ours.commit()
    theirs.commit()
    assert theirs.tally({}) == {"pages": 5}
    ours.tally({"pages": 1})
    ours.commit()
    assert ours.tally({}) == {"pages": 6}


def test_a_site_keeps_its_budget_when_it_changes_hands(run):
    """Pages, bytes and seconds follow from what is known of its URLs."""

    def frontier(worker: str) -> Frontier:
        sites = SiteYield(WantedPairs.parse("en,is"), SiteBudget(pages=4, bytes=10_000))
        scope = Scope("site")
        store = run(worker, pause=0)
        return Frontier(store, UniformScorer(), scope, sites=sites)

    first = frontier("a")
    first.seed(["https://a.is/"])
    for page in range(3):
        lease = first.next()
        document = PageFacts(
            url=lease.url,
            site="a.is",
            lang="en",
        )
        first.fetched(lease, document, size=1000, seconds=0.5)
        links = [Link(f"https://a.is/{page}/{n}", lease.url) for n in range(3)]
        first.found(document, links)
    first.commit()
    before = first.sites.spent["a.is"]
    first.store.close()

    second = frontier("b")
    lease = second.next()
    assert second.taken_over() == ["a.is"]
    known = replace(before, expected=0.0)  # what its next requests may give is theirs
    assert second.sites.spent["a.is"] == known
    second.fetched(lease, None)
    assert second.next() is None
    assert not second.has_open


def test_a_site_rests_until_no_worker_has_a_better_one(run):
    """With a scout of two pages; what shows both languages is asked first."""

    def frontier(worker: str) -> Frontier:
        sites = SiteYield(WantedPairs.parse("en,is"), SiteBudget(scout=2))
        return Frontier(
            run(worker, pause=0), UniformScorer(), Scope("site"), sites=sites
        )

    def fetch(worker: Frontier, langs: str) -> str | None:
        worker.store._looked = float("-inf")
        if lease := worker.next():
            lang = langs[int(lease.url[-1]) % 2 * 2 :][:2]
            document = PageFacts(
                url=lease.url,
                site=lease.site,
                lang=lang,
            )
            worker.fetched(lease, document)
            worker.commit()
        return lease and lease.site

    barren, rich = frontier("a"), frontier("b")
    barren.seed([f"https://barren.is/{n}" for n in range(4)])
    barren.commit()
    rich.seed([f"https://rich.is/{n}" for n in range(4)])
    rich.commit()
    assert [fetch(barren, "enen") for _ in range(3)] == ["barren.is"] * 2 + [None]
    assert barren.has_open
    third = frontier("c")  # who has nothing does not take what rests
    for _ in range(4):
        assert fetch(third, "enen") is None
        assert fetch(barren, "enen") is None
        assert fetch(rich, "enis") == "rich.is"
    assert fetch(rich, "enis") is None
    assert [fetch(barren, "enen") for _ in range(3)] == ["barren.is"] * 2 + [None]
    assert not barren.has_open


def test_a_site_that_rests_is_taken_when_there_is_no_other(run):
    first, second = run("a", pause=0), run("b", pause=0)
    first.push([entry("rests.is", 0), entry("open.is", 0, 0.1)])
    first.set_resting("rests.is", True)
    first.close()
    assert second.pop().site == "open.is"
    second._looked = float("-inf")
    assert second.sites() == ("open.is",)
    second.release("https://open.is/0", done=True)
    second.commit()
    second._looked = float("-inf")
    assert second.pop().site == "rests.is"


def test_the_budget_of_a_run_is_one_for_all_workers(run):
    def frontier(worker: str) -> Frontier:
        budget, scope = RunBudget(pages=5), Scope("site")
        return Frontier(run(worker), UniformScorer(), scope, budget=budget)

    fetched = 0
    workers = [frontier("a"), frontier("b")]
    for number, worker in enumerate(workers):
        worker.seed([f"https://{number}.is/{page}" for page in range(9)])
        worker.commit()
    while leases := [(worker, worker.next()) for worker in workers]:
        for worker, lease in leases:
            if lease is not None:
                worker.fetched(lease, None)
                worker.commit()
                fetched += 1
        if not any(lease for _, lease in leases):
            break
    assert fetched in (5, 6)  # the last page of each was on its way at the same time
    assert not any(worker.has_open for worker in workers)


def test_a_commit_whose_answer_was_lost_counts_once(run, client):
    store = run("a")
    store.push([entry("a.is", 0), entry("a.is", 1)])
    store.tally({"pages": 1})
    store.commit()
    store.release(store.pop().url, done=True)
    store.tally({"pages": 1})
    store._commits -= 1  # it is sent again under the number of the one before
    before = client.llen(key_of(store, "site:a.is"))
    store.commit()
    assert client.llen(key_of(store, "site:a.is")) == before
    assert store.tally({}) == {"pages": 1}


def test_a_claim_whose_answer_was_lost_is_found_again(run, client):
    store, other = run("a"), run("b")
    other.push([entry("a.is", 0)])
    other.close()
    client.hset(key_of(store, "owners"), "a.is", "77|a")  # as that claim left it
    ask = store._redis.call

    def interrupted(*args: object) -> object:
        answer = ask(*args)
        store._redis.interrupted = True
        return answer

    store._redis.call = interrupted
    assert store.pop().url == "https://a.is/0"


def test_a_worker_that_was_killed_and_starts_again_does_not_keep_its_old_sites(run):
    dead = run("a", pause=0.2)
    dead.push([entry("a.is", 0)])
    dead.commit()
    again = run("a", pause=0.2)  # before its lease is over
    assert again.pop() is None  # its last page may be a moment old
    time.sleep(0.3)
    again._looked = float("-inf")
    assert again.pop() is not None
    dead.push([entry("a.is", 1)])
    dead.commit()
    assert dead.sites() == ()


def test_redis_without_its_data_is_an_error_and_no_end(run, client):
    store = run("a")
    store.push([entry("a.is", 0)])
    store.commit()
    client.delete(*client.keys(store._redis.prefix.replace("{", "[{]") + "*"))
    store.push([entry("a.is", 1)])
    with pytest.raises(FrontierError, match=r"data of run .* are gone"):
        store.commit()


def test_a_filter_remembers_what_is_done_in_a_few_bytes(run):
    store = run("a", bloom=0.001)
    for page in range(200):
        store.push([entry("a.is", page)])
        store.release(store.pop().url, done=True)
        store.commit()
    assert store.counts()["done"] == 200
    assert len(list(store.scan("a.is"))) < 100  # the others are in the filter
    store.close()
    again = run("a")  # the site has its filter, whatever this one asks for
    assert again.push([entry("a.is", page) for page in range(200)]).ignored == 200
    assert again.push([entry("a.is", page) for page in range(200, 300)]).added > 95
    assert again.counts()["done"] == 200


def test_status_shows_workers_sites_and_what_is_left(run, redis_server):
    store = run("first")
    store.push([entry(f"{n}.is", n) for n in range(3)])
    store.release(store.pop().url, done=True)
    store.commit()
    url = redis_server.url(store._redis.run)
    done = bifocal("status", url)
    assert done.returncode == 0, done.stderr
    first, line = done.stdout.splitlines()
    assert first == "1 URLs done, 2 pending, 2 open sites"
    assert line.startswith("  first: 3 sites, 1 done, renewed, ")
    assert "stuck" not in line
    watched = bifocal("watch", url, "--once")
    assert watched.stdout.splitlines()[0] == first, watched.stderr


def test_status_shows_leases_that_are_stuck(run, redis_server):
    dead = run("dead", lease=0.1)
    dead.push([entry("a.is", 0)])
    dead.commit()
    kill(dead)
    time.sleep(0.2)
    shown = bifocal("status", redis_server.url(dead._redis.run)).stdout
    assert "dead: 1 sites, 0 done, not heard of, 1 stuck leases" in shown


def test_watching_a_shared_frontier_shows_rates(run, redis_server):
    store = run("a")
    store.push([entry("a.is", page) for page in range(3)])
    store.commit()
    url = redis_server.url(store._redis.run)
    words = [Path(sys.executable).with_name("bifocal"), "watch", "--every", "0.5", url]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        first = process.stdout.readline()
        store.release(store.pop().url, done=True)
        store.commit()
        lines = [process.stdout.readline() for _ in range(8)]
        process.terminate()
    assert first.startswith("0 URLs done, 3 pending")
    assert any(re.match(r"1 URLs done \(\d+\.\d/s\), 2 pending", ln) for ln in lines)
    assert any(re.match(r"  a: 1 sites, 1 done \(\d+\.\d/s\), ren", ln) for ln in lines)


def test_a_redis_that_hangs_is_waited_for_and_nothing_counts_twice(tmp_path_factory):
    """What it was asked while it hung, it does afterwards: each time that it was."""
    with RedisServer(tmp_path_factory.mktemp("r")) as server:
        store = RedisFrontier.open(server.url("x", worker="a", socket_timeout=0.3))
        store.push([entry("a.is", page) for page in range(3)])
        store.release(store.pop().url, done=True)
        store.tally({"pages": 1})
        with server.client() as client:
            before = client.llen(key_of(store, "site:a.is"))
        server.stop()
        threading.Timer(2.0, server.go_on).start()
        store.commit()
        with server.client() as client:
            assert client.llen(key_of(store, "site:a.is")) == before + 1
            totals = client.hgetall(key_of(store, "totals"))
        assert totals[b"done"] == totals[b"counter/pages"] == b"1"
        assert totals[b"pending"] == b"2"
        # it hangs while a site is asked for: whatever came of that, it is ours once
        server.stop()
        threading.Timer(2.0, server.go_on).start()
        assert store.push([entry("b.is", 0)]).added == 1
        store.commit()
        assert set(store.sites()) == {"a.is", "b.is"}


def test_an_outage_of_redis_makes_no_worker_look_dead(tmp_path_factory):
    """For longer than a lease: who had a site before has it after."""
    with RedisServer(tmp_path_factory.mktemp("r")) as server:
        ours, other = (
            RedisFrontier.open(server.url("x", worker=name, lease=0.8)) for name in "ab"
        )
        ours.push([entry("a.is", 0), entry("a.is", 1)])
        ours.commit()
        in_hand = ours.pop()
        server.stop()
        time.sleep(2.0)
        server.go_on()
        assert other.pop() is None  # it is the first one to ask
        ours.release(in_hand.url, done=True)
        ours.commit()
        assert ours.sites() == ("a.is",)
        kill(ours)  # and one that dies afterwards is dead
        end = time.monotonic() + 10
        while other.pop() is None:
            assert time.monotonic() < end
            time.sleep(0.1)


def test_without_redis_there_is_one_clear_error(tmp_path):
    url = f"unix://{tmp_path}/no.sock?run=x&patience=0.2"
    with pytest.raises(FrontierError, match="is Redis running"):
        RedisFrontier.open(url)
    with pytest.raises(UsageError, match="run=NAME"):
        RedisFrontier.open("redis://localhost/0")


def test_a_password_is_in_no_message(tmp_path):
    with pytest.raises(FrontierError) as caught:
        RedisFrontier.open("redis://:secret@127.0.0.1:1/0?run=x&patience=0")
    assert "secret" not in str(caught.value)


def test_a_full_redis_is_waited_for_and_then_named(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("r")) as server:
        store = RedisFrontier.open(server.url("x", patience=0.3))
        store.push([entry("a.is", 0)])
        client = server.client()
        client.config_set("maxmemory", "1")
        with pytest.raises(FrontierError, match="has it room"):
            store.commit()
        client.config_set("maxmemory", "0")
        store.commit()  # nothing was lost


@pytest.mark.parametrize("batch", [b"", b"x", b"\x78\x9c\x03\x00\x00\x00\x00\x01"])
def test_a_journal_of_another_program_is_refused(run, client, batch):
    store = run("a")
    store.push([entry("a.is", 0)])
    store.commit()
    client.rpush(key_of(store, "site:a.is"), batch)
    store.close()
    with pytest.raises(FrontierError, match="journal is damaged"):
        run("a").push([entry("a.is", 1)])


def test_the_core_needs_no_redis(tmp_path):
    """A process in which the package cannot be imported says which extra to install."""
    code = (
        "import sys; sys.modules['redis'] = None\n"
        "from crawler.frontier.stores.open import open_frontier\n"
        "from crawler.errors import UsageError\n"
        "open_frontier('memory:')\n"
        "try: open_frontier('redis://localhost/0?run=x')\n"
        "except UsageError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "[redis]" in done.stdout


def test_pops_are_best_first_within_a_worker(run):
    store = run("a")
    store.push([entry(f"{n % 5}.is", n, n / 100) for n in range(100)])
    scores = [store.pop().score for _ in range(100)]
    assert all(a >= b for a, b in pairwise(scores))
