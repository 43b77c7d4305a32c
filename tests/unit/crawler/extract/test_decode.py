from __future__ import annotations

import encodings
import pkgutil

import pytest

from crawler.extract.decode import decode, looks_like_html
from crawler.extract.encoding import checked_encoding

TEXT = "Þú ert hér – „já“"


def test_a_byte_order_mark_wins_over_everything():
    body = b'<meta charset="shift_jis">' + TEXT.encode()
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        marked = body.decode().encode(encoding)
        assert decode(marked, "text/html; charset=koi8-r").endswith(TEXT)


def test_the_header_wins_over_the_page():
    body = b'<meta charset="koi8-r">' + TEXT.encode("cp1252")
    assert decode(body, "text/html; charset=windows-1252").endswith(TEXT)


@pytest.mark.parametrize(
    "declaration",
    [
        '<meta charset="windows-1252">',
        "<META CHARSET=cp1252>",
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">',
        '<?xml version="1.0" encoding="windows-1252"?>',
    ],
)
def test_the_page_is_asked_where_the_header_is_silent(declaration):
    body = declaration.encode() + TEXT.encode("cp1252")
    for header in (None, "", "text/html", "text/html; charset=", "text/html; foo=bar"):
        assert decode(body, header).endswith(TEXT)


def test_without_a_declaration_it_is_utf_8_if_it_can_be():
    assert decode(TEXT.encode(), "text/html") == TEXT
    assert decode(TEXT.encode("cp1252"), None) == TEXT
    assert decode(b"\xfe", None) == "þ"


def test_a_character_that_was_cut_off_does_not_rule_out_utf_8():
    assert decode("já".encode()[:-1], None) == "j\ufffd"


def test_latin_1_means_windows_1252_on_the_web():
    for name in ("iso-8859-1", "latin1", "us-ascii"):
        assert decode(TEXT.encode("cp1252"), f"text/html; charset={name}") == TEXT


def test_a_byte_that_does_not_fit_costs_a_character_and_nothing_else():
    assert decode(b"a\xfeb", "text/html; charset=utf-8") == "a\ufffdb"
    text = "Já, það er satt. " * 20
    body = text.encode() + b"\xfe"
    assert decode(body, "text/html; charset=utf-8") == text + "\ufffd"


LITHUANIAN = """<title>Vandens malūnas</title><p>Vandens malūnas pastatytas 1903 metais
prie Šventelės upelio. Jį čia atvilko ledynas. <p>Kaimo gyventojai kūrena laužus ir šoka
ratelius iki ryto, o vaikai žaidžia prie upės."""
BULGARIAN = """<p>Времето днес е хубаво и слънцето огрява планините и морето. Жителите
на селото палят огньове и танцуват до сутринта, а децата играят край реката."""
ALBANIAN = """<p>Sot moti është i mirë dhe dielli ndriçon malet e detin. Banorët e
fshatit ndezin zjarre dhe vallëzojnë deri në mëngjes, ndërsa fëmijët luajnë pranë
lumit."""
JAPANESE = """<p>今日は天気がよく、太陽が山と海を照らしています。村の人々は朝まで踊り、
子供たちは川のそばで遊びます。この水車は百年前に建てられました。"""


@pytest.mark.parametrize("declared", ["", "iso-8859-1", "utf-8", "windows-1252"])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (LITHUANIAN, "cp1257"),
        (LITHUANIAN, "utf-8"),
        (BULGARIAN, "cp1251"),
        (BULGARIAN, "iso-8859-5"),
        (ALBANIAN, "cp1250"),  # a language that chardet does not know
        (ALBANIAN, "cp1252"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "utf-8"),
    ],
)
def test_an_encoding_that_is_undeclared_or_declared_wrongly_is_found(
    text, encoding, declared
):
    body = text.encode(encoding)
    assert decode(body, f"text/html; charset={declared}") == text
    assert decode(f"<meta charset={declared}>".encode() + body, None).endswith(text)


