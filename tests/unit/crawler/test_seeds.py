from __future__ import annotations

import io

import pytest

from crawler.errors import SeedError
from crawler.seeds import import_seeds, parse_seeds, read_seeds


def test_a_file_has_a_url_a_line_and_comments(tmp_path):
    path = tmp_path / "seeds.txt"
    path.write_text(
        "\ufeff# institutes\n\nhttps://www.gov.is/#top\n  hi.is/um  # university\n"
        "HTTPS://WWW.GOV.IS\nhttp://a.is:80/x#y\n",
        encoding="utf-8",
    )
    assert read_seeds(str(path)) == [
        "https://www.gov.is/",
        "https://hi.is/um",
        "http://a.is/x",
    ]


def test_a_comma_list_and_a_single_url_need_no_file():
    assert read_seeds("a.is,http://b.is/x") == ["https://a.is/", "http://b.is/x"]
    assert read_seeds("https://a.is/") == ["https://a.is/"]


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("a.is\n#b.is\n"))
    assert read_seeds("-") == ["https://a.is/"]


def test_standard_input_of_another_encoding_is_an_error(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b"https://a.is/\xff\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(SeedError, match="standard input: not UTF-8"):
        read_seeds("-")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "no seeds in it"),
        (["# only", ""], "no seeds in it"),
        (["a b"], "'a b' is not an http"),
        (["a.is", "mailto:x@a.is"], "'mailto:x@a.is'"),
        (["javascript://a.is/"], "'javascript://a.is/'"),
        (["https://"], "'https://'"),
        (["https://a.is/" + "x" * 3000], "is not an http"),
        (["\x00\ud800"], "is not an http"),
    ],
)
def test_a_line_that_is_not_a_seed_is_named_with_its_place(lines, message):
    with pytest.raises(SeedError, match=message) as error:
        parse_seeds(lines, "list.txt")
    assert str(error.value).startswith("list.txt: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("source", ["", "  ", "nowhere.txt", "."])
def test_no_source_at_all(source):
    with pytest.raises(SeedError, match=r"give|cannot be read"):
        read_seeds(source)


def test_a_page_of_web_languages_is_a_list_of_seeds():
    lines = """# Web Language: Icelandic

News:
- https://www.ruv.is/ (Icelandic National  Broadcasting Service)
-
Other:
- https://is.wikipedia.org
* <https://www.ru.is/>

Informative links (in English):
- https://www.nato.int/
""".splitlines()
    found = import_seeds(lines)
    assert found == {
        "https://www.ruv.is/": "Icelandic National Broadcasting Service",
        "https://www.ru.is/": "",
    }
    written = [f"{url}  # {note}" for url, note in found.items()]
    assert parse_seeds(written, "imported") == list(found)


def test_a_host_file_is_a_list_of_seeds():
    lines = ["www.hi.is", "http://www.gov.is/en", "", "www.hi.is", "two words.is"]
    assert list(import_seeds(lines)) == ["https://www.hi.is/", "http://www.gov.is/en"]
