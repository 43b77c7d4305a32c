"""How many true pairs after how many downloads? Every profile on every recorded site.

    python -m benchmarks.crawl_curve WORLDS [--built FOLDER] [--sites NAME …]
    python -m benchmarks.crawl_curve WORLDS --out FILE --draw DRAWING  # + what is known
    python -m benchmarks.crawl_curve WORLDS --crawl --sites vuejs.org --pairs en-ja

By default the frontier runs over pages that are read once, with the truth in the place
of the aligner: what is measured is the order alone, and all sites take minutes. With
`--crawl` the whole crawler runs, replaying the recording, and its own aligner is what
the frontier learns from; the accepted pairs are judged as well.

The area is the one under "true pairs whose both pages are downloaded, against pages
downloaded", up to the pages that can be reached, relative to the oracle's. Oracle,
`swap`, `paper` and `lookahead` come from the worlds' own simulate.py (with perfect
knowledge of languages and pairs, where they need it). `focused_perfect` is the profile
`focused` with models that are never wrong: what it lacks to 1 is the formula's, what
`focused` lacks to it is the models'. Only pages count as downloads: redirects, errors
and robots.txt are reported beside.

Areas are means over sites of the means over their language pairs; shares of the pairs
at so many per cent of the pages are means over all rows, as in Fig. 7 of the paper and
in the tables of the worlds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.drawing import pyplot, save
from benchmarks.perfect_models import PerfectModels
from benchmarks.worlds import LOW_YIELD, UNMARKED, RecordedSite, load_sites
from crawler.config import load_object
from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.data import LangPair, PairScore
from crawler.extract.document import Reading, read_page
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.protocols import UrlLanguageModel, UrlPairModel, UrlScorer
from crawler.replay.world import ReplayWorld, address_of

ROOT = Path(__file__).resolve().parents[1]
PERFECT = "_perfect"
PROFILES = (
    *("breadth_first", "language_only", "focused", f"focused{PERFECT}", "adaptive"),
)
BASELINES = ("bfs", "bfs_lang", "paper", "swap", "lookahead")
SHARES = (10, 20, 30, 50)
# The orders that are drawn, best first, so that the legend follows the curves.
STYLES: dict[str, dict[str, Any]] = {
    "oracle": {"color": "black", "linestyle": ":"},
    "lookahead": {"color": "grey", "linestyle": "--"},
    "adaptive": {"color": "tab:red", "linewidth": 2.5},
    "swap": {"color": "tab:purple", "linestyle": "-."},
    f"focused{PERFECT}": {"color": "tab:green", "linestyle": "--"},
    "focused": {"color": "tab:green"},
    "language_only": {"color": "tab:orange"},
    "breadth_first": {"color": "tab:blue"},
}


class Site:
    """A recorded site whose pages are read once; their text is not kept."""

    def __init__(self, recorded: RecordedSite) -> None:
        self.recorded = recorded
        self.world = ReplayWorld.open(recorded.warc)
        self._readings: dict[str, Reading] = {}

    def read(self, url: str) -> Reading:
        """What the crawler would read at a URL."""
        reading = self._readings.get(url)
        if reading is None:
            reading = read_page(self.world.answer(url))
            if reading.document is not None:
                light = replace(reading.document, tokens=(), chunks=())
                reading = replace(reading, document=light)
            self._readings[url] = reading
        return reading


@dataclass
class Order:
    """Pages in the order of their download, and what was asked for in vain."""

    pages: list[str]
    redirects: int = 0
    errors: int = 0
    seconds: float = 0.0  # of scoring and keeping the frontier
    judged: str = ""  # what the crawler's own pairs are worth


def walk(
    frontier: Frontier,
    read: Callable[[str], Reading],
    langs: LangPair,
    pairs: Iterable[tuple[str, str]],
    *,
    gated: bool,
    fetched: dict[str, str] | None = None,
) -> Iterator[tuple[str, Reading]]:
    """Crawl with the truth in the place of the aligner: (URL, reading) in order.

    `pairs` are addresses, src first; `fetched` (address → URL) is filled on the way.
    """
    partners: dict[str, list[str]] = {}
    for src, trg in sorted(pairs):
        partners.setdefault(src, []).append(trg)
        partners.setdefault(trg, []).append(src)
    fetched = {} if fetched is None else fetched
    while lease := frontier.next():
        reading = read(lease.url)
        page = reading.document.facts if reading.document else None
        if reading.location is not None:
            frontier.redirected(lease, reading.location)
        else:
            frontier.fetched(lease, page)
        if page is not None:
            address = address_of(lease.url)
            fetched.setdefault(address, lease.url)
            kept = page.lang in langs
            if kept or lease.link.is_seed or not gated:
                frontier.found(page, page.links)
            here = page.lang == langs.src
            frontier.paired(
                [
                    PairScore(
                        *((lease.url, other) if here else (other, lease.url)), 1.0
                    )
                    for partner in partners.get(address, ())
                    if (other := fetched.get(partner)) is not None
                ]
            )
        frontier.commit()
        yield lease.url, reading


def simulate(site: Site, langs: LangPair, scorer: UrlScorer, *, gated: bool) -> Order:
    """The order of a profile over pages that are read once."""
    order = Order([])
    reading_time = 0.0

    def read(url: str) -> Reading:
        nonlocal reading_time
        before = time.perf_counter()
        reading = site.read(url)
        reading_time += time.perf_counter() - before
        return reading

    frontier = Frontier(MemoryFrontier(), scorer, Scope("site"))
    frontier.seed(site.recorded.seeds(langs))
    pairs = site.recorded.true_pairs(langs)
    started = time.perf_counter()
    for url, reading in walk(frontier, read, langs, pairs, gated=gated):
        if reading.document is not None:
            order.pages.append(address_of(url))
        elif reading.location is not None:
            order.redirects += 1
        else:
            order.errors += 1
    order.seconds = time.perf_counter() - started - reading_time
    order.pages = list(dict.fromkeys(order.pages))
    return order


def crawl(recorded: RecordedSite, langs: LangPair, profile: str) -> Order:
    """Replay the recording through the whole crawler."""
    from crawler.reports.quality import judge_pairs, read_gold
    from crawler.sinks.pairs import read_pairs

    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        settings = load_profile_settings(f"settings.{profile}", RUN_DIR=str(run))
        started = time.perf_counter()
        world = ReplayWorld.open(recorded.warc)
        replay(recorded.seeds(langs), str(langs), settings, world)
        order = Order([], seconds=time.perf_counter() - started)
        urls = []
        for line in (run / "crawl.jsonl").read_text("utf-8").splitlines():
            visit = json.loads(line)
            if 300 <= visit["status"] < 400:
                order.redirects += 1
            elif visit["kept"] or visit["reason"] == "language":
                order.pages.append(address_of(visit["url"]))
                urls.append(visit["url"])
            else:
                order.errors += 1
        gold = read_gold(recorded.truth, langs)
        judged = judge_pairs(read_pairs(run / "pairs.tsv.gz"), gold.within(urls))
        order.judged = str(judged)
    order.pages = list(dict.fromkeys(order.pages))
    return order


def hits_of(pages: Sequence[str], pairs: Iterable[tuple[str, str]]) -> list[int]:
    """After how many downloads each pair was complete, ascending."""
    place = {address: n for n, address in enumerate(pages, 1)}
    return sorted(
        max(place[a], place[b]) for a, b in pairs if a in place and b in place
    )


def figures(hits: Sequence[int], baseline: Mapping[str, Any]) -> dict[str, Any]:
    """Area relative to the oracle, shares of the pairs, downloads for 90 % of them."""
    reach, total = baseline["reach"], baseline["pairs_reach"]
    area = sum(reach - hit + 1 for hit in hits if hit <= reach) / (reach * total)
    need = -(-9 * total // 10)
    return {
        "area": round(area / baseline["auc"]["oracle"], 4),
        "shares": {
            str(share): round(sum(h <= reach * share / 100 for h in hits) / total, 4)
            for share in SHARES
        },
        "d90": round(hits[need - 1] / reach, 4) if len(hits) >= need else None,
        "found": len(hits),
        "tenths": [sum(h <= reach * n / 10 for h in hits) for n in range(1, 11)],
    }


def run_baselines(
    worlds: Path, sites: Sequence[RecordedSite], cache: Path | None
) -> dict[tuple[str, str], dict[str, Any]]:
    """The figures of the worlds' simulate.py, from its output if it ran before."""
    if not sites:
        return {}
    if cache is None or not cache.exists():
        out = cache or Path(tempfile.mkdtemp()) / "baselines.json"
        graphs = [str(site.graph) for site in sites]
        script = str(worlds / "simulate.py")
        subprocess.run([sys.executable, script, str(out), *graphs], check=True)
        cache = out
    rows = json.loads(cache.read_text())
    return {(row["site"], row["pair"]): row for row in rows if row.get("auc")}


