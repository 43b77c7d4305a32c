from __future__ import annotations

from crawler.replay.clock import Network, SimulatedClock


def test_a_site_is_asked_again_only_after_its_delay():
    clock = SimulatedClock(Network(delay=2.0, latency=0.5, bandwidth=1e9))
    assert [round(clock.fetch("a.is", 0), 3) for _ in range(3)] == [0.5, 3.0, 5.5]


def test_a_sites_own_crawl_delay_counts():
    network = Network(delay=1.0, delays={"slow.is": 10.0}, latency=0.0)
    clock = SimulatedClock(network)
    clock.fetch("slow.is", 0)
    assert clock.fetch("slow.is", 0) == 10.0


def test_sites_do_not_wait_for_one_another_until_the_lanes_are_full():
    clock = SimulatedClock(Network(latency=1.0, concurrency=2))
    done = [clock.fetch(f"{n}.is", 0) for n in range(5)]
    assert done == [1.0, 1.0, 2.0, 2.0, 3.0]


def test_bytes_take_time():
    assert SimulatedClock(Network(latency=0.0, bandwidth=100)).fetch("a.is", 50) == 0.5
