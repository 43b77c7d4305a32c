from __future__ import annotations

import pytest

from crawler.frontier.url_forms import UrlForms

SITE = "https://a.is"


def learned(*redirects: tuple[str, str]) -> UrlForms:
    forms = UrlForms()
    for url, location in redirects:
        forms.redirected(SITE + url, SITE + location)
    return forms


SLASHES = [(f"/{n}", f"/{n}/") for n in range(3)]


@pytest.mark.parametrize(
    ("redirects", "url", "form"),
    [
        (SLASHES, "/um", "/um/"),
        (SLASHES, "/um.html", "/um.html"),
        (SLASHES, "/um?a=1", "/um?a=1"),
        (SLASHES, "/", "/"),
        (SLASHES[:2], "/um", "/um"),  # two may be two moved pages
        ([(f"/{n}/", f"/{n}") for n in range(3)], "/um/", "/um"),
        ([(f"/{n}/index.php", f"/{n}/") for n in range(3)], "/x/Index.php", "/x/"),
        ([(f"/{n}", f"/new/{n}/") for n in range(3)], "/um", "/um"),
    ],
)
def test_three_redirects_of_a_form_make_a_rule(redirects, url, form):
    forms = learned(*redirects)
    assert forms.unified(SITE + url) == SITE + form
    assert forms.unified("https://b.is" + url) == "https://b.is" + url


def test_a_page_in_the_other_form_ends_the_rule_for_good():
    forms = learned(*SLASHES)
    assert forms.answered(f"{SITE}/um")
    for url, location in SLASHES:
        forms.redirected(SITE + url, SITE + location)
    assert forms.unified(f"{SITE}/x") == f"{SITE}/x"


def test_a_redirect_back_ends_the_rule():
    forms = learned(*SLASHES)
    assert forms.redirected(f"{SITE}/um/", f"{SITE}/um")
    assert forms.unified(f"{SITE}/um") == f"{SITE}/um"


def test_three_errors_in_a_row_end_the_rule_and_a_page_between_them_does_not():
    forms = learned(*SLASHES)
    ended = [forms.failed(f"{SITE}/{n}/") for n in range(2)]
    forms.answered(f"{SITE}/page/")
    ended += [forms.failed(f"{SITE}/{n}/") for n in range(3)]
    assert ended == [False, False, False, False, True]
    assert forms.unified(f"{SITE}/um") == f"{SITE}/um"


def test_rules_survive_a_restart():
    again = UrlForms()
    again.restore(learned(*SLASHES).state())
    assert again.unified(f"{SITE}/um") == f"{SITE}/um/"
