"""Plan the search for pairs on a large site: tables, window and cost.

For the sliding window of Ture, Elsayed & Lin (2011), by their analytical model. Often
comparing everything is cheaper, and the plan says so.

Example: bifocal plan --docs 1470000,3440000 --recall 0.7
"""

from __future__ import annotations

import argparse

from crawler.cli import whole_number

_NANOSECONDS = 4  # a comparison of 1,000 bits on one core (benchmarks/aligner_speed.py)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument(
        "--docs", required=True, help="documents of each language: 100000 or 5000,8000"
    )
    parser.add_argument(
        "--recall", type=float, default=0.9, help="share of the pairs to find (0.9)"
    )
    parser.add_argument(
        "--cosine",
        type=float,
        default=0.35,
        help="least cosine of the pairs to find (0.35)",
    )
    parser.add_argument(
        "--bits", type=whole_number, default=1000, help="bits of a signature (1000)"
    )


def run(args: argparse.Namespace) -> int:
    """Print the cheapest ways."""
    from crawler.aligner.candidates.planner import plan, upper_bound
    from crawler.aligner.candidates.signatures import SignaturesConfig
    from crawler.errors import ProfileError

    try:
        src, _, trg = args.docs.partition(",")
        docs = int(src), int(trg or src)
    except ValueError:
        docs = 0, 0
    if min(docs) < 1 or args.bits < 1:
        raise ProfileError(f"--docs {args.docs}: expected one or two numbers above 0")
    if not (0 < args.recall <= 1 and 0 < args.cosine < 1):
        raise ProfileError("--recall and --cosine: give numbers between 0 and 1")
    config = SignaturesConfig(bits=args.bits)
    ways = plan(*docs, args.recall, args.cosine, config)
    if not ways:
        bound = upper_bound(args.cosine, config)
        print(
            f"No search finds {args.recall:.0%}: {args.bits} bits keep {bound:.1%} of"
            f" the pairs of cosine {args.cosine} (give more --bits)"
        )
        return 1
    brute = next(way for way in ways if way.is_brute_force)
    print("tables  window  recall  comparisons  of brute force  core hours")
    for way in ways[:8]:
        name = (
            "brute force     "
            if way.is_brute_force
            else (f"{way.tables:6}  {way.window:6}  ")
        )
        print(
            f"{name}{way.recall:6.3f}  {way.comparisons:11.3g}"
            f"  {way.comparisons / brute.comparisons:14.1%}"
            f"  {way.comparisons * _NANOSECONDS / 3.6e12:10.3g}"
        )
    best = "Brute force" if ways[0].is_brute_force else "The first of these"
    print(f"{best} is the cheapest way to find {args.recall:.0%} of the pairs.")
    return 0
