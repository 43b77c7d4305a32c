"""The plug-ins of the aligner: what a profile may name, and how it is made.

A profile names a class or a function by a short name, listed here, or by a dotted path.
It is called with those of the parts at hand that its signature names, for example
`lexicon`. A parameter `config` is a dataclass, filled with the options that the profile
gives, strictly.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal

from crawler.config import Plugin, from_table, load_object
from crawler.errors import ProfileError

# Kind        protocol                    parts that a signature may name
# candidates  CandidateGenerator          store, langs
# search      ContentSearch               frequencies, lexicon
# bridge      Bridge                      lexicon
# scorer      PairScorer                  frequencies, usual, lexicon, confirmed
# model       scorers.combine.Model       content ("words", or "lexicon" with one)
Kind = Literal["candidates", "search", "bridge", "scorer", "model"]

SHORT_NAMES: Mapping[Kind, Mapping[str, str]] = {
    "candidates": {
        "handles": "candidates.handles.HandleCandidates",
        "links": "candidates.links.LinkCandidates",
        "substrings": "candidates.handles.SubstringCandidates",
    },
    "search": {
        "none": "candidates.no_search.NoSearch",
        "shared_words": "candidates.shared_words.SharedWords",
        "shingles": "candidates.shingles.Shingles",
        "signatures": "candidates.signatures.SignatureSearch",
        "translated_words": "candidates.translated_words.TranslatedWords",
    },
    "bridge": {
        "word_clusters": "bridges.word_clusters.WordClusters",
        "word_for_word": "bridges.word_for_word.WordForWord",
    },
    "scorer": {
        "avsim": "scorers.avsim.AvsimScorer",
        "bridged_ngrams": "scorers.ngrams.BridgedNgramScorer",
        "lengths": "scorers.lengths.LengthScorer",
        "ngrams": "scorers.ngrams.NgramScorer",
        "overlap": "scorers.overlap.OverlapScorer",
        "strand": "scorers.strand.StrandScorer",
        "tsim": "scorers.tsim.TsimScorer",
        "tsim_cardinality": "scorers.bipartite.TsimCardinality",
        "tsim_weighted": "scorers.bipartite.TsimWeighted",
    },
    "model": {
        "cosine": "scorers.combine.cosine",
        "logistic": "scorers.combine.logistic",
        "thresholds": "scorers.combine.thresholds",
        "tree": "scorers.combine.tree",
    },
}


def find(kind: Kind, name: str) -> Callable[..., Any]:  # Any: what it makes is its own
    """The class or function that a name means; ProfileError if none."""
    if path := SHORT_NAMES[kind].get(name):
        name = f"crawler.aligner.{path}"
    elif "." not in name:
        known = ", ".join(SHORT_NAMES[kind])
        raise ProfileError(
            f"{kind}: {name!r} is not one of {known} (or give a dotted path)"
        )
    found: Callable[..., Any] = load_object(name)
    return found


def config_of(kind: Kind, plugin: Plugin) -> Any:  # Any: each has a class of its own
    """The options of a plug-in as its config; None if it has none."""
    found, where = find(kind, plugin.use), f"{kind} {plugin.use!r}"
    if "config" not in inspect.signature(found).parameters:
        if plugin.options:
            raise ProfileError(f"{where}: takes no options, got {[*plugin.options]}")
        return None
    made_by = found.__init__ if isinstance(found, type) else found  # type: ignore[misc]
    hint = typing.get_type_hints(made_by)["config"]
    if not dataclasses.is_dataclass(hint) or not isinstance(hint, type):
        raise ProfileError(f"{where}: its `config` is not a dataclass")
    return from_table(hint, plugin.options, where)


def check(kind: Kind, plugin: Plugin) -> None:
    """ProfileError if a plug-in is not there, or not what its options are for.

    Built-in ones without options are not imported for that: a crawl starts sooner.
    """
    if plugin.options or plugin.use not in SHORT_NAMES[kind]:
        config_of(kind, plugin)


def make(kind: Kind, plugin: Plugin, **parts: Any) -> Any:  # Any: see find
    """The plug-in, given those parts that it names; None while one of them is None.

    A part that has a default value in the signature is not waited for.
    """
    found = find(kind, plugin.use)
    wanted = inspect.signature(found).parameters
    if "config" in wanted:
        parts = {"config": config_of(kind, plugin), **parts}
    given = {}
    for name, parameter in wanted.items():
        if parts.get(name) is not None:
            given[name] = parts[name]
        elif parameter.default is parameter.empty:
            if name in parts:
                return None
            raise ProfileError(
                f"{kind} {plugin.use!r}: it asks for {name!r}"
                f" (it can have: config, {', '.join(parts)})"
            )
    return found(**given)
