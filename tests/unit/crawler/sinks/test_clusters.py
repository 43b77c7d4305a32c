from __future__ import annotations

from crawler.data import LangPair, PairScore
from crawler.sinks.clusters import clusters_of, implied, write_clusters
from crawler.sinks.growing import read_lines

EN_FI, FI_SV, EN_SV = LangPair("en", "fi"), LangPair("fi", "sv"), LangPair("en", "sv")


def pair(src: str, trg: str, score: float = 0.9, **twins: tuple[str, ...]) -> PairScore:
    return PairScore(src, trg, score, **twins)


def articles(*found) -> list[dict[str, str]]:
    return [dict(cluster.urls) for cluster in clusters_of(found)]


def test_an_article_is_held_together_by_pairs_of_several_languages():
    found = articles((EN_FI, [pair("/a", "/b")]), (FI_SV, [pair("/b", "/c")]))
    assert found == [{"en": "/a", "fi": "/b", "sv": "/c"}]


def test_a_better_pair_keeps_a_second_page_of_a_language_out():
    found = articles(
        (EN_FI, [pair("/a", "/b", 0.9), pair("/x", "/y", 0.8)]),
        (FI_SV, [pair("/b", "/c", 0.7)]),
        (EN_SV, [pair("/x", "/c", 0.95)]),
    )
    assert found == [{"en": "/a", "fi": "/b"}, {"en": "/x", "fi": "/y", "sv": "/c"}]


def test_twins_are_one_page():
    found = articles(
        (EN_FI, [pair("/a", "/b", trg_twins=("/b2",))]), (FI_SV, [pair("/b2", "/c")])
    )
    assert found == [{"en": "/a", "fi": "/b", "sv": "/c"}]


def test_two_pairs_imply_a_third_unless_its_pages_are_taken():
    clusters = clusters_of(
        [
            (EN_FI, [pair("/a", "/b", 0.8), pair("/d", "/e")]),
            (FI_SV, [pair("/b", "/c", 0.9), pair("/e", "/f")]),
        ]
    )
    [found] = implied(clusters, EN_SV, [pair("/d", "/g")])
    assert (found.src_url, found.trg_url) == ("/a", "/c")
    assert round(found.score, 2) == 0.64
    assert found.found_by == {"transitive"}


def test_a_row_has_a_column_for_each_language(tmp_path):
    clusters = clusters_of([(FI_SV, [pair("/b", "/c", 0.5)])])
    assert write_clusters(tmp_path / "c.tsv.gz", ["en", "fi", "sv"], clusters) == 1
    assert list(read_lines(tmp_path / "c.tsv.gz")) == [
        "en\tfi\tsv\tscore",
        "\t/b\t/c\t0.500000",
    ]
