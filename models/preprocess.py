"""URL → the text that encoders read, as the released URL models were trained.

García-Romero et al. (2024), sections 2 and 3, and the authors' code, which differs from
the paper in one point: percent escapes are decoded, HTML entities are not. A released
checkpoint expects exactly this text, blanks included. The hashed models read the URL
itself (`models.ngrams.url_string`).
"""

from __future__ import annotations

import re
from urllib.parse import unquote

# The authors skip longer URLs in training; in a crawl a score is better than none.
MAX_URL_LENGTH = 2000
SEPARATOR = "</s>"

_WHITE_SPACE = re.compile(r"\s+")
_PIECES = re.compile(r"[^\W_0-9]+|[^\w\s]+|_+|\s+|[0-9]+")


def url_text(url: str) -> str:
    """One URL as the released models read it.

    >>> url_text("https://es.wikipedia.org/wiki/Halo_3#Matchmaking")
    'es . wikipedia . org / wiki / Halo _ 3 # Matchmaking'
    >>> url_text("http://a.com/x%20y/?l=en-US/")
    'a . com / x   y /? l = en - US'
    """
    url = url[:MAX_URL_LENGTH].rstrip("/")
    if "://" in url:
        url = url.partition("://")[2]
    url = unquote(url, errors="backslashreplace")
    url = _WHITE_SPACE.sub(" ", url).strip()
    return " ".join(_PIECES.findall(url))


def pair_text(url_a: str, url_b: str) -> str:
    """Two URLs as one string with a *single* separator, not RoBERTa's double one.

    Encode it as one text with special tokens added, never as a text pair.

    >>> pair_text("http://a.com/en/", "http://a.com/fr/")
    'a . com / en</s>a . com / fr'
    """
    return f"{url_text(url_a)}{SEPARATOR}{url_text(url_b)}"
