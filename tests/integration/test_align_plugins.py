"""The aligner's plug-ins from outside: the example of CONTRIBUTING.md, as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crawler.aligner.aligner import Aligner
from crawler.aligner.profile import AlignProfile
from crawler.config import from_table, load_profile, to_table
from crawler.data import Document, LangPair, PairScore
from crawler.errors import ProfileError
from crawler.extract.document import build_document
from tests.worlds import build_site

LANGS = LangPair("en", "is")
GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def profile(tmp_path_factory) -> Path:
    """The example's module in a package outside, and the profile that names it."""
    folder = tmp_path_factory.mktemp("outside")
    text = GUIDE.read_text("utf-8").split("### A candidate generator or a scorer")[1]
    code, table = (
        re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL)[1]
        for kind in ("python", "toml")
    )
    (folder / "mypackage").mkdir()
    (folder / "mypackage" / "__init__.py").write_text("")
    (folder / "mypackage" / "dates.py").write_text(code)
    (folder / "news.toml").write_text(table)
    sys.path.insert(0, str(folder))
    yield folder / "news.toml"
    sys.path.remove(str(folder))


def news() -> list[Document]:
    """A site of translated slugs, of which each article has a date of its own."""
    site = build_site(style="slug", concepts=20, switcher="none")
    found = []
    for n, page in enumerate(site.pages()):
        document = build_document(page)
        concept, lang = divmod(n, 2)
        day = f"/2024/{1 + concept // 28:02}/{1 + concept % 28:02}/{lang}"
        found.append(
            replace(document, url=f"https://{site.host}{day}", links=(), images=())
        )
    return found


def aligned(profile: AlignProfile) -> list[PairScore]:
    with Aligner(LANGS, profile) as aligner:
        for document in news():
            aligner.add(document)
        return aligner.finish()


def test_classes_that_a_profile_names_by_dotted_path_are_used(profile):
    named = load_profile(AlignProfile, profile)
    pairs, usual = aligned(named), aligned(AlignProfile())
    assert len(pairs) == 20
    for pair in pairs:
        assert "dates" in pair.found_by
        assert pair.features["dates.same"] == 1.0
        assert pair.src_url[:-1] == pair.trg_url[:-1]
    scores = {(pair.src_url, pair.trg_url): pair.score for pair in usual}
    assert all(p.score > scores.get((p.src_url, p.trg_url), 0) for p in pairs)
    assert not any("dates.same" in pair.features for pair in usual)


def test_the_command_line_takes_such_a_profile(profile, tmp_path):
    """Worker processes load the classes for themselves."""
    from tests.worlds import write_warc

    write_warc(tmp_path / "site.warc.gz", build_site(concepts=10).pages())
    done = subprocess.run(
        [sys.executable, "-c", "from crawler.cli import main; raise SystemExit(main())",
         "align", str(tmp_path / "site.warc.gz"),
         "--langs", "en,is", "--out", str(tmp_path / "out"), "--profile", str(profile)],
        env={"PYTHONPATH": f"{profile.parent}:{GUIDE.parent}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "pairs.tsv.gz").exists()


def test_a_profile_that_names_plugins_survives_the_way_to_run_json(profile):
    named = load_profile(AlignProfile, profile)
    assert from_table(AlignProfile, to_table(named), "run.json") == named


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"candidates": ["nothing"]}, "'nothing' is not one of handles, links, subst"),
        ({"search": "mypackage.nothing.Search"}, "cannot load 'mypackage.nothing"),
        ({"search": {"use": "shingles", "max_page": 3}}, "did you mean 'max_pages'"),
        ({"search": {"max_pages": 3}}, "expected a name, or a table with `use`"),
        ({"model": {"use": "tree", "depth": 3}}, "unknown key 'depth'"),
        ({"candidates": [{"use": "links", "n": 3}]}, "takes no options, got ['n']"),
        ({"scorers": {"cheap": "overlap,x"}}, "scorer: 'x' is not one of avsim"),
        ({"search": {"use": "shingles", "bridge": "x"}}, "bridge: 'x' is not one of"),
        (
            {"search": {"use": "signatures", "signature": "md5"}},
            "'md5' is not one of random_projection",
        ),
    ],
)
def test_a_missing_plug_in_is_refused_when_the_profile_is_read(profile, table, message):
    with pytest.raises(ProfileError, match=re.escape(message)):
        from_table(AlignProfile, table, "profile.toml")
