"""The language of a page is that of its own text, whatever stands around it."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from crawler.data import Page
from crawler.extract.document import build_document

TEXTS = {
    "en": """The harbour master walks along the quay every morning before the boats come
        in and looks at the sky. When the wind is strong the fishermen stay at home and
        mend their nets, and the children of the village help them after school.""",
    "is": """Hafnarstjórinn gengur eftir bryggjunni á hverjum morgni áður en bátarnir
        koma að landi og lítur til veðurs. Þegar hvasst er sitja sjómennirnir heima og
        bæta netin sín og börnin í þorpinu hjálpa þeim eftir skóla.""",
    "es": """El capitán del puerto camina por el muelle todas las mañanas antes de que
        lleguen los barcos y mira el cielo. Cuando el viento es fuerte los pescadores se
        quedan en casa y los niños del pueblo les ayudan después de la escuela.""",
    "fi": """Satamapäällikkö kävelee laituria pitkin joka aamu ennen kuin veneet tulevat
        ja katsoo taivaalle. Kun tuuli on kova, kalastajat jäävät kotiin korjaamaan
        verkkojaan, ja kylän lapset auttavat heitä koulun jälkeen.""",
    "de": """Der Hafenmeister geht jeden Morgen am Kai entlang, bevor die Boote kommen,
        und schaut zum Himmel. Wenn der Wind stark ist, bleiben die Fischer zu Hause und
        flicken ihre Netze, und die Kinder des Dorfes helfen ihnen nach der Schule.""",
}
CROATIAN = """Lučki kapetan svako jutro šeta pristaništem prije nego što brodovi
    stignu i gleda u nebo. Kada je vjetar jak, ribari ostaju kod kuće i krpaju svoje
    mreže, a djeca iz sela pomažu im poslije škole. Navečer se svi okupe i pričaju."""
SERBIAN = """Лучки капетан свако јутро шета пристаништем пре него што бродови
    стигну и гледа у небо. Када је ветар јак, рибари остају код куће и крпе своје мреже,
    а деца из села помажу им после школе."""

MACEDONIAN = """Слика од страничната лента на страницата на асистентот. Додатен простор
    на левиот и десниот раб на менито. Подменито прикачено на предметот од менито."""


def language(html: str, url: str = "https://www.example.org/x7") -> str | None:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    found = build_document(
        Page(url, 200, headers, html.encode(), datetime(2024, 3, 1, tzinfo=UTC))
    )
    assert found is not None
    return found.lang


def menu(lang: str, tag: str, words: int, rng: random.Random) -> str:
    """A list without any element or class of a menu."""
    pool = TEXTS[lang].split()
    items = (" ".join(rng.sample(pool, 2)) for _ in range(words // 2))
    if tag == "a":
        items = (f"<a href=/{number}>{item}</a>" for number, item in enumerate(items))
    return "".join(f"<div>{item}</div>" for item in items)


@pytest.mark.parametrize("tag", ["a", "span"])
@pytest.mark.parametrize("around", TEXTS)
@pytest.mark.parametrize("lang", TEXTS)
def test_thirty_own_words_in_four_hundred_of_a_menu(lang, around, tag):
    rng = random.Random(f"{lang} {around}")
    own = " ".join(TEXTS[lang].split()[:30])
    half = menu(around, tag, 200, rng)
    assert language(f"<html>{half}<p>{own}</p>{half}") == lang


def test_a_cookie_dialog_is_not_the_page():
    dialog = f"<div id=cookie-consent><p>{TEXTS['de']} {TEXTS['de']}</p></div>"
    assert language(f"<p>{TEXTS['en']}</p>{dialog}") == "en"


def test_an_untranslated_copy_is_in_the_language_of_its_text():
    html = f"<html lang=is><nav>Forsíða Fréttir</nav><p>{TEXTS['en']}</p>"
    assert language(html, "https://www.example.org/is/about") == "en"


def test_where_two_languages_are_even_the_address_decides():
    html = f"<p>{TEXTS['en'][:190]}</p><p>{TEXTS['es'][:190]}</p>"
    assert language(html, "https://www.example.org/es/about") == "es"
    assert language(html, "https://www.example.org/en/about") == "en"


def test_between_close_languages_the_page_is_believed():
    html = f"<p>{CROATIAN}</p>"
    assert language(f"<html lang=hr>{html}") == "hr"
    assert language(f"<html lang=bs-BA>{html}") == "bs"
    assert language(html, "https://www.example.org/hr/luka") == "hr"
    assert language(f"<html lang=mk><p>{MACEDONIAN}</p>") == "mk"
    assert language(f"<html lang=hr><p>{SERBIAN}</p>") == "sr"
    assert language(f"<html lang=is><p>{CROATIAN}</p>") in ("hr", "bs", "sr")
