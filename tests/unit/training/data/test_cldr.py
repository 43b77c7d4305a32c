from __future__ import annotations

from training.data.cldr import names


class Locale:
    _data = {
        "languages": {"is": "Icelandic", "en": "English"},
        "months": {"format": {"wide": {1: "January"}, "abbreviated": {1: "Jan"}}},
        "unit_display_names": {"meter": {"long": "meters"}},
        "week_data": {"min_days": "four"},
    }


def test_names_are_found_by_path_and_abbreviations_left_out():
    assert names(Locale()) == {
        ("languages", "en"): "English",
        ("languages", "is"): "Icelandic",
        ("months", "format", "wide", "1"): "January",
        ("units", "meter", "long"): "meters",
    }