def test_utf_8_called_shift_jis_is_utf_8():
    body = LITHUANIAN.encode()
    assert decode(body, "text/html; charset=x-sjis") == LITHUANIAN


@pytest.mark.parametrize("encoding", ["cp1250", "cp1257", "iso-8859-13", "utf-8"])
def test_a_true_declaration_is_believed(encoding):
    name = "<p>The composer Antonín Dvořák was born north of Prague. " * 4
    text = name.replace("ř", "r") if encoding in ("cp1257", "iso-8859-13") else name
    text = text.replace("í", "i").replace("á", "a") if text != name else text
    assert decode(text.encode(encoding), f"text/html; charset={encoding}") == text


def test_bytes_of_which_the_declared_encoding_has_none_leave_nothing_to_judge(recwarn):
    assert checked_encoding(b"\xff\xfe\x81" * 200, "ascii") == "ascii"
    assert not recwarn.list  # of a library that was asked about nothing


def test_utf_8_that_was_encoded_twice_is_mended_where_that_is_certain():
    twice = LITHUANIAN.encode().decode("latin-1").encode()
    assert decode(twice, "text/html; charset=utf-8") == LITHUANIAN
    french = "<p>L’été, déjà, où ça\xa0? Là-bas, près de l’Élysée"
    assert decode(french.encode().decode("cp1252").encode(), None) == french
    mixed = french + " Ceci est bon\xa0: à bientôt, Ã"
    assert decode(mixed.encode(), None) == mixed


@pytest.mark.parametrize(
    "name", ["foo", "utf-9", "x" * 1000, "base64", "rot13", "\xff"]
)
def test_an_unknown_charset_is_passed_over(name):
    body = f'<meta charset="{name}">'.encode() + TEXT.encode()
    assert decode(body, f"text/html; charset={name}").endswith(TEXT)


def test_a_page_that_can_be_read_to_say_utf_16_is_not_utf_16():
    body = b'<meta charset="utf-16"><p>' + TEXT.encode()
    assert decode(body, "text/html").endswith(TEXT)


def test_utf_16_in_the_header_is_little_endian():
    assert decode(TEXT.encode("utf-16-le"), "text/html; charset=utf-16") == TEXT


def test_quotes_and_case_of_the_header_do_not_matter():
    for value in ('"UTF-8"', "Utf8", "UTF-8; x=y"):
        assert decode(TEXT.encode(), f"Text/HTML;Charset={value}") == TEXT


PYTHON_CODECS = sorted(
    {module.name for module in pkgutil.iter_modules(encodings.__path__)}
    | set(encodings.aliases.aliases)
)


@pytest.mark.parametrize("body", [b"", b"<p>\x00\xd8\xff\xfe\x80 +ADw-", b"\\ud800"])
def test_no_encoding_name_raises(body):
    for name in PYTHON_CODECS:
        decode(body, f"text/html; charset={name}").encode()
        decode(f'<meta charset="{name}">'.encode() + body, None).encode()


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/html", b"", True),
        ("text/html; charset=utf-8", b"plain words", True),
        ("TEXT/HTML", b"<p>", True),
        ("text/html, text/html", b"<p>", True),
        ("application/xhtml+xml", b"<?xml", True),
        (None, b"<!doctype html>", True),
        (None, b"words", False),
        ("", b"<p>", True),
        ("text/plain", b"<html>", False),
        ("application/pdf", b"<html>", False),
        ("image/svg+xml", b"<svg>", False),
        ("text/html", b"%PDF-1.7", False),
        ("text/html", b"\n\x89PNG\r\n", False),
        ("text/html", b"PK\x03\x04", False),
        ("text/html", b"\x7fELF\x02\x01\x01\x00\x00", False),
        ("text/html", b"\x00\x01\x02" * 100, False),
        ("text/html", "<p>þ".encode("utf-16"), True),
        ("text/html", b"a page\x00 with <b>NUL", True),
    ],
)
def test_the_header_decides_what_is_html_and_the_first_bytes_may_veto(
    content_type, body, expected
):
    assert looks_like_html(body, content_type) is expected
