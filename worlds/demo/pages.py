"""The pages of the demo world that have a text of their own: content into templates."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path
from string import Template

from worlds.demo.markup import Text, by_concept, read_texts, summary, to_html
from worlds.demo.sections import IS, SECTIONS, WWW, XHTML, Answer, ok

HERE = Path(__file__).parent
# The main menu: a label, and the concept or the address that it leads to.
_MENU = {
    "about": "institute/about",
    "research": "research/index",
    "fisheries": "fisheries/index",
    "museum": "museum/index",
    "visit": "visit/opening-hours",
    "guide": "guide/index",
    "bulletins": f"{WWW}/bulletins/",
    "tales": "tales/seal-woman",
    "news": "news",
    "shop": "shop",
    "contact": "institute/contact",
}
_TAGS = {
    "en": {"Fish": "tag/fish/", "People": "tag/people/"},
    "is": {"Safnið": "efni/safnid/"},
    "es": {},
}
# Addresses that a page declares as its translation and that are none: an English copy
# under an Icelandic address, and a page that does not exist.
FALSE_ALTERNATES = {
    "institute/data-policy": {"is": f"{WWW}/is/about/data-policy/"},
    "institute/contact": {"da": f"{WWW}/da/about/contact/"},
}
# Pages with a version for the printer, at the same address with ?print=1.
PRINTED = {"research/volcano": ("en", "is"), "fisheries/cod": ("en", "is")}
# The encodings of the old pages: what the header says, what <meta> says; the bytes are
# windows-1252 in all three, as in the pages of 1998 that called themselves iso-8859-1.
_TALES = {
    "en": ("text/html", ""),
    "is": ("text/html; charset=iso-8859-1", ""),
    "es": (
        "text/html",
        '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=windows-1252">\n',
    ),
}


class Site:
    """The texts, and how a page is made of one."""

    def __init__(self, folder: Path = HERE) -> None:
        self.texts = read_texts(folder / "content")
        self.concepts = by_concept(self.texts)
        labels = (folder / "content" / "labels.toml").read_text(encoding="utf-8")
        self.labels = tomllib.loads(labels)
        self.templates = {
            path.stem: Template(path.read_text(encoding="utf-8"))
            for path in sorted((folder / "templates").glob("*.html"))
        }

    def url(self, concept: str, lang: str) -> str:
        """The canonical address of a concept in a language."""
        text = self.concepts[concept][lang]
        return SECTIONS[text.section].address[lang] + text.tail

    def html(self, text: Text) -> str:
        """The page of a text, in the template of its section."""
        extra = ""
        if text.lang in PRINTED.get(text.concept, ()):
            label = self.labels[text.lang]["print"]
            extra = f'\n<p class="print"><a href="?print=1">{label}</a></p>'
        return self.render(
            text.section,
            text.lang,
            url=self.url(text.concept, text.lang),
            title=escape(text.title),
            description=escape(summary(text.lead)),
            body=self.body(text) + extra,
            switcher=self._switcher(text),
            alternates=self._alternates(text),
            related=self._related(text),
            canonical=self._canonical(text),
            sequence=self._sequence(text),
            charset=_TALES.get(text.lang, ("", ""))[1],
            # one day apart in each language: pages are translated after a while
            date=f"2024-04-{10 + sorted(self.labels).index(text.lang)}",
        )

    def body(self, text: Text) -> str:
        """The prose of a text as HTML, with links inside its language."""
        return to_html(text.source, lambda target: self._target(target, text.lang))

    def render(self, template: str, lang: str, **values: str) -> str:
        """A template with its labels, menu and values filled in."""
        labels = self.labels[lang]
        common = {
            "lang": lang,
            "nav": self._menu(lang),
            "home_url": self.url("institute/home", lang)
            if lang in self.concepts["institute/home"]
            else f"{WWW}/en/",
            "section": labels.get(template, ""),
            "section_url": SECTIONS[template].address.get(lang, WWW)
            if template in SECTIONS
            else "",
            "related_label": labels.get("related", ""),
        }
        return self.templates[template].substitute(
            {key: escape(label) for key, label in labels.items()} | common | values
        )

    def answers(self) -> list[Answer]:
        """An answer for each text, in the order of the files' names."""
        return [self._answer(text) for text in self.texts]

    def alternates(self, concept: str) -> dict[str, str]:
        """Language → address of a concept's pages, as the site declares them."""
        true = {lang: self.url(concept, lang) for lang in self.concepts[concept]}
        return true | FALSE_ALTERNATES.get(concept, {})

    def news(self, lang: str) -> list[Text]:
        """The news of a language, in the order of the files' names."""
        return [t for t in self.texts if t.section == "news" and t.lang == lang]

    def tags(self, lang: str) -> str:
        """The list of a language's news subjects, as HTML."""
        base = SECTIONS["news"].address[lang]
        return "\n".join(
            f'<li><a href="{base}{tail}">{label}</a></li>'
            for label, tail in _TAGS[lang].items()
        )

    def homes(self) -> str:
        """A switcher that leads to the home pages, wherever it stands."""
        return "\n".join(
            f'<li><a href="{self.url("institute/home", lang)}">'
            f"{self.labels[lang]['endonym']}</a></li>"
            for lang in ("en", "is", "es")
        )

    def _answer(self, text: Text) -> Answer:
        url = self.url(text.concept, text.lang)
        html = local(self.html(text), url)
        if text.section == "tales":
            # written by hand in 1998: no end tags of paragraphs, capital letters
            html = html.replace("</p>", "").replace("<p>", "<P>")
            return ok(url, html, _TALES[text.lang][0], encoding="windows-1252")
        if text.section == "fisheries":
            return ok(url, html, "text/html")
        if text.section == "guide" and text.lang == "is":
            return ok(url, html, XHTML)
        return ok(url, html)

    def _target(self, target: str, lang: str) -> str:
        if target.startswith(("/", "http")):
            return target
        if target == "museum/index" and lang == "en":
            return "/museum/"  # leads on by meta refresh
        return self.url(target, lang)

    def _menu(self, lang: str) -> str:
        items = []
        for label, target in _MENU.items():
            if target in self.concepts:
                if lang not in self.concepts[target]:
                    continue
                href = self._target(target, lang)
            elif target == "shop":
                href = f"{WWW}/{lang}/shop/"
            elif target == "news":
                href = SECTIONS["news"].address.get(lang, "")
            else:
                href = target
            if label in self.labels[lang] and href:
                text = escape(self.labels[lang][label])
                items.append(f'<li><a href="{escape(href)}">{text}</a></li>')
        return "\n".join(items)

    def _switcher(self, text: Text) -> str:
        style = SECTIONS[text.section].switcher
        urls = {
            lang: escape(self.url(text.concept, lang))
            for lang in self.concepts[text.concept]
        }
        names = {lang: self.labels[lang]["endonym"] for lang in urls}
        if style == "hreflang":
            declared = self.alternates(text.concept)
            return "\n".join(
                f'<li><a href="{url}" hreflang="{lang}" lang="{lang}">'
                f"{self.labels[lang]['endonym']}</a></li>"
                for lang, url in declared.items()
            )
        if style == "names":
            return " · ".join(
                f"<b>{names[lang]}</b>"
                if lang == text.lang
                else f'<a href="{url}">{names[lang]}</a>'
                for lang, url in urls.items()
            )
        if style == "codes":
            # the English pages answer without a language too: two addresses
            urls["en"] += ("&amp;" if "?" in urls["en"] else "?") + "lang=en"
            return " | ".join(
                f'<a href="{url}">{lang.upper()}</a>' for lang, url in urls.items()
            )
        if style == "options":
            return "\n".join(
                f'<option value="{url.removeprefix(WWW)}"'
                f"{' selected' if lang == text.lang else ''}>{names[lang]}</option>"
                for lang, url in urls.items()
            )
        return self.homes() if style == "homes" else ""

    def _alternates(self, text: Text) -> str:
        declared = self.alternates(text.concept)
        if len(declared) == 1:
            return ""
        return "\n".join(
            f'<link rel="alternate" hreflang="{lang}" href="{url}">'
            for lang, url in [*declared.items(), ("x-default", declared["en"])]
        )

    def _related(self, text: Text) -> str:
        """Links to the other pages of the section in the same language."""
        if text.section == "news":
            return self.tags(text.lang)
        siblings = [
            other
            for other in self.texts
            if other.section == text.section
            and other.lang == text.lang
            and other.concept != text.concept
        ]
        links = [
            f'<a href="{escape(self.url(other.concept, other.lang))}">'
            f"{escape(other.title)}</a>"
            for other in siblings
        ]
        if text.section == "museum":
            return "<br>\n".join(links)
        return "\n".join(f"<li>{link}</li>" for link in links)

    def _canonical(self, text: Text) -> str:
        if text.section != "museum" or text.lang != "en":
            return ""
        url = escape(self.url(text.concept, "en"))
        return f'<link rel="canonical" href="{url}">'

    def _sequence(self, text: Text) -> str:
        if text.section != "bulletins":
            return ""
        months = [c for c in self.concepts if c.startswith("bulletins/")]
        at = months.index(text.concept)
        near = {"prev": months[at - 1 : at], "next": months[at + 1 : at + 2]}
        return "\n".join(
            f'<link rel="{rel}" href="{self.url(concept, text.lang)}">'
            for rel, concepts in near.items()
            for concept in concepts
        )


def local(html: str, url: str) -> str:
    """A page whose anchors name its own host by a slash only, as most sites do."""
    host = IS if url.startswith(IS) else WWW
    return html.replace(f'<a href="{host}/', '<a href="/')
