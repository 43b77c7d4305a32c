from __future__ import annotations

import json
import re
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Page, PairScore
from crawler.errors import RunDirError
from crawler.reports.page import embeddable_json, write_report
from crawler.rundir import RunDir
from crawler.sinks.pairs import write_pairs
from tests.reports import chunks_of, report_of
from tests.worlds import write_warc

EVIL = "</script><script>document.title='run'</script><!-- \u2028\0\ud800"
TEXT = {
    "en": "The ferry leaves the harbour at nine in the morning on every weekday.",
    "is": "Ferjan fer frá höfninni klukkan níu að morgni á hverjum virkum degi.",
}


def a_run(folder: Path, title: str = "Ferry", pairs: int = 1) -> RunDir:
    """A run of some pairs, as `bifocal align` leaves it: no log of a crawl."""
    run = RunDir(folder)
    run.warc.mkdir(parents=True)
    run.write({"langs": ["en", "is"], "align": {"min_score": 0.5}})
    urls = [[f"https://a.example/{lang}/{n}" for lang in TEXT] for n in range(pairs)]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    kind = (("Content-Type", "text/html; charset=utf-8"),)
    pages = [
        Page(url, 200, kind, html(title, lang, n).encode("utf-8", "replace"), now)
        for n, both in enumerate(urls)
        for url, lang in zip(both, TEXT)
    ]
    write_warc(run.warc / "a.warc.gz", pages)
    found = [
        PairScore(src, trg, 1 - n / max(pairs, 2), {"strand.dp": 0.1})
        for n, (src, trg) in enumerate(urls)
    ]
    write_pairs(run.pairs, found)
    return run


def html(title: str, lang: str, number: int) -> str:
    shown = title.replace("<", "&lt;")
    text = f"{TEXT[lang]} {TEXT[lang]} {number}."
    return f"<!doctype html><title>{shown}</title><h1>{shown}</h1><p>{text}</p>"


def test_only_the_page_s_own_code_may_run_and_nothing_is_fetched(tmp_path):
    write_report([a_run(tmp_path / "run")], tmp_path / "report.html", gold=None)
    text = (tmp_path / "report.html").read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    inline = re.findall(r"<(script|style)>(.*?)</\1>", text, re.DOTALL)
    assert [name for name, _ in inline] == ["style", *["script"] * 3]
    for _, code in inline:
        hashed = b64encode(sha256(code.encode()).digest()).decode()
        assert f"'sha256-{hashed}'" in policy


def test_text_of_a_page_is_only_data(tmp_path):
    write_report([a_run(tmp_path / "run", EVIL)], tmp_path / "r.html", gold=None)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "document.title='run'" in text
    assert "<script>document" not in text
    report = report_of(text)
    assert report["runs"][0]["list"]["titles"][0][0].startswith("</script><script>")
    (chunk,) = chunks_of(text, 0)
    assert any("</script>" in row[0] for row in chunk[0]["rows"])


def test_the_texts_are_packed_in_the_order_of_the_list(tmp_path):
    run = a_run(tmp_path / "run", pairs=45)
    write_report([run], tmp_path / "r.html", gold=None)
    text = (tmp_path / "r.html").read_text("utf-8")
    chunks = chunks_of(text, 0)
    assert [len(chunk) for chunk in chunks] == [20, 20, 5]
    listed = report_of(text)["runs"][0]["list"]
    assert listed["score"] == sorted(listed["score"], reverse=True)
    assert chunks[0][0]["features"] == {"strand.dp": 0.1}
    assert any(
        TEXT["en"] in row[0] and TEXT["is"] in row[1] for row in chunks[2][4]["rows"]
    )


def test_of_many_pairs_every_nth_is_shown_and_all_are_counted(tmp_path):
    run = a_run(tmp_path / "run", pairs=45)
    write_report([run], tmp_path / "r.html", gold=None, most=9)
    shown = report_of((tmp_path / "r.html").read_text("utf-8"))["runs"][0]
    assert shown["pairs"] == 45
    assert len(shown["list"]["src"]) == 9
    assert shown["list"]["score"][-1] < 0.2


def test_a_page_without_a_warc_record_is_shown_as_missing(tmp_path):
    run = a_run(tmp_path / "run")
    (run.warc / "a.warc.gz").unlink()
    write_report([run], tmp_path / "r.html", gold=None)
    (chunk,) = chunks_of((tmp_path / "r.html").read_text("utf-8"), 0)
    assert chunk[0]["rows"] is None


def test_equal_runs_give_equal_pages(tmp_path):
    run = a_run(tmp_path / "run")
    for name in ("1.html", "2.html"):
        write_report([run], tmp_path / name, gold=None)
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()


def test_a_missing_run_and_a_missing_folder_are_clear_errors(tmp_path):
    with pytest.raises(RunDirError, match=r"is .*nothing a run directory"):
        write_report([RunDir(tmp_path / "nothing")], tmp_path / "r.html", gold=None)
    assert not list(tmp_path.iterdir())
    run = a_run(tmp_path / "run")
    with pytest.raises(RunDirError, match="cannot be written"):
        write_report([run], tmp_path / "no" / "r.html", gold=None)
    run.crawl_log.write_text('{"no": "visit"}\n')
    with pytest.raises(RunDirError, match="not the log of a crawl"):
        write_report([run], tmp_path / "r.html", gold=None)


def test_gold_without_its_columns_is_one_clear_error(tmp_path):
    gold = tmp_path / "gold.tsv"
    gold.write_text("a\tb\n1\t2\n")
    with pytest.raises(RunDirError, match="url_a lang_a url_b lang_b"):
        write_report([a_run(tmp_path / "run")], tmp_path / "r.html", gold=gold)


@given(
    st.recursive(
        st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_text_cannot_end_its_block(value):
    text = embeddable_json(value)
    assert "<" not in text
    assert "\0" not in text
    assert json.loads(text) == value
