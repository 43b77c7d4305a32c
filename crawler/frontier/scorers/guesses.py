"""Addresses that no page links to, guessed by what tells the addresses of pairs apart.

On a site whose versions do not link to each other, pairs that content found may differ
in one run of tokens: `/en/` and `/is/`, `_e` and nothing, `archive` and `arkiv`. Once
three pairs have differed in the same way, a page of the one kind may have its other
version at the address that differs in this way from its own. Setting GUESS_ADDRESSES,
off by default: a wrong guess costs a request.

In: the addresses of pairs; an address.  Out: addresses.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from crawler.data import Link, Rel, Site
from crawler.frontier.scorers.expectation import Expectation
from crawler.frontier.scorers.known_urls import (
    DECLARED,
    GUESSED,
    HANDLE,
    SRC,
    TRG,
    KnownUrls,
    UrlRecord,
)

_TOKEN = re.compile(r"[/._?=&~-]|[^/._?=&~-]+")
_LONGEST = 6  # tokens that may differ: a host's label and a folder have two each
_ENOUGH = 3  # pairs that differ alike: two do so by chance
_MAX_RULES = 1000  # of a site; translated slugs give one for each pair
_MAX_GUESSES = 2  # of one page
_AT_ONCE = 8  # guesses of a site that wait: what comes of them decides about more
_LEAST = 0.1  # P(a guess is that of a page's other half) below which none is made


class Rule(NamedTuple):
    """A run of tokens that stands for another one, so many tokens from an end."""

    side: int  # of the pages that it is about: 0 for src, 1 for trg
    from_end: bool
    place: int
    old: str
    new: str


class Rules:
    """How the addresses of pairs of a site differ, with the number of pairs."""

    def __init__(self) -> None:
        self._rules: defaultdict[Site, Counter[Rule]] = defaultdict(Counter)

    def learn(self, site: Site, src: str, trg: str) -> bool:
        """Take the addresses of a pair; True: a rule has just become usable."""
        rules = self._rules[site]
        found = [*_rules(src, trg, 0), *_rules(trg, src, 1)]
        rules.update(found)
        if len(rules) > _MAX_RULES:
            self._rules[site] = Counter(dict(rules.most_common(_MAX_RULES // 2)))
        return any(rules[rule] == _ENOUGH for rule in found)

    def of(self, site: Site, url: str, side: int) -> list[str]:
        """The addresses that the other version of a page may have, likeliest first."""
        tokens = _TOKEN.findall(url)
        said: dict[str, None] = {}
        for rule, pairs in self._rules[site].most_common():
            if pairs < _ENOUGH or len(said) == _MAX_GUESSES:
                break
            if rule.side == side and (other := _apply(rule, tokens)):
                said[other] = None
        said.pop(url, None)
        return [*said]

    def state(self) -> dict[str, Any]:
        """The rules as plain data."""
        return {
            site: [[*r, n] for r, n in c.items()] for site, c in self._rules.items()
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take rules from `state()`."""
        for site, rows in state.items():
            for *rule, pairs in rows:
                self._rules[site][Rule(*rule)] = pairs


