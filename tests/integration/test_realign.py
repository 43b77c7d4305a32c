"""`bifocal align` over collections: kills, processes, every kind of input, memory."""

from __future__ import annotations

import base64
import functools
import gzip
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from crawler.aligner.aligner import Aligner, take_in
from crawler.aligner.profile import AlignProfile
from crawler.config import Plugin
from crawler.data import LangPair
from crawler.errors import RunDirError, WarcError
from crawler.extract.document import read_page
from crawler.realign import machine
from crawler.realign.local import align_collection
from crawler.realign.request import AlignRequest
from crawler.warc.inputs import find_inputs, pieces_of
from crawler.warc.record import layout
from tests.commands import Run, bifocal, environment, pair_urls
from tests.worlds import build_site, many_sites, write_warc

BIFOCAL = [Path(sys.executable).with_name("bifocal")]
LANGS = ("en", "is")
SITES = list(many_sites(6, build_site(style="slug", concepts=14, words=80)))


def gold(langs=LANGS) -> set[tuple[str, str]]:
    return {pair for site in SITES for pair in site.gold(*langs)}


def request(paths, out: Path, langs=LANGS) -> AlignRequest:
    return AlignRequest(tuple(map(str, paths)), langs, out, AlignProfile())


def contents(out: Path) -> dict[str, bytes]:
    """The files that a run leaves, but for the names of what it read."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "run.json"
    }


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> Path:
    """Six sites in two WARC files, half of each site in either."""
    folder = tmp_path_factory.mktemp("collection")
    pages = [page for site in SITES for page in site.pages()]
    for part in (0, 1):
        write_warc(folder / f"{part}.warc.gz", pages[part::2])
    return folder


@pytest.fixture(scope="module")
def undisturbed(collection, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    align_collection(request([collection], out))
    return out


def test_the_true_pairs_come_out_and_no_work_is_left(undisturbed):
    assert set(pair_urls(Run(undisturbed))) == gold()
    assert not (undisturbed / "work").exists()


def test_a_run_that_is_killed_twenty_times_ends_with_the_same_bytes(
    collection, undisturbed, tmp_path, monkeypatch
):
    monkeypatch.setattr(machine, "_TASK_PAGES", 40)  # more places to be killed at
    small = replace(request([collection], tmp_path / "whole"), piece_size=20_000)
    assert len(pieces_of(find_inputs([collection]), 20_000)) > 5
    whole = tmp_path / "whole"
    started = time.monotonic()
    align_collection(small)
    taken = time.monotonic() - started
    out = tmp_path / "killed"
    chance = random.Random(0)
    kills = 0
    while kills < 20:
        child = os.fork()
        if not child:
            try:
                align_collection(replace(small, out=out), resume=True)
            finally:
                os._exit(0)
        time.sleep(chance.uniform(0, taken / 8))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        kills += os.WIFSIGNALED(status)
        if not os.WIFSIGNALED(status):  # it was faster than the kill: once more
            assert contents(out) == contents(whole)
            subprocess.run(["rm", "-r", out], check=True)
    align_collection(replace(small, out=out), resume=True)
    assert contents(out) == contents(whole)
    assert contents(whole)["pairs.tsv.gz"] == contents(undisturbed)["pairs.tsv.gz"]


def test_processes_end_with_the_one_that_started_them():
    words = [sys.executable, "-c", _SLOW]
    running = subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE)
    assert running.stdout is not None
    workers = {int(running.stdout.readline()) for _ in range(2)}
    assert len(workers) == 2
    running.kill()
    running.wait()
    running.stdout.close()
    for _ in range(100):
        if not any(Path(f"/proc/{worker}").exists() for worker in workers):
            return
        time.sleep(0.05)
    raise AssertionError("workers outlive their parent")


_SLOW = """
import os
from crawler.realign.pool import Pool

if __name__ == "__main__":
    with Pool(2) as pool:
        list(pool.run(os.system, [("echo $PPID; sleep 20",)] * 2))
