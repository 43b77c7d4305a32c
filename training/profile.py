"""Profiles of trainings: TOML files by name, and `key=value` words."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from crawler.config import load_profile, to_table
from crawler.errors import UsageError
from training.data.tables import find_table

T = TypeVar("T")

PROFILES = Path(__file__).parent / "profiles"


def profile_names(kind: str) -> list[str]:
    """The profiles of a kind, language or pair, by their short names."""
    return sorted(p.stem.removeprefix(f"{kind}-") for p in PROFILES.glob(f"{kind}-*"))


def read_profile(kind: str, form: type[T], name: str, words: Sequence[str]) -> T:
    """A profile by name or TOML file, and `key=value` words; with data and out.

    `kind` is language or pair; `hashed` and `language-hashed` name the same one.
    """
    path = PROFILES / f"{kind}-{name.removeprefix(f'{kind}-')}.toml"
    if not path.exists():
        path = Path(name)
    if not path.exists():
        names = profile_names(kind)
        close = difflib.get_close_matches(name.removeprefix(f"{kind}-"), names, 1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        raise UsageError(
            f"{name!r} is not a {kind} profile; {meant}(there are {', '.join(names)};"
            " or give a TOML file)"
        )
    profile = load_profile(form, path, words)
    folders = [getattr(profile, key) for key in ("data", "out")]
    for key, folder in zip(("data", "out"), folders):
        if not folder:
            raise UsageError(f"{name}: which {key} folder? (add --{key} FOLDER)")
    if not Path(folders[0]).is_dir():
        raise UsageError(
            f"{folders[0]}: not a folder (make it with `bifocal data build`)"
        )
    return profile


def term_tables(data: Path, given: Sequence[str]) -> list[Path]:
    """The tables of terms that were named, else that of the data, if there is one."""
    own = find_table(data, "terms")
    paths = [Path(name) for name in given] or ([own] if own else [])
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such table of terms")
    return paths


def without_paths(profile: Any) -> dict[str, Any]:
    """A profile as it may be published: without folders of the machine it ran on."""
    paths = ("data", "out", "terms", "languages", "distillation")
    table: dict[str, Any] = to_table(profile)
    return {key: value for key, value in table.items() if key not in paths}


def how_to_crawl(kind: str, weights: Path) -> str:
    """The last line of a training: the model, and the crawl that uses it."""
    name = kind.upper()
    classes = {
        "language": "models.encoder.XlmrUrlLanguageModel",
        "pair": "models.encoder.XlmrUrlPairModel",
    }
    chosen = f" -s URL_{name}_MODEL={classes[kind]}" if weights.is_dir() else ""
    return (
        f"model: {weights}\ncrawl with it: scrapy crawl bilingual -a seeds=FILE"
        f" -a langs=LANGS{chosen} -s URL_{name}_MODEL_DIR={weights}"
    )
