"""Bytes to text: byte order mark, HTTP header, <meta>, then how the bytes read.

The order and the table of charset names that lie (`iso-8859-1` means cp1252 on the web)
are those of w3lib, which follows the browsers. Nothing is ever refused: a byte that
does not fit becomes U+FFFD, and the text says so. A declaration is not believed against
the bytes (`crawler.extract.encoding`), and UTF-8 that was encoded twice is mended.
"""

from __future__ import annotations

import re

from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    to_unicode,
)

from crawler.extract.encoding import best_encoding, checked_encoding

# The encodings of text that pages are in: those of the Encoding Standard, and older
# ones of DOS, the Macintosh and Central Asia. Python knows others that are not for
# text, or that take the square of its length (punycode).
_ENCODINGS = frozenset(
    """utf-8 utf-16-le utf-16-be gb18030 hz big5hkscs euc_jp iso2022_jp cp932 cp949
    iso2022_kr johab koi8-r koi8-u koi8-t kz1048 ptcp154
    cp437 cp737 cp775 cp850 cp852 cp855 cp857 cp860 cp861 cp862 cp863 cp864 cp865 cp866
    cp869 cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10
    iso8859-13 iso8859-14 iso8859-15 iso8859-16 mac-roman mac-cyrillic mac-greek
    mac-turkish mac-latin2 mac-iceland mac-croatian mac-romanian""".split()
)

# What the first bytes of Latin, Cyrillic and Greek letters become when UTF-8 is read as
# Windows-1252, and each of its characters as the byte it was.
_LEADS = "ÃÄÅÐÎ"
_TO_BYTES = {
    ord(bytes([byte]).decode("cp1252")): byte
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_CERTAIN = 4  # runs of characters, all of which are UTF-8: chance makes one, seldom two

# Neither markup nor text begins so; a body that does is not worth a parser's time.
_BINARY_PREFIXES = (
    b"%PDF-",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"RIFF",
    b"\x00\x00\x01\x00",
    b"wOF",
)
# What no text has (WHATWG, MIME Sniffing, 3: binary data bytes).
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def decode(body: bytes, content_type: str | None) -> str:
    """The text of an HTML body; `content_type` is the HTTP header as it came.

    >>> decode("<p>þú</p>".encode("latin-1"), "text/html; charset=iso-8859-1")
    '<p>þú</p>'
    """
    encoding, mark = read_bom(body)
    if encoding is not None and mark is not None:
        return to_unicode(body[len(mark) :], encoding)
    encoding = text_encoding(http_content_type_encoding(content_type))
    encoding = encoding or _declared(body)
    if encoding == "utf-8" or encoding is None:
        text = to_unicode(body, "utf-8")
        if "\ufffd" not in text:  # nearly all pages
            return _mended(text)
    if encoding is None:
        encoding = best_encoding(body)
    else:
        encoding = checked_encoding(body, encoding)
    return _mended(to_unicode(body, encoding))


def _mended(text: str) -> str:
    r"""A text without the second of two encodings in UTF-8, if it certainly has one.

    >>> _mended("<p>dÃ©jÃ\xa0 vu, voilÃ\xa0, Ã§a"), _mended("São Paulo, Â, déjà vu")
    ('<p>déjà vu, voilà, ça', 'São Paulo, Â, déjà vu')
    """
    if not any(lead in text for lead in _LEADS):
        return text
    runs = 0
    try:
        for run in _NOT_ASCII.finditer(text):  # most pages end it with the first
            _once(run[0])
            runs += 1
        return _once(text) if runs >= _CERTAIN else text
    except UnicodeError:
        return text


def _once(text: str) -> str:
    return text.translate(_TO_BYTES).encode("latin-1").decode("utf-8")


def text_encoding(name: str | None) -> str | None:
    """An encoding as w3lib names it, if text may be in it; else None."""
    if name == "utf-16":
        return "utf-16-le"  # what the name means on the web (Encoding Standard)
    return name if name in _ENCODINGS else None


def _declared(body: bytes) -> str | None:
    """What <meta> or the XML prologue says, which was just read as ASCII."""
    encoding = html_body_declared_encoding(body)
    if encoding and encoding.startswith(("utf-16", "utf-32")):
        return "utf-8"
    return text_encoding(encoding)


def looks_like_html(body: bytes, content_type: str | None) -> bool:
    """Is this worth parsing as HTML? The header decides, the first bytes may veto."""
    kind = re.split("[;,]", content_type or "", maxsplit=1)[0].strip().lower()
    if kind and kind not in ("text/html", "application/xhtml+xml"):
        return False
    head = body[:1024].lstrip()
    if head.startswith(_BINARY_PREFIXES):
        return False
    return b"<" in head or (bool(kind) and not _CONTROLS.search(head))
