from __future__ import annotations

from crawler.frontier.scorers.shared_words import SharedWords

NEWS = [
    "a.is/en/news/visit-of-susanna-lindroos",
    "a.is/en/news/new-harbour-opens",
    "a.is/en/news/budget-for-2024",
    "a.is/en/news/school-year-begins",
    "a.is/frettir/susanna-lindroos-heimsaekir-baeinn",
    "a.is/frettir/fjarhagsaaetlun-2024",
]


def similar(address: str, addresses: list[str] = NEWS) -> list[str]:
    words = SharedWords[str]()
    for one in addresses:
        words.add("a.is", one, one)
    return words.similar("a.is", address)


def test_a_name_or_a_year_leads_to_the_translation():
    assert similar(NEWS[4])[:1] == [NEWS[0]]
    assert similar(NEWS[5])[:1] == [NEWS[2]]


def test_words_that_many_addresses_have_say_nothing():
    pages = [f"a.is/en/news/report-{'abcdefghijklmnopqrst'[n] * 5}" for n in range(20)]
    assert similar("a.is/frettir/report-zzzzz", pages) == []


def test_sites_are_apart():
    words = SharedWords[str]()
    words.add("a.is", NEWS[0], NEWS[0])
    assert words.similar("b.is", NEWS[4]) == []


def test_an_address_is_not_similar_to_itself():
    assert NEWS[0] not in similar(NEWS[0])
