"""What the documentation tells a reader to type is typed here, offline, in order."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import PATIENCE, ROOT, bifocal, environment

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What `make demo` prints, and the run directory that it leaves."""
    run = tmp_path_factory.mktemp("docs") / "runs" / "demo"
    done = bifocal("demo", "--out", run)
    assert done.returncode == 0, done.stderr
    return done.stdout, run


def blocks(page: str, language: str = "") -> list[str]:
    """The fenced code blocks of a page that are in a language."""
    text = (ROOT / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[str]:
    """The command lines that need no network: of recordings and of the demo's run."""
    text = (ROOT / page).read_text("utf-8").replace("\\\n", " ")
    lines = re.findall(r"^ {4}(?=bifocal|scrapy|SCRAPY)(.+)$", text, re.MULTILINE)
    return [line for line in lines if "worlds/demo" in line or "runs/demo" in line]


def type_in(words: list[str], folder: Path, profile: str = "adaptive") -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment(profile),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_the_demo_prints_what_the_page_shows(page, demo):
    def timeless(text: str) -> str:
        return re.sub(r"\S+/runs/demo/|\d+\.\d s\.", "…", text)

    (shown,) = (block for block in blocks(page) if block.startswith("Fetched"))
    assert timeless(shown) == timeless(demo[0]), f"paste what it prints into {page}"


@pytest.mark.parametrize("page", ["docs/quickstart.md", "docs/cookbook.md"])
def test_what_the_page_says_works(page, demo, tmp_path):
    """Its commands, then its Python, which reads the runs that they made."""
    shutil.copytree(demo[1], tmp_path / "runs" / "demo")
    found = commands(page)
    assert found
    for command in found:
        words = shlex.split(command.replace("runs/", f"{tmp_path}/runs/"))
        chosen = words.pop(0) if words[0].startswith("SCRAPY_PROJECT=") else "=adaptive"
        words[0] = str(Path(sys.executable).with_name(words[0]))
        assert type_in(words, ROOT, chosen.partition("=")[2])
    for snippet in blocks(page, "python"):
        assert type_in([sys.executable, "-c", snippet], tmp_path)


def build_site(pages: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """What `make docs` does."""
    words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    return subprocess.run(
        [*words, str(pages), str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_website_of_the_documentation_is_whole(tmp_path):
    done = build_site(ROOT / "docs", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    quickstart = (tmp_path / "site" / "quickstart.html").read_text("utf-8")
    assert 'href="formats.html#pairs-tsv-gz"' in quickstart
    assert "/blob/main/seeds/README.md" in (tmp_path / "site" / "index.html").read_text(
        "utf-8"
    )


def test_a_link_that_leads_nowhere_stops_it(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    with (tmp_path / "docs" / "replay.md").open("a") as page:
        page.write("[no](nothing.md) and [no](formats.md#nowhere)\n")
    done = build_site(tmp_path / "docs", tmp_path / "site")
    assert done.returncode != 0
    assert "nothing.md" in done.stderr
    assert "nowhere" in done.stderr
