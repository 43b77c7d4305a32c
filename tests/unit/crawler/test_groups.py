from __future__ import annotations

from crawler.groups import SiteGroups, group_key


def test_a_declaration_joins_domains_that_differ_in_the_suffix():
    groups = SiteGroups()
    assert groups.declare("https://www.example.is/um", "https://example.co.uk/about")
    assert groups.declare("https://example.com/about", "https://example.is/um")
    assert groups.members("example.is") == (
        *("example.co.uk", "example.com", "example.is"),
    )
    assert groups.of("example.com") == groups.of("example.is") == "example.co.uk"
    assert len({group_key(site) for site in groups.members("example.is")}) == 1


def test_another_name_is_another_site_whatever_a_page_says():
    groups = SiteGroups()
    for n in range(100):
        here, there = f"https://example.is/{n}", f"https://bank.example/{n}"
        assert not groups.declare(here, there)
    assert groups.groups() == []
    assert not groups.declare("http://127.0.0.1/a", "http://127.0.0.2/a")


def test_sub_domains_are_one_site_already():
    groups = SiteGroups()
    assert not groups.declare("https://fr.example.org/", "https://www.example.org/")
    assert groups.of("example.org") == "example.org"


def test_groups_are_what_they_were_after_a_restart():
    groups = SiteGroups()
    groups.declare("https://a.is/", "https://a.com/")
    assert SiteGroups.known(groups.groups()).members("a.is") == ("a.com", "a.is")
