"""Every figure of the URL models: `python -m training.evaluate data=DATA key=value`.

    data=FOLDER             the URL data (as for `training.url_language`)
    split=test              or dev, to choose between models
    languages=DOTTED.PATH   models to judge; default: the hashed ones that ship
    pairs=DOTTED.PATH
    xlmr=true               also time XLM-R base with random weights (needs `xlmr`)
    out=FILE.json           the whole answer; a table is printed
    plot=FILE.png           reliability of both models (needs the extra `reports`)

Rows, negatives and the WMT16 candidates are `training.protocol`'s, and rules are judged
beside the models. Speed is CPU time of one thread over the split's URLs in order, each
seen once: a page's 40 links at a time, nothing cached beforehand.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from crawler.config import load_object, load_profile
from crawler.data import Lang
from crawler.errors import UsageError
from crawler.protocols import UrlLanguageModel, UrlPairModel
from models.preprocess import pair_text, url_text
from models.rules import UNKNOWN, UrlLanguageRules, UrlPairRules
from training.command import run_script
from training.data.tables import UrlRow
from training.metrics import (
    MultiClass,
    authors_recall,
    binary,
    calibration,
    multi_class,
    official_recall,
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

LINKS = 40  # of a page (SPEED 3.2: 45 on documentation pages)
MANY_LANGUAGES = 20  # a host that writes out so many is one for thin languages
Table = dict[str, Any]
T = TypeVar("T")
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class EvaluationProfile:
    """What to judge on what."""

    data: str = ""
    split: str = "test"
    languages: str = "models.url_language.HashedUrlLanguageModel"
    pairs: str = "models.url_pair.HashedUrlPairModel"
    xlmr: bool = False
    out: str | None = None
    plot: str | None = None


# ------------------------------------------------------------------ language


def judge_languages(model: UrlLanguageModel, rows: Sequence[UrlRow]) -> Table:
    """Macro and per-language figures, by kind of URL, and calibration."""
    answers = _in_pages(model.predict, [row.url for row in rows])
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
    """Both classes at 0.5: of all pairs, of marker-only and of translated ones."""
    p = _in_pages(model.predict, [(row.url_a, row.url_b) for row in rows])
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
    """Recall of the gold pairs among all gold URLs of a host, by both 1-1 rules."""
    candidates = wmt16_candidates(gold)
    p = _in_pages(model.predict, candidates)
    scored = [(score, a, b) for score, (a, b) in zip(p, candidates)]
    return {
        "gold": len(gold),
        "candidates": len(candidates),
        "official_recall": official_recall(scored, gold),
        "authors_recall": authors_recall(scored, gold),
    }


# ------------------------------------------------------------------ speed


def speed(profile: EvaluationProfile, urls: Sequence[str]) -> Table:
    """What one thread does in a second of CPU time, a page's links at a time.

    `scorer` asks both models in turn, as a crawl does. Each is timed on new models.
    """
    pages = [urls[i : i + LINKS] for i in range(0, len(urls), LINKS)]

    def rate(*, language: bool, pair: bool) -> float:
        languages: UrlLanguageModel = load_object(profile.languages)()
        pairs: UrlPairModel = load_object(profile.pairs)()

        def work() -> None:
            for page in pages:
                if language:
                    languages.predict(page)
                if pair:
                    pairs.predict([(page[0], url) for url in page])

        return len(urls) / _cpu_seconds(work)

    return {
        "urls": len(urls),
        "language_urls_per_s": rate(language=True, pair=False),
        "pair_urls_per_s": rate(language=False, pair=True),
        "scorer_urls_per_s": rate(language=True, pair=True),
    }


def xlmr_speed(urls: Sequence[str]) -> Table:
    """XLM-R base with random weights on the same URLs, both models, one thread."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

    torch.set_num_threads(1)
    config: Any = XLMRobertaConfig
    network: Any = XLMRobertaForSequenceClassification(
        config(vocab_size=250_002, max_position_embeddings=514, num_labels=162)
    )
    network.eval()

    def score(batches: Sequence[Sequence[str]]) -> None:
        for texts in batches:
            # SentencePiece makes a token of four characters of a URL, near enough
            length = 2 + max(len(text) for text in texts) // 4
            ids = torch.randint(4, 250_000, (len(texts), length))
            with torch.inference_mode():
                network(input_ids=ids, attention_mask=torch.ones_like(ids))

    pages = [sorted(urls)[i : i + LINKS] for i in range(0, len(urls), LINKS)]
    language = _cpu_seconds(lambda: score([[url_text(u) for u in p] for p in pages]))
    pair = _cpu_seconds(lambda: score([[pair_text(p[0], u) for u in p] for p in pages]))
    return {
        "urls": len(urls),
        "language_urls_per_s": len(urls) / language,
        "pair_urls_per_s": len(urls) / pair,
        "scorer_urls_per_s": len(urls) / (language + pair),
    }


