"""HTML in pieces that the parser can take in one go, each within a bound of work.

Repairing HTML as browsers do may cost the square of a page's length, and memory with
it. Measured with lexbor 2.7, which has no limits of its own: 100,000 nested lists take
four minutes, 4,000 unclosed `<font>` of different colours in as many paragraphs 2 GB,
100,000 attributes of one tag 20 s. Cut into pieces they cost a second or two.

Nearly every page is one piece; a manual of 100,000 tags in one file becomes ten, cut
behind the end of a block, and loses nothing but what spans the cut (which list an item
was in). Where a piece turns out to be nested deeper, or to grow more in repair, than
any text, the rest of its page is read in small pieces.

In: the text of a page. Out: the parser's own, regular HTML for it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import accumulate

from selectolax.lexbor import LexborHTMLParser

from crawler.extract.tags import VOID

# 10,000 nested tags of the dearest kind take 0.25 s; of the pages of our recorded sites
# 0.2 % have more.
_MAX_TAGS = 10_000
_SMALL = 40  # tags of a piece on a page that is up to something: half are blocks in
# which the parser opens the other half again, so that a small page costs its share
# More tags than this in a page are no text; its rest is left. (Three times what the
# largest one-page manual has.)
MAX_PAGE_TAGS = 400_000
# Twice that: a page that leaves out half of its end tags.
_MAX_OUTPUT_TAGS = 800_000
# Elements that a repair may add to a piece: 360 bytes each.
_MAX_REPAIRS = 500_000
# and the same for each character, so that a small page costs its share: an honest one
# of 30 characters a tag needs a hundred different forms to have more.
_REPAIRS = 10
# Characters of the parser's output for a page; six times the longest body that is read,
# which is what 5 MB of ampersands become.
_MAX_OUTPUT = 30_000_000
# Chromium nests no deeper than 512.
_MAX_DEPTH = 512
_MAX_GROWTH = 4  # tags that come out for one that went in, at most, of honest pages
_MAX_ROOT = 10_000  # characters of the attributes that <html> and <body> gather
_MAX_ATTRIBUTES = 100  # of a tag; more are left out
# The parser compares each attribute with those before it: 10,000 (32,000 characters) in
# one tag take 0.2 s. To count those of shorter pages would cost all pages 5 %.
_MAX_UNSEEN = 32_000

# Nobody reads these, and their content is not markup.
_INVISIBLE = """script style template noscript svg math object canvas xmp noembed
    noframes plaintext""".split()
# Tags as the parser sees them, so that nothing is hidden in quotes: what is light goes
# by in one match, up to a tag with more attributes than anybody writes.
# Before Python 3.11.5 (Debian 12 has 3.11.2) a possessive group that fails midway stays
# where it failed (CPython issue 106052); a greedy one finds the same, in more memory.
_ONCE = "+" if sys.version_info >= (3, 11, 5) else ""
_ATTRIBUTE = (
    r"""[\s/]*+(?:=[^\s/>=]*+|[^\s/>=]++)"""
    r"""(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+))?+"""
)
_FEW = rf"(?:{_ATTRIBUTE}){{0,{_MAX_ATTRIBUTES}}}{_ONCE}"
# the usual tag, read faster: every = is followed by a value in quotes without < or >
_USUAL = rf"""[^<>"'=]{{0,80}}+(?:="[^"<>]*+"[^<>"'=]{{0,80}}+){{0,20}}{_ONCE}>"""
_LIGHT = re.compile(
    rf"(?:[^<]++|<(?:/|{_USUAL}|(?![a-zA-Z])|[^\s/>]++{_FEW}(?!{_ATTRIBUTE})))*{_ONCE}"
)
_HEAVY = re.compile(rf"(<[^\s/>]++{_FEW})(?:{_ATTRIBUTE})++")
_WHOLE = re.compile(rf"<[^\s/>]++(?:{_ATTRIBUTE})*+")
# The elements that a parser opens again in every block until they are closed, each form
# of them three times at most (HTML, 13.2.4.3).
_FIRST = "<(?=[bcefinstuBCEFINSTU])"  # half of the time
_NAME = r"(?i:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])"
_REST = r"""(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+>"""
_FORMATTING = re.compile(_FIRST + _NAME)
# Characters of such a tag; a longer one loses its attributes, as does one with a < in
# them, so that each search ends soon.
_MAX_FORM = 500
_FORM = re.compile(_FIRST + _NAME + _REST)
_FORMS = re.compile(f"{_FIRST}(?=({_NAME}{_REST}))")  # none hides in another
_COPIES = 3
# So few tags are safe even if half of them are such elements, all opened again by each
# of the other half: 5,600 elements, which take 5 ms.
_SAFE_TAGS = 150
_BLOCK_ENDS = ("/p>", "/div>", "/li>", "/tr>", "/dd>", "/table>", "/ul>", "/section>")
_START, _MIDDLE, _END = "<html><head>", "</head><body>", "</body></html>"
_STEPS = re.compile(rf"<(/?)(?!!|\?|(?:{'|'.join(sorted(VOID))})[ >])")


def regular(text: str) -> Iterator[str]:
    """A page as regular HTML, in pieces: every tag closed, every attribute quoted.

    >>> list(regular("<p>one<p title=two>two<script>three</script>"))
    ['<html><head></head><body><p>one</p><p title="two">two</p></body></html>']
    """
    tags = text.count("<")
    if tags > _SAFE_TAGS or len(text) > _MAX_UNSEEN:
        text = _without_long_forms(_without_overload(text))
    if tags > _MAX_TAGS:
        yield from _ended(_parsed_pieces(text))
    elif tags > _SAFE_TAGS and _is_risky(text, tags):
        yield from _ended(_parsed_small(text))
    else:
        yield _parsed(text)


def _ended(pages: Iterator[str]) -> Iterator[str]:
    """The pages that the parser makes of pieces as one: one head, one end."""
    before: str | None = None
    size = tags = 0
    for page in pages:
        size += len(page)
        tags += page.count("<")
        if before is not None:
            yield before.removesuffix(_END)
            page = page.removeprefix(_START).replace(_MIDDLE, "", 1)
        before = page
        if size > _MAX_OUTPUT or tags > _MAX_OUTPUT_TAGS:
            break
    if before is not None:
        yield before


def _parsed(text: str) -> str:
    tree = LexborHTMLParser(text)
    tree.strip_tags(_INVISIBLE, recursive=True)
    for frame in tree.css("iframe"):  # what is in one is not markup, and not escaped
        while frame.first_child:
            frame.first_child.decompose()
    return tree.html or ""


def _parsed_pieces(text: str) -> Iterator[str]:
    parts = text.split("<", MAX_PAGE_TAGS + 1)[: MAX_PAGE_TAGS + 1]
    # each but the first begins with a tag
    size, start = _MAX_TAGS, 0
    while start < len(parts):
        end = _cut(parts, start, size)
        piece = _joined(parts, start, end)
        if size > _SMALL and _is_risky(piece, end - start):
            yield from _parsed_small(piece)
        else:
            page = _parsed(piece)
            if size > _SMALL and _is_up_to_something(page, end - start):
                size = _SMALL
            yield page
        start = end


def _parsed_small(text: str) -> Iterator[str]:
    parts = text.split("<")
    start = 0
    while start < len(parts):
        end = _cut(parts, start, _SMALL)
        yield _parsed(_joined(parts, start, end))
        start = end


def _cut(parts: list[str], start: int, size: int) -> int:
    """Where a piece of at most so many tags ends, if possible behind a block."""
    end = start + size
    if end >= len(parts):
        return len(parts)
    ends = range(end, start + size // 2, -1)
    return next((n for n in ends if parts[n - 1].startswith(_BLOCK_ENDS)), end)


def _joined(parts: list[str], start: int, end: int) -> str:
    return ("<" if start else "") + "<".join(parts[start:end])


def _is_risky(text: str, tags: int) -> bool:
    """May the parser add more elements to this piece than there is room for?"""
    forms = set(_FORMS.findall(text))
    # attributes are copied with their element
    weight = sum(1 + len(form) / 100 for form in forms)
    return tags * _COPIES * weight > min(_MAX_REPAIRS, _REPAIRS * len(text))


def _is_up_to_something(page: str, tags: int) -> bool:
    """Did a piece of a page cost more than honest pages do?"""
    if page.count("<") > _MAX_GROWTH * tags or page.find(">", 6) > _MAX_ROOT:
        return True
    if page.find(">", page.find("<body")) - page.find("<body") > _MAX_ROOT:
        return True
    steps = accumulate(-1 if end else 1 for end in _STEPS.findall(page))
    return max(steps, default=0) > _MAX_DEPTH


def _without_overload(text: str) -> str:
    """A page without the attributes that a tag has too many of."""
    kept: list[str] = []
    start = 0
    while tag := _HEAVY.match(text, _end(_LIGHT, text, start)):
        start = _cut_tag(kept, text, start, tag.end(1), tag.end())
    return "".join([*kept, text[start:]]) if kept else text


def _without_long_forms(text: str) -> str:
    """A page whose formatting elements have no long attributes, as they are copied."""
    kept: list[str] = []
    start = 0
    for tag in _FORMATTING.finditer(text):
        place = tag.start()
        if place >= start and not _FORM.match(text, place, place + _MAX_FORM):
            end = _end(_WHOLE, text, place)
            start = _cut_tag(kept, text, start, tag.end(), end)
    return "".join([*kept, text[start:]]) if kept else text


def _cut_tag(kept: list[str], text: str, start: int, place: int, end: int) -> int:
    """Keep a text up to a place in a tag; where to go on, at the end of the tag.

    What looks like a tag may stand in a script or a comment. Their end is not cut off.
    """
    kept.append(text[start:place])
    inner_end = text.find("</", place, end)
    if inner_end < 0:
        return end
    kept.append(">")
    return inner_end


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start
