"""The report in a real browser: a person's eyes, hands and screen reader."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from crawler import cli
from crawler.corpus.marks import Marks
from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.data import LangPair, PairScore
from crawler.replay.world import ReplayWorld
from crawler.reports.page import write_report
from crawler.reports.quality import judge_pairs, read_gold
from crawler.reports.review import open_review
from crawler.rundir import RunDir
from crawler.sinks.pairs import write_pairs
from crawler.visits import read_visits
from crawler.warc.index import WarcIndex
from tests.commands import (
    DEMO,
    ROOT,
    Run,
    bifocal,
    crawl,
    crawl_command,
    environment,
)
from tests.reports import check_numbers, report_of
from tests.worlds import build_site, write_warc

pytestmark = [pytest.mark.slow, pytest.mark.browser]

IMAGES = ROOT / "docs" / "images"
PATIENT = 20_000  # milliseconds, on a busy machine


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium (`apt-get install chromium`), without a window."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if not found and os.environ.get("CI") == "true":
        pytest.fail("no Chromium (apt-get install chromium)")
    if not found:
        pytest.skip("no Chromium (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """The report of two crawls of the demo world, with the truth."""
    folder = tmp_path_factory.mktemp("demo")
    for profile in ("adaptive", "breadth_first"):
        run = folder / "runs" / profile
        done = bifocal("demo", "--profile", profile, "--out", run)
        assert done.returncode == 0, done.stderr
    with contextlib.chdir(folder):  # the page names the runs as they were typed
        words = ["report", "runs/adaptive", "runs/breadth_first"]
        words += ["--gold", str(DEMO / "gold.tsv")]
        assert cli.main([*words, "--world", str(DEMO / "demo.warc.gz")]) == 0
    return folder / "report.html"


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """The report of a crawl of 500 pages, of more pairs than a screen shows."""
    folder = tmp_path_factory.mktemp("large")
    site = build_site(
        concepts=260, words=60, style="suffix", others=("fr",), others_share=0.05
    )
    write_warc(folder / "site.warc.gz", site.pages())
    command = crawl_command(
        ",".join(site.seeds),
        "en,is",
        folder / "run",
        REPLAY_WARCS=folder / "site.warc.gz",
        CLOSESPIDER_PAGECOUNT=600,
    )
    subprocess.run(
        command, cwd=ROOT, env=environment("breadth_first"), timeout=900, check=True
    )
    write_report([RunDir(folder / "run")], folder / "report.html", gold=None)
    return folder / "report.html"


class Watched:
    """A page that remembers what it complained of and asked for."""

    def __init__(self, browser: Browser, file: Path, **how: object) -> None:
        self.page: Page = browser.new_page(**how)  # type: ignore[arg-type]
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("#pair .row", timeout=PATIENT)

    def leave(self, file: Path) -> None:
        """Nothing went wrong and nothing left the page, up to the end."""
        assert self.said == []
        away = [url for url in self.asked if not url.startswith("data:")]
        assert [url for url in away if not url.startswith("blob:")] == [file.as_uri()]
        self.page.close()


def chosen(page: Page) -> str:
    return page.locator('[role=option][aria-selected="true"]').inner_text()


def test_of_a_long_list_only_what_is_seen_is_drawn(browser, large):
    assert report_of(large.read_text("utf-8"))["runs"][0]["curve"]["total"] >= 500
    opened = Watched(browser, large)
    page = opened.page
    assert page.locator("[role=option]").count() < 40  # of hundreds
    page.locator("#list").focus()
    page.keyboard.press("End")
    total = len(report_of(large.read_text("utf-8"))["runs"][0]["list"]["src"])
    last = page.locator(f'[role=option][aria-posinset="{total}"]')
    last.wait_for(timeout=PATIENT)
    assert last.get_attribute("aria-selected") == "true"
    opened.leave(large)


def test_pairs_are_read_by_key_and_by_mouse(browser, demo):
    opened = Watched(browser, demo)
    page = opened.page
    first = chosen(page)
    page.keyboard.press("j")
    assert chosen(page) != first
    page.locator("#place", has_text="Pair 2 of").wait_for(timeout=PATIENT)
    page.keyboard.press("k")
    assert chosen(page) == first
    page.keyboard.press("/")
    page.keyboard.type("shore")
    assert "shore" in chosen(page).lower()
    listed = report_of(demo.read_text("utf-8"))["runs"][0]["list"]
    texts = zip(listed["src"], listed["trg"], listed["titles"])
    found = [text for text in texts if "shore" in str(text).lower()]
    said = f"{len(found)} of {len(listed['src'])} pairs"
    assert page.locator("#count").inner_text() == said
    page.locator("#words").fill("")
    page.locator("#order").select_option("worst")
    assert chosen(page) != first
    page.locator("[role=option]").nth(2).click()
    assert page.locator("[role=option]").nth(2).get_attribute("aria-selected") == "true"
    page.locator("#pair summary").click()
    assert "strand.dp" in page.locator("#pair .facts").inner_text()
    page.locator("#low").fill("2")
    assert "No pair fits" in page.locator("#pair").inner_text()
    opened.leave(demo)


def test_pairs_and_sentences_are_marked_by_key_and_saved(browser, demo, tmp_path):
    opened = Watched(browser, demo)
    page = opened.page
    page.keyboard.press("3")
    assert "wrong" in page.locator("[role=option]").first.inner_text()
    page.locator("#pair .row[tabindex]").first.focus()
    page.keyboard.press("2")
    assert "partly" in page.locator("#pair .row .note").all_inner_texts()[0]
    page.locator("#list").focus()
    page.keyboard.press("j")
    page.locator("[data-mark='1']").click()
    page.locator("#marked", has_text="3 marks").wait_for(timeout=PATIENT)
    with page.expect_download() as download:
        page.locator("#save").click()
    download.value.save_as(tmp_path / "marks.tsv")
    marks = Marks.read(tmp_path / "marks.tsv")
    assert [(m.level, m.verdict) for m in marks] == [
        ("page", "wrong"),
        ("sentence", "partly"),
        ("page", "right"),
    ]
    page.keyboard.press("0")  # taken back
    assert "2 marks" in page.locator("#marked").inner_text()
    page.evaluate("localStorage.clear()")
    opened.page.close()


def test_a_review_keeps_marks_by_key_and_shows_the_precision(browser, demo, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(demo.parent / "runs" / "adaptive", run)
    assert cli.main(["sample", str(run), "--sentences", "3", "--pages", "1"]) == 0
    with open_review(RunDir(run), port=0, most=5) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        page = browser.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(server.url)
        page.wait_for_selector("#pair .row", timeout=PATIENT)
        page.keyboard.press("1")  # the pair that is shown
        page.locator("#drawn summary").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        for key in "132":  # from row to row
            page.keyboard.press(key)
        page.locator("#marked", has_text="4 marks").wait_for(timeout=PATIENT)
        tile = page.locator("#tiles div", has_text="Sentences marked right")
        tile.get_by_text("33.3 %").wait_for(timeout=PATIENT)
        grave = ("serious", "critical")
        found = Axe().run(page).response["violations"]
        assert [v["id"] for v in found if v["impact"] in grave] == []
        page.reload()
        page.locator("#marked", has_text="4 marks").wait_for(timeout=PATIENT)
        assert said == []
        page.close()
        server.shutdown()
        thread.join()
    marks = [(m.level, m.verdict, m.sampled) for m in Marks.read(RunDir(run).marks)]
    assert sorted(marks, key=str) == [
        ("page", "right", False),
        ("page", None, True),
        ("sentence", "partly", True),
        ("sentence", "right", True),
        ("sentence", "wrong", True),
    ]


HERE = """() => {
    const e = document.activeElement;
    if (e === document.body) return null;
    const name = e.id || e.dataset.axis || e.dataset.mark || e.className || e.tagName;
    const {width, height} = e.getBoundingClientRect();
    return [name, getComputedStyle(e).outlineStyle !== "none" && width * height > 0];
}"""


def test_everything_is_reached_by_key_alone_and_seen_to_have_the_focus(browser, demo):
    opened = Watched(browser, demo)
    page = opened.page
    reached: dict[str, bool] = {}
    for _ in range(500):
        page.keyboard.press("Tab")
        found = page.evaluate(HERE)
        if found is None:
            break
        reached[found[0]] = found[1]
    assert found is None, "Tab never comes to the end of the page"
    assert [name for name, seen in reached.items() if not seen] == []
    switches = {"skip", "run", "downloads", "seconds", "harvest-chart", "site-order"}
    reader = {"words", "site", "low", "high", "order", "truth", "save", "list", "pair"}
    assert reached.keys() >= switches | reader | {"0", "1", "2", "3"}
    page.keyboard.press("Tab")  # from the beginning
    assert page.evaluate(HERE)[0] == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("j")
    assert "Pair 2 of" in page.locator("#place").inner_text()
    opened.leave(demo)


def test_runs_are_compared_and_chosen(browser, demo):
    opened = Watched(browser, demo)
    page = opened.page
    legend = page.locator("#harvest-legend").inner_text()
    assert "adaptive" in legend
    assert "breadth_first" in legend
    chart = page.locator("#harvest-chart")
    chart.focus()
    page.keyboard.press("End")
    assert "after 203 downloads" in page.locator("#harvest-legend").inner_text()
    page.keyboard.press("ArrowLeft")
    by_key = page.locator("#harvest-legend").inner_text()
    assert "after 201 downloads" in by_key
    chart.hover(position={"x": 300, "y": 100})
    assert page.locator("#harvest-legend").inner_text() not in (legend, by_key)
    page.locator("[data-axis=seconds]").click()
    assert page.locator("[data-axis=seconds]").get_attribute("aria-pressed") == "true"
    page.locator("#run").select_option("1")
    assert "breadth_first" in page.locator("#title").inner_text()
    opened.leave(demo)


def test_of_several_languages_each_pair_is_a_number_and_an_article_has_all_versions(
    browser, tmp_path
):
    town = build_site(langs=("en", "is", "es"), concepts=6, words=80, hreflang=True)
    world = ReplayWorld.open(write_warc(tmp_path / "town.warc.gz", town.pages()))
    settings = load_profile_settings("settings.adaptive", RUN_DIR=str(tmp_path / "run"))
    replay(town.seeds, "en,is,es", settings, world)
    run, file = RunDir(tmp_path / "run"), tmp_path / "report.html"
    write_report([run], file, gold=None)
    opened = Watched(browser, file, viewport={"width": 360, "height": 800})
    page = opened.page
    numbers = page.locator("#matrix-table button")
    assert numbers.count() == 6  # of each two languages, from either side
    true = len(town.gold("en", "es"))
    wanted = page.get_by_label(f"English and Spanish: {true} pairs").first
    wanted.click()
    assert page.locator("#matrix-table [aria-pressed=true]").count() == 2
    assert "Spanish" in page.locator("#title").inner_text()
    page.locator("[data-version=is]").first.wait_for(timeout=PATIENT)
    page.locator(".versions summary").click()
    heads = page.locator(".versions th[scope=col]")
    heads.first.wait_for(timeout=PATIENT)
    assert heads.all_inner_texts() == ["English", "Spanish", "Icelandic"]
    rows = page.locator(".versions tbody tr").all()
    texts = [row.locator("th, td").all_inner_texts() for row in rows]
    assert sum(all(versions) for versions in texts) >= 3
    found = Axe().run(page).response["violations"]
    assert not [one for one in found if one["impact"] in ("serious", "critical")]
    page.locator("[data-version=is]").first.click()
    assert "Icelandic" in page.locator("#title").inner_text()
    wide = "document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(wide) <= 0
    opened.leave(file)


def visit(site: str, path: str, *, kept: bool) -> str:
    """A line of crawl.jsonl, with what a report reads of it."""
    fields = {
        "url": f"https://{site}/{path}",
        "site": site,
        "source": None,
        "status": 200 if kept else 404,
        "time": "2026-01-01T00:00:00+00:00",
        "size": 1000,
        "score": 0.5,
        "lang": "en" if kept else None,
        "kept": kept,
        "reason": None if kept else "status/404",
        "added": 0,
        "pairs": 0,
    }
    return json.dumps(fields) + "\n"


def test_sites_are_shown_by_what_they_give_and_by_what_they_waste(browser, tmp_path):
    sites = {"good.is": (6, 14), "large.is": (4, 80), "small.is": (1, 2)}
    run = RunDir(tmp_path / "run")
    run.open(LangPair("en", "is"))
    run.write({"langs": ["en", "is"]})
    lines, pairs = [], []
    for site, (found, downloads) in sites.items():
        names = [f"{lang}/{n}" for n in range(found) for lang in ("en", "is")]
        urls = [f"https://{site}/{name}" for name in names]
        pairs += map(PairScore, urls[::2], urls[1::2], [0.9] * found)
        lines += [visit(site, name, kept=True) for name in names]
        lines += [
            visit(site, str(n), kept=False) for n in range(downloads - len(names))
        ]
    run.crawl_log.write_text("".join(lines))
    write_pairs(run.pairs, pairs)
    file = tmp_path / "report.html"
    write_report([run], file, gold=None)
    page = browser.new_page()
    page.goto(file.as_uri())
    first = page.locator("#site-table tbody th").first
    shown = {}
    for order in ("pairs", "waste", "rate"):
        page.locator("#site-order").select_option(order)
        shown[order] = first.inner_text()
    assert shown == {"pairs": "good.is", "waste": "large.is", "rate": "small.is"}
    page.close()


def test_a_title_with_a_script_is_shown_and_not_run(browser, tmp_path):
    site = build_site(concepts=4)
    script = "document.title='run'"
    evil = f'<img src=x onerror="{script}"></script><script>{script}</script>'
    pages = list(site.pages())
    shown = evil.replace("<", "&lt;").encode()
    bodies = [
        page.body.replace(b"<title>", b"<title>" + shown).replace(
            b"<h1>", b"<h1>" + shown
        )
        for page in pages
    ]
    write_warc(
        tmp_path / "a.warc.gz",
        [replace(page, body=body) for page, body in zip(pages, bodies)],
    )
    done = crawl(
        ",".join(site.seeds),
        "en,is",
        tmp_path / "run",
        REPLAY_WARCS=tmp_path / "a.warc.gz",
    )
    assert done.returncode == 0, done.stderr
    file = tmp_path / "report.html"
    write_report([RunDir(tmp_path / "run")], file, gold=None)
    opened = Watched(browser, file)
    assert "document.title='run'" in opened.page.locator("#pair h3").first.inner_text()
    assert opened.page.title() != "run"
    opened.leave(file)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280, 1920])
def test_axe_finds_nothing_serious(browser, demo, scheme, width):
    viewport = {"width": width, "height": 900}
    opened = Watched(browser, demo, viewport=viewport, color_scheme=scheme)
    found = Axe().run(opened.page).response["violations"]
    grave = [v for v in found if v["impact"] in ("serious", "critical")]
    assert grave == [], json.dumps(grave, indent=1)[:3000]
    wide = opened.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width  # nothing sticks out
    cut = "e => e.filter(x => x.scrollWidth > x.clientWidth).map(x => x.ariaLabel)"
    shown = opened.page.locator(".scroll:visible")
    assert shown.evaluate_all(cut) == []  # no table is cut
    opened.leave(demo)


def test_a_run_without_a_crawl_and_an_empty_one_have_a_page(browser, demo, tmp_path):
    aligned, empty = tmp_path / "aligned", tmp_path / "empty"
    warc = demo.parent / "runs" / "adaptive" / "warc"
    done = bifocal("align", warc, "--langs", "en,is", "--out", aligned)
    assert done.returncode == 0, done.stderr
    RunDir(empty).open(LangPair("en", "is"))
    RunDir(empty).write({"langs": ["en", "is"]})
    file = tmp_path / "report.html"
    write_report([RunDir(aligned), RunDir(empty)], file, gold=None)
    opened = Watched(browser, file)
    assert "Downloads" not in opened.page.locator("#tiles").inner_text()
    assert "No crawl log" in opened.page.locator("#harvest").inner_text()
    opened.page.locator("#run").select_option("1")
    assert "No pair fits" in opened.page.locator("#pair").inner_text()
    opened.page.keyboard.press("j")
    opened.leave(file)


def test_the_numbers_are_those_of_the_files(demo):
    langs = LangPair("en", "is")
    gold = read_gold(DEMO / "gold.tsv", langs, DEMO / "aliases.tsv")
    report = report_of(demo.read_text("utf-8"))
    oracle = dict(zip(report["oracle"]["downloads"], report["oracle"]["pairs"]))
    recorded = WarcIndex.build(DEMO / "demo.warc.gz")
    both = [pair for pair in gold.pairs if set(pair) <= set(recorded)]
    assert oracle[203] == len(both)
    for shown in report["runs"]:
        run = Run(demo.parent / shown["name"])
        check_numbers(shown, run)
        assert shown["outcomes"]["copy"] > 0
        judged = judge_pairs(run.pairs, gold)
        assert shown["gold"]["precision"] == judged.precision
        assert shown["gold"]["recall"] == judged.recall
        urls = [visit.url for visit in read_visits(run.path / "crawl.jsonl")]
        for point in (10, 60, 150):
            known = {gold.canonical.get(url, url) for url in urls[:point]}
            true = [pair for pair in gold.pairs if known.issuperset(pair)]
            place = shown["curve"]["downloads"].index(point)
            assert shown["curve"]["true"][place] == len(true) <= oracle[point]


@pytest.mark.shared
def test_the_numbers_of_five_recorded_sites_are_those_of_the_files(shared, tmp_path):
    names = "opentermsarchive.org scratchaddons.com wet-boew.github.io"
    names += " eccc-msc.github.io johnxlivingston.github.io"
    folder = shared / "worlds"
    sites = json.loads((folder / "manifest.json").read_text("utf-8"))
    chosen = [site for site in sites if site["site"] in names.split()]
    done = crawl(
        ",".join(url for site in chosen for url in (site["home"], *site["seeds"])),
        "en,fr",
        tmp_path / "run",
        profile="breadth_first",
        REPLAY_WARCS=",".join(str(folder / site["warc"]) for site in chosen),
        CLOSESPIDER_PAGECOUNT=160,
    )
    assert done.returncode == 0, done.stderr
    write_report([RunDir(tmp_path / "run")], tmp_path / "report.html", gold=None)
    (shown,) = report_of((tmp_path / "report.html").read_text("utf-8"))["runs"]
    assert len(shown["sites"]) == 5
    assert shown["outcomes"]["copy"] > 0
    check_numbers(shown, Run(tmp_path / "run"))


@pytest.mark.parametrize(
    ("name", "scheme", "size", "part"),
    [
        ("report.png", "light", (1280, 810), None),
        ("report-pairs.png", "dark", (1280, 3600), "#reader"),
        ("report-phone.png", "light", (390, 844), None),
    ],
)
def test_the_pictures_of_the_documentation(
    browser, demo, tmp_path, name, scheme, size, part
):
    """Taken anew with BIFOCAL_PICTURES=1; otherwise only that they can be taken."""
    viewport = {"width": size[0], "height": size[1]}
    opened = Watched(browser, demo, viewport=viewport, color_scheme=scheme)
    path = (IMAGES if os.environ.get("BIFOCAL_PICTURES") else tmp_path) / name
    if part:
        opened.page.locator("#list").focus()
        for _ in range(3):
            opened.page.keyboard.press("ArrowDown")
        opened.page.locator("#pair .row").nth(4).hover()
        opened.page.locator(part).screenshot(path=path)
    else:
        opened.page.screenshot(path=path)
    assert path.read_bytes()[:4] == b"\x89PNG"
    assert (IMAGES / name).exists()
    opened.leave(demo)


def test_prospects_are_sorted_filtered_and_noted(browser, tmp_path):
    urls = tmp_path / "urls.txt"
    urls.write_text(
        "".join(
            f"https://many.is/{lang}/p{n}\n" for lang in ("en", "is") for n in range(9)
        )
        + "".join(f"https://few.is/{x}/{n}\n" for x in ("en", "is") for n in "ab")
        + "https://none.is/<img src=x onerror=alert(1)>\n"
    )
    table, out = tmp_path / "sites.tsv", tmp_path / "sites.html"
    words = ["prospect", "--langs", "en,is", str(urls), "--out", str(table)]
    assert cli.main(words) == 0
    assert cli.main(["report", str(table), "--out", str(out)]) == 0
    page: Page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(out.as_uri())
    first = page.locator("tbody tr th").first
    assert "many.is" in first.inner_text()
    assert page.locator("tbody tr").count() == 3
    page.locator('th[data-name="pairs"] button').click()
    page.locator('th[data-name="pairs"] button').click()
    assert "none.is" in first.inner_text()
    page.locator("#words").fill("few")
    assert page.locator("#count").inner_text() == "1 of 3 sites."
    page.locator("tbody input").fill("a ferry")
    page.locator("#words").fill("")
    page.locator("#only").select_option("noted")
    assert page.locator("tbody tr").count() == 1
    with page.expect_download() as saved:
        page.locator("#save").click()
    assert saved.value.path().read_text("utf-8") == "site\tnote\nfew.is\ta ferry\n"
    found = Axe().run(page)
    assert found.response["violations"] == []
    assert said == []
    assert {url for url in asked if not url.startswith(("data:", "blob:"))} == {
        out.as_uri()
    }
    page.close()
