"""A language that no detector knows, from a sample of it to sentence pairs."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from babel import Locale

from crawler.crawl.open import open_crawl
from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.data import Page
from crawler.errors import UsageError
from crawler.extract.document import build_document
from crawler.replay.world import ReplayWorld
from crawler.sinks.pairs import read_pairs
from tests.worlds import build_site, write_warc

# Icelandic with other letters, in words that are no names: a language of its own.
LETTERS = str.maketrans("aeiouytrnlsðmkgv", "ouaeiwrtlnzgmpkb")
WORD = re.compile(r"(?<![\w/.])[a-záéíóúýðþæö]{2,}(?![\w/.])")


def made_up(text: str) -> str:
    return WORD.sub(lambda word: word[0].translate(LETTERS), text)


def translated(page: Page) -> Page:
    """A page of the site with its Icelandic text in the made-up language."""
    html = page.body.decode().replace("/is/", "/xyz/").replace('lang="is"', "")
    if "/is/" in page.url:
        html = re.sub(r">[^<]+<", lambda text: made_up(text[0]), html)
    url = page.url.replace("/is/", "/xyz/")
    return replace(page, url=url, body=html.encode())


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Path:
    """Texts of another site in the made-up language."""
    path = tmp_path_factory.mktemp("sample") / "xyz.txt"
    pages = build_site(concepts=12, words=200, seed=7).pages()
    texts = [build_document(page) for page in pages if "/is/" in page.url]
    path.write_text("\n".join(made_up(" ".join(doc.chunks)) for doc in texts if doc))
    return path


def test_a_language_without_a_detector_is_named_before_the_crawl_with_the_cure(
    tmp_path,
):
    settings = load_profile_settings(RUN_DIR=str(tmp_path / "run"), PAGE_PROCESS=False)
    for lang in ("se", "xyz"):
        with pytest.raises(UsageError, match=f"does not know .*'{lang}'.*heliport"):
            open_crawl("https://a.example/", f"en,{lang}", settings)
    assert not (tmp_path / "run").exists()


def test_a_language_is_learned_from_a_text_and_crawled_to_sentence_pairs(
    tmp_path, sample
):
    site = build_site(concepts=12, words=150)
    warc = tmp_path / "site.warc.gz"
    write_warc(warc, map(translated, site.pages()))
    run = tmp_path / "run"
    settings = load_profile_settings(RUN_DIR=str(run), LANGUAGE_SAMPLES=f"xyz={sample}")
    replay(site.home, "en,xyz", settings, ReplayWorld.open(str(warc)))
    gold = {(a, b.replace("/is/", "/xyz/")) for a, b in site.gold("en", "is")}
    assert {(p.src_url, p.trg_url) for p in read_pairs(run / "pairs.tsv.gz")} == gold
    sentences = gzip.decompress((run / "sentences.tsv.gz").read_bytes()).decode()
    assert len(sentences.splitlines()) > len(gold)


def lists_of(lang: str) -> dict[str, list[str]]:
    """The words of the Unicode CLDR in a language: countries, twelve for each month."""
    locale = Locale(lang)
    shared = sorted(Locale("se").territories.keys() & Locale("nb").territories.keys())
    names = [locale.territories[code] for code in shared]
    months = list(locale.months["format"]["wide"].values())
    return {
        month: [*months, *locale.days["format"]["wide"].values(), *names[12 * n :][:36]]
        for n, month in enumerate(months)
    }


def bilingual_calendar() -> Iterator[Page]:
    """A page a month in Northern Sámi and in Norwegian, which lead to each other."""
    for lang, other in (("se", "no"), ("no", "se")):
        pages = lists_of({"se": "se", "no": "nb"}[lang])
        menu = "".join(f'<a href="/{lang}/{n}">{n}</a> ' for n in range(len(pages)))
        for n, (month, words) in enumerate(pages.items()):
            text = "".join(
                f"<p>{', '.join(words[k : k + 6])}.</p>"
                for k in range(0, len(words), 6)
            )
            yield Page.of_html(
                f"https://calendar.example/{lang}/{n}",
                f"<title>{month}</title><nav>{menu}</nav><h1>{month}</h1>{text}"
                f'<footer><a href="/{other}/{n}">{other}</a></footer>',
            )


def test_northern_sami_is_crawled_to_sentence_pairs_with_norwegian(tmp_path):
    warc = tmp_path / "calendar.warc.gz"
    write_warc(warc, bilingual_calendar())
    run = tmp_path / "run"
    settings = load_profile_settings(RUN_DIR=str(run), LANGUAGE_DETECTOR="heliport")
    seed = "https://calendar.example/no/0"
    replay(seed, "no,se", settings, ReplayWorld.open(str(warc)))
    pairs = {(p.src_url, p.trg_url) for p in read_pairs(run / "pairs.tsv.gz")}
    assert pairs == {
        tuple(f"https://calendar.example/{lang}/{n}" for lang in ("no", "se"))
        for n in range(12)
    }
    sentences = gzip.decompress((run / "sentences.tsv.gz").read_bytes()).decode()
    months = zip(lists_of("nb"), lists_of("se"))
    found = {tuple(line.split("\t")[2:4]) for line in sentences.splitlines()}
    assert len(found & set(months)) >= 10
