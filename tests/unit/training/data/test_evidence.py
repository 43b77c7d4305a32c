from __future__ import annotations

from collections import Counter

from training.data.evidence import Declared, declared_pairs

EN, FR, IS = "https://a.org/en", "https://a.org/fr", "https://a.org/is"


def pairs(declarations, languages=None, **options):
    counts = Counter()
    found = declared_pairs(
        declarations, languages or {}, counts, source="test", **options
    )
    return [(p.url_a, p.lang_a, p.url_b, p.lang_b) for p in found], counts


def test_mutual_declarations_are_one_pair():
    found, _ = pairs([Declared(EN, FR, "fr"), Declared(FR, EN, "en")])
    assert found == [(EN, "en", FR, "fr")]


def test_a_one_sided_declaration_needs_the_other_pages_language():
    declared = [Declared(EN, FR, "fr")]
    assert pairs(declared, {EN: "en"})[1] == {"dropped/one-sided": 1}
    assert pairs(declared, {EN: "en", FR: "fr"})[0] == [(EN, "en", FR, "fr")]
    assert pairs(declared, {EN: "en"}, trusted=True)[0] == [(EN, "en", FR, "fr")]


def test_a_page_left_untranslated_is_not_a_pair():
    found, counts = pairs([Declared(EN, IS, "is")], {EN: "en", IS: "en"})
    assert found == []
    assert counts == {"dropped/declared and detected language differ": 1}


def test_versions_on_other_sites_and_in_one_language_are_counted():
    other = "https://b.org/fr"
    declared = [Declared(EN, other, "fr"), Declared(EN, FR, "en")]
    found, counts = pairs(declared, {EN: "en", other: "fr"})
    assert found == []
    assert counts == {"dropped/other site": 1, "dropped/same language": 1}
