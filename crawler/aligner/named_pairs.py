"""Named pairs of short pages: believed as often as names proved right on the site.

A page of a dozen words says too little for a comparison, but its address, hreflang or
language menu may name its partner. Names of that kind stand on longer pages of the
site, too, where content tells whether they are right; so how often they are is learned
there, from a prior that is the worth of such names elsewhere. A site whose menus lead
to other articles is believed less than one whose addresses never fail.

Source: the mean of the beta posterior, the rule of succession with a prior.
In: the last round of a site.  Out: the same, with pairs of short pages besides.
See also: `evidence` (which pairs are named), `site` (who asks).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from crawler.aligner.bootstrap import Knowledge, Round, admit
from crawler.aligner.evidence import Pair, SiteTexts
from crawler.data import PairScore

# Nats that a name is worth before a site says more, as in the weights of long pages:
# for the same handle, and for a link, in full if it is returned.
_HANDLE, _LINK = 3.5, 1.75
_PRIOR = 4.0  # long pairs that what is known from elsewhere counts as

Kind = tuple[bool, bool | None]  # same handle; declared: both ways, one way (None: no)


def with_short_pages(texts: SiteTexts, known: Knowledge, last: Round) -> Round:
    """The round, with named pairs of which one page is short, if no gate refuses."""
    if not texts.short:
        return last
    right, all_named = reliability(texts, known, last)
    counts = last.counts.copy()
    scores = dict(last.scores)
    for pair, features in admit(texts, last.judge, texts.short, counts).items():
        kind = _kind(texts, pair, texts.short[pair])
        prior = _prior(kind)
        score = (right[kind] + _PRIOR * prior) / (all_named[kind] + _PRIOR)
        if score < texts.profile.min_named_score:
            counts["align/rejected/score"] += 1
            continue
        src, trg = (page.url for page in texts.features(pair))
        scores[pair] = PairScore(src, trg, score, features, texts.short[pair])
    return replace(last, scores=scores, counts=counts)


def reliability(
    texts: SiteTexts, known: Knowledge, last: Round
) -> tuple[Counter[Kind], Counter[Kind]]:
    """Of each kind of name: the pairs that content confirmed, and all of them."""
    head = known.clusters.find
    confirmed = {(head(s), head(t)) for s, t in last.accepted(texts, known.clusters)}
    right, all_named = Counter[Kind](), Counter[Kind]()
    for pair, found_by in texts.proposed.items():
        kind = _kind(texts, pair, found_by)
        all_named[kind] += 1
        right[kind] += (head(pair[0]), head(pair[1])) in confirmed
    return right, all_named


def _kind(texts: SiteTexts, pair: Pair, found_by: frozenset[str]) -> Kind:
    return "handles" in found_by, texts.declared.get(pair)


def _prior(kind: Kind) -> float:
    handle, mutual = kind
    nats = _HANDLE * handle + (0.0 if mutual is None else _LINK * (1 + mutual))
    return 1 / (1 + math.exp(-nats))
