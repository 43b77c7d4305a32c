from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from crawler.corpus.collect import collect
from crawler.corpus.texts import TextStore
from crawler.data import LangPair
from crawler.warc.exchange import Exchange
from crawler.warc.writer import WarcConfig, WarcWriter

HTML = ((b"Content-Type", b"text/html; charset=utf-8"),)
TEXT = "The ferry leaves the harbour at nine and the museum opens at ten o'clock. "
BODY = f"<html><title>Ferry</title><body><p>{TEXT * 9}</p></body></html>".encode()
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def test_the_text_of_a_revisit_is_that_of_its_original_in_another_file(tmp_path):
    urls = [f"https://example.org/{n}" for n in range(3)]
    # a file for each page: the originals of later ones lie in the first
    with WarcWriter(tmp_path, WarcConfig(revisits=True, max_bytes=1)) as warc:
        for number, url in enumerate(urls):
            date = BEGIN + timedelta(seconds=number)
            warc.write_exchange(Exchange(url, 200, HTML, BODY, date))
    files = sorted(map(str, tmp_path.glob("*.warc.gz")))
    counts, store = Counter[str](), TextStore.open()
    collect(files[::-1], urls[1:], LangPair("en", "is"), store, counts)
    assert len(store) == 2
    for url in urls[1:]:
        text = store.get(url, "en")
        assert text is not None
        assert text.document.title == "Ferry"
        assert text.origin.warc == files[0]
