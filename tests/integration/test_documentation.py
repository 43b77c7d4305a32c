"""What the documentation tells a reader to type is typed here, offline, in order."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import PATIENCE, ROOT, bifocal, environment
from tests.webserver import Server
from tests.worlds import build_site as build_town

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


MEMORY = """<tmx version="1.4"><header srclang="en"/><body><tu>
<tuv xml:lang="en"><seg>The boat is new.</seg></tuv>
<tuv xml:lang="is"><seg>Báturinn er nýr.</seg></tuv>
</tu></body></tmx>"""

# Commands that are not typed here, by how they begin, and why.
ELSEWHERE = {
    "make ": "CI runs make test and make check; make demo is the fixture",
    "bifocal align https:": "the network",
    "bifocal prospect --langs en,is https:": "an address; test_prospect_indexes.py",
    "bifocal prospect --langs en,is s3:": "a cluster; test_prospect_indexes.py",
    "bifocal align hdfs:": "a cluster; tests/integration/test_realign_spark.py",
    "bifocal docalign": "Bitextor's folders; tests/integration/test_realign.py",
    "bifocal lexicon WARCS --translator": "apertium; tests/unit/crawler/cli",
    "bifocal sentences A.txt B.txt": "a model; tests/unit/models",
    "bifocal status": "Redis; tests/integration/test_redis_frontier.py",
    "bifocal align runs/is/*": "Redis; tests/integration/test_two_workers.py",
    "redis-server": "Redis",
    "pip install": "the network",
    "python -m benchmarks": "recorded worlds; each has its own tests",
    "python -m tests.fuzz": "needs atheris; tests/fuzz/test_corpus.py",
    ".venv/bin/python -m benchmarks": "likewise",
    ".venv/bin/bifocal demo": "the fixture",
    ".venv/bin/ruff": "make check",
    ".venv/bin/mypy": "make check",
    ".venv/bin/lint-imports": "make check",
    "git clone": "the network",
    "cd ": "what follows is typed in tests/integration/test_before_a_crawl.py",
    "python -m pytest": "make test",
    "bifocal review": "a person marks; tests/integration/test_report_page.py",
    "bifocal seeds check icelandic/": "sites of the network",
    "bifocal train": "hours; tests/integration/test_training.py",
}
# Pages whose commands are lines of output, or need a class that is made up.
TYPED = [
    "README.md",
    "seeds/README.md",
    *(
        f"docs/{name}.md"
        for name in """quickstart cookbook crawling report corpus realign replay
        aligner sentences prospecting""".split()
    ),
]


def commands(page: str) -> list[str]:
    """What a page tells a reader to type, in order; whole blocks that say `bash`."""
    text = (ROOT / page).read_text("utf-8").replace("\\\n", " ")
    tools = "bifocal |scrapy |make |pip |python |redis-server |SCRAPY_|cd |git |zcat "
    begins = r"^(?: {4}(?: {3})?|\$ )"  # in a list by three more
    found = re.finditer(
        rf"^```bash\n(.*?)^```$|{begins}((?:\.venv/bin/)?(?:{tools})[^\n]+)$",
        text,
        re.DOTALL | re.MULTILINE,
    )
    return [match[1] or match[2] for match in found]


def is_typed(command: str) -> bool:
    return not command.startswith(tuple(ELSEWHERE)) and not command.endswith(" &")


@pytest.fixture(scope="module")
def web():
    """The site that stands in for the seeds of the web."""
    town = build_town(concepts=4, words=60)
    with Server() as server:
        server.add(town)
        yield server.url(town.home.removeprefix(f"https://{town.host}"))


@pytest.fixture
def stage(demo, web, tmp_path):
    """A folder like a checkout, in which commands work as they stand."""
    for name in ("worlds", "models"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    shutil.copytree(ROOT / "seeds", tmp_path / "seeds")
    (tmp_path / "seeds" / "en-is.txt").write_text(web)
    profiles = "adaptive focused language_only breadth_first".split()
    lines = [f"{name} = stage.{name}" for name in profiles]
    lines = ["[settings]", "default = stage.adaptive", *lines]
    (tmp_path / "scrapy.cfg").write_text("\n".join(lines))
    (tmp_path / "stage").mkdir()
    for name in profiles:
        (tmp_path / "stage" / f"{name}.py").write_text(
            f"from settings.{name} import *\n"
            "ADDRESS_ALLOW = '127.0.0.0/8'\nDOWNLOAD_DELAY = 0.01\nRETRY_TIMES = 0\n"
        )
    for name in ("warcs", "recordings", "WARCS"):
        (tmp_path / name).mkdir()
        shutil.copy(ROOT / "worlds" / "demo" / "demo.warc.gz", tmp_path / name)
    for name in ("runs/demo", "DIR", "other"):
        shutil.copytree(demo[1], tmp_path / name)
    (tmp_path / "icelandic.md").write_text("- https://www.ruv.is/ (a broadcaster)\n")
    (tmp_path / "urls.txt").write_text("\n".join([web, web.replace("/en/", "/is/")]))
    (tmp_path / "words.tsv").write_text("house\tetxe\nsea\titsaso\n")
    for name, text in (("book.en", "The sea is calm."), ("book.is", "Sjór er lygn.")):
        (tmp_path / name).write_text(f"{text}\n")
    (tmp_path / "opus").mkdir()
    for lang, line in (("en", "The ship is old.\n"), ("is", "Skipið er gamalt.\n")):
        (tmp_path / "opus" / f"TED.en-is.{lang}").write_text(line)
    (tmp_path / "memory.tmx").write_text(MEMORY)
    return tmp_path


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def type_in(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    place = {"PATH": path, "PYTHONPATH": f"{folder}:{ROOT}"}
    there = {k: v for k, v in environment().items() if k != "SCRAPY_PROJECT"}
    done = subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env=there | place,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_the_demo_prints_what_the_page_shows(page, demo):
    def timeless(text: str) -> str:
        return re.sub(r"\S+/runs/demo/|\d+\.\d s\.", "…", text)

    (shown,) = (block for block in blocks(page) if block.startswith("Fetched"))
    assert timeless(shown) == timeless(demo[0]), f"paste what it prints into {page}"


@pytest.mark.parametrize("page", TYPED)
def test_what_the_page_says_works(page, stage, demo, web):
    """Its commands as they stand, then its Python, which reads what they made."""
    typed = [command for command in commands(page) if is_typed(command)]
    assert typed
    for run in ("is1", "is2", "blind"):
        if not any(f"RUN_DIR=runs/{run}" in command for command in typed):
            shutil.copytree(demo[1], stage / "runs" / run)
    for command in typed:
        shutil.rmtree(stage / "corpus", ignore_errors=True)  # the page has several
        command = command.replace("https://www.example.is/um-okkur", web)
        type_in(command.replace("8000", str(free_port())), stage)
    for snippet in blocks(page, "python") if "cookbook" in page else ():
        type_in(f"{sys.executable} -c {shlex.quote(snippet)}", stage)


def test_every_page_with_commands_is_typed():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    names = [str(page.relative_to(ROOT)) for page in pages]
    left = [n for n in names if n not in TYPED and any(map(is_typed, commands(n)))]
    assert left == ["CONTRIBUTING.md"]  # a class that the reader writes


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
