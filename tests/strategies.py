"""Hypothesis strategies that several tests share: URLs and HTML, decent and hostile."""

from __future__ import annotations

from hypothesis import strategies as st

# By experiment with pycld2 0.42 over all 1,114,112 code points: CLD2 refuses these.
REFUSED_BY_CLD2 = [
    *range(9),
    0x0B,
    *range(0x0E, 0x20),
    *range(0x7F, 0xA0),
    *range(0xFDD0, 0xFDF0),
    *(plane << 16 | low for plane in range(17) for low in (0xFFFE, 0xFFFF)),
]

# What makes URLs hard to keep in one form, put together at random.
_URL_PIECES = r"""http:// https:// HTTP: a.is www. EXAMPLE.org :80 :443 :8080 @ u:p@ /
// .. . %2e %2E%2E % %% %3 %41 %7e %C3%A9 é ü.is xn-- ? & # utm_source=x utm%5Fsource=x
sid=0123456789abcdef sid=x jsessionid=1 ;jsessionid=1 ;phpsessid= = && a=1 [::1] 127.1
0x7f.1 \ ; | en is /is/ _en -is .en.html lang=is hl=en""".split()

_HOSTS = "example.org www.example.org shop.example.org example.co.uk 127.0.0.1".split()
_SEGMENTS = """about news frettir english-lessons-for-all islands a.html b_c.php d-e-f
2024 07 index.html %C3%BE%C3%A1 guide v2.0 detail""".split()
_PARAMETERS = "a=1 b=2 q=x%20y page=3 id=17 view=print".split()

# Tags, attributes and text as they should be, and as they should not.
_HTML_PIECES = """<p> </p> <div> </div> <ul> <li> </ul> <table> <tr> <td> </table> <br>
<b> </b> <pre> </pre> <a href=/x> <a href="/y"> </a> <nav> </nav> <form> </form> <h1>
<select> <option> </h1> <img alt=i> <title> </title> <body> </body> <html lang=is>
<script> </script> <style> <svg> </svg> <math> <template> <textarea> <plaintext> <meta>
<frameset> <frame src=f> <base href=//b> <link rel=alternate hreflang=en href=e> <!--
--> <!--> <! <? ?> <![CDATA[ ]]> < > " ' = / & &amp; &lt; &#0; &#xD800; &nosuch; <p"x>
<a href="x""y"> <x-y href=z> <0 </ </> word Þú 日本""".split()
_HTML_PIECES += [" ", "\n", "text and more. ", "\x00", "\ud800", "\udfff", "\ufeff"]


def rough_urls() -> st.SearchStrategy[str]:
    """Strings that are URLs, or nearly."""
    pieces = st.lists(st.sampled_from([*_URL_PIECES, " ", "\t", "\n", "\x00"]))
    joined = pieces.map("".join)
    return st.one_of(joined, joined.map("https://a.is/".__add__), st.text())


def urls() -> st.SearchStrategy[str]:
    """Canonical URLs without a language marker."""
    return st.builds(
        lambda host, path, slash, query: (
            f"https://{host}/{'/'.join(path)}{'/' if path and slash else ''}"
            + (f"?{'&'.join(query)}" if query else "")
        ),
        st.sampled_from(_HOSTS),
        st.lists(st.sampled_from(_SEGMENTS), max_size=4),
        st.booleans(),
        st.lists(st.sampled_from(_PARAMETERS), max_size=2, unique=True),
    )


def rough_html() -> st.SearchStrategy[str]:
    """Strings that are HTML, or nearly; lone surrogates and NUL included."""
    anything = st.text(st.characters(exclude_categories=()), max_size=10)
    pieces = st.lists(st.one_of(st.sampled_from(_HTML_PIECES), anything), max_size=40)
    return pieces.map("".join)


_ROBOTS_PIECES = r"""User-agent: Disallow: Allow: Crawl-delay: Request-rate: Sitemap:
Visit-time: * bifocal / /x /*a*b$ %2F %zz é 1 2.5 -3 nan inf 1e999 0/0 1/10s 5/1h
https://a.is/s.xml javascript:x # : ::""".split()


def robots_txt() -> st.SearchStrategy[bytes]:
    """What servers answer to /robots.txt: rules, or nearly, or anything."""
    pieces = st.sampled_from([*_ROBOTS_PIECES, " ", "\n", "\r\n", "\x00", "\ufeff"])
    joined = st.lists(pieces, max_size=40).map("".join)
    return st.one_of(joined.map(str.encode), st.binary(max_size=200))
