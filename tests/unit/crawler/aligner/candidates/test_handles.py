from __future__ import annotations

from crawler.aligner.aligner import Aligner
from crawler.aligner.candidates.handles import SubstringCandidates
from crawler.aligner.collection import Collection
from crawler.aligner.profile import AlignProfile
from crawler.config import Plugin
from crawler.data import Document, LangPair
from crawler.extract.linearize import linearize
from tests.documents import make_document

LANGS = LangPair("en", "ar")
# no tokens: only a subtraction of substrings finds that they are one handle
URLS = {"http://bank.sa/newsenglish.htm": "en", "http://bank.sa/newsarabic.htm": "ar"}


def document(url: str, lang: str) -> Document:
    page = linearize(f"<h1>1984</h1><p>{url}</p>")
    return make_document(
        url=url,
        site="bank.sa",
        lang=lang,
        tokens=page.tokens,
        chunks=page.chunks,
        digest=url,
    )


def found_by(profile: AlignProfile) -> dict[str, set[tuple[str, str]]]:
    with Aligner(LANGS, profile) as aligner:
        for url, lang in URLS.items():
            aligner.add(document(url, lang))
        pages = Collection.of(aligner.store, "bank.sa", profile.boilerplate)
        return {
            generator.name: {
                (pages.url(s), pages.url(t)) for s, t in generator.pairs(pages)
            }
            for generator in aligner.generators
        }


def test_substrings_find_what_tokens_do_not():
    found = found_by(AlignProfile(candidates=(Plugin("handles"), Plugin("substrings"))))
    assert found[SubstringCandidates.name] == {tuple(URLS)}
    assert found["handles"] == set()


def test_substrings_are_asked_for_only_where_a_profile_says_so():
    assert SubstringCandidates.name not in found_by(AlignProfile())
