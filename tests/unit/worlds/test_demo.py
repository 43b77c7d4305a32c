"""The demo world keeps what its README promises."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter, deque

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.extract.document import build_document, read_page
from crawler.frontier.robots import origin_of, rules_of
from crawler.replay.world import ReplayWorld
from crawler.urls import canonicalize, site_of
from worlds.demo.build import build
from worlds.demo.markup import read_texts
from worlds.demo.pages import HERE

FILES = ("demo.warc.gz", "gold.tsv", "aliases.tsv")
HOME = "https://www.skarfey.example/en/"
AGENT = "bifocal"


@pytest.fixture(scope="module")
def demo():
    return HERE


@pytest.fixture(scope="module")
def world(demo):
    recording = ReplayWorld.open(demo / "demo.warc.gz")
    yield recording
    recording.close()


def rows(path):
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    return header.split("\t"), [tuple(line.split("\t")) for line in lines]


@pytest.fixture(scope="module")
def gold(demo):
    return rows(demo / "gold.tsv")[1]


@pytest.fixture(scope="module")
def gold_langs(gold):
    sides = [pair[:2] for pair in gold] + [pair[2:] for pair in gold]
    return dict(sides)


@pytest.fixture(scope="module")
def aliases(demo):
    return dict(rows(demo / "aliases.tsv")[1])


@pytest.fixture(scope="module")
def reached(world):
    """What a polite crawl from the home page fetches: links, redirects, sitemaps."""
    rules, found, queue = {}, {HOME}, deque([HOME])
    fetched = []

    def offer(url):
        if url and site_of(url) == site_of(HOME) and url not in found:
            found.add(url)
            queue.append(url)

    while queue:
        url = queue.popleft()
        origin = origin_of(url)
        if origin not in rules:
            robots = world.answer(f"{origin}/robots.txt")
            rules[origin] = rules_of(robots.status, robots.body)
            for sitemap in rules[origin].sitemaps:
                offer(sitemap)
        if not rules[origin].allows(url, AGENT):
            continue
        fetched.append(url)
        reading = read_page(world.answer(url))
        offer(reading.location)
        if reading.sitemap:
            for link in reading.sitemap.sitemaps:
                offer(link)
        source = reading.document or reading.sitemap
        for link in source.links if source else ():
            offer(link.url)
    return set(fetched)


def unpacked(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def test_building_twice_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        build(tmp_path / name)
    for file in FILES:
        one, two = (tmp_path / name / file for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("file", FILES)
def test_what_is_committed_is_what_build_writes(demo, tmp_path, file):
    # unpacked: another zlib packs the same records into other bytes
    build(tmp_path)
    assert unpacked(tmp_path / file) == unpacked(demo / file)


def test_the_recording_passes_warcio_check(demo):
    types = Counter()
    with (demo / "demo.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file, check_digests=True):
            record.content_stream().read()
            types[record.rec_type] += 1
            assert record.digest_checker.passed is True
    assert types == {"warcinfo": 1, "response": 211}


def test_each_record_is_a_gzip_member_of_its_own(demo):
    data = (demo / "demo.warc.gz").read_bytes()
    starts = [
        match.start()
        for match in re.finditer(rb"\x1f\x8b\x08", data)
        if _opens_a_record(data[match.start() :])
    ]
    assert len(starts) == 212
    assert len(data) < 600_000


def _opens_a_record(data):
    try:
        return (
            zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, 8) == b"WARC/1.1"
        )
    except zlib.error:
        return False


def test_gold_is_sorted_and_has_all_pairs_of_languages(demo, gold):
    assert rows(demo / "gold.tsv")[0] == ["url_a", "lang_a", "url_b", "lang_b"]
    assert gold == sorted(set(gold))
    counts = Counter((lang_a, lang_b) for _, lang_a, _, lang_b in gold)
    assert counts == {("en", "es"): 36, ("en", "is"): 36, ("es", "is"): 35}


def test_gold_pages_are_html_in_the_language_that_gold_says(world, gold_langs):
    for url, lang in gold_langs.items():
        page = world.answer(url)
        assert canonicalize(url) == url
        assert page.status == 200, url
        document = build_document(page)
        assert document is not None, url
        assert (document.lang, url) == (lang, url)


def test_gold_pages_are_reached_without_the_forbidden_part(reached, gold_langs):
    assert set(gold_langs) <= reached
    assert not [url for url in reached if "/internal/" in url or "/search" in url]


def test_gold_names_no_copy_and_nothing_forbidden(gold_langs, aliases):
    assert set(gold_langs).isdisjoint(aliases)
    assert not [url for url in gold_langs if "/internal/" in url]


def test_aliases_are_pages_of_the_language_of_their_canonical_page(
    world, gold_langs, aliases
):
    for url, canonical in aliases.items():
        document = build_document(world.answer(url))
        assert document is not None, url
        assert document.lang == gold_langs[canonical]


def test_an_untranslated_copy_is_an_alias_of_the_english_page_only(gold, aliases):
    copy = "https://www.skarfey.example/is/about/data-policy/"
    assert aliases[copy] == "https://www.skarfey.example/en/about/data-policy/"
    langs = {(p[1], p[3]) for p in gold if aliases[copy] in (p[0], p[2])}
    assert langs == {("en", "es")}


def test_a_crawl_sees_between_80_and_150_pages(reached, world):
    pages = [
        url
        for url in reached
        if build_document(world.answer(url)) and "/calendar.php" not in url
    ]
    months = [url for url in reached if "/calendar.php" in url]
    assert 80 <= len(pages) <= 150
    assert len(months) == 36 + 2  # the two are 404


def test_links_are_recorded_or_recorded_as_missing(reached, world):
    assert reached <= set(world.urls())


def test_at_least_twenty_concepts_have_real_prose_in_three_languages(demo):
    words = {}
    for text in read_texts(demo / "content"):
        count = len(re.findall(r"\w+", text.source))
        words.setdefault(text.concept, {})[text.lang] = count
    rich = [
        concept
        for concept, counts in words.items()
        if all(250 <= counts.get(lang, 0) <= 400 for lang in ("en", "es", "is"))
    ]
    assert len(rich) >= 20


def test_every_address_in_the_readme_is_recorded(demo, world):
    readme = (demo / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`(https://[^`]+)`", readme)
    recorded = {canonicalize(url) for url in world.urls()}
    assert len(named) > 60
    assert [url for url in named if canonicalize(url) not in recorded] == []


@pytest.mark.parametrize(
    ("url", "statuses"),
    [
        ("https://www.skarfey.example/history.htm", [301, 302, 301, 200]),
        ("https://www.skarfey.example/loop/one", [302, 302, 302]),
        ("https://www.skarfey.example/calendar.php?year=2027&month=1", [404]),
        ("https://www.skarfey.example/en/jobs/", [410]),
    ],
)
def test_redirects_and_misses_answer_as_the_readme_says(world, url, statuses):
    seen = []
    while url and len(seen) < len(statuses):
        page = world.answer(url)
        seen.append(page.status)
        url = page.header("location")
    assert seen == statuses


def test_the_seed_file_names_the_home_page():
    lines = (HERE.parents[1] / "seeds/demo.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == [HOME]
