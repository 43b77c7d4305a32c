from __future__ import annotations

import pytest

from crawler.listings import is_listing


@pytest.mark.parametrize(
    "path",
    """/tag/a /en/categories /kategorie/x /author/bob /archive /page-3 /blog/page/3
    /feed /search?q=1 /404 /genindex.html /?page=2 /sitemap.xml""".split(),
)
def test_pages_that_list_pages(path):
    assert is_listing(f"http://a.example{path}")


@pytest.mark.parametrize(
    "path",
    """/search-engines.html /guide/user-manual /?page=about /?p=12 /tags-of-war/
    /a""".split(),
)
def test_articles(path):
    assert not is_listing(f"http://a.example{path}")
