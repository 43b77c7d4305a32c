"""PDF files and pages that need JavaScript: crawled, recorded, and paired again."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio

from crawler.data import LangPair
from crawler.reports.texts import open_sentences, pair_text
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs
from tests import commands
from tests.commands import Run, bifocal, crawl, error_line, pair_urls
from tests.pdf import make_pdf
from tests.webserver import Server, answer, page, text

pytestmark = pytest.mark.slow

ENGLISH = "The ferry leaves at nine in the morning and is back at half past four. "
ICELANDIC = "Ferjan fer klukkan níu að morgni og kemur aftur klukkan hálf fimm. "
TITLES = {"en": "The harbour", "is": "Höfnin"}
PROSE = {"en": ENGLISH, "is": ICELANDIC}


def records(run: Run) -> list[tuple[str, dict[str, str], bytes]]:
    """Of all files, as the reference reader gives them."""
    found = []
    for file in run.warcs:
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                headers = dict(record.rec_headers.headers)
                body = record.content_stream().read()
                found.append((record.rec_type, headers, body))
    return found


def pairs_again(run: Run, seed: str, folder: Path, **settings: object) -> list:
    """What `bifocal align` and a replay find in a recording."""
    warc = run.path / "warc"
    out = folder / "again"
    done = [
        bifocal("align", warc, "--langs", "en,is", "--out", out),
        crawl(seed, "en,is", folder / "replay", REPLAY_WARCS=warc, **settings),
    ]
    assert [one.returncode for one in done] == [0, 0], done
    return [pair_urls(Run(out)), pair_urls(Run(folder / "replay"))]


def pdf(lang: str) -> bytes:
    return answer(
        make_pdf(TITLES[lang], [PROSE[lang] * 4, PROSE[lang] * 2], lang=lang),
        content_type="application/pdf",
    )


def with_pdfs() -> Server:
    links = '<a href="/en/report.pdf">Report</a><a href="/is/report.pdf">Skýrsla</a>'
    broken = '<a href="/en/broken.pdf">Broken</a><a href="/en/page.html">Page</a>'
    return Server(
        {
            "/": page(f"<p>{ENGLISH * 4}", links, broken),
            "/en/page.html": page(f"<p>{ENGLISH * 3}"),
            "/en/report.pdf": pdf("en"),
            "/is/report.pdf": pdf("is"),
            "/en/broken.pdf": answer(b"%PDF-1.7 no", content_type="application/pdf"),
        }
    )


def test_pdf_files_are_paired_and_recorded(tmp_path):
    with with_pdfs() as server:
        seed = server.url("/")
        done = crawl(seed, "en,is", tmp_path / "run", DOWNLOAD_DELAY=0, PDF=True)
        both = [(server.url("/en/report.pdf"), server.url("/is/report.pdf"))]
    assert done.returncode == 0, done.stderr
    run = Run(tmp_path / "run")
    assert pair_urls(run) == both
    assert run.stats["pdf/read"] == 2
    assert run.stats["pdf/failed/damaged"] == 1
    reasons = {visit["url"]: visit["reason"] for visit in run.visits}
    assert reasons[server.url("/en/broken.pdf")] == "not_html"
    found = records(run)
    answers = {
        h["WARC-Record-ID"]: body for kind, h, body in found if kind != "request"
    }
    pages = [headers for kind, headers, _ in found if kind == "conversion"]
    assert len(pages) == 2
    for headers in pages:
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        assert answers[headers["WARC-Refers-To"]].startswith(b"%PDF-")
    with pytest.raises(SystemExit, match="0"):
        warcio(["check", *map(str, run.warcs)])

    # the recording is enough: without the setting, the extra, or the server
    assert pairs_again(run, seed, tmp_path, PDF=True) == [both, both]
    (pair,) = read_pairs(RunDir(run.path).pairs)
    with open_sentences(RunDir(run.path), LangPair("en", "is")) as sentences:
        assert sentences is not None
        text_of_pair = pair_text(sentences, pair)
    assert text_of_pair is not None
    assert text_of_pair.src_title == "The harbour"


def test_without_the_setting_pdf_files_are_not_asked_for(tmp_path):
    with with_pdfs() as server:
        done = crawl(server.url("/"), "en,is", tmp_path / "run", DOWNLOAD_DELAY=0)
        asked = server.paths()
    assert done.returncode == 0, done.stderr
    assert sorted(asked) == ["/", "/en/page.html", "/robots.txt"]


# ------------------------------------------------------------------ JavaScript

APP = """
const lang = location.pathname.split("/")[1];
fetch(`/api/${lang}.json`).then(answer => answer.json()).then(page => {
  document.title = page.title;
  document.getElementById("app").innerHTML = page.html;
});
const elsewhere = "http://127.0.0.2:PORT";
for (const url of ["/secret/a.json", `${elsewhere}/a.json`, "http://169.254.169.254/"])
  fetch(url).catch(() => 0);
