"""A real local Spark gives, row by row, what one machine gives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.aligner.profile import AlignProfile
from crawler.realign.local import align_collection
from crawler.realign.request import AlignRequest
from crawler.warc.record import layout, sha1
from tests.commands import Run, environment
from tests.worlds import build_site, declaring_a_chain, many_sites, write_warc

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        not shutil.which("java") and not os.environ.get("CI"),
        reason="no Java (apt-get install openjdk-17-jre-headless)",
    ),
]
BIFOCAL = Path(sys.executable).with_name("bifocal")
LANGS = ("en", "is")
SITES = list(
    many_sites(4, build_site(langs=LANGS, style="slug", concepts=14, words=80))
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


def test_spark_gives_the_bytes_of_one_machine_even_if_workers_die(collection, tmp_path):
    expected, out = tmp_path / "local", tmp_path / "spark"
    stats = align_collection(
        AlignRequest((str(collection),), LANGS, expected, AlignProfile())
    )
    (tmp_path / "sitecustomize.py").write_text(_DIE)
    env = environment() | {
        "PYTHONPATH": f"{tmp_path}:{environment()['PYTHONPATH']}",
        "DIED": str(tmp_path / "died-"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    words = ["--langs", ",".join(LANGS), "--out", out, "--spark", "local[2,3]"]
    done = subprocess.run(
        [BIFOCAL, "align", collection, *words],
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


def test_across_sites_spark_shuffles_by_ngram(collection, tmp_path):
    """The same groups, and so the same pairs, as on one machine."""
    moved = []
    for site in SITES:
        by_url = site.lang_by_url()
        for page in site.pages():
            host = site.host.replace("town", f"in-{by_url.get(page.url)}-town")
            moved.append(replace(page, url=page.url.replace(site.host, host)))
    path = write_warc(tmp_path / "a.warc.gz", moved)
    first = AlignRequest((str(collection),), LANGS, tmp_path / "first", AlignProfile())
    align_collection(first)
    profile = tmp_path / "few.toml"
    profile.write_text(
        "max_content_pages = 5\n"
        'giant_search = { use = "shingles", matching_order = 2 }\n'
    )
    words = ["--langs", ",".join(LANGS), "--across-sites", "--profile", profile]
    words += ["--lexicon", first.out / "lexicon.npz"]
    outs = tmp_path / "local", tmp_path / "spark"
    for out, more in zip(outs, ([], ["--spark", "local[2]"])):
        done = subprocess.run(
            [BIFOCAL, "align", path, *words, "--out", out, *more],
            env=environment() | {"SPARK_LOCAL_IP": "127.0.0.1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert contents(outs[0]) == contents(outs[1])
    true = sum(len(site.gold(*LANGS)) for site in SITES)
    assert len(Run(outs[0]).pairs) >= 0.9 * true


def test_articles_in_three_languages_are_those_of_one_machine(tmp_path):
    """With the pair that two others imply, which the aligner does not find."""
    site = build_site(
        langs=("en", "is", "es"),
        concepts=6,
        words=12,
        style="slug",
        hreflang=True,
        switcher="none",
    )
    path = write_warc(tmp_path / "a.warc.gz", declaring_a_chain(site))
    outs = tmp_path / "local", tmp_path / "spark"
    for out, more in zip(outs, ([], ["--spark", "local[2]"])):
        done = subprocess.run(
            [BIFOCAL, "align", path, "--langs", "en,is,es", "--out", out, *more],
            env=environment() | {"SPARK_LOCAL_IP": "127.0.0.1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert Run(out).stats["align/transitive"] == 1
        assert Run(out).stats["clusters"] == 6
    assert contents(outs[0]) == contents(outs[1])
