from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from crawler.data import Page
from crawler.spiders.bilingual import retry_after

NOW = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("9" * 5000, float("inf")),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(days=9), usegmt=True), 0.0),
        ("Fri, 01 Mar 2024 12:00:10 -0000", 10.0),
        (None, None),
        ("", None),
        ("-1", None),
        ("soon", None),
        ("\xb2", None),
        ("1.5", None),
        ("Fri, 99 Mar 2024 99:00:10 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    """RFC 9110, section 10.2.3."""
    headers = (("Retry-After", value),) if value is not None else ()
    assert retry_after(Page("https://a.is/", 503, headers, b"", NOW)) == seconds
