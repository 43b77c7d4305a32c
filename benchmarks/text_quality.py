"""Text off the web: encodings, languages and main text, of pages with a known truth.

    python -m benchmarks.text_quality encodings [--catalogues /usr/share/locale]
    python -m benchmarks.text_quality languages WORLDS [--sites SITE ...]
    python -m benchmarks.text_quality close [--catalogues /usr/share/locale]
    python -m benchmarks.text_quality extraction SET

`encodings`: pages of 60 words and a little more, made of the translated messages that a
Debian system has for its programs (MO files of glib, GTK, dpkg …), written in each
legacy encoding of their language, without a declaration and with one that is wrong.
Right is a page whose letters are all as they were; mojibake is a page that is wrong and
whose text the corpus would take. UTF-8 pages beside them must stay as they are.

`languages`: the pages of the true pairs of recorded sites (`benchmarks/worlds.py` says
what WORLDS holds): in how many is the language the true one?

`close`: pages of 60 words in languages that detectors confuse, made of the same
messages, in a crawl for English and the language: how many are taken for another one,
if the page declares its language, if its address names it, and if neither does? (There
a page in either of hr, bs, sr and cnr is in the one that the crawl looks for.)

`extraction`: a set of pages with their main text, in the format of
scrapinghub/article-extraction-benchmark: precision and recall of the blocks that are
not marked as furniture, by runs of four words as there.
"""

from __future__ import annotations

import argparse
import csv
import gettext
import gzip
import html
import json
import random
import re
import struct
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from crawler.aligner.sentences.filters import is_damaged
from crawler.data import Document, Page
from crawler.extract.decode import decode
from crawler.extract.document import read_page
from crawler.extract.text import blocks_of
from crawler.languages import known_code
from crawler.replay.world import address_of
from crawler.warc.reader import NO_DATE, iter_pages

RESULTS = Path(__file__).parent / "results" / "text_quality.json"

# ----------------------------------------------------------------- encodings

# The locales that pages of an encoding are made of.
ENCODINGS = {
    "cp1250": "cs pl hu sl hr ro sk",
    "cp1251": "ru bg uk mk be sr",
    "cp1252": "fr de es pt sv is da fi it nl nb",
    "cp1253": "el",
    "cp1254": "tr",
    "cp1255": "he",
    "cp1256": "ar fa",
    "cp1257": "lt lv et",
    "cp1258": "vi",
    "iso8859-2": "cs pl hu sl hr sk",
    "iso8859-4": "lt lv et",
    "iso8859-5": "ru bg sr",
    "iso8859-7": "el",
    "iso8859-9": "tr",
    "iso8859-13": "lt lv et",
    "iso8859-15": "fr fi et",
    "iso8859-16": "ro",
    "koi8-r": "ru",
    "koi8-u": "uk",
    "mac-roman": "fr de es",
    "mac-cyrillic": "ru bg",
    "mac-greek": "el",
    "mac-turkish": "tr",
    "mac-latin2": "cs pl hu",
    "cp932": "ja",
    "euc_jp": "ja",
    "cp949": "ko",
    "gb18030": "zh_CN",
    "big5": "zh_TW",
    "tis-620": "th",
    "cp874": "th",
}
_PAGES = 20  # of each encoding and language
_WORDS = 60
_MESSAGE = re.compile(r"[^<>%\\|{}\x00]{20,600}")
_WIDE = re.compile("[\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7a3]")
# Letters that an encoding lacks, and what its pages have instead.
_OLD_LETTERS = str.maketrans("șțȘȚی", "şţŞŢي")
_TONES = "\u0300\u0301\u0303\u0309\u0323"
# What the wrong declaration says of pages in another encoding: what servers send of
# themselves.
_WRONG = "iso-8859-1", "utf-8"


def messages(folder: Path, locale: str) -> list[str]:
    """The sentences of the programs' translations to a language, each once."""
    found: dict[str, None] = {}
    for path in sorted(folder.glob(f"{locale}/LC_MESSAGES/*.mo")):
        if path.name.startswith("iso_"):
            continue  # names of countries and languages
        try:
            with path.open("rb") as file:
                catalogue = gettext.GNUTranslations(file)
        except (OSError, UnicodeDecodeError, struct.error):
            continue
        # the standard library has no public way to list what a catalogue holds
        for original, text in vars(catalogue)["_catalog"].items():
            if not original or text == original:
                continue
            text = " ".join(text.split()).replace("_", "")
            if _MESSAGE.fullmatch(text) and size_in_words(text) >= 4:
                found[text] = None
    return list(found)


def size_in_words(text: str) -> int:
    """Words; where none are marked, three characters are one."""
    return len(text.split()) + len(_WIDE.findall(text)) // 3


