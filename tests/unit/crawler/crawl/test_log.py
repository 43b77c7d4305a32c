from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.crawl.log import CrawlLog, Visit
from crawler.errors import RunDirError

VISIT = Visit(
    url="https://a.is/þ\ud800",
    site="a.is",
    status=200,
    fetched_at=datetime(2024, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC),
    size=17,
    depth=1,
    source_url=None,
    score=0.123456789,
    evidence={"p_language": 1 / 3},
    scored_at=2,
    lang="is",
    confidence=0.9,
    kept=True,
    reason=None,
    links=3,
    added=2,
    pairs=1,
)


def lines(path: Path) -> list[dict]:
    text = path.read_text("utf-8", "surrogatepass")
    return [json.loads(line) for line in text.splitlines()]


def test_a_visit_is_a_line_that_can_be_read_at_once(tmp_path):
    path = tmp_path / "crawl.jsonl"
    log = CrawlLog.open(path)
    log.visited(VISIT)
    (line,) = lines(path)
    assert line["url"] == VISIT.url
    assert line["time"] == "2024-03-01T12:00:00.123+00:00"
    assert line["evidence"] == {"p_language": 0.3333}
    log.visited(replace(VISIT, url="https://a.is/2"))
    log.close()
    assert [line["url"][-1] for line in lines(path)] == ["\ud800", "2"]


@pytest.mark.parametrize("torn", [b'{"url": "https://a.i', b"x" * 200_000])
def test_a_line_that_a_kill_cut_is_taken_off(tmp_path, torn):
    path = tmp_path / "crawl.jsonl"
    path.write_bytes(b'{"url": 1}\n' + torn)
    log = CrawlLog.open(path)
    log.visited(VISIT)
    log.close()
    assert [line["url"] for line in lines(path)] == [1, VISIT.url]


@pytest.mark.parametrize("content", [b"", b"no end", b'{"a": 1}\n'])
def test_a_whole_line_stays_and_a_torn_one_is_removed(tmp_path, content):
    path = tmp_path / "crawl.jsonl"
    path.write_bytes(content)
    CrawlLog.open(path).close()
    assert path.read_bytes() == (content if content.endswith(b"\n") else b"")


def test_a_log_that_cannot_be_opened_is_an_error(tmp_path):
    with pytest.raises(RunDirError, match="Is a directory"):
        CrawlLog.open(tmp_path)
