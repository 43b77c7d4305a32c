"""PDF and office files as HTML pages, so that the rest reads one kind of page.

In: pages of any kind.  Out: the same, files that can be converted as HTML.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec

from crawler.data import Page
from crawler.errors import UsageError
from crawler.extract.office import looks_like_office, office_to_html
from crawler.extract.pdf import looks_like_pdf, pdf_to_html
from crawler.extract.sandbox import ConversionError

logger = logging.getLogger(__name__)

_EXTRAS = {"pdf": "pdfminer", "office": "mammoth"}
_HTML = (("Content-Type", "text/html; charset=utf-8"),)


def require_readers() -> None:
    """UsageError if the libraries that read PDF and office files are missing."""
    missing = [extra for extra, name in _EXTRAS.items() if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"PDF and office files need the extra {' and '.join(missing)}"
            f" (pip install 'bifocal-crawler[{','.join(missing)}]')"
        )


def as_html(page: Page, counts: Counter[str]) -> Page:
    """A page whose PDF or office file became HTML; any other page as it is.

    Counts `pdf/read`, `pdf/failed/REASON`, and the same with `office`.
    """
    if page.status != 200:
        return page
    if looks_like_pdf(page.body):
        kind, convert = "pdf", pdf_to_html
    elif looks_like_office(page.body, page.header("content-type"), page.url):
        kind, convert = "office", office_to_html
    else:
        return page
    try:
        html = convert(page.body)
    except ConversionError as error:
        logger.debug("no text from %s: %s", page.url, error)
        counts[f"{kind}/failed/{error}"] += 1
        return page
    counts[f"{kind}/read"] += 1
    return replace(page, headers=_HTML, body=html.encode("utf-8", "replace"))
