"""How many true pairs after how many downloads? Every profile on every recorded site.

    python -m benchmarks.crawl_curve WORLDS [--built FOLDER] [--sites NAME …]
    python -m benchmarks.crawl_curve WORLDS --out FILE --draw DRAWING  # + what is known
    python -m benchmarks.crawl_curve WORLDS --crawl --sites vuejs.org --pairs en-ja
    python -m benchmarks.crawl_curve NOISY --baselines NOISY/sim.json [--crawl]

By default the frontier runs over pages that are read once, with the truth in the place
of the aligner: what is measured is the order alone, and all sites take minutes. With
`--crawl` the whole crawler runs, replaying the recording, and its own aligner is what
the frontier learns from; the accepted pairs are judged as well.

The area is the one under "true pairs whose both pages are downloaded, against pages
downloaded", up to the pages that can be reached, relative to the oracle's. Oracle,
`swap`, `paper` and `lookahead` come from the worlds' own simulate.py (with perfect
knowledge of languages and pairs, where they need it). `focused_perfect` is the profile
`focused` with models that are never wrong: what it lacks to 1 is the formula's, what
`focused` lacks to it is the models'. `adaptive_guessing` is `adaptive` with the setting
GUESS_ADDRESSES. Only pages count as downloads there; the area by
requests counts redirects and errors too (robots.txt does not count), beside an oracle
that pays for the first redirect of each kind that the site showed.

Areas are means over sites of the means over their language pairs; shares of the pairs
at so many per cent of the pages are means over all rows, as in Fig. 7 of the paper and
in the tables of the worlds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.crawl_figures import (
    BASELINES,
    PERFECT,
    SHARES,
    area_by_requests,
    draw,
    figures,
    hits_of,
    redirect_kind,
    summarize,
    until_stop,
)
from benchmarks.perfect_models import PerfectModels
from benchmarks.worlds import RecordedSite, load_sites
from crawler.config import load_object
from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.data import LangPair, PairScore, PairVerdict
from crawler.extract.document import Reading, read_page
from crawler.frontier.frontier import Frontier
from crawler.frontier.scope import Scope
from crawler.frontier.site_yield import SiteYield
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.protocols import UrlLanguageModel, UrlPairModel, UrlScorer
from crawler.replay.world import ReplayWorld, address_of

ROOT = Path(__file__).resolve().parents[1]
PROFILES = (
    *("breadth_first", "language_only", "focused", f"focused{PERFECT}", "adaptive"),
)

GUESSING = "_guessing"


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


@dataclass(slots=True)
class Stops(SiteYield):
    """Notes when a site would end, for each value of STOP_WHEN, and lets it go on."""

    limits: Sequence[float] = ()
    requests: int = 0
    ended: dict[float, int] = field(default_factory=dict)  # limit → requests until then

    def ends(self, site: str, score: float) -> bool:
        """No; which limits the next pair would cost more than is noted."""
        costs = self.next_pair_costs(site, score) if self.limits else 0.0
        for limit in self.limits:
            if costs > limit:
                self.ended.setdefault(limit, self.requests)
        return False


@dataclass
class Order:
    """Pages in the order of their download, and the requests that gave none."""

    pages: list[str] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)  # requests until each page came
    redirects: int = 0
    redirect_kinds: list[str] = field(default_factory=list)
    errors: int = 0
    seconds: float = 0.0  # of scoring and keeping the frontier
    judged: str = ""  # precision and recall of the crawler's own pairs
    stops: dict[float, int] = field(default_factory=dict)  # STOP_WHEN → its requests
    _known: set[str] = field(default_factory=set)

    def page(self, url: str) -> None:
        """Count a page; a second download of it is a request without a page."""
        address = address_of(url)
        if address in self._known:
            self.errors += 1
            return
        self._known.add(address)
        self.pages.append(address)
        self.costs.append(len(self.pages) + self.redirects + self.errors)

    @property
    def requests(self) -> int:
        """Pages, redirects and errors."""
        return len(self.pages) + self.redirects + self.errors

    def told(self) -> dict[str, Any]:
        """The counts for a result file."""
        return {
            "redirects": self.redirects,
            "redirect_kinds": self.redirect_kinds,
            "errors": self.errors,
            "seconds": self.seconds,
            "judged": self.judged,
            "pages": len(self.pages),
        }

    def redirect(self, url: str, location: str) -> None:
        """Count a redirect, and its kind if it is the first of it."""
        self.redirects += 1
        kind = redirect_kind(url, location)
        if kind not in self.redirect_kinds:
            self.redirect_kinds.append(kind)


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
        questions = frontier.questions(lease)
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
            frontier.judged(
                [
                    PairVerdict(
                        a, b, float(address_of(b) in partners.get(address_of(a), ()))
                    )
                    for a, b in questions
                ]
            )
        frontier.commit()
        yield lease.url, reading


def simulate(
    site: Site,
    langs: LangPair,
    scorer: UrlScorer,
    *,
    gated: bool,
    limits: Sequence[float] = (),
) -> Order:
    """The order of a profile over pages that are read once; `limits`: of STOP_WHEN."""
    order = Order()
    reading_time = 0.0

    def read(url: str) -> Reading:
        nonlocal reading_time
        before = time.perf_counter()
        reading = site.read(url)
        reading_time += time.perf_counter() - before
        return reading

    sites = Stops(limits=limits)
    frontier = Frontier(MemoryFrontier(), scorer, Scope("site"), sites=sites)
    frontier.seed(site.recorded.seeds(langs))
    pairs = site.recorded.true_pairs(langs)
    started = time.perf_counter()
    for url, reading in walk(frontier, read, langs, pairs, gated=gated):
        if reading.document is not None:
            order.page(url)
        elif reading.location is not None:
            order.redirect(url, reading.location)
        else:
            order.errors += 1
        sites.requests += 1
    order.stops = {limit: sites.ended.get(limit, sites.requests) for limit in limits}
    order.seconds = time.perf_counter() - started - reading_time
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
        order = Order(seconds=time.perf_counter() - started)
        urls = []
        for line in (run / "crawl.jsonl").read_text("utf-8").splitlines():
            visit = json.loads(line)
            if 300 <= visit["status"] < 400:
                reading = read_page(world.answer(visit["url"]))
                order.redirect(visit["url"], reading.location or visit["url"])
            elif visit["kept"] or visit["reason"] == "language":
                order.page(visit["url"])
                urls.append(visit["url"])
            else:
                order.errors += 1
        gold = read_gold(recorded.truth, langs)
        judged = judge_pairs(read_pairs(run / "pairs.tsv.gz"), gold.within(urls))
        order.judged = str(judged)
    return order


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
    name = profile.removesuffix(PERFECT).removesuffix(GUESSING)
    settings = import_module(f"settings.{name}")
    kind = load_object(settings.URL_SCORER)
    if profile.endswith(GUESSING):
        return kind(langs, *models, guess=True), settings.LANGUAGE_GATE
    if settings.URL_SCORER.endswith("UniformScorer"):
        return kind(), settings.LANGUAGE_GATE
    return kind(langs, *models), settings.LANGUAGE_GATE


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
    parser.add_argument(
        "--stop-when",
        type=float,
        nargs="*",
        default=[],
        metavar="N",
        help="values of STOP_WHEN: pairs and requests until a site ends, order alone",
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
                    "d90": _share(baseline["d90"][name], baseline["reach"]),
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
                    order = simulate(
                        site, langs, scorer, gated=gated, limits=args.stop_when
                    )
                orders[profile] = figures(hits_of(order.pages, true_pairs), baseline)
                orders[profile] |= order.told()
                hits = hits_of(order.pages, true_pairs, order.costs)
                orders[profile]["area_requests"] = area_by_requests(
                    hits, baseline, len(order.redirect_kinds)
                )
                for limit, requests in order.stops.items():
                    found = sum(hit <= requests for hit in hits)
                    orders[profile][f"stop_when_{limit:g}"] = {
                        "pairs": round(found / baseline["pairs_reach"], 4),
                        "requests": round(requests / order.requests, 4),
                    }
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
    for limit in args.stop_when:
        for name in profiles:
            pairs, requests = until_stop(everything, name, limit)
            print(
                f"{name}, STOP_WHEN={limit:g}: {pairs:.3f} of the pairs for"
                f" {requests:.3f} of the requests, means over sites"
            )
    if args.draw:
        draw(everything, args.draw)


def _share(count: int | None, whole: int) -> float | None:
    """A share; None of a baseline that never has so many pairs."""
    return None if count is None else round(count / whole, 4)


def _by_site(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["site"], row["pair"]


if __name__ == "__main__":
    main()
