"""Furniture: the parts of a page that a site repeats around the text of its own.

HTML5 has elements for them (`nav`, `footer`, `aside` …). Most sites say the same in the
class, id or role of a `div`: "main-menu", "cookie-consent", "relatedPosts". The words
are those that the content extractors Readability and Resiliparse look for.
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.urls import MET_AGAIN

# role: WAI-ARIA landmarks and widgets. class and id: their words, in any writing.
_SAYS = re.compile(r'(?:^| )(?:class|id|role)="([^"]{3,300})"')
_SECTION_SAYS = re.compile(r'(?:^| )(?:class|role)="([^"]{3,300})"')
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_FURNITURE = frozenset(
    """nav navbar navigation menu menubar breadcrumb breadcrumbs toolbar dropdown
    footer colophon masthead topbar sidebar offcanvas complementary contentinfo
    banner search searchbox cookie cookies consent gdpr ccpa dialog modal popup
    lightbox alertdialog newsletter subscribe subscription signup login share
    sharing sharedaddy social socials related recommended recommendations trending
    comments comment disqus respond pagination pager ad ads adv advert advertisement
    sponsor sponsored promo promoted promotion teaser teasers skip
    outbrain taboola tooltip donate""".split()
)
# What surrounds a page even where it is called "main menu".
_FRAME = frozenset("nav navbar navigation menu breadcrumb breadcrumbs footer".split())
# An element that bears one of these in any of its names holds the text,
_TEXT = frozenset("article articles body content contents entry main page text".split())
# and a name with one of these is of the layout: "has-sidebar", "modal-enabled".
_LAYOUT = frozenset(
    """has with without no is and w enabled enable wrap wrapper container inner outer
    column col grid row embed sticky pusher layout""".split()
)
# Elements that may be a part of the page.
_PARTS = frozenset("div section ul ol dl table center header details".split())


def is_furniture(name: str, attributes: str) -> bool:
    """Do a tag's attributes, as the parser writes them, tell of furniture?

    The id of a section is made of its heading, which may be "Menu options".

    >>> is_furniture('div', 'id="cookie-banner"')
    True
    >>> is_furniture('div', 'class="body has-sidebar"')
    False
    """
    if not attributes or name not in _PARTS:
        return False
    says = _SAYS if name != "section" else _SECTION_SAYS
    verdicts = [_verdict(value) for value in says.findall(attributes)]
    return True in verdicts and None not in verdicts


@lru_cache(MET_AGAIN)
def _verdict(value: str) -> bool | None:
    """Do these names tell of furniture? None: of text."""
    found = False
    for name in value.split():
        words = {word.lower() for word in _WORD.findall(name)}
        if words & _TEXT and not words & _FRAME:
            return None
        found = found or bool(words & _FURNITURE and not words & _LAYOUT)
    return found
