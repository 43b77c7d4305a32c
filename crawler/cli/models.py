"""List URL models, check them, and say how a crawl uses one.

Example: bifocal models list             those that ship
bifocal models list runs                 those of your trainings
bifocal models verify runs/language-hashed/url_language.npz
bifocal models use onnx/pair --for pair  the settings of a crawl
"""

from __future__ import annotations

import argparse
from pathlib import Path

from crawler.config import load_object
from crawler.errors import ModelError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(title="what", metavar="WHAT", required=True)
    for name, purpose in (
        ("list", "show kind, size, digest and card"),
        ("verify", "check digests, load models and ask them"),
        ("use", "print the settings of a crawl that uses a model"),
    ):
        verb = verbs.add_parser(name, help=purpose, description=purpose)
        verb.add_argument("paths", nargs="*" if name != "use" else 1, type=Path)
        verb.set_defaults(what=name, kind=None)
        if name == "use":
            verb.add_argument("--for", dest="kind", choices=("language", "pair"))


def run(args: argparse.Namespace) -> int:
    """Print; the crawler names the package of models and does not import it."""
    models = "models.installed"
    paths = args.paths or [load_object(f"{models}.WEIGHTS")]
    found = list(load_object(f"{models}.find_models")(paths))
    for model in found:
        if args.kind and model.kind != args.kind:
            raise ModelError(
                f"{model.path}: a {model.kind} model where a {args.kind} model belongs"
            )
        if args.what == "use":
            for name, value in model.settings().items():
                print(f'{name} = "{value}"')
            continue
        print(
            f"{model.path}\n  {model.kind}, {model.form}, {model.outputs} outputs,"
            f" {model.size / 1e6:.1f} MB, sha256 {model.digest[:16]}…,"
            f" card: {model.card or 'none'}"
        )
        if args.what == "verify":
            print(f"  {load_object(f'{models}.verify')(model)}")
    if args.what == "use":
        print("# put these lines into your settings, or give each to a crawl with -s")
    return 0
