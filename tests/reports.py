"""A report, read back: what a browser finds in it."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from typing import Any


def report_of(html: str) -> dict[str, Any]:
    """The JSON that the page draws."""
    found = re.search(
        r'<script type="application/json" id="report">(.*?)</script>', html, re.DOTALL
    )
    assert found
    return json.loads(found[1])


def chunks_of(html: str, run: int) -> list[list[dict[str, Any]]]:
    """The texts of a run's pairs, in chunks."""
    packed = re.findall(rf'id="texts-{run}-\d+">([^<]*)</script>', html)
    return [json.loads(gzip.decompress(b64decode(chunk))) for chunk in packed]
