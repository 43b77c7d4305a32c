"""Write a folder for a crawl of your own: seeds, settings, Makefile.

Every line that you may want to change has a comment.

Example: bifocal init icelandic --langs en,is
Example: bifocal init icelandic --langs en,is --prospects sites.tsv
"""

from __future__ import annotations

import argparse
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.wanted import WantedPairs

_BEST = 20  # sites of a table: with many sites a crawl does not wait for one

_SEEDS = """\
# The crawl starts here: one URL a line, best the home page in each language.
# Twenty bilingual sites are enough to begin with; many sites are faster than one.
# `make check` asks each of them whether it can be crawled.
{seeds}"""

_EXAMPLE = """\
# Delete the lines below when you have sites of your own.
"""
_HOME = "https://www.example.org/{}/\n"

_SETTINGS = '''\
"""Our crawl of {names}: settings that differ from the default.

docs/settings.md lists all of them. Other orders than the default are in
settings.focused, settings.language_only and settings.breadth_first.
"""

import bifocal  # noqa: F401 - finds the settings of the next line
from settings.adaptive import *  # noqa: F403

# The name of the crawler: put an address here at which a webmaster can reach you.
USER_AGENT = "bifocal/0.1 (+https://www.example.org/our-crawl; you@example.org)"

# Seconds between two pages of a site. More is kinder to small servers.
DOWNLOAD_DELAY = 1.0

# Pages of one site at most, 0 for no limit: no site takes the time of the others.
SITE_MAX_PAGES = 5000
'''

_CFG = """\
# Scrapy reads this file: the settings for crawls that are started in this folder.
[settings]
default = crawl_settings
"""

_MAKEFILE = """\
# make check, make crawl (Ctrl-C stops it, the same command continues), make report,
# make corpus (clean sentence pairs)
LANGS := {langs}
RUN := runs/{name}

check:
\tbifocal doctor --seeds seeds.txt --langs '$(LANGS)'

crawl:
\tscrapy crawl bilingual -a seeds=seeds.txt -a 'langs=$(LANGS)' -s RUN_DIR=$(RUN)

watch:
\tbifocal watch $(RUN)

report:
\tbifocal report $(RUN) --out report.html

corpus:
\tbifocal corpus $(RUN) --out corpus

.PHONY: check crawl watch report corpus
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("folder", metavar="DIR", help="a new folder, or an empty one")
    parser.add_argument(
        "--langs", required=True, help="those of the crawl: en,is or en:de,fr"
    )
    parser.add_argument(
        "--prospects",
        metavar="FILE",
        help="table of `bifocal prospect`: its best twenty sites become the seeds",
    )


def run(args: argparse.Namespace) -> int:
    """Write the files and print the next steps."""
    from pathlib import Path

    from crawler.errors import RunDirError
    from crawler.wanted import WantedPairs

    langs = WantedPairs.parse(args.langs)
    folder = Path(args.folder)
    seeds = best_sites(Path(args.prospects)) if args.prospects else None
    files = project_files(langs, seeds)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = [name for name in files if (folder / name).exists()]
        if there:
            raise RunDirError(
                f"{folder / there[0]}: exists already (choose another folder)"
            )
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunDirError(
            f"{folder}: cannot be written: {error.strerror} (choose another folder)"
        ) from error
    print(f"Wrote {', '.join(files)} into {folder}. Next:")
    what = "look at the sites in" if seeds else "put your sites into"
    print(f"  1. {what} {folder / 'seeds.txt'}")
    print(f"  2. put your address into {folder / 'crawl_settings.py'}")
    print(f"  3. cd {folder} && make check && make crawl")
    return 0


def best_sites(table: Path) -> str:
    """The seeds of the best sites of a table, with what is expected of each.

    Raises UsageError if it is not a table of `bifocal prospect`.
    """
    import csv

    from crawler.errors import UsageError
    from crawler.lines import printable

    try:
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(
                islice(csv.DictReader(file, delimiter="\t", restval="?"), _BEST)
            )
        return "".join(
            f"# {printable(row['pairs'])} pairs expected\n"
            f"https://{printable(row['site'])}/\n"
            for row in rows
        )
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as error:
        raise UsageError(
            f"{table}: cannot be read as a table of sites: {error} (give the --out of"
            " bifocal prospect)"
        ) from error


def project_files(langs: WantedPairs, found: str | None = None) -> dict[str, str]:
    """The name and text of every file; seeds: those found, or ours if there are any."""
    from crawler.cli import ROOT
    from crawler.languages import all_languages

    seeds = ROOT / "seeds"
    lists = [
        seeds / f"{'-'.join(two)}.txt"
        for pair in langs.pairs
        for two in (pair, (pair.trg, pair.src))
    ]
    known = found or "".join(path.read_text("utf-8") for path in lists if path.exists())
    names = all_languages()
    return {
        "seeds.txt": _SEEDS.format(
            seeds=known or _EXAMPLE + "".join(map(_HOME.format, langs))
        ),
        "crawl_settings.py": _SETTINGS.format(
            names=" and ".join(names[lang].name for lang in langs)
        ),
        "scrapy.cfg": _CFG,
        "Makefile": _MAKEFILE.format(langs=langs, name="-".join(langs)),
    }