def pages_of(texts: list[str], seed: str) -> Iterator[str]:
    """Pages of 60 words and more, of different messages each."""
    random.Random(seed).shuffle(texts)
    paragraphs: list[str] = []
    words = 0
    for text in texts:
        paragraphs.append(text)
        words += size_in_words(text)
        if words >= _WORDS:
            title, *rest = paragraphs
            body = "".join(f"<p>{html.escape(part)}</p>\n" for part in rest)
            yield (
                f"<html><head><title>{html.escape(title)}</title></head>\n"
                f"<body><h1>{html.escape(title)}</h1>\n{body}</body></html>"
            )
            paragraphs, words = [], 0


def encoded(text: str, encoding: str) -> bytes | None:
    """A page in an encoding, if all its letters are in it, and not in ASCII alone."""
    if encoding == "cp1258":  # has the tones of Vietnamese as characters of their own
        text = "".join(_with_tone_apart(char) for char in text)
    elif encoding != "iso8859-16":
        text = text.translate(_OLD_LETTERS)
    try:
        "".join(filter(str.isalpha, text)).encode(encoding)
    except UnicodeEncodeError:
        return None
    body = text.encode(encoding, "xmlcharrefreplace")
    return None if body.isascii() else body


def _with_tone_apart(char: str) -> str:
    *base, mark = unicodedata.normalize("NFD", char)
    if mark not in _TONES:
        return char
    return unicodedata.normalize("NFC", "".join(base)) + mark


def letters(text: str) -> str:
    """What has to be right of a page: its letters."""
    text = unicodedata.normalize("NFC", html.unescape(text)).translate(_OLD_LETTERS)
    return "".join(filter(str.isalpha, text))


def of_encodings(folder: Path) -> dict[str, Any]:
    """Shares of pages that are read right, and that are damaged and not noticed."""
    rows: dict[str, Any] = {}
    total: dict[str, Counter[str]] = defaultdict(Counter)
    utf8 = Counter[str]()
    known: dict[str, list[str]] = {}
    for encoding, locales in ENCODINGS.items():
        for locale in locales.split():
            if locale not in known:
                known[locale] = list(pages_of(messages(folder, locale), locale))
                for text in known[locale][:_PAGES]:
                    utf8["pages"] += 1
                    utf8["right"] += decode(text.encode(), "text/html") == text
            bodies = [(text, encoded(text, encoding)) for text in known[locale]]
            pages = [(text, body) for text, body in bodies if body][:_PAGES]
            row = {"pages": len(pages)}
            for case in ("undeclared", *(f"called {name}" for name in _WRONG)):
                name = case.partition(" ")[2]
                header = f"text/html; charset={name}" if name else "text/html"
                counts = judged(pages, header)
                row |= {f"{case}: {key}": value for key, value in counts.items()}
                total[case].update(pages=len(pages), **counts)
            rows[f"{encoding} {locale}"] = row
            print(f"{encoding:12} {locale:6} {row}", flush=True)
    sums: dict[str, Any] = {
        case: {
            "pages": count["pages"],
            "right": round(count["right"] / count["pages"], 4),
            "mojibake kept": round(count["mojibake"] / count["pages"], 4),
        }
        for case, count in total.items()
    }
    sums["utf-8"] = dict(utf8)
    return {"all": sums, "rows": rows}


def judged(pages: list[tuple[str, bytes]], header: str) -> dict[str, int]:
    """How many are right, and how many wrong without looking damaged."""
    counts = {"right": 0, "mojibake": 0}
    for text, body in pages:
        true = letters(text)
        if letters(decode(body, header)) == true:
            counts["right"] += 1
            continue
        document = read(body, header)
        if document is None or document.lang is None:
            continue
        blocks = blocks_of(document.tokens, document.chunks)
        wrong = [block.text for block in blocks if letters(block.text) not in true]
        counts["mojibake"] += not all(map(is_damaged, wrong))
    return counts


def read(body: bytes, content_type: str = "text/html") -> Document | None:
    """A page as a crawl reads it."""
    headers = (("Content-Type", content_type),)
    return read_page(Page("https://example.org/", 200, headers, body, NO_DATE)).document


# ----------------------------------------------------------------- languages


