"""Synthetic bilingual sites for tests and benchmarks: seeded, with known true pairs.

    site = build_site(langs=("en", "is"), concepts=30, style="slug", untranslated=0.3)
    for page in site.pages(): ...           # crawler.data.Page, HTML in the body
    site.home, site.seeds                   # where a crawl starts
    site.gold("en", "is")                   # {(url, url)}: the true pairs
    write_warc(tmp_path / "site.warc.gz", site.pages())

A site has `concepts`; a page is a concept in a language. Its text is made of sentences
put together from `worlds.tsv` (who did what, and how), the same ones in each language,
with names and numbers that the languages share; CLD2 recognises all of them. Concepts
form a tree of ten children each, concept 0 is the home page, and a page links to its
parent, its children and the one before and after it in its own language, and to its
translations as `switcher` says.

An `untidy` site is like many on the web: each page says `<html lang>` of the first
language, a notice in that language stands on all pages, paragraphs end at different
places in each language, and here and there a language lacks a sentence or says two in
one. `Site.beads` has the true sentence pairs, on tidy sites too.

Everything is computed from the options, nothing is stored: a site of 100,000 pages is
streamed in constant memory. `many_sites` spreads pages over hosts.
"""

from __future__ import annotations

import lzma
import random
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from html import escape
from itertools import product
from pathlib import Path
from typing import Literal

from crawler.data import Page
from crawler.languages import fold
from crawler.warc.record import compress, layout, sha1, warc_date

FETCHED_AT = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)
FAN_OUT = 10  # children of a concept: 90 % of the concepts are leaves

# How a URL shows its language; the first language has no marker except in `dir`.
#   dir        /en/harbour/page.html         /is/harbour/page.html
#   default    /harbour/page.html            /is/harbour/page.html
#   suffix     /harbour/page.en.html         /harbour/page.is.html
#   letter     /harbour/page_e.html          /harbour/page_i.html
#   query      /harbour/page.html            /harbour/page.html?lang=is
#   subdomain  example.org/harbour/page.html is.example.org/harbour/page.html
#   slug       /the-harbour/opened-a-door/   /hofnin/opnadi-dyr/     (no marker at all)
Style = Literal["dir", "default", "suffix", "letter", "query", "subdomain", "slug"]


@cache
def _phrases() -> dict[str, dict[str, list[str]]]:
    """language → kind of phrase → phrases; equal places mean the same."""
    table = Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()
    _kind, *langs = table[0].split("\t")
    phrases: dict[str, dict[str, list[str]]] = {lang: {} for lang in langs}
    for row in table[1:]:
        kind, *cells = row.split("\t")
        for lang, cell in zip(langs, cells, strict=True):
            phrases[lang].setdefault(kind, []).append(cell)
    return phrases


@lru_cache(10_000)
def _slug(text: str) -> str:
    words = "".join(c if c.isalnum() else " " for c in fold(text)).split()
    return "-".join(words).replace("ð", "d").replace("þ", "th").replace("æ", "ae")


# Of the style `letter`: no two languages have the same.
_LETTERS = {"en": "e", "is": "i", "es": "s", "fr": "f", "fi": "u"}
# What a page of an untidy site does with a sentence.
_HABITS = ("as it is",) * 8 + ("missing", "two in one")


