"""The arguments of `bifocal train`, which is also `python -m training`.

Torch is imported when a training begins, so that --help is instant.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawler.errors import UsageError
from training.profile import PROFILES, profile_names, read_profile

_KEYS = """\
KEY=VALUE changes a value of the profile, such as loop.max_epochs=3; --keys lists all.
For `all`, language.KEY=VALUE and pair.KEY=VALUE are of one model only.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The kinds of training, and the options of each."""
    kinds = parser.add_subparsers(title="what", metavar="WHAT", required=True)
    for kind, purpose in (
        ("language", "P(language | URL)"),
        ("pair", "P(parallel | URL, URL)"),
        ("all", "both, one after the other"),
    ):
        _kind(kinds, kind, purpose, start=_train)
    distil = _kind(
        kinds,
        "distil",
        "a small model that learns a large one's answers",
        start=_distil,
    )
    distil.add_argument(
        "--teacher", required=True, metavar="MODEL", help="a trained encoder"
    )
    distil.set_defaults(profile="compact")
    adapt = kinds.add_parser(
        "adapt",
        help="go on from the shipped language model with what crawls found",
        description=(
            "Continue the hashed language model on the pages of runs. What it knew is"
            " kept: a reference may lose half a point of macro F1."
        ),
    )
    adapt.add_argument("runs", nargs="+", metavar="RUN")
    adapt.add_argument("--data", type=Path, help="tables whose dev is the reference")
    adapt.add_argument("--out", type=Path, default=Path("runs/adapted"))
    adapt.add_argument("--weights", help="to go on from (those that ship)")
    adapt.set_defaults(start=_adapt, keys=False)


def _kind(kinds: Any, kind: str, purpose: str, start: Any) -> argparse.ArgumentParser:
    names = sorted({n for k in ("language", "pair") for n in profile_names(k)})
    listed = "\n".join(f"  {name:8}{_purpose(name)}" for name in names)
    parser: argparse.ArgumentParser = kinds.add_parser(
        kind,
        help=purpose,
        description=f"Train {purpose}.\n\nprofiles:\n{listed}",
        epilog=_KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--profile", default="hashed", help="one of these, or a TOML file (%(default)s)"
    )
    parser.add_argument(
        "--data", metavar="FOLDER", help="tables, as `bifocal data build` makes them"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="of this run (runs/WHAT-PROFILE)"
    )
    parser.add_argument(
        "--keys",
        action="store_true",
        help="list the values that a profile has, and end",
    )
    parser.add_argument("values", nargs="*", metavar="KEY=VALUE")
    parser.set_defaults(kind=kind, start=start, teacher=None)
    return parser


def _purpose(name: str) -> str:
    paths = [PROFILES / f"{kind}-{name}.toml" for kind in ("language", "pair")]
    text = next(path.read_text("utf-8") for path in paths if path.exists())
    return text.partition("\n")[0].lstrip("# ")


def run(args: argparse.Namespace) -> int:
    """Run a training."""
    if args.keys:
        for kind in ("language", "pair") if args.kind != "pair" else ("pair",):
            print(f"{kind}:")
            for line in _listed(_form(kind)()):
                print(f"  {line}")
        return 0
    args.start(args)
    return 0


def _form(kind: str) -> Any:
    try:
        from training.url_language import LanguageProfile
        from training.url_pair import PairProfile
    except ImportError as error:
        raise UsageError(
            f"training needs {error.name or error}"
            " (pip install 'bifocal-crawler[train]')"
        ) from error
    return LanguageProfile if kind == "language" else PairProfile


def _listed(profile: Any, prefix: str = "") -> list[str]:
    """The keys of a profile with their defaults."""
    lines: list[str] = []
    for field in dataclasses.fields(profile):
        value = getattr(profile, field.name)
        if dataclasses.is_dataclass(value):
            lines += _listed(value, f"{prefix}{field.name}.")
        else:
            shown = ",".join(map(str, value)) if isinstance(value, tuple) else value
            lines.append(f"{prefix}{field.name}={shown}")
    return lines


def _train(args: argparse.Namespace) -> None:
    kinds = ("language", "pair") if args.kind == "all" else (args.kind,)
    weights: Path | None = None
    for kind in kinds:
        out = Path(args.out or f"runs/{args.kind}-{Path(args.profile).stem}")
        weights = _one(args, kind, out / kind if args.kind == "all" else out, weights)


def _one(
    args: argparse.Namespace, kind: str, out: Path, languages: Path | None = None
) -> Path:
    """Train one model; `languages` are the weights of the language model before it."""
    from training import url_language, url_pair

    values = [f"data={args.data or ''}", f"out={out}"]
    if languages and languages.suffix == ".npz" and kind == "pair":
        values.append(f"languages={languages}")
    values += _values_of(args.values, kind)
    profile: Any = read_profile(kind, _form(kind), args.profile, values)
    return url_language.run(profile) if kind == "language" else url_pair.run(profile)


def _values_of(values: Sequence[str], kind: str) -> list[str]:
    """Those of a kind; `language.` and `pair.` before a key say which kind is meant."""
    other = {"language": "pair.", "pair": "language."}[kind]
    return [v.removeprefix(f"{kind}.") for v in values if not v.startswith(other)]


def _adapt(args: argparse.Namespace) -> None:
    from training.adapt import adapt

    adapt(args.runs, args.out, args.data, args.weights)


def _distil(args: argparse.Namespace) -> None:
    from models.encoder import is_pair_model, load_classifier

    outputs = load_classifier(args.teacher).config.num_labels
    kind = "pair" if is_pair_model(outputs) else "language"
    args.values.append(f"distillation.teacher={args.teacher}")
    _one(args, kind, Path(args.out or f"runs/{kind}-distilled"))
