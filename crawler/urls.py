"""URLs: one canonical form, the site that a URL belongs to, and its parts.

Parsing is `can_ada`, the WHATWG parser that browsers use, rather than the standard
library, because:

* what a server meant is what a browser would fetch: back slashes, tabs, `0x7f.1`,
  punycode and dot segments are resolved here, once, before any rule looks at them;
* joining and canonicalizing a link costs 0.7 µs against 4 µs (urljoin alone).

Nothing here raises: a string that is not an http(s) URL gives None. The parser's time
grows with the square of a host's length, so a string is parsed only if it is no longer
than a URL may be.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Self

import can_ada
import msgspec
import tldextract
import xxhash

# Longer URLs are traps or data; browsers and servers stop at about this length, and
# the released URL models skip longer ones
# (docs/sources.md#other-crawlers-and-readers). It holds for a link as it is written,
# less its fragment and white space around it, and for the canonical URL.
MAX_URL_LENGTH = 2000
# Characters of a host as it is written. It may have 253 (RFC 1035), and nobody writes
# many with escapes. 300 take 0.2 ms to parse, 2,000 take 10.
_MAX_HOST = 300
_HOST = re.compile(
    r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:[/\\]*|[/\\]{2,})(?:[^/\\?]*@)?([^/\\?]*)"
)
# White space that a URL may have inside, and around (WHATWG URL, section 4.4).
_IGNORED = dict.fromkeys(map(ord, "\t\n\r"))
_STRIPPED = "".join(map(chr, range(0x21)))
# URLs, hosts and folders whose parts a function keeps: the menus of the 32 sites that a
# crawl asks at a time come again on each of their pages. 65,536 took 200 MB in all and
# saved a crawl of 500 sites nothing: to work a part out again takes 1 to 3 µs.
MET_AGAIN = 16_384

# Parameters that name a visit or a campaign, never a page.
_TRACKING = re.compile(
    r"(?:^|(?<=&))(?:utm_\w+|fbclid|gclid|msclkid|yclid|mc_[ce]id|_ga|phpsessid"
    r"|jsessionid|aspsessionid\w*|sessionid|cfid|cftoken|sid(?==[0-9a-f]{16,}))"
    r"=[^&]*&?",
    re.IGNORECASE,
)
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid)=[^/?;&]*", re.IGNORECASE)
# Not after a stray `%`, or `%%34%31` would become an escape that was none.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
)


def _normal_escape(match: re.Match[str]) -> str:
    byte = int(match[1], 16)
    return chr(byte) if byte in _UNRESERVED else "%" + match[1].upper()


class Base:
    """The address that relative links are resolved against, parsed once per page."""

    __slots__ = ("_base",)

    def __init__(self, base: can_ada.URL | None) -> None:
        self._base = base

    @classmethod
    def parse(cls, url: str) -> Self:
        """An unusable base makes every relative link unusable."""
        try:
            return cls(can_ada.parse(_bounded(url)))
        except (ValueError, TypeError):
            return cls(None)

    def join(self, href: str) -> str | None:
        """The canonical form of a link as it stands in the page, or None.

        >>> base = Base.parse("https://Example.org/a/b")
        >>> base.join("../c d/./e?utm_source=x&q=1#top")
        'https://example.org/c%20d/e?q=1'
        >>> Base.parse("https://example.org/").join("mailto:someone@example.org")
        """
        try:
            href = _bounded(href)
            url = self._base + href if self._base is not None else can_ada.parse(href)
            return _canonical(url)
        except (ValueError, TypeError):  # TypeError: a lone surrogate, or None
            return None


def canonicalize(url: str) -> str | None:
    """The one spelling of an absolute http(s) URL, or None if it is not one.

    Fragment, default port, credentials, session and campaign parameters go; escapes
    get one form. The order of parameters stays: servers may care.

    >>> canonicalize("HTTP://www.Example.org:80/%7euser/?b=2&a=1&fbclid=x#y")
    'http://www.example.org/~user/?b=2&a=1'
    """
    try:
        return _canonical(can_ada.parse(_bounded(url)))
    except (ValueError, TypeError):
        return None


def _bounded(url: str) -> str:
    """A URL that is soon parsed; ValueError if it or its host is too long.

    A long one is without its fragment, and without white space that does not count.
    """
    if len(url) <= _MAX_HOST:
        return url
    url = url.partition("#")[0].translate(_IGNORED).strip(_STRIPPED)
    host = _HOST.match(url)
    if len(url) > MAX_URL_LENGTH or (host and len(host[1]) > _MAX_HOST):
        raise ValueError
    return url


def _canonical(url: can_ada.URL) -> str | None:
    if url.protocol not in ("https:", "http:") or not url.hostname:
        return None
    url.hash = ""
    if url.has_credentials():
        url.username = url.password = ""
    href = url.href
    if len(href) > MAX_URL_LENGTH:
        return None
    if "%" in href:
        href = _ESCAPE.sub(_normal_escape, href)
    if ";" in href:
        path_at = href.index("/", 8)  # behind the host, which may hold a `;` too
        if _PATH_SESSION.search(href, path_at):
            path = _PATH_SESSION.sub("", href[path_at:])
            # once more: `/..;jsessionid=1` has become a dot segment
            href = can_ada.parse(href[:path_at] + path).href
    if "?" in href:
        path, _, query = href.partition("?")
        query = _TRACKING.sub("", query).rstrip("&")
        href = f"{path}?{query}" if query else path
    return href


class UrlParts(msgspec.Struct, frozen=True, gc=False):
    """The parts of a canonical URL that rules look at."""

    host: str  # without port
    path: str  # with the leading slash
    query: str  # without the question mark


def split(url: str) -> UrlParts:
    """Take a canonical URL apart.

    >>> split("https://example.org:8080/a/b?c=d")
    UrlParts(host='example.org', path='/a/b', query='c=d')
    """
    rest = url.split("://", 1)[-1]
    rest, _, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    return UrlParts(_without_port(authority), slash + path or "/", query)


def _without_port(authority: str) -> str:
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return authority.partition(":")[0]


@cache
def _extractor() -> tldextract.TLDExtract:
    """The bundled public suffix list: by default tldextract asks the network.

    Private suffixes count: `a.github.io` and `b.github.io` are two sites.
    """
    return tldextract.TLDExtract(
        suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
    )


@lru_cache(MET_AGAIN)
def registered_domain(host: str) -> str:
    """The registered domain of a host; the host itself if it has none (an address).

    >>> registered_domain("www.gov.is"), registered_domain("127.0.0.1")
    ('gov.is', '127.0.0.1')
    >>> registered_domain("news.bbc.co.uk"), registered_domain("a.b.github.io")
    ('bbc.co.uk', 'b.github.io')
    """
    _, name, suffix = host_labels(host)
    return f"{name}.{suffix}" if suffix else name


def is_host_name(host: str) -> bool:
    """True for an IPv4 address and for a name under a known suffix.

    Known are the suffixes of the public list and those that RFC 2606 keeps for tests.

    >>> [is_host_name(name) for name in ("www.a.is", "10.0.0.1", "v1.beta", "is")]
    [True, True, False, False]
    """
    found = _extractor().extract_str(host)
    reserved = host.rpartition(".")[2] in ("example", "invalid", "localhost", "test")
    return bool(found.domain and (found.suffix or found.ipv4 or reserved))


@lru_cache(MET_AGAIN)
def host_labels(host: str) -> tuple[tuple[str, ...], str, str]:
    """A host as (labels before the registered domain, its name, public suffix).

    A last label that is on no list is a public suffix, as the list's own default rule
    says; an address, or a host of one label, is all name.

    >>> host_labels("fr.www.example.co.uk"), host_labels("is.demo.example")
    ((('fr', 'www'), 'example', 'co.uk'), (('is',), 'demo', 'example'))
    """
    found = _extractor().extract_str(host)
    labels = tuple(found.subdomain.split(".")) if found.subdomain else ()
    if not found.suffix and labels and not found.ipv4:
        return labels[:-1], labels[-1], found.domain
    if not found.domain:  # a public suffix itself: github.io
        return (), host, ""
    return labels, found.domain, found.suffix


@lru_cache(MET_AGAIN)
def host_of(url: str) -> str:
    """The host of a canonical URL, without port."""
    return _without_port(url.split("://", 1)[-1].split("/", 1)[0].partition("?")[0])


def site_of(url: str) -> str:
    """The site of a canonical URL: its registered domain.

    >>> site_of("https://ru.vuejs.org/v2/guide/")
    'vuejs.org'
    """
    return registered_domain(host_of(url))


def without_password(url: str) -> str:
    """A URL without user and password, to be shown.

    >>> without_password("redis://me:secret@localhost/0?run=x")
    'redis://localhost/0?run=x'
    """
    return re.sub("//[^/@]*@", "//", url)


# What a server leaves out or adds without meaning another page.
_LOOSE = re.compile(r"^https?://(?:www\d?\.)?|(?:/(?:index\.\w{3,5})?)?(?=\?|$)")


def hash64(text: str) -> int:
    """A hash that fits a signed 64-bit column."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace")) >> 1


def identities(url: str, lang: str) -> tuple[int, int]:
    """The numbers under which the document of a URL in a language may be stored.

    The second is for a page in two languages, whose other document has the first.
    """
    return hash64(url), hash64(f"{url} {lang}")


@lru_cache(4096)  # the aligner looks for each page five times
def url_key(url: str) -> int:
    """One number for all the addresses that a server takes for one page.

    >>> url_key("http://www.example.org/is/") == url_key("https://example.org/is")
    True
    """
    return hash64(_LOOSE.sub("", url))
