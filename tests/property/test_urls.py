"""Laws of URLs and handles."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.handles import handle_of, stripped_forms
from crawler.languages import marker_languages
from crawler.urls import MAX_URL_LENGTH, Base, canonicalize, host_of, site_of, split
from tests.strategies import rough_urls, urls


@given(rough_urls())
def test_a_canonical_url_is_its_own_canonical_form(text):
    url = canonicalize(text)
    if url is not None:
        assert canonicalize(url) == url
        assert len(url) <= MAX_URL_LENGTH
        assert url.isascii()
        assert not set(url) & set(" \t\n\r\x00#")


@given(st.one_of(rough_urls(), st.text(st.characters(exclude_categories=()))))
def test_nothing_raises_whatever_the_string(text):
    canonicalize(text)
    Base.parse(text).join(text)
    Base.parse("https://example.org/").join(text)


@given(rough_urls(), rough_urls())
def test_a_joined_link_is_canonical(page, href):
    url = Base.parse(page).join(href)
    assert url is None or canonicalize(url) == url


@given(rough_urls())
def test_the_parts_of_a_canonical_url_are_those_of_the_standard_library(text):
    url = canonicalize(text)
    if url is None:
        return
    expected = urlsplit(url)
    parts = split(url)
    assert (parts.path, parts.query) == (expected.path, expected.query)
    assert parts.host == host_of(url)
    assert parts.host.strip("[]") == expected.hostname
    assert site_of(url)


@given(rough_urls(), st.sampled_from(["#x", "&utm_source=a", "&fbclid=b", "&gclid="]))
def test_what_names_a_visit_or_a_place_on_the_page_does_not_count(text, more):
    url = canonicalize(text)
    if url is None:
        return
    if more[0] == "&" and "?" not in url:
        more = "?" + more[1:]
    longer = canonicalize(url + more)
    if longer is not None:
        assert longer.rstrip("?&") == url.rstrip("?&")


MARKERS = ["en", "is", "eng", "english", "icelandic", "pt-br", "zh_Hant", "francais"]


@given(urls(), st.sampled_from(MARKERS))
def test_a_folder_host_label_or_parameter_that_names_a_language_does_not_count(url, m):
    handle = handle_of(url)
    assert not handle.markers
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    more = "&" if "?" in url else "?"
    versions = [f"{scheme}://{host}/{m}/{path}", f"{url}{more}lang={m}"]
    if "_" not in m and host != "127.0.0.1":
        versions.append(f"{scheme}://{m}.{host.removeprefix('www.')}/{path}")
    for version in versions:
        found = handle_of(version)
        assert found.text == handle.text
        assert found.languages == marker_languages(m)


@given(urls(), urls())
def test_pages_of_different_names_keep_different_handles(one, two):
    if handle_of(one).text == handle_of(two).text:
        # what an index page is called, a last slash and www are no name either
        assert _bare(one) == _bare(two)


def _bare(url: str) -> str:
    rest = url.lower().partition("://")[2].removeprefix("www.")
    path, mark, query = rest.partition("?")
    path = path.rstrip("/").removesuffix("/index.html")
    return path.replace("%c3%be%c3%a1", "þá") + mark + query


@given(urls(), st.sampled_from(["de", "fr", "french"]))
def test_markers_of_other_languages_are_names_like_any_other(url, other):
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    marked = f"{scheme}://{host}/{other}/{path}"
    assert not handle_of(marked, {"en", "is"}).markers
    assert handle_of(marked, {"en", "is"}).text != handle_of(url, {"en", "is"}).text


@given(rough_urls())
def test_handles_never_raise_and_name_what_they_took(text):
    url = canonicalize(text)
    if url is None:
        return
    handle = handle_of(url)
    assert len(handle.markers) <= 4
    for marker in handle.markers:
        assert marker.languages == marker_languages(marker.token)
    assert bool(handle.scheme) == bool(handle.markers)


@given(rough_urls())
def test_the_baseline_strips_all_some_or_none(text):
    url = canonicalize(text)
    if url is None:
        return
    forms = stripped_forms(url)
    assert 1 <= len(forms) <= 64
    longest = max(forms, key=len)
    assert all(len(form) <= len(longest) for form in forms)


@pytest.mark.parametrize("seed", range(3))
def test_a_handle_is_the_same_at_every_call(seed):
    url = f"https://www.example.org/is/{seed}/about_en.html?lang=is"
    assert handle_of(url) == handle_of(url)
