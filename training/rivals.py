"""Fits `models.rivals`: `python -m training.rivals data=DATA`.

    data=FOLDER   URL data; the pairs of its dev split are used, none of test
    pairs=MODEL   a pair model, by its path or dotted path; default: what ships

Each two URLs of a site in two languages are candidates, as in the WMT16 task. Of a
site at most six pairs of languages count, and sixty pairs of each. The number that is
printed stands in `models.rivals.RivalWeights`.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from crawler.config import load_profile
from crawler.errors import UsageError
from crawler.protocols import UrlPairModel
from models.rivals import RivalWeights, rival_margins
from training.command import run_script
from training.data.splits import DEV
from training.evaluate import in_batches, load_model
from training.protocol import SEED, Collection

_LANGUAGES, _PAIRS = 6, 60  # of a site; of two of its languages


@dataclass(frozen=True, slots=True)
class RivalsConfig:
    """What is fitted on."""

    data: str = ""
    pairs: str = "models.url_pair.HashedUrlPairModel"


def groups(collection: Collection) -> Iterator[list[tuple[str, str]]]:
    """The true pairs of the sites of dev, those of two languages together."""
    found: defaultdict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
    for row in collection.pairs[DEV]:
        ends = sorted([(row.lang_a, row.url_a), (row.lang_b, row.url_b)])
        (src, one), (trg, other) = ends
        found[row.host, src, trg].add((one, other))
    chance, of_host = random.Random(SEED), Counter[str]()
    for (host, *_), pairs in sorted(found.items(), key=lambda i: (-len(i[1]), i[0])):
        of_host[host] += 1
        if len(pairs) > 1 and of_host[host] <= _LANGUAGES:
            yield chance.sample(sorted(pairs), min(len(pairs), _PAIRS))


def fit(
    model: UrlPairModel, sites: Sequence[Sequence[tuple[str, str]]]
) -> RivalWeights:
    """The weights that give the truth of all candidates the highest likelihood."""
    rows, right = [], []
    for gold in sites:
        sides = [sorted(set(urls)) for urls in zip(*gold)]
        candidates = [(one, other) for one in sides[0] for other in sides[1]]
        p = in_batches(model.predict, candidates)
        rows.append(rival_margins(candidates, p))
        right += [pair in set(gold) for pair in candidates]
    line = LogisticRegression(C=100, fit_intercept=False)
    line.fit(np.concatenate(rows)[:, None], right)
    return RivalWeights(round(float(line.coef_[0][0]), 2))


def main(words: Sequence[str]) -> None:
    """Fit and print."""
    config = load_profile(RivalsConfig, None, words)
    if not config.data:
        raise UsageError("which data? (add data=FOLDER)")
    sites = list(groups(Collection.read(Path(config.data), DEV)))
    if not sites:
        raise UsageError(f"{config.data}: dev has no site with two pairs")
    found = fit(load_model(config.pairs), sites)
    print(f"{sum(map(len, sites))} pairs of {len(sites)} groups\n{found}")


if __name__ == "__main__":
    run_script(main, __doc__)
