"""Build the demo world: demo.warc.gz, gold.tsv and aliases.tsv, the same at each run.

    python worlds/demo/build.py [FOLDER]

writes them beside this file, or into the folder. README.md says what is in the world.
"""

from __future__ import annotations

import argparse
import io
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus
from itertools import combinations
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from worlds.demo.markup import blocks
from worlds.demo.pages import HERE, Site
from worlds.demo.sections import Answer
from worlds.demo.traps import FORBIDDEN, answers, copies, twins

LANGUAGES = ("en", "es", "is")
# Less text than this is no pair, translated or not.
MIN_CHARACTERS = 100
# The day on which the recording pretends to have been made, a second per record.
START = datetime(2024, 5, 6, 8, tzinfo=UTC)
_WARCINFO = (
    "software: worlds/demo/build.py\r\n"
    "format: WARC File Format 1.1\r\n"
    "description: a website that does not exist, written for Bifocal\r\n"
    "robots: obey\r\n"
)


def all_answers(site: Site) -> list[Answer]:
    """Everything that the server ever says; each address once."""
    found = [*site.answers(), *answers(site)]
    assert len({page.url for page in found}) == len(found)
    return found


def gold(site: Site) -> list[tuple[str, str, str, str]]:
    """The true pairs: url_a, lang_a, url_b, lang_b, with lang_a before lang_b."""
    pairs = []
    for concept, texts in site.concepts.items():
        for one, other in combinations(LANGUAGES, 2):
            if one in texts and other in texts:
                urls = site.url(concept, one), site.url(concept, other)
                short = min(_length(texts[lang].source) for lang in (one, other))
                if short >= MIN_CHARACTERS and not urls[0].startswith(FORBIDDEN):
                    pairs.append((urls[0], one, urls[1], other))
    return sorted(pairs)


def _length(source: str) -> int:
    """Characters of the text below its title."""
    return sum(len(block) for block in blocks(source)[1:])


def aliases(site: Site) -> list[tuple[str, str]]:
    """Addresses with the same main text as a canonical one: url, canonical_url."""
    same = twins(site) | copies(site)
    return sorted(
        (url, site.url(concept, lang)) for url, (concept, lang) in same.items()
    )


def write_warc(pages: Sequence[Answer], path: Path) -> None:
    """One gzip member per record; dates and ids follow from the order."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True, warc_version="1.1")
        info = _WARCINFO.encode()
        record = writer.create_warc_record(
            "",
            "warcinfo",
            payload=io.BytesIO(info),
            length=len(info),
            warc_content_type="application/warc-fields",
            warc_headers_dict=_named("warcinfo", START)
            | {"WARC-Filename": "demo.warc.gz"},
        )
        writer.write_record(record)
        for number, page in enumerate(pages, 1):
            writer.write_record(
                _response(writer, page, START + timedelta(seconds=number))
            )


def _response(writer: WARCWriter, page: Answer, at: datetime) -> object:
    headers = [
        ("Date", format_datetime(at, usegmt=True)),
        ("Server", "Apache/2.4.57 (Debian)"),
        *page.headers,
        ("Content-Length", str(len(page.body))),
        ("Connection", "close"),
    ]
    status = HTTPStatus(page.status)
    return writer.create_warc_record(
        page.url,
        "response",
        payload=io.BytesIO(page.body),
        length=len(page.body),
        http_headers=StatusAndHeaders(
            f"{status.value} {status.phrase}", headers, protocol="HTTP/1.1"
        ),
        warc_headers_dict=_named(page.url, at),
    )


def _named(name: str, at: datetime) -> dict[str, str]:
    return {
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}>",
        "WARC-Date": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def write_tsv(header: Sequence[str], rows: Iterable[Sequence[str]], path: Path) -> None:
    """A table with a header, tab separated."""
    lines = ["\t".join(row) for row in (header, *rows)]
    path.write_bytes(("\n".join(lines) + "\n").encode())


def build(folder: Path) -> None:
    """Write the three files into a folder."""
    site = Site()
    write_warc(all_answers(site), folder / "demo.warc.gz")
    write_tsv(("url_a", "lang_a", "url_b", "lang_b"), gold(site), folder / "gold.tsv")
    write_tsv(("url", "canonical_url"), aliases(site), folder / "aliases.tsv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    build(parser.parse_args().folder)