"""


def test_two_processes_give_the_bytes_of_one(collection, undisturbed, tmp_path):
    out = tmp_path / "out"
    align_collection(request([collection], out), jobs=2)
    assert contents(out) == contents(undisturbed)


def test_all_languages_in_one_run_each_pair_in_its_folder(tmp_path):
    site = build_site(langs=("en", "is", "es"), concepts=15)
    path = write_warc(tmp_path / "a.warc.gz", site.pages())
    out = tmp_path / "out"
    done = bifocal("align", path, "--langs", "en,is,es", "--out", out)
    assert done.returncode == 0, done.stderr
    for langs in (("en", "is"), ("en", "es"), ("is", "es")):
        found = Run(out / "-".join(langs))
        assert set(pair_urls(found)) == site.gold(*langs)
    # and each folder is one to start from
    again = request([path], tmp_path / "again", ("es", "is"))
    align_collection(replace(again, lexicon=out / "is-es" / "lexicon.npz"))
    assert set(pair_urls(Run(tmp_path / "again"))) == site.gold("es", "is")


def test_a_run_is_resumed_only_with_the_same_request(collection, undisturbed, tmp_path):
    assert align_collection(request([collection], undisturbed), resume=True)["pairs"]
    out = tmp_path / "out"
    child = os.fork()
    if not child:
        machine.LocalMachine.job = lambda *_: os._exit(1)  # as if killed half-way
        align_collection(request([collection], out))
    os.waitpid(child, 0)
    with pytest.raises(RunDirError, match="its langs were different"):
        align_collection(request([collection], out, ("en", "fr")), resume=True)
    align_collection(request([collection], out), resume=True)
    assert contents(out) == contents(undisturbed)


# ------------------------------------------------------------------ kinds of input


def test_a_warc_file_on_standard_input_is_read(undisturbed, tmp_path, collection):
    out = tmp_path / "out"
    data = b"".join(file.read_bytes() for file in sorted(collection.iterdir()))
    done = subprocess.run(
        [*BIFOCAL, "align", "-", "--langs", "en,is", "--out", out],
        env=environment(),
        input=data,
        check=True,
        capture_output=True,
    )
    assert b"84 document pairs" in done.stdout
    assert contents(out) == contents(undisturbed)


@pytest.fixture
def server(collection):
    handler = functools.partial(RangeHandler, directory=str(collection))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class RangeHandler(SimpleHTTPRequestHandler):
    """Files, and ranges of them."""

    def do_GET(self) -> None:
        data = Path(self.translate_path(self.path)).read_bytes()
        wanted = self.headers.get("Range")
        first, last = 0, len(data) - 1
        if wanted:
            start, _, end = wanted.removeprefix("bytes=").partition("-")
            first, last = int(start), min(int(end or last), last)
        self.send_response(206 if wanted else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.write(data[first : last + 1])

    def log_message(self, *args) -> None:
        pass


def test_files_at_an_address_are_read(server, undisturbed, tmp_path):
    out = tmp_path / "out"
    urls = [f"{server}/{part}.warc.gz" for part in (0, 1)]
    align_collection(request(urls, out))
    assert contents(out) == contents(undisturbed)
    with pytest.raises(WarcError, match="nix"):
        align_collection(request(["nix://a/b"], tmp_path / "no"))


def test_folders_of_warc2text_are_read(undisturbed, tmp_path):
    for lang in LANGS:
        folder = tmp_path / "in" / lang
        folder.mkdir(parents=True)
        pages = [
            p for site in SITES for p in site.pages() if site_lang(site, p) == lang
        ]
        write_lines(folder / "url.gz", [page.url.encode() for page in pages])
        write_lines(folder / "html.gz", [base64.b64encode(page.body) for page in pages])
        write_lines(folder / "text.gz", [base64.b64encode(b"no") for _ in pages])
    out = tmp_path / "out"
    align_collection(request([tmp_path / "in"], out))
    assert pair_urls(Run(out)) == pair_urls(Run(undisturbed))


def site_lang(site, page) -> str | None:
    return lang_by_url(site).get(page.url)


@functools.cache
def lang_by_url(site):
    return site.lang_by_url()


def write_lines(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))


def test_a_revisit_is_paired_as_the_page_that_it_stands_for(tmp_path):
    site = build_site(concepts=12)
    pages = list(site.pages())
    original = next(p for p in pages if p.url == site.url(5, "is"))
    write_warc(tmp_path / "b.warc.gz", [p for p in pages if p is not original])
    moved = original.url.replace("/is/", "/is/old/")
    kept = type(original)(
        moved, 200, original.headers, original.body, original.fetched_at
    )
    write_warc(tmp_path / "c.warc.gz", [kept])
    revisits = [
        layout(
            [
                ("WARC-Type", "revisit"),
                ("WARC-Target-URI", url),
                ("WARC-Date", "2024-03-01T12:00:00Z"),
                ("WARC-Payload-Digest", digest),
            ],
            b"",
        )
        for url, digest in (
            (original.url, payload_digest(tmp_path / "c.warc.gz")),
            ("https://town.example/gone", "sha1:NOTHERE"),
        )
    ]
    (tmp_path / "a.warc").write_bytes(b"".join(revisits))
    out = tmp_path / "out"
    stats = align_collection(request([tmp_path], out))
    assert set(pair_urls(Run(out))) == site.gold("en", "is")
    assert stats["warc/dropped/revisit"] == 1


def payload_digest(path: Path) -> str:
    lines = gzip.decompress(path.read_bytes()).splitlines()
    name = b"WARC-Payload-Digest: "
    return next(line for line in lines if line.startswith(name))[len(name) :].decode()


def test_a_damaged_record_is_named_with_file_and_offset(collection, tmp_path):
    data = bytearray((collection / "0.warc.gz").read_bytes())
    half = len(data) // 2
    data[half : half + 40] = b"\0" * 40
    path = tmp_path / "damaged.warc.gz"
    path.write_bytes(data)
    done = bifocal("align", path, "--langs", "en,is", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert f"{path}: damaged at byte" in done.stderr
    stats = Run(tmp_path / "out").stats
    damaged = {name: n for name, n in stats.items() if name.startswith("warc/damaged/")}
    assert sum(damaged.values()) == 1, damaged
    assert stats["pages"] in (82, 83)  # of 84: the hole may lie in two records


def test_a_site_larger_than_its_share_of_memory_waits_on_the_disk(
    collection, undisturbed, tmp_path
):
    out = tmp_path / "out"
    align_collection(request([collection], out), memory=1_000_000)
    assert contents(out) == contents(undisturbed)


def test_the_pairs_are_those_of_a_crawl_of_all_sites(undisturbed):
    with Aligner(LangPair(*LANGS)) as aligner:
        for site in SITES:
            for page in site.pages():
                take_in(aligner, [read_page(page)])
        pairs = aligner.finish()
    stored = Run(undisturbed).pairs
    assert [(p.src_url, p.trg_url) for p in pairs] == pair_urls(Run(undisturbed))
    assert [round(pair.score, 6) for pair in pairs] == [pair.score for pair in stored]


# ------------------------------------------------------------------ across sites


@pytest.fixture(scope="module")
def torn(tmp_path_factory) -> Path:
    """Three sites whose Icelandic pages are on sites of their own."""
    pages = []
    for site in SITES[:3]:
        for page in site.pages():
            if site_lang(site, page) == "is":
                moved = site.host, site.host.replace("town", "other")
                page = replace(page, url=page.url.replace(*moved))
            pages.append(page)
    return write_warc(tmp_path_factory.mktemp("torn") / "a.warc.gz", pages)


def check_across(run: Run) -> None:
    found = {(src, trg.replace("://other", "://town")) for src, trg in pair_urls(run)}
    true = {pair for site in SITES[:3] for pair in site.gold(*LANGS)}
    assert len(found & true) >= 0.9 * len(true)
    assert len(found - true) <= 0.05 * len(found)


def test_translations_on_another_site_are_found_across_sites(torn, tmp_path):
    apart = request([torn], tmp_path / "apart")
    assert align_collection(apart)["pairs"] == 0
    across = replace(apart, out=tmp_path / "across", across_sites=True)
    align_collection(across)
    check_across(Run(across.out))


def test_across_sites_pages_that_share_ngrams_come_together(
    torn, undisturbed, tmp_path, monkeypatch
):
    """More pages than are compared with each other, in shards, by two processes."""
    monkeypatch.setattr("crawler.realign.matching_ngrams._SHARD_PAGES", 10)
    monkeypatch.setattr("crawler.realign.matching_ngrams._GROUP_PAGES", 20)
    monkeypatch.setattr("crawler.realign.machine._TASK_PAGES", 10)
    # word for word these translations keep two words in order, seldom five
    profile = AlignProfile(
        max_content_pages=5, giant_search=Plugin("shingles", {"matching_order": 2})
    )
    outs = [tmp_path / jobs for jobs in "12"]
    for out in outs:
        align_collection(
            replace(
                request([torn], out),
                profile=profile,
                lexicon=undisturbed / "lexicon.npz",
                across_sites=True,
            ),
            jobs=int(out.name),
        )
    assert contents(outs[0]) == contents(outs[1])
    check_across(Run(outs[0]))


# ------------------------------------------------------------------ index first


def test_pages_are_chosen_by_an_index_and_read_where_it_says(tmp_path):
    site = build_site(style="dir", concepts=25, untranslated=0.5, others=("fr",))
    (tmp_path / "warcs").mkdir()
    path = write_warc(tmp_path / "warcs" / "a.warc.gz", site.pages())
    assert bifocal("index", path.parent).returncode == 0
    out = tmp_path / "out"
    done = bifocal(
        *("align", path.parent, "--cdx", path.parent / "a.cdxj"),
        *("--langs", "en,is", "--out", out),
    )
    assert done.returncode == 0, done.stderr
    assert set(pair_urls(Run(out))) == site.gold("en", "is")
    stats = Run(out).stats
    assert stats["warc/records"] == 2 * len(site.gold("en", "is"))
    assert stats["cdx/lines"] == len(site.lang_by_url())
