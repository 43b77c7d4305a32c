"""The URL models: quality beside the rules, speed beside XLM-R, reliability.

    python -m benchmarks.url_models DATA [--xlmr] [--plot FILE.png]

Quality is `training.evaluate`'s. Speed is CPU time of one thread over the test URLs,
sites mixed, each seen once, a page's 40 links at a time, nothing cached beforehand.
Results go to benchmarks/results/url_models.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from models.preprocess import pair_text, url_text
from models.url_language import HashedUrlLanguageModel
from models.url_pair import HashedUrlPairModel
from training.data.splits import TEST
from training.evaluate import EvaluationProfile, evaluate, report
from training.protocol import Collection, language_rows

RESULTS = Path(__file__).parent / "results" / "url_models.json"
LINKS = 40  # of a page; documentation pages have 45 in the mean


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    with threadpool_limits(1):  # threads that wait for each other take time as well
        work()
    return max(1e-9, time.process_time() - started)


def speed(urls: Sequence[str]) -> dict[str, float]:
    """URLs a second; `scorer` asks both models in turn, as a crawl does."""
    pages = [urls[i : i + LINKS] for i in range(0, len(urls), LINKS)]

    def rate(*, language: bool, pair: bool) -> float:
        languages, pairs = HashedUrlLanguageModel(), HashedUrlPairModel()

        def work() -> None:
            for page in pages:
                if language:
                    languages.predict(page)
                if pair:
                    pairs.predict([(page[0], url) for url in page])

        return len(urls) / cpu_seconds(work)

    return {
        "urls": len(urls),
        "language_urls_per_s": rate(language=True, pair=False),
        "pair_urls_per_s": rate(language=False, pair=True),
        "scorer_urls_per_s": rate(language=True, pair=True),
    }


def xlmr_speed(urls: Sequence[str]) -> dict[str, float]:
    """XLM-R base with random weights on the same URLs, both models, one thread."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

    torch.set_num_threads(1)
    network = XLMRobertaForSequenceClassification(
        XLMRobertaConfig(
            vocab_size=250_002, max_position_embeddings=514, num_labels=162
        )
    ).eval()

    def score(batches: Sequence[Sequence[str]]) -> None:
        for texts in batches:
            # SentencePiece makes a token of four characters of a URL, near enough
            length = 2 + max(len(text) for text in texts) // 4
            ids = torch.randint(4, 250_000, (len(texts), length))
            with torch.inference_mode():
                network(input_ids=ids, attention_mask=torch.ones_like(ids))

    pages = [sorted(urls)[i : i + LINKS] for i in range(0, len(urls), LINKS)]
    language = cpu_seconds(lambda: score([[url_text(u) for u in p] for p in pages]))
    pair = cpu_seconds(lambda: score([[pair_text(p[0], u) for u in p] for p in pages]))
    return {
        "urls": len(urls),
        "language_urls_per_s": len(urls) / language,
        "pair_urls_per_s": len(urls) / pair,
        "scorer_urls_per_s": len(urls) / (language + pair),
    }


def draw_reliability(result: dict[str, Any], path: Path) -> None:
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", help="folder with the tables of URLs and pairs")
    parser.add_argument("--xlmr", action="store_true", help="time XLM-R base as well")
    parser.add_argument("--plot", type=Path, help="reliability of both models")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    result = evaluate(EvaluationProfile(data=args.data))
    urls = [row.url for row in language_rows(Collection.read(Path(args.data)), TEST)]
    random.Random(1).shuffle(urls)
    result["load"] = os.getloadavg()[0]
    result["speed"] = speed(urls)
    if args.xlmr:
        result["speed"]["xlmr_base_random"] = xlmr_speed(urls[:200])
    print(report(result))
    print(json.dumps(result["speed"], indent=1))
    args.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    if args.plot:
        draw_reliability(result, args.plot)


if __name__ == "__main__":
    main()
