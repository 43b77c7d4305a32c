"""The `bifocal` command: each verb is one file.

A verb is a module of this package with a docstring, `add_arguments(parser)` and
`run(args) -> int`. Its heavy imports are inside `run`, so that `bifocal --help` is
instant. Results go to standard output, messages to standard error; the exit status is 2
for a usage error, 1 for a run that failed, 0 otherwise.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import logging
import os
import pkgutil
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import argcomplete

from crawler.errors import BifocalError

# Beside the packages lie seeds, docs and the demo world, in a checkout and in a wheel.
ROOT = Path(__file__).resolve().parents[2]

_DESCRIPTION = """\
Find parallel pages on bilingual sites.

Three ways of use:
  bifocal crawl seeds.txt --langs en,is --out runs/is1    crawl, store and pair
  bifocal align runs/is1/warc --langs en,is --out DIR     pair again, from WARC files
  bifocal train all --data data/mine                      train the URL models

Around them:
  bifocal init icelandic --langs en,is    a folder to start from
  bifocal doctor                          check the installation
  bifocal report runs/is1                 a web page: figures, and the pairs to read
  bifocal help                            the documentation
"""
_EPILOG = """\
`bifocal VERB --help` has examples. Completion in bash and zsh:
  eval "$(register-python-argcomplete bifocal)"
"""


class _Parser(argparse.ArgumentParser):
    """Says on one line what is wrong, and the word that may have been meant."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with status 2."""
        found = re.search(r"invalid choice: '([\w-]+)' \(choose from (.*)\)", message)
        if found:
            verbs = re.findall(r"[\w-]+", found[2])
            close = difflib.get_close_matches(found[1], verbs, 1)
            there = f"there are {', '.join(verbs)}"
            message = f"unknown {found[1]!r}" + (
                f"; did you mean {close[0]!r}? ({there})" if close else f" ({there})"
            )
        self.exit(2, f"bifocal: error: {message} (`{self.prog} --help` has examples)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the console script `bifocal`."""
    parser = _Parser(
        prog="bifocal",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action="version", version=f"bifocal {version('bifocal-crawler')}"
    )
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for module_info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        purpose, _, details = (module.__doc__ or "").partition("\n")
        verb = verbs.add_parser(
            module_info.name,
            help=purpose,
            description=f"{purpose}\n{details}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(verb)
        verb.set_defaults(run=module.run)
    argcomplete.autocomplete(parser)
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        status: int = args.run(args)
    except BifocalError as error:
        print(f"bifocal: error: {error}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:  # `bifocal … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return status


def whole_number(text: str) -> int:
    """A number on the command line that counts something."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 up")
    return int(text)


def _setting(text: str) -> str:
    if "=" not in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return text


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Let a verb that fetches take settings as `scrapy crawl` does."""
    parser.add_argument(
        "-s",
        dest="settings",
        action="append",
        type=_setting,
        default=[],
        metavar="NAME=VALUE",
        help="a setting, as in scrapy crawl",
    )