@dataclass(frozen=True, slots=True)
class Site:
    """One synthetic site; build it with `build_site`."""

    host: str
    langs: tuple[str, ...]  # of en, is, es, fr, fi; the first is the default
    style: Style
    concepts: int
    words: int  # of running text on a page, about
    untranslated: float  # share of leaf concepts that exist in one language only
    others: tuple[str, ...]  # third languages …
    others_share: float  # … and the share of leaf concepts that exist in them
    near_duplicates: float  # share of leaf pages with a printable version
    hreflang: bool  # do pages declare their translations in <link>?
    switcher: Literal["page", "home", "none"]  # which pages link to translations?
    seed: int
    untidy: bool = False

    # --- which pages there are

    def langs_of(self, concept: int) -> tuple[str, ...]:
        """The languages that a concept exists in."""
        if concept * FAN_OUT + 1 < self.concepts:  # has children: a way to all of them
            return self.langs + self.others
        if not self.untranslated and not self.others:
            return self.langs
        random = self._random("langs", concept)
        langs = self.langs
        if random.random() < self.untranslated:
            langs = (random.choice(self.langs),)
        return langs + tuple(
            lang for lang in self.others if random.random() < self.others_share
        )

    def url(self, concept: int, lang: str) -> str:
        """Where a concept is found in a language."""
        first = lang == self.langs[0]
        if self.style == "slug":
            path = _slug(_phrases()[lang]["home"][0]) + "/" if not first else ""
            if concept:
                path = f"{self._section(concept, lang)}/{self._name(concept, lang)}/"
            return f"https://{self.host}/{path}"
        path = ""
        if concept:
            path = f"{self._section(concept, 'en')}/{self._name(concept, 'en')}.html"
        if self.style == "suffix":
            path = (path or "index.html").removesuffix("html") + f"{lang}.html"
        elif self.style == "letter":
            path = (path or "index.html").removesuffix(
                ".html"
            ) + f"_{_LETTERS[lang]}.html"
        elif self.style == "dir" or (self.style == "default" and not first):
            path = f"{lang}/{path}"
        elif self.style == "query" and not first:
            path += f"?lang={lang}"
        sub = f"{lang}." if self.style == "subdomain" and not first else ""
        return f"https://{sub}{self.host}/{path}"

    @property
    def home(self) -> str:
        """The home page, in the first language."""
        return self.url(0, self.langs[0])

    @property
    def seeds(self) -> list[str]:
        """The home pages of the two languages: all that `switcher="none"` can reach."""
        return [self.url(0, lang) for lang in self.langs]

    def gold(self, src: str, trg: str) -> set[tuple[str, str]]:
        """The true pairs; printable versions are in none."""
        return {
            (self.url(concept, src), self.url(concept, trg))
            for concept in range(self.concepts)
            if {src, trg} <= set(self.langs_of(concept))
        }

    def lang_by_url(self) -> dict[str, str]:
        """Every URL of the site with its language, printable versions too."""
        found = {}
        for concept in range(self.concepts):
            for lang in self.langs_of(concept):
                found[self.url(concept, lang)] = lang
                if self._has_copy(concept, lang):
                    found[self.copy_url(concept, lang)] = lang
        return found

    def copy_url(self, concept: int, lang: str) -> str:
        """Where the printable version of a page is, if it has one."""
        scheme, rest = self.url(concept, lang).split("://")
        host, _, path = rest.partition("/")
        return f"{scheme}://{host}/print/{path}"

    # --- what is on them

    def pages(self) -> Iterator[Page]:
        """Every page, concept by concept."""
        for concept in range(self.concepts):
            for lang in self.langs_of(concept):
                yield self.page(concept, lang)
                if self._has_copy(concept, lang):
                    yield self.page(concept, lang, copy=True)

    def page(self, concept: int, lang: str, *, copy: bool = False) -> Page:
        """A concept in a language, or its near duplicate."""
        url = self.copy_url(concept, lang) if copy else self.url(concept, lang)
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        body = self._html(concept, lang, copy=copy).encode()
        return Page(url, 200, headers, body, FETCHED_AT)

    def links(self, concept: int, lang: str) -> list[tuple[str, str]]:
        """The links of a page to its own language: (url, anchor text)."""
        parent = (concept - 1) // FAN_OUT
        first_child = concept * FAN_OUT + 1
        near = [concept - 1, concept + 1, *range(first_child, first_child + FAN_OUT)]
        links = [(self.url(0, lang), _phrases()[lang]["home"][0])]
        links += [
            (self.url(other, lang), self.title(other, lang))
            for other in dict.fromkeys([parent, *near])
            if 0 < other < self.concepts and lang in self.langs_of(other)
        ]
        if self._has_copy(concept, lang):
            links.append((self.copy_url(concept, lang), _phrases()[lang]["print"][0]))
        return links

    def translations(self, concept: int, lang: str) -> list[tuple[str, str]]:
        """The other languages of a page: (url, language)."""
        return [
            (self.url(concept, other), other)
            for other in self.langs_of(concept)
            if other != lang
        ]

    def title(self, concept: int, lang: str) -> str:
        """What a page is called, differently for each concept."""
        words = _phrases()[lang]
        part, place = divmod(concept, 400)
        place = place * 147 % 400  # 147 and 400 have no common factor: all differ
        title = f"{words['who'][place % 20]} {words['did'][place // 20]}"
        return f"{title} ({part + 1})" if part else title

    def sentences(self, concept: int, lang: str) -> list[str]:
        """The running text: the same sentences in each language, one to one.

        If the site is `untidy`, some are missing, and some are two in one.
        """
        return [text for _, text in self._said(concept, lang)]

    def beads(self, concept: int, src: str, trg: str) -> list[tuple[str, str]]:
        """The true sentence pairs of a concept: the text of each side."""
        found = []
        for (numbers, one), (others, other) in product(
            self._said(concept, src), self._said(concept, trg)
        ):
            if numbers[0] == others[0] and len(numbers) == len(others):
                found.append((one, other))
            elif numbers[0] == others[0]:  # two of the one side
                longer = trg if len(others) > 1 else src
                shorter = src if longer == trg else trg
                parts = [
                    text
                    for said, text in self._said(concept, shorter)
                    if said[0] in (*numbers, *others)
                ]
                both = " ".join(parts)
                found.append((both, other) if longer == trg else (one, both))
        return found

    def _said(self, concept: int, lang: str) -> list[tuple[tuple[int, ...], str]]:
        """The sentences of a page, and which of the concept's each of them says."""
        random = self._random("text", concept)
        words = _phrases()[lang]
        told = []
        for number in range(max(1, self.words // 12)):  # a sentence has about 12 words
            who, did, how = (random.randrange(20) for _ in range(3))
            sentence = f"{words['who'][who]} {words['did'][did]} {words['how'][how]}."
            sentence = sentence.format(
                year=random.randrange(1900, 2024),
                number=random.randrange(3, 1000),
                name=f"{_proper(random)} {_proper(random)}",
            )
            told.append(((number,), sentence))
        if not self.untidy:
            return told
        habits = self._random("habits", concept)
        said = []
        while told:
            habit = habits.choice(_HABITS)
            here = habits.choice(self.langs) == lang
            numbers, sentence = told.pop(0)
            if habit == "two in one" and told:
                following, more = told.pop(0)
                if here:
                    said.append((numbers + following, f"{sentence[:-1]}; {more}"))
                    continue
                said += [(numbers, sentence), (following, more)]
            elif habit != "missing" or not here:
                said.append((numbers, sentence))
        return said

    def _html(self, concept: int, lang: str, *, copy: bool) -> str:
        words = {kind: phrases[0] for kind, phrases in _phrases()[lang].items()}
        title = escape(self.title(concept, lang))
        translations = self.translations(concept, lang)
        alternates = "".join(
            f'<link rel="alternate" hreflang="{code}" href="{escape(url)}">\n'
            for url, code in translations
            if self.hreflang and not copy
        )
        menu = "".join(
            f'<a href="{escape(url)}">{_phrases()[code]["endonym"][0]}</a>\n'
            for url, code in translations
            if self.switcher == "page" or (self.switcher == "home" and not concept)
        )
        sentences = self.sentences(concept, lang)[1 if copy else 0 :]
        size = 3 + self.langs.index(lang) if self.untidy and lang in self.langs else 3
        text = "\n".join(
            f"<p>{escape(' '.join(sentences[start : start + size]))}</p>"
            for start in range(0, len(sentences), size)
        )
        if self.untidy:
            text = f"<p>{_phrases()[self.langs[0]]['footer'][0]}.</p>\n{text}"
        declared = self.langs[0] if self.untidy else lang
        random = self._random("table", concept)
        rows = "".join(
            f"<tr><td>{year}</td><td>{random.randrange(100, 99_999)}</td></tr>\n"
            for year in range(2020, 2020 + random.randrange(1, 5))
        )
        links = "".join(
            f'<li><a href="{escape(url)}">{escape(anchor)}</a></li>\n'
            for url, anchor in self.links(concept, lang)
        )
        return (
            f'<!DOCTYPE html>\n<html lang="{declared}">\n<head>\n'
            '<meta charset="utf-8">\n'
            f"<title>{title}</title>\n{alternates}</head>\n<body>\n<nav>\n{menu}</nav>\n"
            f"<main>\n<h1>{title}</h1>\n{text}\n"
            f"<table><tr><th>{words['year']}</th><th>{words['visitors']}</th></tr>\n"
            f"{rows}</table>\n</main>\n<nav><h2>{words['more']}</h2>\n<ul>\n{links}"
            f"</ul></nav>\n<footer>{words['footer']}</footer>\n</body>\n</html>\n"
        )

    # --- the parts of an address

    def _section(self, concept: int, lang: str) -> str:
        while concept > FAN_OUT:
            concept = (concept - 1) // FAN_OUT
        return _slug(_phrases()[lang]["who"][concept])

    def _name(self, concept: int, lang: str) -> str:
        return _slug(self.title(concept, lang))

    def _has_copy(self, concept: int, lang: str) -> bool:
        if not self.near_duplicates or concept * FAN_OUT + 1 < self.concepts:
            return False
        return self._random(f"copy {lang}", concept).random() < self.near_duplicates

    def _random(self, purpose: str, concept: int) -> random.Random:
        return random.Random(f"{self.seed} {self.host} {purpose} {concept}")


def _proper(random: random.Random) -> str:
    """A name that no language owns."""
    starts = "Hart Bel Nor Mir Tal Ost Kar Ven Rud Lam Sol Gri Dor Fal Wes Ing".split()
    ends = "vale mann berg sen stad ley ford mar dahl ton wick ner vik gard".split()
    return random.choice(starts) + random.choice(ends)


def build_site(
    host: str = "town.example",
    *,
    langs: tuple[str, ...] = ("en", "is"),
    style: Style = "dir",
    concepts: int = 20,
    words: int = 150,
    untranslated: float = 0.0,
    others: tuple[str, ...] = (),
    others_share: float = 0.5,
    near_duplicates: float = 0.0,
    hreflang: bool = False,
    switcher: Literal["page", "home", "none"] = "page",
    seed: int = 0,
    untidy: bool = False,
) -> Site:
    """A site; the fields of `Site` explain the options."""
    known = _phrases()
    unknown = [lang for lang in (*langs, *others) if lang not in known]
    if unknown:
        raise ValueError(f"no phrases for {unknown}; there are {sorted(known)}")
    return Site(
        host,
        langs,
        style,
        concepts,
        words,
        untranslated,
        others,
        others_share,
        near_duplicates,
        hreflang,
        switcher,
        seed,
        untidy,
    )


def many_sites(count: int, site: Site) -> Iterator[Site]:
    """The same kind of site under many registered domains, each with its own texts."""
    for number in range(count):
        yield replace(site, host=f"town{number:05}.example")


def declaring_a_chain(site: Site) -> Iterator[Page]:
    """The pages of a site in three languages; only neighbours declare each other.

    Of the languages a, b, c those are b and a, a and c.
    """
    a, b, c = site.langs
    lang_of, silent = site.lang_by_url(), {a: b, b: c, c: b}
    for page in site.pages():
        other = silent.get(lang_of.get(page.url, ""), "none").encode()
        body = re.sub(rb'<link[^>]*hreflang="%s"[^>]*>' % other, b"", page.body)
        yield replace(page, body=body)


def write_warc(path: Path, pages: Iterable[Page]) -> Path:
    """Store pages as responses in one file: .warc, .warc.gz or (one stream) .warc.xz.

    Equal pages give equal bytes. Nothing is held in memory.
    """
    packed = path.suffix == ".gz"
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "wb") as file:
        for page in pages:
            record = response_record(page)
            file.write(compress(record, level=1) if packed else record)
    return path


def response_record(page: Page) -> bytes:
    """The bytes of a response record, as `write_warc` stores them."""
    lines = [f"HTTP/1.1 {page.status} -", *(f"{k}: {v}" for k, v in page.headers)]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    record_id = uuid.uuid5(uuid.NAMESPACE_URL, page.url)
    headers = [
        ("WARC-Type", "response"),
        ("WARC-Record-ID", f"<urn:uuid:{record_id}>"),
        ("WARC-Target-URI", page.url),
        ("WARC-Date", warc_date(page.fetched_at)),
        ("WARC-Payload-Digest", sha1(page.body)),
        ("Content-Type", "application/http; msgtype=response"),
    ]
    return layout(headers, head + page.body)