def _cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return max(1e-9, time.process_time() - started)


def _in_pages(predict: Callable[[Sequence[T]], list[A]], items: list[T]) -> list[A]:
    chunks = [items[i : i + 256] for i in range(0, len(items), 256)]
    return [answer for chunk in chunks for answer in predict(chunk)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# ------------------------------------------------------------------ the command


def evaluate(profile: EvaluationProfile) -> Table:
    """Everything, as one table that JSON can hold."""
    folder = Path(profile.data)
    if not profile.data or not (folder / "splits.tsv.gz").exists():
        raise UsageError(f"{profile.data!r}: no splits.tsv.gz there (give data=FOLDER)")
    collection = Collection.read(folder)
    urls = language_rows(collection, profile.split)
    pairs = pair_rows(collection, profile.split)
    load = os.getloadavg()[0]
    cold = [row.url for row in urls]
    random.Random(1).shuffle(cold)  # sites mixed: no help from neighbours
    result: Table = {
        "split": profile.split,
        "rows": {"language": digest(urls), "pair": digest(pairs)},
        "models": {"language": profile.languages, "pair": profile.pairs},
        "speed": speed(profile, cold),
        "load": load,
    }
    if profile.xlmr:
        result["speed"]["xlmr_base_random"] = xlmr_speed(cold[:200])
    language_model: UrlLanguageModel = load_object(profile.languages)()
    pair_model: UrlPairModel = load_object(profile.pairs)()
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
            "rules": judge_wmt16(UrlPairRules(), gold),
        }
    return result


def report(result: Table) -> str:
    """The figures that people compare, model beside rules."""
    lines = [f"split {result['split']}: model (rules)"]

    def line(name: str, path: str) -> None:
        head, *rest = path.split("/")
        if head in result:
            values = [_at(result[head][who], rest) for who in ("model", "rules")]
            lines.append(f"  {name:34} {values[0]:8.4f} ({values[1]:.4f})")

    line("language: macro F1", "language/macro_f1")
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
    speeds: Mapping[str, Any] = result["speed"]
    for name, value in speeds.items():
        if isinstance(value, float):
            lines.append(f"  {name:34} {value:8.0f}")
    if "xlmr_base_random" in speeds:
        value = speeds["xlmr_base_random"]["scorer_urls_per_s"]
        lines.append(f"  {'... of XLM-R base, random weights':34} {value:8.1f}")
    return "\n".join(lines)


def _at(table: Any, path: Sequence[str]) -> float:
    for key in path:
        table = table[key]
    return float(table)


def draw_reliability(result: Table, path: Path) -> None:
    """Claimed against true shares, a curve for each model (Guo et al., 2017)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="grey", linewidth=1, label="perfect")
    for name in ("language", "pair"):
        sure = result[name]["model"]["calibration"]
        points = [(b["confidence"], b["accuracy"]) for b in sure["bins"]]
        label = f"{name} (error {sure['error']:.3f})"
        axes.plot(*zip(*points), marker="o", label=label)
    axes.set(xlabel="claimed probability", ylabel="share that is true")
    axes.legend()
    figure.savefig(path, dpi=120)


def main(words: Sequence[str]) -> None:
    """Judge, print, and write the JSON."""
    profile = load_profile(EvaluationProfile, None, words)
    result = evaluate(profile)
    print(report(result))
    if profile.out:
        Path(profile.out).write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if profile.plot:
        draw_reliability(result, Path(profile.plot))


if __name__ == "__main__":
    run_script(main)
