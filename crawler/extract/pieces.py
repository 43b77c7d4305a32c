"""HTML in pieces that the parser can take in one go.

Repairing HTML as browsers do may cost the square of a page's length, and memory with
it. Measured with lexbor 2.7, which has no limits of its own: 100,000 nested lists take
four minutes, 4,000 unclosed `<font>` of different colours in as many paragraphs 2 GB,
100,000 attributes of one tag 20 s. Cut into pieces they cost a second or two.

Nearly every page is one piece; a manual of 100,000 tags in one file becomes ten, cut
behind the end of a block, and loses nothing but what spans the cut (which list an item
was in). In: the text of a page. Out: the parser's own, regular HTML for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from selectolax.lexbor import LexborHTMLParser

# 10,000 nested tags of the dearest kind take 0.25 s; of the pages of our recorded sites
# 0.2 % have more.
_MAX_TAGS = 10_000
# More tags than this in a page are no text; its rest is left. (Three times what the
# largest one-page manual has.)
_MAX_PAGE_TAGS = 400_000
# Elements that a repair may add to a piece: 360 bytes each.
_MAX_REPAIRS = 1_000_000
# The parser's output for a whole page; ten times the longest body that is read.
_MAX_OUTPUT = 50_000_000
# 16,000 attributes (50 KB) of one tag take 0.5 s; shorter pages need no look.
_MAX_UNSEEN = 50_000

# Nobody reads these, and their content is not markup.
_INVISIBLE = (
    "script style template noscript svg math object canvas xmp noembed noframes".split()
)
# A tag with more attributes than anybody writes: it keeps only its name.
_OVERLOADED = re.compile(
    r"""<([a-z][^\s/>]*+)(?:[\s/]*+=?[^\s/>=]++"""
    r"""(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+))?+){500,}+""",
    re.IGNORECASE,
)
# The elements that a parser opens again in every block until they are closed, each form
# of them three times at most (HTML, 13.2.4.3). The look-ahead lets none hide another;
# the first letter spares most tags the list, which halves the time.
_FORMATTING = re.compile(
    r"""<(?=[bcefinstu])"""
    r"""(?=((?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])"""
    r"""(?:[^>"']|"[^"]*+"|'[^']*+')*+))""",
    re.IGNORECASE,
)
_COPIES = 3
# So few tags are safe even if half of them are such elements, all opened again by each
# of the other half.
_SAFE_TAGS = math.isqrt(4 * _MAX_REPAIRS)
_BLOCK_ENDS = ("/p>", "/div>", "/li>", "/tr>", "/dd>", "/table>", "/ul>", "/section>")
_START, _MIDDLE, _END = "<html><head>", "</head><body>", "</body></html>"


def repaired(text: str) -> str:
    """A page as regular HTML: every tag closed, every attribute quoted.

    >>> repaired("<p>one<p title=two>two<script>three</script>")
    '<html><head></head><body><p>one</p><p title="two">two</p></body></html>'
    """
    if len(text) > _MAX_UNSEEN:
        text = _OVERLOADED.sub(r"<\1", text)
    if text.count("<") > _MAX_PAGE_TAGS:
        text = "<".join(text.split("<", _MAX_PAGE_TAGS)[:-1])
    output: list[str] = []
    size = 0
    for piece in _pieces(text):
        output.append(_parsed(piece))
        size += len(output[-1])
        if size > _MAX_OUTPUT:
            break
    return output[0] if len(output) == 1 else _joined(output)


def _parsed(text: str) -> str:
    tree = LexborHTMLParser(text)
    tree.strip_tags(_INVISIBLE, recursive=True)
    return tree.html or ""


def _pieces(text: str) -> Iterator[str]:
    for piece in _cut(text, _MAX_TAGS):
        tags = piece.count("<")
        if tags > _SAFE_TAGS and tags * _forms(piece) * _COPIES > _MAX_REPAIRS:
            # in a quarter of the tags a sixteenth is opened again
            yield from _cut(piece, _SAFE_TAGS // 4)
        else:
            yield piece


def _forms(text: str) -> int:
    return len(set(_FORMATTING.findall(text)))


def _cut(text: str, size: int) -> Iterator[str]:
    """Pieces of at most so many tags, if possible cut behind a block."""
    if text.count("<") <= size:
        yield text
        return
    parts = text.split("<")  # each but the first begins with a tag
    start = 0
    while start < len(parts):
        end = min(start + size, len(parts))
        if end < len(parts):
            ends = range(end, start + size // 2, -1)
            end = next((n for n in ends if parts[n - 1].startswith(_BLOCK_ENDS)), end)
        yield ("<" if start else "") + "<".join(parts[start:end])
        start = end


def _joined(pages: Sequence[str]) -> str:
    """One page of many: the parser gives each piece a head and a body."""
    first, *others = (page.removesuffix(_END) for page in pages)
    bodies = [page.removeprefix(_START).replace(_MIDDLE, "", 1) for page in others]
    return "".join((first, *bodies, _END))
