"""bifocal doctor, init, and seeds check: what is wrong is said before a crawl."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.commands import DEMO, PATIENCE, bifocal, environment
from tests.webserver import Server, answer, moved, page, text

ICELANDIC = (
    "<p>Ferjan fer frá höfninni klukkan níu að morgni á hverjum virkum degi.</p>"
)
ROUTES = {
    "/": page(
        ICELANDIC * 3, '<link rel="alternate" hreflang="en" href="/en/"><a href="/en/">'
    ),
    "/old": moved("/"),
    "/secret": page("<p>no"),
    "/robots.txt": text("User-agent: *", "Disallow: /secret", "Crawl-delay: 5"),
    "/loop": moved("/loop"),
    "/picture": answer(b"\x89PNG", content_type="image/png"),
}
ALLOW = ("-s", "ADDRESS_ALLOW=127.0.0.0/8", "-s", "DOWNLOAD_DELAY=0")


@pytest.fixture
def server():
    with Server(ROUTES) as server:
        yield server


def test_every_seed_is_looked_at_once_and_its_trouble_named(server):
    paths = ("/", "/old", "/secret", "/gone", "/loop", "/picture")
    seeds = ",".join(server.url(path) for path in paths)
    done = bifocal("seeds", "check", seeds, "--langs", "en,is", *ALLOW)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    said = [line.split()[0] for line in lines[:-1]]
    assert said == ["ok", "ok", "robots", "status/404", "redirect", "not_html"]
    assert "is; declares en; asks for 5 s" in lines[0]
    assert f"leads to {server.url('/')}" in lines[1]
    assert lines[-1] == "2 of 6 seeds can be crawled."
    assert server.paths().count("/robots.txt") >= 1
    assert "/secret" not in server.paths()
    agents = {asked.headers["user-agent"] for asked in server.asked}
    assert all(agent.startswith("bifocal/") for agent in agents)


@pytest.mark.parametrize("verb", [("seeds", "check"), ("doctor", "--seeds")])
def test_private_addresses_are_not_asked_unless_they_are_meant(server, verb):
    done = bifocal(*verb, server.url("/"))
    assert done.returncode == 1
    assert "ADDRESS_ALLOW" in done.stdout
    assert server.asked == []


def test_a_redirect_does_not_lead_to_a_private_address(server):
    with Server({"/": moved(server.url("/"))}, host="127.0.0.2") as other:
        allow = ("-s", "ADDRESS_ALLOW=127.0.0.2")
        done = bifocal("seeds", "check", other.url("/"), *allow)
    assert "private_address" in done.stdout
    assert server.asked == []


def test_a_server_without_robots_rules_for_us_is_left_alone():
    with Server({"/robots.txt": answer(status="503 No")}) as server:
        done = bifocal("seeds", "check", server.url("/"), *ALLOW)
        assert done.stdout.startswith("robots/status/503")
        assert server.paths() == ["/robots.txt"]


def test_a_setting_of_the_wrong_type_is_an_error(server):
    done = bifocal("seeds", "check", server.url("/"), "-s", "DOWNLOAD_DELAY=soon")
    assert done.returncode == 2
    assert "bifocal: error: DOWNLOAD_DELAY=soon" in done.stderr


def test_doctor_finds_nothing_wrong_here(server):
    done = bifocal("doctor", "--seeds", server.url("/"), "--langs", "en,is", *ALLOW)
    assert done.returncode == 0, done.stdout
    assert "Ready to crawl." in done.stdout
    assert "USER_AGENT is the default" in done.stdout


def test_doctor_says_what_is_missing_and_what_to_do(tmp_path):
    words = ("-s", "URL_PAIR_MODEL=models.no.Such", "--out", str(tmp_path / "no"))
    done = bifocal("doctor", *words, "-s", "USER_AGENT=me", "-s", "ROBOTSTXT_OBEY=0")
    assert done.returncode == 1
    for said in ("models.no", "choose another --out", "has no address", "is off"):
        assert said in done.stdout, done.stdout
    assert "Traceback" not in done.stderr


def test_a_new_project_crawls_and_reports(tmp_path):
    folder = tmp_path / "project"
    assert bifocal("init", folder, "--langs", "en,is").returncode == 0
    demo = "https://www.skarfey.example/en/\n"
    (folder / "seeds.txt").write_text(demo, encoding="utf-8")
    bin_folder = str(sys.executable).rpartition("/")[0]
    env = environment()
    del env["SCRAPY_PROJECT"]
    env["PATH"] = f"{bin_folder}:{env['PATH']}"
    world = DEMO / "demo.warc.gz"
    settings = folder / "crawl_settings.py"
    settings.write_text(settings.read_text("utf-8") + f'REPLAY_WARCS = "{world}"\n')
    done = subprocess.run(
        ["make", "crawl", "watch", "report", "corpus"],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "document pairs" in done.stdout
    assert "best skarfey.example" in done.stdout
    assert (folder / "report.html").exists()
    assert any((folder / "corpus").iterdir())
    run = (folder / "runs" / "en-is" / "run.json").read_text("utf-8")
    assert "our-crawl" in run  # the folder's own USER_AGENT
