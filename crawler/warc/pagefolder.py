"""Folders of saved pages: mirrors of wget or HTTrack, or a site's own files.

The URL of a file comes from, in this order:

1. HTTrack's comment: `<!-- Mirrored from www.example.org/is/ by HTTrack …`
2. its path, if its first folder, or the given folder, or one above has the name of a
   host: `…/www.example.org/is/a.html`
3. its path in the given folder, with a host that does not exist and has the folder's
   name: `site/is/a.html` becomes `http://site.invalid/is/a.html`

Links between pages are relative in such folders, so they lead to the same URLs.

In: a folder.  Out: pages.
"""

from __future__ import annotations

import mimetypes
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from crawler.data import Page
from crawler.urls import canonicalize, is_host_name
from crawler.warc.found import MAX_RECORD
from crawler.warc.reader import NO_DATE

_DOCUMENTS = (".pdf", ".docx", ".odt")
_PAGES = ("text/html", "application/xhtml+xml", None)
_HTTRACK = re.compile(rb"<!-- Mirrored from (\S{1,2000}) by HTTrack ")
_HEAD = 4096  # bytes: HTTrack's comment stands after <html>
_SAFE = "/~!$&'()*+,;=:@%?"  # wget writes a query as it is: page.php?id=3
_HOST = re.compile(r"(?P<name>[\w-]+(?:\.[\w-]+)*)(?P<port>[:+]\d{1,5})?")


def page_files(folder: Path) -> list[Path]:
    """The files of a folder that may be pages, PDF or office files, sorted.

    HTTrack's own files are left out, and links that may lead out of the folder.
    """
    return sorted(
        file
        for file in folder.rglob("*")
        if not file.is_symlink()
        and file.is_file()
        and "hts-cache" not in file.parts
        and _may_be_page(file)
    )


def _may_be_page(file: Path) -> bool:
    name = file.name.partition("?")[0].lower()
    return name.endswith(_DOCUMENTS) or mimetypes.guess_type(name)[0] in _PAGES


def read_pages(
    folder: Path, counts: Counter[str], start: int = 0, end: int | None = None
) -> Iterator[Page]:
    """The pages of a folder, from file number `start` to before `end`."""
    for file in page_files(folder)[start:end]:
        counts["warc/records"] += 1
        try:
            if file.stat().st_size > MAX_RECORD:
                counts["warc/dropped/too_large"] += 1
                continue
            body = file.read_bytes()
        except OSError:  # it has no rights for us, or is gone
            counts["warc/dropped/unreadable"] += 1
            continue
        url = canonicalize(_url(file.relative_to(folder), folder, body))
        if url is None:
            counts["warc/dropped/bad_url"] += 1
            continue
        counts["warc/pages"] += 1
        kind = mimetypes.guess_type(file.name)[0]  # None: its bytes decide
        headers = (("Content-Type", kind),) if kind else ()
        yield Page(url, 200, headers, body, NO_DATE)


def _url(path: Path, folder: Path, body: bytes) -> str:
    if found := _HTTRACK.search(body[:_HEAD]):
        return f"http://{found[1].decode('ascii', 'replace')}"
    above = folder.absolute().parts
    if len(path.parts) > 1 and _is_host(path.parts[0]):
        return f"http://{quote(path.as_posix(), _SAFE)}"
    for place in range(len(above) - 1, -1, -1):
        if _is_host(above[place]):
            inside = "/".join((*above[place:], *path.parts))
            return f"http://{quote(inside, _SAFE)}"
    name = re.sub(r"[^a-z0-9]+", "-", above[-1].lower()).strip("-")
    return f"http://{name or 'folder'}.invalid/{quote(path.as_posix(), _SAFE)}"


def _is_host(name: str) -> bool:
    """True for a name under a public suffix, an IPv4 address, and any with a port."""
    found = _HOST.fullmatch(name)
    return bool(found and (found["port"] or is_host_name(found["name"])))
