"""Learning curve over sites: `python -m benchmarks.learning_curve KIND PROFILE ...`.

    python -m benchmarks.learning_curve language language-hashed data=DATA out=OUT "$T"
    python -m benchmarks.learning_curve pair pair-hashed data=DATA out=OUT "$T"

Trains the hashed models on a quarter, a half and all of the train sites, the larger
share around the smaller one, and judges each on test. All other words are those of
`training.url_language` and `training.url_pair`; terms are not reduced. A share that is
in OUT already is not trained again. OUT/learning_curve.tsv is the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from crawler.errors import UsageError
from models.url_language import HashedUrlLanguageModel
from models.url_pair import HashedUrlPairModel
from training import url_language, url_pair
from training.command import run_script
from training.data.splits import TEST
from training.data.tables import write_table
from training.evaluate import judge_languages, judge_pairs
from training.profile import read_profile
from training.protocol import UNMARKED, Collection, language_rows, pair_rows
from training.url_language import LanguageProfile
from training.url_pair import PairProfile

SHARES = (0.25, 0.5, 1.0)
Figures = dict[str, float]
P = TypeVar("P", LanguageProfile, PairProfile)


def _trained(run: Callable[[P], Path], profile: P, share: float, name: str) -> Path:
    """The weights of a share of the sites; those that are there already stay."""
    out = Path(profile.out) / str(share)
    path = out / name
    if path.exists():
        return path
    rows = replace(profile.rows, share=share)
    return run(replace(profile, rows=rows, out=str(out)))


def language_figures(profile: LanguageProfile, share: float) -> Figures:
    """Train on a share of the sites, and judge."""
    path = _trained(url_language.run, profile, share, "url_language.npz")
    judged = language_rows(Collection.read(Path(profile.data)), TEST)
    result = judge_languages(HashedUrlLanguageModel(path), judged)
    return {
        "macro_f1": result["macro_f1"],
        "accuracy": result["accuracy"],
        "unmarked_macro_f1": result["kinds"][UNMARKED]["macro_f1"],
        "unmarked_accuracy": result["kinds"][UNMARKED]["accuracy"],
    }


def pair_figures(profile: PairProfile, share: float) -> Figures:
    """Train on a share of the sites, and judge."""
    path = _trained(url_pair.run, profile, share, "url_pair.npz")
    judged = pair_rows(Collection.read(Path(profile.data)), TEST)
    languages = HashedUrlLanguageModel(profile.languages)
    result = judge_pairs(HashedUrlPairModel(path, languages), judged)
    return {
        "f1": result["all"]["positive"]["f1"],
        "macro_f1": result["all"]["macro_f1"],
        "translated_f1": result["translated"]["positive"]["f1"],
        "translated_auc": result["translated"]["auc"],
        "translated_f1_at_80": result["translated"]["f1_at_80"],
    }


KINDS: dict[str, tuple[Any, Callable[[Any, float], Figures]]] = {
    "language": (LanguageProfile, language_figures),
    "pair": (PairProfile, pair_figures),
}


def main(words: Sequence[str]) -> None:
    """Train, judge, and write the table."""
    if not words or words[0] not in KINDS:
        raise UsageError(f"give one of {', '.join(KINDS)}, a profile, data= and out=")
    kind, *rest = words
    profiles, figures = KINDS[kind]
    if not rest:
        raise UsageError("which profile? (give hashed, data= and out=)")
    profile = read_profile(kind, profiles, rest[0], rest[1:])
    path = Path(profile.out) / "learning_curve.tsv"
    table = [{"share": share, **figures(profile, share)} for share in SHARES]
    rows = (tuple(f"{value:.4g}" for value in row.values()) for row in table)
    write_table(path, tuple(table[0]), rows)
    print(path.read_text("utf-8"), end="")


if __name__ == "__main__":
    run_script(main, __doc__)
