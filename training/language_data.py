"""Training rows of the language models: real URLs, and variants of them.

From the train split: every URL with a language, and both sides of every pair, at most
`max_per_host` for each host and language. Each epoch has them once, some changed, so
that the model has to read words where there is no marker, and learns markers of
languages that no site of the training data has:

* *unmarked*: a URL loses its markers if its slug is probably in its language: it is one
  of a translated pair, or on a host of the language (`is.x.org/frettir` →
  `x.org/frettir`, is);
* *uncountried*: a country's suffix becomes a general one (`x.is` → `x.org`, is);
* *remarked*: the marker of a URL becomes another language's (`/en/news` →
  `/mt/news`, mt), as on sites that translate the page and not the slug;
* *slugs*: texts of the `terms` tables, and words drawn from them by frequency, in the
  form of slugs: joined by hyphens, small words left out, accents folded and Cyrillic
  and Greek romanised in half of them, on hosts named in the slug's language or another,
  so that a host name does not decide the language of its pages.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from anyascii import anyascii

from crawler.data import Lang, Site
from crawler.handles import handle_of
from crawler.languages import all_languages
from crawler.urls import host_labels, host_of, registered_domain, split
from models.rules import UNKNOWN
from training.data.splits import JUDGED_SITES, TRAIN, left_out
from training.data.tables import read_terms
from training.protocol import Collection, capped

_GENERAL = ("com", "com", "com", "org", "net", "info")
_SECTIONS = ("", "", "", "blog/", "news/", "wiki/", "p/", "2024/05/")
_MIN_WORDS = 200  # of a language, to make slugs in it
_MAX_PHRASES = 40_000  # of a language: memory, not quality
_MAX_SLUG = 8  # words of a slug; longer ones are rare
_FOLDED = 0.5  # share of the slugs that are in ASCII if their script allows
_ALPHABETS = 0x0530  # Latin, Greek and Cyrillic, which sites romanise, are below
_SHORT = 3  # letters of a word that slugs leave out
_MIN_SLUG = 3  # words of a path that are taken for a sentence in its host's language
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class LanguageDataConfig:
    """Amounts of each kind; shares are of the URLs that can be changed so."""

    variants: bool = True  # else every URL of the table as it stands, and no more
    max_per_host: int = 100  # as in the protocol: a few hosts dominate the rows
    unmarked: float = 0.5
    uncountried: float = 0.3
    remarked: int = 30_000  # URLs per epoch
    slugs: int = 45_000  # URLs per epoch
    without: tuple[Site, ...] = JUDGED_SITES  # sites to leave out
    share: float = 1.0  # of the sites, for learning curves


class Example(NamedTuple):
    """A URL and its language."""

    url: str
    lang: Lang
    translated: bool = False  # its slug is known to be in the language


class LanguageData:
    """Examples of the train split, and their variants."""

    def __init__(
        self,
        collection: Collection,
        terms: Sequence[Path] = (),
        config: LanguageDataConfig | None = None,
        seed: int = 71213,
    ) -> None:
        """`terms` are tables of terms."""
        self.config = config or LanguageDataConfig()
        self.seed = seed
        self._collection = collection
        self._terms = terms

    @cached_property
    def labels(self) -> tuple[Lang, ...]:
        """Every language that we know: markers are read in all of them alike."""
        return (UNKNOWN, *sorted(all_languages()))

    @cached_property
    def _texts(self) -> tuple[dict[Lang, Words], dict[Lang, list[str]]]:
        return _by_language(self._terms, self.seed)

    @cached_property
    def _hosts(self) -> list[str]:
        return sorted({registered_domain(host_of(row.url)) for row in self.rows})

    @cached_property
    def _word_weights(self) -> list[float]:
        """Words of languages with many URLs come more often, as they do in URLs."""
        rows = Counter(row.lang for row in self.rows)
        return [max(1, rows[lang]) ** 0.5 for lang in self._texts[0]]

    @cached_property
    def _markable(self) -> dict[str, list[Example]]:
        """The rows with one marker, by its place."""
        found: dict[str, list[Example]] = defaultdict(list)
        for row in self.rows:
            markers = handle_of(row.url).markers
            if len(markers) == 1:
                found[markers[0].place].append(row)
        return found

    @cached_property
    def rows(self) -> list[Example]:
        """The examples of the train split, by URL."""
        collection = self._collection
        rows: dict[str, Example] = {}
        dropped = left_out(
            (row.site for row in collection.urls[TRAIN]),
            self.config.without,
            self.config.share,
            seed=self.seed,
        )
        for row in collection.urls[TRAIN]:
            if row.lang and row.site not in dropped:
                rows[row.url] = Example(row.url, row.lang)
        for pair in collection.pairs[TRAIN]:
            if pair.site in dropped:
                continue
            for url, lang in ((pair.url_a, pair.lang_a), (pair.url_b, pair.lang_b)):
                if not pair.code_only or url not in rows:
                    rows[url] = Example(url, lang, translated=not pair.code_only)
        return capped(
            [rows[url] for url in sorted(rows)],
            lambda row: (host_of(row.url), row.lang),
            self.config.max_per_host,
            self.seed,
        )

    def epoch(self, number: int, limit: int) -> list[Example]:
        """The examples of an epoch (from 1): at most `limit` rows, and the variants."""
        rows = list(self.rows)
        random.Random(self.seed).shuffle(rows)  # the first million is always the same
        rng = random.Random(f"{self.seed}/{number}")
        examples = [self._varied(row, rng) for row in rows[:limit]]
        if self._markable:
            examples += (self._remarked(rng) for _ in range(self.config.remarked))
        if self._texts[0]:
            examples += (self._slug(rng) for _ in range(self.config.slugs))
        rng.shuffle(examples)
        return examples

    def _varied(self, row: Example, rng: random.Random) -> Example:
        handle = handle_of(row.url)
        own = row.translated or (
            any(mark.place == "host" for mark in handle.markers)
            and len(_WORD.findall(handle.text.partition("/")[2])) >= _MIN_SLUG
        )
        if own and rng.random() < self.config.unmarked:
            return Example("https://" + handle.text, row.lang)
        host = split(row.url).host
        suffix = host_labels(host)[2]
        if (
            len(suffix.rpartition(".")[2]) == 2
            and rng.random() < self.config.uncountried
        ):
            general = host.removesuffix(suffix) + rng.choice(_GENERAL)
            return Example(row.url.replace(host, general, 1), row.lang)
        return row

    def _remarked(self, rng: random.Random) -> Example:
        # All places alike: few sites have `page_is.html`, but there it is a marker.
        row = rng.choice(self._markable[rng.choice(sorted(self._markable))])
        marker = handle_of(row.url).markers[0]
        lang = rng.choice(self.labels[1:])
        # Names are for folders and hosts; a file is called `page_en.html`.
        token = lang if marker.place == "file" else rng.choice(_tokens(lang))
        whole = rf"(?<![^\W_]){re.escape(marker.token)}(?![^\W_])"
        url = re.sub(whole, token, row.url, count=1, flags=re.IGNORECASE)
        return Example(url, lang) if url != row.url else row

    def _slug(self, rng: random.Random) -> Example:
        """A slug without another language's marker, such as `/no` in Italian."""
        while True:
            example = self._any_slug(rng)
            named = handle_of(example.url).languages
            if not named or example.lang in named:
                return example

    def _any_slug(self, rng: random.Random) -> Example:
        words_of, phrases = self._texts
        lang = rng.choices(list(words_of), self._word_weights)[0]
        if phrases[lang] and rng.random() < 0.5:
            words = rng.choice(phrases[lang]).split()
            if rng.random() < 0.5:
                words = [word for word in words if len(word) > _SHORT] or words
            words = words[:_MAX_SLUG]
        else:
            words = self._drawn(lang, rng.randint(1, 6), rng)
        slug = _folded(rng.choice("----_").join(words), rng)
        url = f"https://{self._host(lang, rng)}/{rng.choice(_SECTIONS)}{slug}"
        return Example(url, lang)

    def _host(self, lang: Lang, rng: random.Random) -> str:
        kind = rng.random()
        if kind < 0.25:  # of any language
            name = rng.choice(self._hosts).partition(".")[0]
        elif kind < 0.75:
            words = self._drawn(lang, rng.randint(1, 2), rng)
            name = rng.choice(("", "-")).join(words)
        else:
            name = "example"
        return f"{_folded(name, rng)}.{rng.choice(_GENERAL)}"

    def _drawn(self, lang: Lang, count: int, rng: random.Random) -> list[str]:
        words, cumulated = self._texts[0][lang]
        return rng.choices(words, cum_weights=cumulated, k=count)


