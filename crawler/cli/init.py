"""Write a folder for a crawl of your own: seeds, settings, Makefile.

Every line that you may want to change has a comment.

Example: bifocal init icelandic --langs en,is
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.data import LangPair

_SEEDS = """\
# The crawl starts here: one URL a line, best the home page in each language.
# Twenty bilingual sites are enough to begin with; many sites are faster than one.
# `make check` asks each of them whether it can be crawled.
{seeds}"""

_EXAMPLE = """\
# Delete these two lines when you have sites of your own.
https://www.example.org/{src}/
https://www.example.org/{trg}/
"""

_SETTINGS = '''\
"""Our crawl of {src_name} and {trg_name}: settings that differ from the default.

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
\tbifocal doctor --seeds seeds.txt --langs $(LANGS)

crawl:
\tscrapy crawl bilingual -a seeds=seeds.txt -a langs=$(LANGS) -s RUN_DIR=$(RUN)

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
    parser.add_argument("--langs", required=True, help="two languages: en,is")


def run(args: argparse.Namespace) -> int:
    """Write the files and print the next steps."""
    from pathlib import Path

    from crawler.data import LangPair
    from crawler.errors import RunDirError

    langs = LangPair.parse(args.langs)
    folder = Path(args.folder)
    files = project_files(langs)
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
    print(f"  1. put your sites into {folder / 'seeds.txt'}")
    print(f"  2. put your address into {folder / 'crawl_settings.py'}")
    print(f"  3. cd {folder} && make check && make crawl")
    return 0


def project_files(langs: LangPair) -> dict[str, str]:
    """The name and text of every file, with our seeds for the languages if any."""
    from crawler.cli import ROOT
    from crawler.languages import all_languages

    seeds = ROOT / "seeds"
    lists = (
        seeds / f"{langs.src}-{langs.trg}.txt",
        seeds / f"{langs.trg}-{langs.src}.txt",
    )
    known = next((path.read_text("utf-8") for path in lists if path.exists()), None)
    names = all_languages()
    return {
        "seeds.txt": _SEEDS.format(
            seeds=known or _EXAMPLE.format(src=langs.src, trg=langs.trg)
        ),
        "crawl_settings.py": _SETTINGS.format(
            src_name=names[langs.src].name, trg_name=names[langs.trg].name
        ),
        "scrapy.cfg": _CFG,
        "Makefile": _MAKEFILE.format(langs=langs, name=f"{langs.src}-{langs.trg}"),
    }
