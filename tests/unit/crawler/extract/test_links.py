from __future__ import annotations

import pytest

from crawler.data import Link
from crawler.extract.linearize import linearize
from crawler.extract.links import MAX_ANCHOR, MAX_LINKS, is_page_url, links_of

PAGE = "https://www.example.org/en/a/page.html"


def links(html: str, url: str = PAGE, depth: int = 0) -> tuple[Link, ...]:
    return links_of(linearize(html).elements, url, depth)


def urls(html: str, url: str = PAGE) -> list[str]:
    return [link.url for link in links(html, url)]


def one(html: str) -> Link:
    (link,) = links(html)
    return link


def test_a_link_is_resolved_against_its_page_and_one_click_deeper():
    (link,) = links('<a href="../b?x=1#top">B</a>', depth=3)
    assert link == Link("https://www.example.org/en/b?x=1", PAGE, "B", depth=4)


@pytest.mark.parametrize(
    "href",
    [
        "",
        "#top",
        " #top",
        "page.html#part",
        "javascript:void(0)",
        " JavaScript:alert(1)",
        "mailto:a@example.org",
        "tel:+354",
        "data:text/html,<p>",
        "ftp://example.org/",
        "blob:https://example.org/x",
        "http://",
        "https://[bad",
        "https://example.org:99999/",
    ],
)
def test_a_reference_that_leads_to_no_page_is_not_a_link(href):
    assert urls(f'<a href="{href}">x</a>') == []


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("HTTPS://Example.ORG/A", "https://example.org/A"),
        ("//example.org/x", "https://example.org/x"),
        ("?page=2", "https://www.example.org/en/a/page.html?page=2"),
        ("\n b.html \t", "https://www.example.org/en/a/b.html"),
        ("/sl\\ash", "https://www.example.org/sl/ash"),
        ("þ.html", "https://www.example.org/en/a/%C3%BE.html"),
        ("/x:y", "https://www.example.org/x:y"),
        ("./x:y", "https://www.example.org/en/a/x:y"),
        ("?a=1&amp;b=2", "https://www.example.org/en/a/page.html?a=1&b=2"),
        ("?a=1&b=2", "https://www.example.org/en/a/page.html?a=1&b=2"),
        ("http://user:secret@example.org/", "http://example.org/"),
    ],
)
def test_an_address_is_read_as_browsers_read_it(href, url):
    assert urls(f'<a href="{href}">x</a>') == [url]


@pytest.mark.parametrize(
    "name", ["a.pdf", "b.JPG?x=1", "c.tar.gz", "feed.xml", "d.css"]
)
def test_files_that_hold_no_page_are_left_out(name):
    assert urls(f"<a href=/{name}>x</a>") == []


@pytest.mark.parametrize("name", ["a.html", "b", "c.php?file=d.pdf", "v2.0", "pdf/"])
def test_only_the_end_of_the_path_tells_a_file(name):
    assert is_page_url(f"https://example.org/{name}")


def test_each_url_is_one_link_where_it_stands_first():
    html = "<a href=/1>one</a><a href=/2>two</a><a href=/1#x>again</a>"
    assert [(link.url[-1], link.anchor) for link in links(html)] == [
        ("1", "one"),
        ("2", "two"),
    ]


def test_what_is_declared_of_a_url_is_kept_from_either_mention():
    link = one(
        "<a href=/is/><img></a>"
        '<link rel="alternate" hreflang="is-IS" href="https://www.example.org/is/">'
        "<a href=/is/>Íslenska</a>"
    )
    assert (link.anchor, link.hreflang, link.rel) == ("Íslenska", "is", "alternate")


def test_the_first_declaration_of_a_language_stays():
    html = "<a href=/x hreflang=is>a</a><a href=/x hreflang=en>b</a>"
    assert one(html).hreflang == "is"


@pytest.mark.parametrize(
    ("html", "rel", "lang"),
    [
        ("<link rel=alternate hreflang=is href=/x>", "alternate", "is"),
        ("<link rel='ALTERNATE' hreflang=x-default href=/x>", "alternate", None),
        ("<link rel=next href=/x>", "next", None),
        ("<link rel=canonical href=/x>", "canonical", None),
        ("<a rel=nofollow href=/x>x</a>", None, None),
        ("<a lang=is href=/x>x</a>", None, "is"),
        ("<area href=/x hreflang=pt-BR>", None, "pt"),
        ("<frameset><frame src=/x></frameset>", "frame", None),
        ("<iframe src=/x></iframe>", "frame", None),
        ("<meta http-equiv=refresh content='0; URL=/x'>", "refresh", None),
        ('<meta http-equiv=Refresh content="5;url=&#39;/x&#39;">', "refresh", None),
        ("<select><option value=/x lang=is>Íslenska</select>", "option", "is"),
        ("<select><option data-url=/x>Íslenska</select>", "option", None),
        ("<gcds-link href=/x>x</gcds-link>", "component", None),
        ("<gcds-header lang-href=/x></gcds-header>", "alternate", None),
    ],
)
def test_links_of_every_kind(html, rel, lang):
    link = one(html)
    assert (link.url, link.rel, link.hreflang) == (
        "https://www.example.org/x",
        rel,
        lang,
    )


@pytest.mark.parametrize(
    "html",
    [
        "<link rel=stylesheet href=/x>",
        "<link rel=alternate type=application/rss+xml href=/feed>",
        "<link rel=alternate hreflang=is>",
        "<a name=x>x</a>",
        "<iframe></iframe>",
        "<select><option value=is>Íslenska</select>",
        "<meta http-equiv=refresh content=5>",
        "<meta http-equiv=refresh>",
        "<script>location = '/x'</script>",
        "<template><a href=/x>x</a></template>",
    ],
)
def test_what_only_looks_like_a_link(html):
    assert links(html) == ()


def test_base_moves_every_relative_link():
    html = "<base href='https://cdn.example.org/b/'><a href=x>x</a><a href=/y>y</a>"
    assert urls(html) == ["https://cdn.example.org/b/x", "https://cdn.example.org/y"]


def test_the_first_base_with_an_address_counts():
    html = "<base target=_top><base href=/one/><base href=/two/><a href=x>x</a>"
    assert urls(html) == ["https://www.example.org/one/x"]


@pytest.mark.parametrize(
    "href",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "https://[",
        "file:///etc/",
        "\x00",
        "",
    ],
)
def test_a_base_that_is_not_an_address_is_ignored(href):
    html = f'<base href="{href}"><a href=x>x</a>'
    assert urls(html) == ["https://www.example.org/en/a/x"]


def test_a_long_anchor_text_is_cut():
    assert len(one(f"<a href=/x>{'word ' * 1000}</a>").anchor) == MAX_ANCHOR


def test_a_page_gives_no_more_links_than_anybody_reads():
    html = "".join(f"<a href=/{n}>{n}</a>" for n in range(MAX_LINKS + 100))
    html += '<link rel=alternate hreflang=is href="/5">'
    found = links(html)
    assert len(found) == MAX_LINKS
    assert found[5].hreflang == "is"  # what is known already is still heard