def load_models(
    language: str | None = None, pair: str | None = None
) -> tuple[UrlLanguageModel, UrlPairModel]:
    """The URL models of these names, or those that settings/base.py names."""
    base = import_module("settings.base")
    return (
        load_object(language or base.URL_LANGUAGE_MODEL)(),
        load_object(pair or base.URL_PAIR_MODEL)(),
    )


def _name_of(model: object) -> str:
    """The class of a model and, of one that ships, which weights it has."""
    kind = type(model)
    weights = ROOT / "models" / "weights" / f"{kind.__module__.rpartition('.')[2]}.npz"
    digest = ""
    if weights.exists():
        digest = f"@{hashlib.sha256(weights.read_bytes()).hexdigest()[:8]}"
    return f"{kind.__name__}{digest}"


def scorer_of(
    profile: str, langs: LangPair, models: tuple[UrlLanguageModel, UrlPairModel]
) -> tuple[UrlScorer, bool]:
    """The scorer of a profile, and whether its language gate is on."""
    settings = import_module(f"settings.{profile.removesuffix(PERFECT)}")
    kind = load_object(settings.URL_SCORER)
    if settings.URL_SCORER.endswith("UniformScorer"):
        return kind(), settings.LANGUAGE_GATE
    return kind(langs, *models), settings.LANGUAGE_GATE


