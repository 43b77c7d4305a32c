"""Pages without prose of their own: listings, the calendar, the web cameras.

None of them is a translation of any other, though some stand at addresses that look so.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from worlds.demo.markup import Text, summary
from worlds.demo.pages import Site, local
from worlds.demo.sections import SECTIONS, WWW, Answer, ok

CALENDAR_START = 2024  # January; three years are recorded, the chain has no end
CALENDAR_MONTHS = 36
_MONTHS = """January February March April May June July August September October
November December""".split()


def listings(site: Site) -> Iterator[Answer]:
    """All of them."""
    yield from _news(site)
    yield _bulletin_table(site)
    for number in (1, 2):
        yield _webcam(site, number)
    for month in range(CALENDAR_MONTHS):
        yield _calendar(site, CALENDAR_START + month // 12, month % 12)


def plain(site: Site, title: str, body: str, head: str = "", lang: str = "en") -> str:
    """A page without menu or style."""
    return site.render("other", lang, title=title, alternates=head, body=body)


def _news(site: Site) -> Iterator[Answer]:
    """News by date and by subject: each language has news of its own."""
    english, icelandic = site.news("en")[::-1], site.news("is")[::-1]
    hours = "/visit/opening-hours.html?sid=9f86d081884c7d65"
    way = "/visit/getting-here_is.html;jsessionid=5E1F7A0C4B2D"
    yield _listing(site, "en", "", english[:2], older="page/2/", extra=hours)
    yield _listing(site, "en", "page/2/", english[2:])
    yield _listing(site, "en", "tag/fish/", english[:1])
    yield _listing(site, "en", "tag/people/", english[1:3])
    yield _listing(site, "is", "", icelandic, extra=way)
    yield _listing(site, "is", "efni/safnid/", icelandic[:2])
    yield _listing(site, "es", "", site.news("es"))


def _listing(
    site: Site,
    lang: str,
    tail: str,
    news: list[Text],
    *,
    older: str = "",
    extra: str = "",
) -> Answer:
    labels = site.labels[lang]
    base = SECTIONS["news"].address[lang]
    body = [f"<h1>{labels['news']}</h1>"]
    for text in news:
        url = site.url(text.concept, lang)
        body += [
            f'<h2><a href="{url}">{escape(text.title)}</a></h2>',
            f'<p>{escape(summary(text.lead))} <a href="{url}">{labels["more"]}</a></p>',
        ]
    if older:
        body.append(f'<p><a href="{base}{older}" rel="next">{labels["older"]}</a></p>')
    if extra:
        body.append(f'<p><a href="{extra}">{labels["visit"]}</a></p>')
    html = site.render(
        "news",
        lang,
        title=labels["news"],
        description=labels["news"],
        body="\n".join(body),
        switcher=site.homes(),
        related=site.tags(lang),
    )
    return ok(base + tail, local(html, base))


def _bulletin_table(site: Site) -> Answer:
    """One page that lists the bulletins in all languages: it has none itself."""
    rows = []
    for concept, texts in site.concepts.items():
        if concept.startswith("bulletins/"):
            month = concept.partition("/")[2]
            cells = "".join(
                f'<td><a href="{site.url(concept, lang)}">{lang.upper()}</a></td>'
                for lang in texts
            )
            rows.append(f"<tr><th>{month}</th>{cells}</tr>")
    body = "<table>\n" + "\n".join(rows) + "\n</table>"
    return ok(f"{WWW}/bulletins/", plain(site, "SI 2024", body))


def _webcam(site: Site, number: int) -> Answer:
    body = (
        f'<p><img src="/images/webcam-{number}.jpg" alt="" /></p>'
        f'<p>2024-05-06 08:00 <a href="/webcam/{3 - number}">{3 - number}</a></p>'
    )
    return ok(f"{WWW}/webcam/{number}", plain(site, f"Webcam {number}", body))


def _calendar(site: Site, year: int, month: int) -> Answer:
    """A month: there is always one more."""

    def address(index: int) -> str:
        return f"/calendar.php?year={index // 12}&month={index % 12 + 1}"

    index = year * 12 + month
    days = "".join(f"<td>{day}</td>" for day in range(1, 29))
    thursday = "<p>Thursday: public talk, 20:00, great hall. Fish soup.</p>"
    name = f"{_MONTHS[month]} {year}"
    before, after = escape(address(index - 1)), escape(address(index + 1))
    body = (
        f"<h1>{name}</h1>\n<table><tr>{days}</tr></table>\n{thursday}\n"
        f'<p><a href="{before}">Previous month</a>'
        f' <a href="{after}">Next month</a></p>'
    )
    return ok(WWW + address(index), plain(site, name, body))
