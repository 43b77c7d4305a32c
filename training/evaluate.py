"""Judges URL models on the rows of `training.protocol`, beside the rules.

    python -m training.evaluate data=DATA [split=dev] [out=FILE.json]
        [languages=MODEL] [pairs=MODEL]

MODEL is the path of a model that was trained or exported, or the dotted path of a
class; default: the hashed models that ship. `benchmarks.url_models` measures speed too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from crawler.config import load_object, load_profile
from crawler.data import Lang
from crawler.errors import UsageError
from crawler.protocols import UrlLanguageModel, UrlPairModel
from models.installed import find_models
from models.rivals import among_rivals
from models.rules import UNKNOWN, UrlLanguageRules, UrlPairRules
from models.wmt16_rules import Wmt16PairRules
from training.command import run_script
from training.data.tables import UrlRow
from training.metrics import (
    MultiClass,
    binary,
    calibration,
    multi_class,
    n_best_recall,
    one_to_one_recall,
    ranking,
)
from training.protocol import (
    CCTLD,
    CODE,
    MIN_ROWS,
    UNMARKED,
    Collection,
    JudgedPair,
    digest,
    kind_of,
    label_of,
    language_rows,
    pair_rows,
    wmt16_candidates,
    wmt16_rows,
)

MANY_LANGUAGES = 20  # of a host, to be judged apart: small languages are on such ones
Table = dict[str, Any]
T = TypeVar("T")
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class EvaluationProfile:
    """The models to judge, and the data."""

    data: str = ""
    split: str = "test"
    languages: str = "models.url_language.HashedUrlLanguageModel"
    pairs: str = "models.url_pair.HashedUrlPairModel"
    out: str | None = None


# ------------------------------------------------------------------ language


def judge_languages(model: UrlLanguageModel, rows: Sequence[UrlRow]) -> Table:
    """Macro and per-language figures, by kind of URL, and calibration."""
    answers = in_batches(model.predict, [row.url for row in rows])
    best = [max(answer, key=lambda lang: answer[lang]) for answer in answers]
    truth = [label_of(row) for row in rows]
    right = [t == b for t, b in zip(truth, best)]
    sure = calibration(right, [answer[b] for answer, b in zip(answers, best)])
    kinds: dict[str, list[int]] = {CODE: [], CCTLD: [], UNMARKED: []}
    for i, row in enumerate(rows):
        kinds[kind_of(row.url)].append(i)
    many = _many_languages(rows)
    kinds["many_languages"] = [i for i in kinds[CODE] if rows[i].host in many]
    return {
        **_macro(multi_class(truth, best, MIN_ROWS)),
        "unk": {
            "answered": sum(b == UNKNOWN for b in best),
            "mean_probability": _mean([answer[UNKNOWN] for answer in answers]),
        },
        "kinds": {
            kind: _kind([truth[i] for i in chosen], [best[i] for i in chosen])
            for kind, chosen in kinds.items()
        },
        "calibration": {
            "error": sure.error,
            "bins": [asdict(point) for point in sure.bins],
        },
    }


def _many_languages(rows: Sequence[UrlRow]) -> set[str]:
    languages: dict[str, set[Lang]] = {}
    for row in rows:
        languages.setdefault(row.host, set()).add(label_of(row))
    return {host for host, found in languages.items() if len(found) >= MANY_LANGUAGES}


def _kind(truth: Sequence[Lang], best: Sequence[Lang]) -> Table:
    large = multi_class(truth, best, MIN_ROWS)
    return {
        "rows": large.rows,
        "accuracy": large.accuracy,
        "macro_f1": large.f1,  # of languages with at least 20 rows
        "languages": large.classes,
        "macro_f1_all": multi_class(truth, best).f1,  # thin ones included
    }


def _macro(scores: MultiClass) -> Table:
    return {
        "rows": scores.rows,
        "languages": scores.classes,
        "macro_precision": scores.precision,
        "macro_recall": scores.recall,
        "macro_f1": scores.f1,
        "accuracy": scores.accuracy,
        "per_language": {
            lang: asdict(score) for lang, score in scores.per_class.items()
        },
    }


# ------------------------------------------------------------------ pairs


def judge_pairs(model: UrlPairModel, rows: Sequence[JudgedPair]) -> Table:
    """Both classes at 0.5: of all pairs, those equal but for a code, and translated."""
    p = in_batches(model.predict, [(row.url_a, row.url_b) for row in rows])
    sure = calibration([row.parallel for row in rows], p)
    parts = {
        "all": rows,
        "code_only": [row for row in rows if not row.translated],
        "translated": [row for row in rows if row.translated],
    }
    by_row = dict(zip(map(id, rows), p))
    return {
        **{
            name: _both([r.parallel for r in part], [by_row[id(r)] for r in part])
            for name, part in parts.items()
        },
        "calibration": {
            "error": sure.error,
            "bins": [asdict(point) for point in sure.bins],
        },
    }


def _both(truth: list[bool], p: list[float]) -> Table:
    scores = binary(truth, p)
    return {
        "positive": asdict(scores.positive),
        "negative": asdict(scores.negative),
        "macro_f1": scores.macro_f1,
        **asdict(ranking(truth, p)),
    }


def judge_wmt16(model: UrlPairModel, gold: Sequence[tuple[str, str]]) -> Table:
    """Recall of the gold pairs among all gold URLs of a host, by both rules."""
    candidates = wmt16_candidates(gold)
    p = in_batches(model.predict, candidates)
    scored = [(score, a, b) for score, (a, b) in zip(p, candidates)]
    recall, precision = one_to_one_recall(scored, gold, threshold=0.5)
    p = among_rivals(candidates, p)
    among = [(score, a, b) for score, (a, b) in zip(p, candidates)]
    rivals_recall, rivals_precision = one_to_one_recall(among, gold, threshold=0.5)
    return {
        "gold": len(gold),
        "candidates": len(candidates),
        "official_recall": one_to_one_recall(scored, gold)[0],
        "authors_recall": recall,
        "authors_precision": precision,
        "among_rivals_recall": rivals_recall,
        "among_rivals_precision": rivals_precision,
        "n_best_recall": {n: n_best_recall(scored, gold, n) for n in (1, 3, 10)},
    }


def in_batches(predict: Callable[[Sequence[T]], list[A]], items: list[T]) -> list[A]:
    """The answers of a model that is asked 256 items at a time."""
    chunks = [items[i : i + 256] for i in range(0, len(items), 256)]
    return [answer for chunk in chunks for answer in predict(chunk)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# ------------------------------------------------------------------ the command


def load_model(name: str) -> Any:  # either model protocol
    """A model by its path, or by the dotted path of its class."""
    if not Path(name).exists():
        return load_object(name)()
    (model, *_) = find_models([Path(name)])
    return load_object(model.dotted_path)(model.path)


def evaluate(profile: EvaluationProfile) -> Table:
    """All figures as one table that JSON can hold."""
    folder = Path(profile.data)
    if not profile.data:
        raise UsageError("which data? (add data=FOLDER)")
    collection = Collection.read(folder)
    urls = language_rows(collection, profile.split)
    pairs = pair_rows(collection, profile.split)
    result: Table = {
        "split": profile.split,
        "rows": {"language": digest(urls), "pair": digest(pairs)},
        "models": {"language": profile.languages, "pair": profile.pairs},
    }
    language_model: UrlLanguageModel = load_model(profile.languages)
    pair_model: UrlPairModel = load_model(profile.pairs)
    result["language"] = {
        "model": judge_languages(language_model, urls),
        "rules": judge_languages(UrlLanguageRules(), urls),
    }
    result["pair"] = {
        "model": judge_pairs(pair_model, pairs),
        "rules": judge_pairs(UrlPairRules(), pairs),
    }
    if profile.split == "test" and (folder / "wmt16_test_pairs.tsv").exists():
        gold = wmt16_rows(folder)
        result["wmt16"] = {
            "model": judge_wmt16(pair_model, gold),
            "rules": judge_wmt16(Wmt16PairRules("en", "fr"), gold),
        }
    return result


def report(result: Table) -> str:
    """The main figures, those of the rules in brackets."""
    lines = [f"split {result['split']}: model (rules)"]

    def line(name: str, path: str) -> None:
        head, *rest = path.split("/")
        if head in result:
            values = [_at(result[head][who], rest) for who in ("model", "rules")]
            lines.append(f"  {name:34} {values[0]:8.4f} ({values[1]:.4f})")

    languages = result["language"]["model"]["languages"]
    line(f"language: macro F1 of {languages}", "language/macro_f1")
    for kind in (CODE, CCTLD, UNMARKED, "many_languages"):
        line(f"  {kind}: macro F1", f"language/kinds/{kind}/macro_f1")
        line(
            f"  {kind}: macro F1, all languages", f"language/kinds/{kind}/macro_f1_all"
        )
    line("  calibration error", "language/calibration/error")
    for part in ("all", "code_only", "translated"):
        for figure in ("precision", "recall", "f1"):
            line(f"pair, {part}: {figure}", f"pair/{part}/positive/{figure}")
        line(f"pair, {part}: macro F1", f"pair/{part}/macro_f1")
        line("  F1 at precision 0.80", f"pair/{part}/f1_at_80")
        line("  AUC", f"pair/{part}/auc")
    line("  calibration error", "pair/calibration/error")
    line("WMT16 recall, official rule", "wmt16/official_recall")
    line("WMT16 recall, authors' rule", "wmt16/authors_recall")
    line("  precision among gold URLs", "wmt16/authors_precision")
    line("  among rivals: recall", "wmt16/among_rivals_recall")
    line("  among rivals: precision", "wmt16/among_rivals_precision")
    line("  gold partner among 3 best", "wmt16/n_best_recall/3")
    return "\n".join(lines)


def _at(table: Any, path: Sequence[str]) -> float:
    for key in path:
        table = table[int(key) if key.isdigit() else key]
    return float(table)


def main(words: Sequence[str]) -> None:
    """Judge, print, and write the JSON."""
    profile = load_profile(EvaluationProfile, None, words)
    result = evaluate(profile)
    print(report(result))
    if profile.out:
        Path(profile.out).write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    run_script(main, __doc__)
