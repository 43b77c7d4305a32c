"""Mistakes of a user: each one line with its cause and its cure, no traceback.

The exit status is 2 for what was asked, 1 for what was found on the way.
"""

from __future__ import annotations

import shutil

import pytest

from tests.commands import DEMO
from tests.forked import run_all

WORLD = str(DEMO / "demo.warc.gz")
CRAWL = "crawl seeds.txt --langs en,is --out new"
ALIGN = f"align {WORLD} --langs en,is --out new"

# command, exit status, what the line must say
MISTAKES = [
    # verbs and options
    ("crwal seeds.txt", 2, "did you mean 'crawl'?"),
    ("crawl", 2, "required: seeds"),
    ("crawl seeds.txt", 2, "write langs=en,is"),
    (f"{CRAWL} --profile focussed", 2, "did you mean 'focused'?"),
    (f"{CRAWL} --scope everywhere", 2, "there are site, host, path"),
    (f"{ALIGN} --jobs two", 2, "--jobs: 'two' is not a whole number"),
    (f"{ALIGN} --jobs 0", 2, "give a number of at least 1"),
    (f"{ALIGN} --memory lots", 2, "write 4G or 800M"),
    ("sample run --sentences -3", 2, "'-3' is not a whole number from 0 up"),
    ("eval mark run", 2, "did you mean 'marks'?"),
    ("help nosuchtopic", 2, "`bifocal help` lists them"),
    ("explain run", 2, "required: url"),
    ("explain run notaurl", 2, "write it in full"),
    ("train langage", 2, "did you mean 'language'?"),
    ("plan --docs many", 2, "expected one or two numbers above 0"),
    # languages
    ("crawl seeds.txt --langs en", 2, "write langs=en,is"),
    ("crawl seeds.txt --langs en,icelandish", 2, "did you mean 'icelandic'?"),
    ("crawl seeds.txt --langs en,English", 2, "name two different ones"),
    ("crawl seeds.txt --langs en,is,en", 2, "names a language twice"),
    ("crawl seeds.txt --langs en:", 2, "write langs=en:de,fr,it"),
    ("crawl seeds.txt --pairs en,fi", 2, "write pairs=en-fi,sv-fi"),
    ("crawl seeds.txt --langs one", 2, "write langs=en,is"),
    (f"align {WORLD} --langs en,xx --out new", 2, "give an ISO 639-1 or 639-3 code"),
    ("corpus run --langs en,de --out new", 1, "this run is for en,is, not for en,de"),
    # seeds
    ("crawl nowhere.txt --langs en,is", 2, "No such file"),
    ("crawl www.example.is --langs en,is", 2, "did you mean https://www.example.is?"),
    ("crawl ftp://example.is/ --langs en,is", 2, "not an http(s) URL"),
    ("crawl empty.txt --langs en,is", 2, "no seeds in it (one URL a line)"),
    ("crawl binary.dat --langs en,is", 2, "not UTF-8 text"),
    ("crawl words.txt --langs en,is", 2, "'a b c' is not an http(s) URL (mend or"),
    ("crawl folder --langs en,is", 2, "give a file with one URL a line"),
    ("seeds check nowhere.txt", 2, "give a file with one URL a line"),
    # settings
    (f"{CRAWL} -s RUNDIR=x", 2, "did you mean RUN_DIR?"),
    (f"{CRAWL} -s DOWNLOAD_DELAY", 2, "not of the form NAME=VALUE"),
    ("doctor -s DOWNLOAD_DELAY=soon", 2, "DOWNLOAD_DELAY=soon"),
    (f"{CRAWL} -s DOWNLOAD_DELAY=-1", 2, "DOWNLOAD_DELAY=-1"),
    ("doctor -s SITE_MAX_PAGES=many", 2, "SITE_MAX_PAGES=many"),
    (f"{CRAWL} -s ALIGN_PROFILE=nope", 2, "give the path of a TOML profile"),
    (f"{CRAWL} -s ALIGN_PROFILE=bad.toml", 2, "bad.toml"),
    (f"{CRAWL} -s URL_SCORER=no.such.Thing", 2, "give the dotted path of a class"),
    (f"{CRAWL} -s URL_PAIR_MODEL_DIR=nowhere", 2, "that `bifocal train` wrote"),
    (f"{CRAWL} -s REPLAY_WARCS=nope.warc.gz", 1, "give WARC files or folders"),
    (f"{CRAWL} -s FRONTIER_URL=mysql://host/db", 2, "is not a valid frontier"),
    # run directories
    ("crawl seeds.txt --langs en,is --out seeds.txt", 1, "choose another RUN_DIR"),
    (f"align {WORLD} --langs en,is --out run", 1, "choose another --out"),
    ("report nowhere", 1, "is nowhere a run directory?"),
    ("report folder", 1, "is folder a run directory?"),
    ("report torn", 1, "is torn a run directory?"),
    ("watch nowhere", 1, "is nowhere a run directory?"),
    ("sample folder", 1, "is folder a run directory?"),
    ("review folder", 1, "is folder a run directory?"),
    ("review run --port x", 2, "--port: 'x' is not a whole number"),
    ("explain run https://www.example.is/", 1, "the run directory of a crawl?"),
    ("eval marks run", 1, "draw rows with `bifocal sample`"),
    ("corpus nowhere --out new", 1, "neither a run directory nor a file"),
    ("corpus bare --out new", 1, "make the pairs with bifocal align"),
    ("corpus run --out folder", 1, "choose another --out"),
    ("demo --out run", 1, "choose another --out"),
    ("stats nowhere", 1, "give a folder that bifocal corpus wrote"),
    ("status seeds.txt", 2, "write seeds.txt?run=NAME"),
    ("prospect nowhere --langs en,is --out s.tsv", 1, "give lists, indexes or WARCs"),
    # files
    ("align nope.warc.gz --langs en,is --out new", 1, "give WARC files or folders"),
    ("align noise.warc.gz --langs en,is --out new", 1, "not a WARC file"),
    ("align folder --langs en,is --out new", 1, "neither WARC files nor pages"),
    (f"{ALIGN} --profile unknown.toml", 2, "unknown key 'minscore'; did you mean"),
    (f"{ALIGN} --lexicon nope.npz", 2, "give a lexicon.npz of an earlier run"),
    (f"{ALIGN} --lexicon binary.dat", 2, "not a lexicon: an unknown format"),
    (f"{ALIGN} --cdx nope.cdxj", 1, "nope.cdxj: No such file"),
    ("corpus t.en --langs en,is --out new", 1, "parallel line by line"),
    ("corpus t.en --out new", 2, "give the languages of this file"),
    ("corpus cut.tmx --langs en,is --out new", 1, "cut.tmx: cannot be read"),
    ("corpus page.html --langs en,is --out new", 1, "names end in .tmx, .tsv"),
    ("corpus run --out new --formats tsv,xlsx", 2, "known: tsv, tmx, moses"),
    ("corpus run --out new --set filters.min_score=high", 2, "expected float"),
    ("corpus run --out new --set filters.minscore=1", 2, "did you mean 'min_score'?"),
    ("corpus run --out new --set min_score", 2, "write key=value"),
    ("corpus run --out new --remove nope.txt", 2, "one site or address a line"),
    ("report run --out folder", 1, "folder: cannot be written: Is a directory"),
    ("report run --gold nope.tsv", 1, "url_a lang_a url_b lang_b"),
    ("report run --gold other.tsv", 1, "url_a lang_a url_b lang_b"),
    ("report run --world nope.warc.gz", 1, "leave --world out"),
    ("sentences t.en nope.is --langs en,is", 2, "give a text file in UTF-8"),
    ("sentences binary.dat t.is --langs en,is", 2, "give a text file in UTF-8"),
    ("lexicon binary.dat --langs en,is --out new", 2, "give text in UTF-8"),
    ("models verify folder", 2, "make one with `bifocal train`"),
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Every answer, in a folder that has what the commands name."""
    here = tmp_path_factory.mktemp("mistakes")
    (here / "seeds.txt").write_text("http://127.0.0.1:1/\n")
    (here / "empty.txt").write_text("# nothing yet\n")
    (here / "words.txt").write_text("a b c\n")
    (here / "binary.dat").write_bytes(b"\x00\x01\xff\xfe")
    (here / "noise.warc.gz").write_bytes(bytes(range(256)) * 8)
    (here / "page.html").write_text("<html>")
    (here / "bad.toml").write_text("{")
    (here / "unknown.toml").write_text("minscore = 0.5\n")
    (here / "t.en").write_text("one\ntwo\n")
    (here / "t.is").write_text("einn\n")
    (here / "cut.tmx").write_text("<tmx><body><tu>")
    (here / "other.tsv").write_text("a\tb\n1\t2\n")
    (here / "folder").mkdir()
    (here / "folder" / "mine.txt").write_text("mine")
    (here / "torn").mkdir()
    (here / "torn" / "run.json").write_text("{")
    (good,) = run_all([["align", WORLD, "--langs", "en,is", "--out", "run"]], here)
    assert good.status == 0, good.err
    (here / "bare").mkdir()
    shutil.copy(here / "run" / "run.json", here / "bare")
    answers = run_all([command.split() for command, _, _ in MISTAKES], here)
    assert (here / "folder" / "mine.txt").read_text() == "mine"
    assert not (here / "new" / "pairs.tsv.gz").exists()
    shutil.rmtree(here)
    return dict(zip([command for command, _, _ in MISTAKES], answers, strict=True))


@pytest.mark.parametrize(("command", "status", "cure"), MISTAKES)
def test_a_mistake_is_one_line_with_a_cure(answers, command, status, cure):
    answer = answers[command]
    assert answer.out == ""
    assert "Traceback" not in answer.err
    *before, line = answer.err.splitlines()
    assert [text for text in before if "damaged at byte" not in text] == []
    assert line.startswith("bifocal: error: ")
    assert cure in line
    assert answer.status == status
