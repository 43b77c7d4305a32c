"""The wheel of the source distribution, without the checkout: every command works."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.commands import PATIENCE, ROOT

pytestmark = pytest.mark.slow


def built(tools: Path, *words: object) -> None:
    """Run a module of these tools, which come from the package index."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    if done.returncode and os.environ.get("CI") != "true":
        pytest.skip(f"no wheel can be built: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of the source distribution of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    tools = folder / "tools"
    built(tools, *"pip install --quiet --target".split(), tools, "hatchling")
    built(tools, *"hatchling build -t sdist -d".split(), folder)
    (source,) = folder.glob("*.tar.gz")
    built(tools, *"pip wheel --quiet --no-deps".split(), source, "-w", folder)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory) -> Path:
    """Python of a fresh environment: the wheel, and our dependencies by their path.

    A path file of a path file is not read, so the checkout is not importable.
    """
    folder = tmp_path_factory.mktemp("env")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    words = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*words, wheel], check=True, timeout=PATIENCE)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run(
        [python, "-c", where], capture_output=True, text=True, check=True
    )
    site = Path(packages.stdout.strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return python


def run(python: Path, folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """A command of the environment, in a folder, without our variables."""
    away = ("PYTHONPATH", "SCRAPY_PROJECT", "SCRAPY_SETTINGS_MODULE")
    tool, *rest = map(str, words)
    program = (
        [str(python.with_name(tool))] if tool == "bifocal" else [python, "-m", tool]
    )
    return subprocess.run(
        [*program, *rest],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k not in away},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_one_package_is_installed(wheel):
    names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"bifocal"}


def test_crawl_report_and_corpus_work_in_an_empty_folder(python, tmp_path):
    demo = run(python, tmp_path, "bifocal", "demo")
    assert demo.returncode == 0, demo.stderr
    assert "precision 1.000, recall 1.000" in demo.stdout
    assert demo.stderr == ""
    world = "packages/worlds/demo/demo.warc.gz"
    site = python.parents[1] / "lib"
    (installed,) = site.glob("*/site-packages/bifocal")
    seeds = installed / "packages" / "seeds" / "demo.txt"
    words = [seeds, "--langs", "en,is", "--out", "runs/x", "--profile", "breadth_first"]
    done = run(
        *(python, tmp_path, "bifocal", "crawl", *words),
        *("-s", f"REPLAY_WARCS={installed / world}"),
    )
    assert done.returncode == 0, done.stderr
    assert "document pairs" in done.stdout
    for command in ("report runs/x", "corpus runs/x --out c", "doctor"):
        done = run(python, tmp_path, "bifocal", *command.split())
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_project_of_init_crawls_with_scrapy(python, tmp_path):
    done = run(python, tmp_path, "bifocal", "init", "isl", "--langs", "en,is")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "isl"
    assert "example.org" not in (folder / "seeds.txt").read_text("utf-8")  # our seeds
    arguments = ("crawl", "bilingual", "-a", "langs=en,is", "-a")
    refused = "seeds=http://127.0.0.1:9/"
    done = run(python, folder, "scrapy", *arguments, refused, "-s", "RETRY_TIMES=0")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("bifocal: error: no page could be")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "scrapy crawl bilingual -a seeds=x -a langs=en,is",
            "`bifocal crawl seeds.txt",
        ),
        (
            "bifocal crawl https://a.is --langs en,is -s RUNDIR=a",
            "did you mean RUN_DIR?",
        ),
        ("bifocal crawl no.txt --langs en,is", "no.txt"),
        ("bifocal crawl https://a.is --langs en", "en"),
        ("bifocal help crawlin", "did you mean crawling?"),
        ("bifocal report runs/no", "runs/no"),
    ],
)
def test_a_mistake_is_one_line(python, tmp_path, words, said):
    done = run(python, tmp_path, *words.split())
    assert done.returncode in (1, 2)
    lines = [n for n in done.stderr.splitlines() if "scrapy.crawler" not in n]
    assert len(lines) == 1
    assert lines[0].startswith("bifocal: error: ")
    assert said in lines[0]


def test_the_documentation_is_there_offline(python, tmp_path):
    listed = run(python, tmp_path, "bifocal", "help").stdout
    assert {"quickstart", "crawling"} <= {n.split()[0] for n in listed.splitlines()}
    page = run(python, tmp_path, "bifocal", "help", "crawling").stdout
    assert page.startswith("# ")