class Guesses:
    """Makes guessed URLs known, a few at a time; does nothing if it is not `on`."""

    def __init__(
        self, known: KnownUrls, expected: Expectation, counts: Counter[str], *, on: bool
    ) -> None:
        """`expected` says what guesses are worth; `counts` how many were made."""
        self.on = on
        self.rules = Rules()
        self._known = known
        self._expected = expected
        self._counts = counts
        self._waiting: defaultdict[Site, deque[UrlRecord]] = defaultdict(deque)
        self._asked: Counter[Site] = Counter()  # without an answer

    def fetched(self, url: UrlRecord, link: Link) -> list[UrlRecord]:
        """What is guessed now that a URL was fetched, or failed."""
        self._settle(url, link)
        return self._more(url.site, [url])

    def paired(self, src: UrlRecord, trg: UrlRecord) -> list[UrlRecord]:
        """What is guessed now that two pages are a pair."""
        if not self.on or not self.rules.learn(src.site, src.url, trg.url):
            return []
        records = self._known.records.values()
        return self._more(src.site, [url for url in records if url.site == src.site])

    def linked(self, url: UrlRecord, link: Link) -> None:
        """A page links to a URL: if it was guessed, it is as any other from now on."""
        if url.link is not None and url.link.rel == Rel.GUESS:
            self._settle(url, url.link)
            self._known.is_linked(url, link)

    def redirected(self, url: UrlRecord | None, target: UrlRecord | None) -> None:
        """A guess that leads to a page that was fetched, mostly home, is wrong."""
        link = url.link if url else None
        if url and link and link.rel == Rel.GUESS and target and target.link is None:
            self._expected.record_test(url, GUESSED, 0.0)
            self._settle(url, link)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take rules from a saved state; the URLs are known."""
        self.rules.restore(state)
        for url in self._known.records.values() if self.on else ():
            if url.link and url.link.rel == Rel.GUESS:
                self._asked[url.site] += 1
            else:
                self._waiting[url.site].append(url)

    def _settle(self, url: UrlRecord, link: Link) -> None:
        if link.rel == Rel.GUESS:
            self._asked[url.site] = max(0, self._asked[url.site] - 1)

    def _more(self, site: Site, pages: Iterable[UrlRecord]) -> list[UrlRecord]:
        """Guess for pages that wait, and these, while a site has few guesses open."""
        if not self.on:
            return []
        made: list[UrlRecord] = []
        waiting = self._waiting[site]
        waiting.extend(pages)
        while waiting and self._asked[site] < _AT_ONCE:
            for url in self._guess(waiting.popleft()):
                self._asked[site] += 1
                made.append(url)
        self._counts["frontier/guessed"] += len(made)
        return made

    def _guess(self, page: UrlRecord) -> Iterator[UrlRecord]:
        """The other versions of a page of which nothing else names one."""
        named = {HANDLE, DECLARED, GUESSED}
        if (
            page.paired
            or page.outcome not in (SRC, TRG)
            or named.intersection(self._known.partners(page).values())
            or self._expected.guess(page) < _LEAST
        ):
            return
        for address in self.rules.of(page.site, page.url, page.outcome):
            if self._known.get(address) is None:
                url = self._known.add(Link(address, page.url, rel=Rel.GUESS))
                url.language = tuple(self._expected.langs)[1 - page.outcome]
                self._known.add_hypothesis(page, url, GUESSED)
                yield url


def _rules(one: str, other: str, side: int) -> Iterator[Rule]:
    """How one address becomes the other, by the place from either end.

    >>> [*_rules("https://a.is/en/x.html", "https://a.is/is/x.html", 0)][0]
    Rule(side=0, from_end=False, place=7, old='en', new='is')
    """
    a, b = _TOKEN.findall(one), _TOKEN.findall(other)
    most = min(len(a), len(b))
    start = next((n for n in range(most) if a[n] != b[n]), most)
    rest = most - start
    end = next((n for n in range(rest) if a[-1 - n] != b[-1 - n]), rest)
    old, new = a[start : len(a) - end], b[start : len(b) - end]
    if 0 < len(old) + len(new) <= _LONGEST:
        for from_end, place in ((False, start), (True, end)):
            yield Rule(side, from_end, place, "".join(old), "".join(new))


def _apply(rule: Rule, tokens: list[str]) -> str | None:
    """The address with the run replaced; None where it does not stand."""
    old = _TOKEN.findall(rule.old)
    start = len(tokens) - rule.place - len(old) if rule.from_end else rule.place
    end = start + len(old)
    if not 0 <= start <= end <= len(tokens) or tokens[start:end] != old:
        return None
    return "".join([*tokens[:start], rule.new, *tokens[end:]])
