"""Check that everything is ready for a crawl, and say how to mend what is not.

Checks the installation, the models, the folder, the user agent and the disk; with
--seeds also DNS, robots.txt and the first page of each seed. Without --seeds nothing is
sent from this machine.

Example: bifocal doctor
Example: bifocal doctor --seeds seeds/en-is.txt --langs en,is
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from crawler.cli import add_settings

if TYPE_CHECKING:
    from crawler.crawl.settings import CrawlSettings
    from crawler.wanted import WantedPairs

_ROOM = 1_000_000_000  # bytes: some 40,000 pages with everything that is kept of them
_EXTRAS = {
    "onnx": "onnxruntime",
    "redis": "redis",
    "spark": "pyspark",
    "parquet": "pyarrow",
    "xlmr": "torch",
    "languages": "heliport",
    "fasttext": "fasttext",
    "pdf": "pdfminer",
    "office": "mammoth",
    "js": "scrapy_playwright",
    "watch": "rich",
}
OK, NOTE, BAD = "ok", "note", "BAD"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("--seeds", help="also check these seeds: a file, URLs or -")
    parser.add_argument("--langs", help="those of the crawl: en,is or en:de,fr")
    parser.add_argument(
        "--out", default=".", help="folder of the runs (default: this one)"
    )
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Print a line for each check; exit status 1 if one fails."""
    from crawler.components.checks import project_settings
    from crawler.wanted import WantedPairs

    langs = WantedPairs.parse(args.langs) if args.langs else None
    settings = project_settings(args.settings)
    worst = OK
    for verdict, text in (
        *_installation(),
        *_models(settings),
        *_folder(args.out),
        *_identity(settings),
        *(_seeds(args.seeds, settings, langs) if args.seeds else ()),
    ):
        print(f"{verdict:5} {text}")
        worst = BAD if verdict == BAD else worst
    print("Not ready: mend what is marked BAD." if worst == BAD else "Ready to crawl.")
    return int(worst == BAD)


def _installation() -> Iterator[tuple[str, str]]:
    import platform
    from importlib.metadata import PackageNotFoundError, requires, version
    from importlib.util import find_spec

    from packaging.requirements import Requirement

    yield (
        OK,
        f"Python {platform.python_version()}, Bifocal {version('bifocal-crawler')}",
    )
    for text in requires("bifocal-crawler") or ():
        need = Requirement(text)
        if need.marker and not need.marker.evaluate({"extra": ""}):
            continue
        try:
            have = version(need.name)
        except PackageNotFoundError:
            yield BAD, f"{need.name} is not installed: pip install '{need}'"
            continue
        if not need.specifier.contains(have, prereleases=True):
            yield BAD, f"{need.name} {have} is too old or too new: pip install '{need}'"
    missing = [extra for extra, name in _EXTRAS.items() if find_spec(name) is None]
    if missing:
        extras = ",".join(missing)
        yield (
            NOTE,
            f"extras not installed: {extras} (pip install 'bifocal-crawler[NAME]')",
        )


def _models(settings: CrawlSettings) -> Iterator[tuple[str, str]]:
    from crawler.crawl.open import build_model
    from crawler.errors import BifocalError

    page = "https://www.example.is/is/um-okkur"
    questions: tuple[tuple[Literal["language", "pair"], list[object]], ...] = (
        ("language", [page]),
        ("pair", [("https://www.example.is/en/about-us", page)]),
    )
    for kind, urls in questions:
        name = f"URL_{kind.upper()}_MODEL"
        try:
            build_model(settings, kind).predict(urls)
        except (BifocalError, ImportError, OSError) as error:
            yield BAD, f"{name}={getattr(settings, name.lower())}: {error}"
        else:
            yield OK, f"{name} {getattr(settings, name.lower())}"


def _folder(name: str) -> Iterator[tuple[str, str]]:
    import shutil
    import tempfile

    try:
        with tempfile.NamedTemporaryFile(dir=name):
            free = shutil.disk_usage(name).free
    except OSError as error:
        yield BAD, f"{name}: cannot be written: {error.strerror} (choose another --out)"
        return
    verdict = OK if free >= _ROOM else NOTE
    yield verdict, f"{free / 1e9:.1f} GB free in {name} (1 GB holds about 40,000 pages)"


def _identity(settings: CrawlSettings) -> Iterator[tuple[str, str]]:
    from settings import base

    agent = settings.user_agent
    if agent == base.USER_AGENT:
        yield NOTE, "USER_AGENT is the default: put your address into it, so that a"
        yield NOTE, "  webmaster can write to you instead of blocking you"
    elif "@" not in agent and "://" not in agent:
        yield NOTE, f"USER_AGENT {agent!r} has no address (write name/1.0 (+URL))"
    else:
        yield OK, f"USER_AGENT {agent}"
    if not settings.robotstxt_obey:
        yield (
            NOTE,
            "ROBOTSTXT_OBEY is off: pages are crawled against the will of their sites",
        )


def _seeds(
    source: str, settings: CrawlSettings, langs: WantedPairs | None
) -> Iterator[tuple[str, str]]:
    from crawler.cli.seeds import remark
    from crawler.crawl.seed_check import check_seeds
    from crawler.seeds import read_seeds

    for finding in check_seeds(read_seeds(source), settings):
        said = f"{finding.seed}  {finding.outcome}; {remark(finding, langs)}"
        yield (OK if finding.is_usable else BAD), said.rstrip("; ")
