"""The figures of benchmarks/crawl_curve.py: areas, shares, tables and drawings."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.drawing import pyplot, save
from benchmarks.worlds import LOW_YIELD, UNMARKED

PERFECT = "_perfect"
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


def hits_of(
    pages: Sequence[str],
    pairs: Iterable[tuple[str, str]],
    costs: Sequence[int] | None = None,
) -> list[int]:
    """After how many downloads each pair was complete, ascending.

    `costs`: what was spent when each page came; without it a page costs one.
    """
    place = dict(zip(pages, costs or range(1, len(pages) + 1)))
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


def area_by_requests(
    hits: Sequence[int], baseline: Mapping[str, Any], kinds: int
) -> float:
    """The area up to as many requests as there are pages, as a share of the oracle's.

    `hits` are in requests; the oracle pays for the first redirect of each of so many
    `kinds`, before its first pair, and for nothing else but pages.
    """
    reach, total = baseline["reach"], baseline["pairs_reach"]
    ours = sum(reach - hit + 1 for hit in hits if hit <= reach)
    return round(ours / (baseline["auc"]["oracle"] * reach * total - kinds * total), 4)


def redirect_kind(url: str, location: str) -> str:
    """What a redirect changes: scheme, www, slash, index, host; another path: other.

    >>> redirect_kind("http://a.is/x", "http://a.is/x/")
    'slash'
    """
    one, two = urlsplit(url), urlsplit(location)
    if one.netloc != two.netloc:
        names = (part.netloc.removeprefix("www.") for part in (one, two))
        return "www" if len({*names}) == 1 else "host"
    if one.path.rstrip("/") == two.path.rstrip("/"):
        return "scheme" if one.scheme != two.scheme else "slash"
    folders = (part.path.rpartition("/")[0] for part in (one, two))
    index = any("/index." in part.path for part in (one, two))
    return "index" if index and len({*folders}) == 1 else "other"


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


def until_stop(
    rows: Sequence[Mapping[str, Any]], order: str, limit: float
) -> tuple[float, float]:
    """Shares of pairs and requests until STOP_WHEN ends a site, means over sites."""

    def mean_of(what: str) -> float:
        def share(row: Mapping[str, Any]) -> float | None:
            found = row["orders"].get(order, {}).get(f"stop_when_{limit:g}", {})
            value: float | None = found.get(what)
            return value

        return mean_over_sites(rows, share)

    return mean_of("pairs"), mean_of("requests")


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


def _requests_of(order: str) -> Callable[[Mapping[str, Any]], float]:
    return lambda row: row["orders"][order]["area_requests"]


def summarize(rows: Sequence[Mapping[str, Any]], orders: Sequence[str]) -> str:
    """The table that a person reads, in Markdown."""
    lines = []
    for name, group in groups_of(rows).items():
        sites = len({row["site"] for row in group})
        lines += ["", f"{name}: {sites} sites, {len(group)} rows", ""]
        head = (
            "area",
            "by requests",
            *(f"{share} %" for share in SHARES),
            "90 % of the pairs",
        )
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
            asked = [row["area_requests"] for row in found if "area_requests" in row]
            by_requests = "–"
            if len(asked) == len(found):
                by_requests = f"{mean_over_sites(group, _requests_of(order)):.3f}"
            cells = [
                *(f"{area:.3f}", by_requests),
                *(f"{share:.2f}" for share in shares),
                f"{d90:.0%}",
            ]
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
