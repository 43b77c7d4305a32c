"""What the language models are trained on: real URLs, and variants that teach.

From the train split: every URL with a language, and both sides of every pair, at most
`max_per_host` for each host and language. Each epoch sees them once, some changed, so
that the model has to read words where there is no marker, and markers of languages
that no site of the training data writes:

* *unmarked*: the markers go of a URL whose slug is in its language, as far as one can
  tell: it is one of a translated pair, or on a host of the language (`is.x.org/frettir`
  → `x.org/frettir`, is);
* *uncountried*: a country's suffix becomes a general one (`x.is` → `x.org`, is);
* *remarked*: the marker of a URL becomes another language's (`/en/news` →
  `/mt/news`, mt): what sites do that translate the page and not the slug;
* *slugs*: words of the `terms` tables, as frequent as they are in the tables' texts, so
  that the small words come that phrases are full of.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from crawler.data import Lang
from crawler.handles import handle_of
from crawler.languages import all_languages
from crawler.urls import host_labels, host_of, split
from models.rules import UNKNOWN
from training.data.splits import TRAIN
from training.data.terms import read_terms
from training.protocol import Collection, capped

_GENERAL = ("com", "com", "com", "org", "net", "info")
_SECTIONS = ("", "", "", "blog/", "news/", "wiki/", "p/", "2024/05/")
_MIN_WORDS = 200  # of a language, to make slugs in it
_MIN_SLUG = 3  # words of a path that are taken for a sentence in its host's language
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class LanguageDataConfig:
    """How much of each kind; shares are of the URLs that can be changed so."""

    max_per_host: int = 100  # as in the protocol: a few hosts dominate the rows
    unmarked: float = 0.5
    uncountried: float = 0.3
    remarked: int = 25_000  # URLs per epoch
    slugs: int = 30_000  # URLs per epoch
    without: tuple[str, ...] = ()  # sites to leave out
    share: float = 1.0  # of the sites, for learning curves


@dataclass(frozen=True, slots=True)
class Example:
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
        """Collect the rows; `terms` are tables of `training.data.terms`."""
        self.config = config or LanguageDataConfig()
        self.seed = seed
        self.rows = self._rows(collection)
        # Every language that we know: markers are read in all of them alike.
        self.labels = (UNKNOWN, *sorted(all_languages()))
        self.words = _by_language(terms)
        rows = Counter(row.lang for row in self.rows)
        # Of the words, those of large languages come oftener, as in URLs.
        self._word_langs = list(self.words)
        self._word_weights = [max(1, rows[lang]) ** 0.5 for lang in self.words]
        self._markable: dict[str, list[Example]] = defaultdict(list)  # by place
        for row in self.rows:
            markers = handle_of(row.url).markers
            if len(markers) == 1:
                self._markable[markers[0].place].append(row)
        self._tokens = {
            language.code: _tokens(language.code)
            for language in all_languages().values()
        }

    def _rows(self, collection: Collection) -> list[Example]:
        rows: dict[str, Example] = {}
        sites = sorted({row.site for row in collection.urls[TRAIN]})
        dropped = round((1 - self.config.share) * len(sites))
        left_out = {
            *self.config.without,
            *random.Random(self.seed).sample(sites, dropped),
        }
        for row in collection.urls[TRAIN]:
            if row.lang and row.site not in left_out:
                rows[row.url] = Example(row.url, row.lang)
        for pair in collection.pairs[TRAIN]:
            if pair.site in left_out:
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
        if self.words:
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
        # All places alike: few sites write `page_is.html`, but those mean it.
        row = rng.choice(self._markable[rng.choice(sorted(self._markable))])
        marker = handle_of(row.url).markers[0]
        lang = rng.choice(self.labels[1:])
        # Names are for folders and hosts; a file is called `page_en.html`.
        token = lang if marker.place == "file" else rng.choice(self._tokens[lang])
        whole = rf"(?<![^\W_]){re.escape(marker.token)}(?![^\W_])"
        url = re.sub(whole, token, row.url, count=1, flags=re.IGNORECASE)
        return Example(url, lang) if url != row.url else row

    def _slug(self, rng: random.Random) -> Example:
        lang = rng.choices(self._word_langs, self._word_weights)[0]
        words, cumulated = self.words[lang]
        drawn = rng.choices(words, cum_weights=cumulated, k=rng.randint(2, 6))
        slug = rng.choice("---_").join(drawn)
        host = f"example.{rng.choice(_GENERAL)}"
        return Example(f"https://{host}/{rng.choice(_SECTIONS)}{slug}", lang)


def _tokens(code: Lang) -> list[str]:
    """How sites write a language; mostly its code."""
    language = all_languages()[code]
    names = [language.name.lower()] if " " not in language.name else []
    return [code] * 6 + [language.iso639_3] * 2 + names + list(language.url_codes[:1])


Words = tuple[list[str], list[float]]  # words, and their cumulated weights


def _by_language(tables: Sequence[Path]) -> dict[Lang, Words]:
    counts: dict[Lang, Counter[str]] = defaultdict(Counter)
    for table in tables:
        for term in read_terms(table):
            counts[term.lang_a].update(_WORD.findall(term.text_a.lower()))
            counts[term.lang_b].update(_WORD.findall(term.text_b.lower()))
    found = {}
    for lang, words in sorted(counts.items()):
        if len(words) >= _MIN_WORDS:
            # 0.75 as word2vec draws its negatives: rare words come somewhat more often
            weights = accumulate(count**0.75 for count in words.values())
            found[lang] = (list(words), list(weights))
    return found
