from __future__ import annotations

from crawler.frontier.gate import SiteGate


def test_a_site_is_closed_while_a_page_of_it_is_on_its_way():
    gate = SiteGate()
    gate.start("a.is")
    assert set(gate.busy(0.0)) == {"a.is"}
    assert gate.in_flight == 1
    gate.finish("a.is", 5.0, 0.0)
    assert set(gate.busy(5.0)) == set()
    assert gate.wait(5.0) is None


def test_it_stays_closed_for_the_pause_and_says_how_long():
    gate = SiteGate()
    gate.start("a.is")
    gate.finish("a.is", 10.0, 2.0)
    assert set(gate.busy(11.9)) == {"a.is"}
    assert gate.wait(11.5) == 0.5
    assert set(gate.busy(12.0)) == set()
    assert gate.wait(12.0) is None


def test_the_longest_pause_counts():
    gate = SiteGate(per_site=2)
    gate.start("a.is")
    gate.start("a.is")
    gate.finish("a.is", 0.0, 10.0)
    gate.finish("a.is", 1.0, 1.0)
    assert set(gate.busy(9.9)) == {"a.is"}
    assert set(gate.busy(10.0)) == set()


def test_as_many_pages_as_allowed_are_on_their_way():
    gate = SiteGate(per_site=2)
    gate.start("a.is")
    assert not gate.busy(0.0)
    gate.start("a.is")
    assert gate.busy(0.0)
    gate.finish("a.is", 0.0, 0.0)
    assert not gate.busy(0.0)


def test_a_site_in_flight_is_not_opened_by_the_end_of_an_earlier_pause():
    gate = SiteGate()
    gate.start("a.is")
    gate.finish("a.is", 0.0, 1.0)
    gate.busy(1.0)
    gate.start("a.is")
    assert set(gate.busy(2.0)) == {"a.is"}


def test_the_next_site_to_open_is_the_one_to_wait_for():
    gate = SiteGate()
    for site, pause in (("a.is", 3.0), ("b.is", 1.0)):
        gate.start(site)
        gate.finish(site, 0.0, pause)
    assert gate.wait(0.0) == 1.0
    assert set(gate.busy(1.0)) == {"a.is"}
    assert gate.wait(1.0) == 2.0
