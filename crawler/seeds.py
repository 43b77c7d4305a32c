"""Seed lists: where a crawl starts."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from crawler.errors import SeedError
from crawler.urls import canonicalize

# `mailto:a@b.is` is no host; `localhost:8080` is one.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")


def read_seeds(source: str) -> list[str]:
    """The seeds of a file, a comma list of URLs, or `-` for standard input.

    One URL a line, `#` starts a comment, a bare host stands for its https home page.
    Raises SeedError when there is not one usable URL.
    """
    if not source.strip():
        raise SeedError("no seeds (give seeds=FILE, seeds=URL,URL or seeds=-)")
    if source == "-":
        try:
            return parse_seeds(sys.stdin, "standard input")
        except UnicodeDecodeError as error:
            raise SeedError(
                f"standard input: not UTF-8 text ({error.reason})"
            ) from error
    path = Path(source)
    if "://" in source or ("," in source and not path.exists()):
        return parse_seeds(source.split(","), "the list of seeds")
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        cure = (
            f"did you mean https://{source}?"
            if not path.suffix.startswith((".txt", ".tsv", ".csv"))
            and _HOST.fullmatch(source.partition("/")[0])
            else "give a file with one URL a line, or URLs with https://"
        )
        raise SeedError(
            f"{source}: cannot be read: {error.strerror} ({cure})"
        ) from error
    except UnicodeDecodeError as error:
        raise SeedError(f"{source}: not UTF-8 text ({error.reason})") from error
    return parse_seeds(text.splitlines(), source)


def parse_seeds(lines: Iterable[str], where: str) -> list[str]:
    """The canonical URLs of some lines, each once; SeedError names what is wrong."""
    seeds: dict[str, None] = {}
    bad: list[str] = []
    for line in lines:
        text = line.partition(" #")[0].strip()
        if not text or text.startswith("#"):
            continue
        bare = not _SCHEME.match(text)
        url = canonicalize(f"https://{text}" if bare else text)
        if url is None:
            bad.append(text)
        else:
            seeds[url] = None
    if bad:
        raise SeedError(
            f"{where}: {bad[0]!r} is not an http(s) URL (mend or delete it)"
        )
    if not seeds:
        raise SeedError(f"{where}: no seeds in it (one URL a line)")
    return list(seeds)


# A list item of commoncrawl's web-languages: `- https://www.ruv.is/ (a broadcaster)`.
_ITEM = re.compile(r"\s*[-*]\s+<?(https?://\S+?)>?(?:\s+\((.*)\))?\s*$")
_HOST = re.compile(r"(?:[\w-]+\.)+[A-Za-z][\w-]+", re.ASCII)
# What follows these headings of web-languages is about the language or the list.
_APPENDIX = re.compile(
    r"(?:#+ )?(?:Informative links|Additional Information|Scripts|Thank you"
    r"|Instructions)\b"
)
# Too large for a crawl, and with dumps of their own; the lists name them everywhere.
_ENCYCLOPEDIA = re.compile(r"https?://[^/]*\bwikipedia\.org\b")


def import_seeds(lines: Iterable[str]) -> dict[str, str]:
    """The seeds of somebody else's list, with what it says of each.

    Takes the Markdown of commoncrawl's web-languages, and Bitextor's host files: one
    host or URL a line. Other lines are passed over.

    >>> import_seeds(["# Web Language: Icelandic", "- https://www.ruv.is/ (radio)"])
    {'https://www.ruv.is/': 'radio'}
    >>> import_seeds(["www.althingi.is", "a heading:"])
    {'https://www.althingi.is/': ''}
    """
    seeds: dict[str, str] = {}
    for line in lines:
        if _APPENDIX.match(line):
            break
        text = line.strip()
        item = _ITEM.match(line)
        if item:
            url, note = canonicalize(item[1]), item[2] or ""
        elif _HOST.fullmatch(text):
            url, note = canonicalize(f"https://{text}"), ""
        else:
            whole = text if _SCHEME.match(text) and " " not in text else ""
            url, note = canonicalize(whole), ""
        if url and not _ENCYCLOPEDIA.match(url):
            seeds.setdefault(url, " ".join(note.split()))
    return seeds