def _folded(text: str, rng: random.Random) -> str:
    """In ASCII, or as it is.

    >>> _folded("über-uns", random.Random(3)), _folded("о-нас", random.Random(3))
    ('uber-uns', 'o-nas')
    """
    if rng.random() < _FOLDED and all(ord(c) < _ALPHABETS for c in text):
        return anyascii(text).lower()
    return text


@cache
def _tokens(code: Lang) -> list[str]:
    """Ways in which sites write a language; mostly its code."""
    language = all_languages()[code]
    names = [language.name.lower()] if " " not in language.name else []
    return [code] * 6 + [language.iso639_3] * 2 + names + list(language.url_codes[:1])


Words = tuple[list[str], list[float]]  # words, and their cumulated weights


def _by_language(
    tables: Sequence[Path], seed: int
) -> tuple[dict[Lang, Words], dict[Lang, list[str]]]:
    """The words of each language with enough of them, and its texts of several."""
    counts: dict[Lang, Counter[str]] = defaultdict(Counter)
    texts: dict[Lang, set[str]] = defaultdict(set)
    for table in tables:
        for term in read_terms(table):
            for lang, text in (
                (term.lang_a, term.text_a),
                (term.lang_b, term.text_b),
            ):
                found = _WORD.findall(text.lower())
                counts[lang].update(found)
                if len(found) > 1:
                    texts[lang].add(" ".join(found))
    words, phrases = {}, {}
    for lang, frequencies in sorted(counts.items()):
        if len(frequencies) >= _MIN_WORDS:
            # 0.75 as word2vec draws its negatives: rare words come somewhat more often
            weights = accumulate(count**0.75 for count in frequencies.values())
            words[lang] = (list(frequencies), list(weights))
            known = sorted(texts[lang])
            phrases[lang] = random.Random(seed).sample(
                known, min(len(known), _MAX_PHRASES)
            )
    return words, phrases
