"""A real local Spark gives, row by row, what one machine gives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.aligner.profile import AlignProfile
from crawler.realign.local import align_collection
from crawler.realign.request import Request
from crawler.warc.record import layout, sha1
from tests.commands import environment
from tests.worlds import build_site, many_sites, write_warc

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        not shutil.which("java") and not os.environ.get("CI"),
        reason="no Java (apt-get install openjdk-17-jre-headless)",
    ),
]
LANGS = ("en", "is")
SITES = list(
    many_sites(4, build_site(langs=LANGS, style="slug", concepts=12, words=80))
)

# In the executors: one task of either kind dies in its middle.
_DIE = """
import os, signal, sys

def die_once(name):
    try:
        os.close(os.open(os.environ["DIED"] + name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)

if "pyspark.daemon" in sys.orig_argv:
    from crawler.realign import spark, steps

    read, align = steps.read_piece, spark.align_group

    def read_piece(*args):
        for number, item in enumerate(read(*args)):
            if number == 7:
                die_once("reading")
            yield item

    def align_group(*args, **options):
        result = align(*args, **options)
        die_once("aligning")
        return result

    steps.read_piece, spark.align_group = read_piece, align_group
"""


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("collection")
    pages = [page for site in SITES for page in site.pages()]
    for part in range(3):
        write_warc(folder / f"{part}.warc.gz", pages[part::3])
    revisit = [
        ("WARC-Type", "revisit"),
        ("WARC-Target-URI", "https://town00001.example/again"),
        ("WARC-Payload-Digest", sha1(pages[5].body)),
    ]
    (folder / "3.warc").write_bytes(layout(revisit, b""))
    return folder


def contents(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def test_spark_gives_what_one_machine_gives_though_workers_die(collection, tmp_path):
    expected, out = tmp_path / "local", tmp_path / "spark"
    stats = align_collection(
        Request((str(collection),), LANGS, expected, AlignProfile())
    )
    (tmp_path / "sitecustomize.py").write_text(_DIE)
    env = environment() | {
        "PYTHONPATH": f"{tmp_path}:{environment()['PYTHONPATH']}",
        "DIED": str(tmp_path / "died-"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    bifocal = Path(sys.executable).with_name("bifocal")
    words = ["--langs", ",".join(LANGS), "--out", out, "--spark", "local[2,3]"]
    done = subprocess.run(
        [bifocal, "align", collection, *words],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "died-reading").exists()
    assert (tmp_path / "died-aligning").exists()
    assert contents(out) == contents(expected)
    assert stats["pairs"] == sum(len(site.gold(*LANGS)) for site in SITES)
