"""Pages that list other pages: they hold beginnings of texts, and change every week.

One rule for both sides: the frontier expects few pairs of them, the aligner makes none.
"""

from __future__ import annotations

import re

# A whole path segment, so that `/search-engines.html` is an article.
_LISTING = re.compile(
    r"/(?:tags?|categor(?:y|ies|ia|ias|ie)|kategori[ea]?n?|etiquetas?|mots?-cles?"
    r"|schlagw(?:ort|oerter)|archives?|archiv|archivo|authors?|auteurs?|autor(?:en)?"
    r"|search|suche|buscar|recherche|feed|rss|404|genindex|sitemap"
    r"|page[/=_-]?\d+|index-\d+)(?=[/.?]|$)"
    # all posts of a month; a year alone may be a page about it
    r"|/(?:19|20)\d\d/(?:0[1-9]|1[0-2])(?:/[0-3]\d)?/?$"
    r"|[?&](?:(?:page|paged|start|offset)=\d|(?:s|tag|cat|author)=[^&])",
    re.IGNORECASE,
)


def is_listing(url: str) -> bool:
    """Does a URL, or its handle, look like that of a tag, archive or search page?

    >>> is_listing("http://a.example/en/tag/boats"), is_listing("a.example/?page=2")
    (True, True)
    >>> is_listing("http://a.example/2024/03/"), is_listing("a.example/search-engines")
    (True, False)
    """
    return bool(_LISTING.search(url))