def of_languages(worlds: Path, sites: list[str] | None) -> dict[str, Any]:
    """The share of the pages of true pairs whose language is right, by site."""
    rows: dict[str, Any] = {}
    for path in sorted(worlds.glob("warcs/*.warc.*")):
        site = path.name.partition(".warc.")[0]
        truths = worlds / "truth" / f"{site}.truth.tsv.gz"
        if (sites and site not in sites) or not truths.exists():
            continue
        truth: dict[str, str | None] = {}
        with gzip.open(truths, "rt", encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                for side in "ab":
                    truth[address_of(row[f"url_{side}"])] = known_code(
                        row[f"lang_{side}"]
                    )
        counts, wrong = Counter[str](), Counter[str]()
        started = time.process_time()
        for page in iter_pages([path]):
            document = read_page(page).document
            counts["read"] += 1
            if document is None or truth.get(address_of(document.url)) is None:
                continue
            expected = truth[address_of(document.url)]
            counts["pages"] += 1
            counts["right"] += document.lang == expected
            if document.lang != expected:
                wrong[f"{expected} called {document.lang}"] += 1
        rows[site] = {
            "pages": counts["pages"],
            "right": round(counts["right"] / max(1, counts["pages"]), 4),
            "wrong": dict(wrong.most_common(6)),
            "ms per page read": round(
                1000 * (time.process_time() - started) / max(1, counts["read"]), 2
            ),
        }
        print(site, rows[site], flush=True)
    return rows


# ----------------------------------------------------------- close languages

# Locales of languages that detectors take for each other.
CLOSE = (
    "da nb nn",
    "cs sk",
    "id ms",
    "gl pt",
    "ca oc",
    "is fo",
    "bg mk",
    "hr bs sr sr@latin",
    "ur hi",
)
_CLOSE_PAGES = 100  # of each language


def of_close_languages(folder: Path) -> dict[str, Any]:
    """Shares of pages that are taken for another language, by group and by hint."""
    rows: dict[str, Any] = {}
    for group in CLOSE:
        counts = Counter[str]()
        for locale in group.split():
            code = locale.partition("@")[0]
            lang = known_code(code)
            assert lang
            pages = list(pages_of(messages(folder, locale), locale))[:_CLOSE_PAGES]
            for text in pages:
                body = text.encode()
                declared = body.replace(b"<html>", f"<html lang={code}>".encode())
                cases = {
                    "declared": (declared, "x7"),
                    "address": (body, f"{code}/x7"),
                    "neither": (body, "x7"),
                }
                counts["pages"] += 1
                for case, (page_body, path) in cases.items():
                    page = Page(
                        f"https://example.org/{path}", 200, (), page_body, NO_DATE
                    )
                    document = read_page(page, langs=("en", lang)).document
                    counts[case] += document is None or document.lang != lang
        rows[group] = {"pages": counts["pages"]} | {
            case: round(counts[case] / max(1, counts["pages"]), 4)
            for case in ("declared", "address", "neither")
        }
        print(group, rows[group], flush=True)
    return rows


# ---------------------------------------------------------------- extraction


def shingles(text: str, size: int = 4) -> Counter[tuple[str, ...]]:
    """The runs of words of a text, as that benchmark counts them."""
    words = re.findall(r"\w+", text)
    starts = range(max(1, len(words) - size + 1)) if words else range(0)
    return Counter(tuple(words[at : at + size]) for at in starts)


def of_extraction(folder: Path) -> dict[str, Any]:
    """Mean precision and recall of the main blocks."""
    truth = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    precisions, recalls = [], []
    for name, row in truth.items():
        body = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        page = Page(
            "https://example.org/", 200, (("Content-Type", "text/html"),), body, NO_DATE
        )
        document = read_page(page).document
        blocks = blocks_of(document.tokens, document.chunks) if document else ()
        found = shingles("\n".join(b.text for b in blocks if not b.boilerplate))
        expected = shingles(row["articleBody"] or "")
        both = (found & expected).total()
        if found:
            precisions.append(both / found.total())
        if expected:
            recalls.append(both / expected.total())
    return {
        "pages": len(truth),
        "precision": round(sum(precisions) / len(precisions), 3),
        "recall": round(sum(recalls) / len(recalls), 3),
    }


def main() -> None:
    """Measure one thing, and write its part of the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", choices=("encodings", "languages", "close", "extraction")
    )
    parser.add_argument("folder", type=Path, nargs="*", help="WORLDS, or SET")
    parser.add_argument(
        "--catalogues", type=Path, default=Path("/usr/share/locale"), help="MO files"
    )
    parser.add_argument("--sites", nargs="*", help="of WORLDS; default: all")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    facts = machine("pycld2", "selectolax")
    if args.what == "encodings":
        figures = of_encodings(args.catalogues)
    elif args.what == "close":
        figures = of_close_languages(args.catalogues)
    elif args.what == "languages":
        figures = {f.name: of_languages(f, args.sites) for f in args.folder}
    else:
        figures = {folder.name: of_extraction(folder) for folder in args.folder}
    results = json.loads(args.out.read_text("utf-8")) if args.out.exists() else {}
    results[args.what] = {"machine": facts} | figures
    args.out.write_text(
        json.dumps(results, indent=2, ensure_ascii=False) + "\n", "utf-8"
    )
    print(json.dumps(figures.get("all", figures), ensure_ascii=False))


if __name__ == "__main__":
    main()