def mean_over_sites(
    rows: Sequence[Mapping[str, Any]], key: Callable[..., Any]
) -> float:
    """The mean over sites of the mean over a site's language pairs."""
    by_site: dict[str, list[float]] = {}
    for row in rows:
        value = key(row)
        if value is not None:
            by_site.setdefault(row["site"], []).append(value)
    return statistics.fmean(map(statistics.fmean, by_site.values())) if by_site else 0.0


def groups_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The groups of sites that are reported apart."""
    groups = {
        "recorded (judge)": [row for row in rows if not row["built"]],
        "from packages": [row for row in rows if row["built"]],
        "without markers": [row for row in rows if row["site"] in UNMARKED],
        "low yield": [row for row in rows if row["site"] in LOW_YIELD],
        "all": list(rows),
    }
    return {name: group for name, group in groups.items() if group}


def summarize(rows: Sequence[Mapping[str, Any]], orders: Sequence[str]) -> str:
    """The table that a person reads, in Markdown."""
    lines = []
    for name, group in groups_of(rows).items():
        sites = len({row["site"] for row in group})
        lines += ["", f"{name}: {sites} sites, {len(group)} rows", ""]
        head = ("area", *(f"{share} %" for share in SHARES), "90 % of the pairs")
        lines += [
            "| order | " + " | ".join(head) + " |",
            "|---" * (len(head) + 1) + "|",
        ]
        for order in orders:
            # the same rows for all, or they cannot be compared
            found = [row["orders"][order] for row in group if order in row["orders"]]
            if len(found) < len(group):
                lines.append(
                    f"| {order} | {len(found)} of {len(group)} rows measured |"
                )
                continue
            area = mean_over_sites(group, lambda row, o=order: row["orders"][o]["area"])
            shares = [
                statistics.fmean(row["shares"][str(share)] for row in found)
                for share in SHARES
            ]
            # who never has them needs all pages, and more
            d90 = statistics.fmean(row["d90"] or 1.0 for row in found)
            cells = [f"{area:.3f}", *(f"{share:.2f}" for share in shares), f"{d90:.0%}"]
            lines.append(f"| {order} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw share of the pairs against share of the pages, a panel for each group.

    Rows without `adaptive` are left out, and orders that other rows lack.
    """
    groups = groups_of([row for row in rows if "adaptive" in row["orders"]])
    figure, axes = pyplot().subplots(
        2, 3, figsize=(12, 7), sharex=True, sharey=True, layout="constrained"
    )
    for axis, (name, group) in zip(axes.flat, groups.items(), strict=False):
        for order, style in STYLES.items():
            found = [
                [0.0, *(n / row["true_pairs"] for n in row["orders"][order]["tenths"])]
                for row in group
                if order in row["orders"]
            ]
            if len(found) == len(group):
                curve = [statistics.fmean(column) for column in zip(*found)]
                axis.plot(range(0, 101, 10), curve, label=order, **style)
        axis.set_title(f"{name} ({len(group)} rows)", fontsize=10)
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(groups) :]:
        axis.axis("off")
    figure.supxlabel("pages downloaded, % of those that can be reached")
    figure.supylabel("true pairs complete, share")
    lines = {line.get_label(): line for axis in axes.flat for line in axis.lines}
    names = [order for order in STYLES if order in lines]
    shown = [lines[name] for name in names]
    axes.flat[-1].legend(shown, names, loc="center", frameon=False)
    save(figure, path)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("worlds", type=Path, help="folder of recorded worlds")
    parser.add_argument("--built", type=Path, help="folder of sites from packages")
    parser.add_argument("--sites", nargs="*", default=[], help="default: all")
    parser.add_argument(
        "--pairs", nargs="*", default=[], help="default: those that count"
    )
    parser.add_argument("--profiles", nargs="*", default=PROFILES)
    parser.add_argument("--crawl", action="store_true", help="the whole crawler")
    parser.add_argument(
        "--baselines", type=Path, help="output of simulate.py, kept here"
    )
    parser.add_argument("--language-model", help="default: as settings/base.py says")
    parser.add_argument("--pair-model", help="default: as settings/base.py says")
    parser.add_argument("--out", type=Path, help="JSON file; figures in it stay")
    parser.add_argument("--draw", type=Path, help="SVG file for all known figures")
    args = parser.parse_args(argv)

    before = json.loads(args.out.read_text()) if args.out and args.out.exists() else []
    known = {(row["site"], row["pair"]): row for row in before}
    models = load_models(args.language_model, args.pair_model)
    names = " ".join(map(_name_of, models))
    sites = load_sites(args.worlds, args.built, args.sites)
    # models that are never wrong know the site beforehand: only of a simulation
    profiles = [p for p in args.profiles if not (args.crawl and p.endswith(PERFECT))]
    baselines = run_baselines(args.worlds, sites, args.baselines)
    rows: list[dict[str, Any]] = []
    for recorded in sites:
        site = None if args.crawl else Site(recorded)
        for pair in recorded.pairs:
            baseline = baselines.get((recorded.name, pair))
            if baseline is None or (args.pairs and pair not in args.pairs):
                continue
            langs = LangPair.parse(pair.replace("-", ","))
            true_pairs = recorded.true_pairs(langs)
            orders: dict[str, Any] = {
                name: {
                    "area": baseline["norm"][name],
                    "shares": {
                        str(share): round(
                            baseline["deciles"][name][share // 10 - 1]
                            / baseline["pairs_reach"],
                            4,
                        )
                        for share in SHARES
                    },
                    "d90": round(baseline["d90"][name] / baseline["reach"], 4),
                    "tenths": baseline["deciles"][name],
                }
                for name in (*BASELINES, "oracle")
            }
            for profile in profiles:
                if site is None:
                    order = crawl(recorded, langs, profile)
                else:
                    used = models
                    if profile.endswith(PERFECT):
                        perfect = PerfectModels(site.read, true_pairs)
                        used = perfect.language, perfect.pair
                    scorer, gated = scorer_of(profile, langs, used)
                    order = simulate(site, langs, scorer, gated=gated)
                orders[profile] = figures(hits_of(order.pages, true_pairs), baseline)
                told = {k: v for k, v in asdict(order).items() if k != "pages"}
                orders[profile] |= told | {"pages": len(order.pages)}
                if profile in ("focused", "adaptive"):
                    orders[profile]["models"] = names
            orders = known.pop((recorded.name, pair), {}).get("orders", {}) | orders
            rows.append(
                {
                    "site": recorded.name,
                    "pair": pair,
                    "built": recorded.built,
                    "reach": baseline["reach"],
                    "true_pairs": baseline["pairs_reach"],
                    "orders": orders,
                }
            )
            line = " ".join(f"{name} {orders[name]['area']:.3f}" for name in profiles)
            print(f"{recorded.name:28}{pair:7}{baseline['reach']:6} pages  {line}")
            for name in profiles:
                if orders[name]["judged"]:
                    print(f"  {name}: {orders[name]['judged']}")
            sys.stdout.flush()
            everything = sorted([*known.values(), *rows], key=_by_site)
            if args.out:
                args.out.write_text(json.dumps(everything, indent=1) + "\n")
    everything = sorted([*known.values(), *rows], key=_by_site)
    print(summarize(everything, [*BASELINES, "oracle", *profiles]))
    if args.draw:
        draw(everything, args.draw)


def _by_site(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["site"], row["pair"]


if __name__ == "__main__":
    main()