fetch("/moved.json").catch(() => 0);
fetch("/post", {method: "POST"}).catch(() => 0);
new WebSocket(`ws://${location.host}/socket`);
new Image().src = "/pixel.png";
window.open("/popup");
"""


@pytest.fixture
def chromium():
    missing = not shutil.which("chromium") or not importlib.util.find_spec(
        "scrapy_playwright"
    )
    if missing and os.environ.get("CI") == "true":
        pytest.fail("no Chromium, or no extra `js` (apt-get install chromium)")
    if missing:
        pytest.skip("no Chromium, or no extra `js` (apt-get install chromium)")


def with_scripts(elsewhere: Server, app: str = APP) -> Server:
    def of(lang: str, other: str) -> bytes:
        html = f"<h1>{TITLES[lang]}</h1><p>{PROSE[lang] * 4}</p>"
        link = f'<a href="/{other}/" hreflang="{other}">{TITLES[other]}</a>'
        return answer(
            json.dumps({"title": TITLES[lang], "html": html + link}),
            content_type="application/json",
        )

    shell = answer("<!doctype html><div id=app></div><script src=/app.js></script>")
    script = app.replace("PORT", str(elsewhere.port))
    return Server(
        {
            "/robots.txt": text("User-agent: *", "Disallow: /secret/"),
            "/en/": shell,
            "/is/": shell,
            "/app.js": answer(script, content_type="text/javascript"),
            "/api/en.json": of("en", "is"),
            "/api/is.json": of("is", "en"),
            "/moved.json": answer(
                status="302 Found", location=elsewhere.url("/moved-to")
            ),
        }
    )


@pytest.mark.browser
def test_pages_that_scripts_build_are_paired_and_recorded(tmp_path, chromium):
    with Server(host="127.0.0.2") as elsewhere, with_scripts(elsewhere) as server:
        seed = server.url("/en/")
        done = crawl(
            seed,
            "en,is",
            tmp_path / "run",
            DOWNLOAD_DELAY=0,
            JS_SITES="127.0.0.1",
            # one address only: what else the scripts ask for is private
            ADDRESS_ALLOW="127.0.0.1",
        )
        both = [(server.url("/en/"), server.url("/is/"))]
        asked = server.paths()
        assert elsewhere.paths() == []  # guarded, also behind a redirect
    assert done.returncode == 0, done.stderr
    run = Run(tmp_path / "run")
    assert pair_urls(run) == both
    assert run.stats["js/rendered"] == 2
    # robots.txt holds for scripts; images, POSTs, sockets and popups are not answered
    assert {path for path in asked if path != "/robots.txt"} == {
        *("/en/", "/is/", "/app.js", "/api/en.json", "/api/is.json", "/moved.json")
    }
    assert asked.count("/app.js") == 1
    of_the_page = [
        kind
        for kind, headers, _ in records(run)
        if headers.get("WARC-Target-URI") == seed
    ]
    assert of_the_page == ["conversion", "request", "response", "metadata"]
    assert pairs_again(run, seed, tmp_path, JS_SITES="127.0.0.1") == [both, both]


@pytest.mark.browser
def test_a_page_makes_us_ask_other_sites_little_and_slowly(tmp_path, chromium):
    flood = """
for (let n = 0; n < 150; n++)
  fetch("http://127.0.0.2:PORT/v" + n).catch(() => 0);
"""
    with Server(host="127.0.0.2") as victim, with_scripts(victim, flood) as server:
        victim.routes["/robots.txt"] = text("User-agent: *", "Crawl-delay: 1")
        done = crawl(
            server.url("/en/"),
            "en,is",
            tmp_path / "run",
            DOWNLOAD_DELAY=0.1,
            JS_SITES="127.0.0.1",
            ADDRESS_ALLOW="127.0.0.1,127.0.0.2",
        )
        asked = victim.asked
    assert done.returncode == 0, done.stderr
    assert 2 <= len(asked) <= 11  # robots.txt, and JS_REQUESTS_ELSEWHERE
    gaps = [after.came - before.answered for before, after in pairwise(asked[1:])]
    assert min(gaps) >= 0.9
    assert Run(tmp_path / "run").stats["js/requests/elsewhere"] >= 80


@pytest.mark.browser
def test_a_script_without_end_costs_its_page_only(tmp_path, chromium):
    app = "if (location.pathname == '/en/stuck') while (true);\n" + APP
    with Server(host="127.0.0.2") as elsewhere, with_scripts(elsewhere, app) as server:
        server.routes["/en/stuck"] = server.routes["/en/"]
        done = crawl(
            f"{server.url('/en/stuck')},{server.url('/en/')}",
            "en,is",
            tmp_path / "run",
            DOWNLOAD_DELAY=0,
            JS_SITES="127.0.0.1",
            JS_SECONDS=3,
        )
    assert done.returncode == 0, done.stderr
    run = Run(tmp_path / "run")
    assert len(run.pairs) == 1
    assert run.stats["js/failed/TimeoutError"] == 1


def test_a_browser_that_is_not_there_is_named(tmp_path):
    done = crawl(
        "https://example.org/",
        "en,is",
        tmp_path / "run",
        JS_SITES="example.org",
        JS_BROWSER="/nowhere/chromium",
    )
    assert error_line(done).startswith("JS_BROWSER=/nowhere/chromium: no program there")


def test_an_extra_that_is_missing_is_named(tmp_path, monkeypatch):
    hidden = "lambda name, *more: None if name == 'pdfminer' else real(name, *more)"
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        f"real = util.find_spec\nutil.find_spec = {hidden}\n"
    )
    there = commands.environment() | {"PYTHONPATH": f"{tmp_path}:{commands.ROOT}"}
    monkeypatch.setattr(commands, "environment", lambda *_: there)
    done = crawl("https://example.org/", "en,is", tmp_path / "run", PDF=True)
    assert error_line(done) == (
        "PDF needs an extra that is not installed: pip install 'bifocal-crawler[pdf]'"
    )
