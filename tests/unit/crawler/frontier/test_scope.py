from __future__ import annotations

import pytest

from crawler.errors import UsageError
from crawler.frontier.scope import (
    MAX_HOSTS,
    MAX_PARAMETERS,
    MAX_SEGMENTS,
    Scope,
    trap,
)


@pytest.mark.parametrize(
    ("kind", "inside", "outside"),
    [
        ("site", "https://is.example.org/x", "https://example.com/is/"),
        ("host", "http://www.example.org/en/", "https://is.example.org/"),
        ("path", "https://www.example.org/is/a?b=c", "https://www.example.org/en/"),
    ],
)
def test_the_seeds_say_what_belongs_to_a_crawl(kind, inside, outside):
    scope = Scope.of(kind, ["https://www.example.org/is/index.html"])
    assert scope.refusal(inside) is None
    assert scope.refusal(outside) == "scope"


def test_sites_of_a_shared_host_are_strangers():
    scope = Scope.of("site", ["https://a.github.io/"])
    assert "https://b.github.io/" not in scope


def test_a_folder_does_not_admit_a_longer_name():
    scope = Scope.of("path", ["https://a.is/is"])
    assert "https://a.is/islands" in scope  # the seed is a page in the root
    scope = Scope.of("path", ["https://a.is/is/"])
    assert "https://a.is/islands" not in scope


def test_nothing_is_in_the_scope_of_no_seeds():
    assert Scope().refusal("https://a.is/") == "scope"


def test_a_site_has_so_many_hosts_and_no_more():
    scope = Scope.of("site", ["https://www.wild.is/", "https://b.is/"])
    for number in range(MAX_HOSTS):
        assert scope.refusal(f"https://h{number}.wild.is/") is None
    assert scope.refusal("https://one-more.wild.is/") == "trap/hosts"
    assert scope.refusal("https://h7.wild.is/page") is None
    assert scope.refusal("https://www.b.is/") is None


def test_a_kind_that_there_is_not():
    with pytest.raises(UsageError, match="write scope=site, host or path"):
        Scope("domain")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a.is/a/a/a/", "trap/repeated"),
        ("https://a.is/x/en/faq/en/faq/en/faq", "trap/repeated"),
        ("https://a.is/a/b/a/b/", None),
        ("https://a.is/2026/01/01/01/", None),
        ("https://a.is" + "/x1" * MAX_SEGMENTS, "trap/repeated"),
        ("https://a.is/" + "/".join(map(chr, range(97, 97 + 20))), None),
        ("https://a.is/" + "/".join(map(chr, range(97, 97 + 21))), "trap/segments"),
        ("https://a.is/?" + "&".join(f"a{n}=1" for n in range(MAX_PARAMETERS)), None),
        (
            "https://a.is/?" + "&".join(f"a{n}=1" for n in range(MAX_PARAMETERS + 1)),
            "trap/parameters",
        ),
    ],
)
def test_traps_are_known_by_their_shape(url, kind):
    assert trap(url) == kind
