from __future__ import annotations

import pytest

from crawler.corpus.privacy import PrivacyConfig, find_personal, is_iban, redacted
from crawler.errors import ProfileError


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Write to jon.jons+x@mail.hi.is today", "email"),
        ("jon (at) hi.is", "email"),
        ("Call +354 525 4000.", "phone"),
        ("Tel. +44 (0)20 7946 0958", "phone"),
        ("Puh. 09-555 12 34", "phone"),
        ("(02) 555 12 34", "phone"),
        ("call 555-123-4567 now", "phone"),
        ("IBAN: GB82 WEST 1234 5698 7654 32", "iban"),
        ("DE89370400440532013000", "iban"),
        ("IS14 0159 2600 7654 5510 7303 39", "iban"),
    ],
)
def test_personal_data_are_found(text, kind):
    assert kind in find_personal(text)


@pytest.mark.parametrize(
    "text",
    [
        "Version 2.0.17 of 2024-03-01",
        "between 1991 and 2020, 12 345 678 people",
        "IP 192.168.100.200, port 8080",
        "ISBN 978-3-16-148410-0",
        "pages 123-456, 10:30-12:45",
        "1,234,567.89",
        "@media and user@localhost",
        "GB82 WEST 1234 5698 7654 33",
        "0.5 0.25 0.125",
    ],
)
def test_other_numbers_are_left_alone(text):
    assert find_personal(text) == {}


def test_masked_text_keeps_the_rest():
    config = PrivacyConfig(email="mask", phone="mask")
    text = "Ask a@b.is or +354 525 4000, or c@d.is."
    assert redacted(text, config) == "Ask [email] or [phone], or [email]."
    assert redacted(text, PrivacyConfig()) == text
    assert redacted(text, PrivacyConfig(email="drop")) is None
    assert redacted("nothing here", PrivacyConfig(email="drop")) == "nothing here"


def test_an_account_number_is_not_masked_twice():
    config = PrivacyConfig(iban="mask", phone="mask")
    text = "Pay to GB82 WEST 1234 5698 7654 32 now"
    assert redacted(text, config) == "Pay to [iban] now"


def test_check_digits_decide():
    assert is_iban("FI21 1234 5600 0007 85")
    assert not is_iban("FI21 1234 5600 0007 84")
    assert not is_iban("FI21")


def test_an_unknown_action_is_refused():
    with pytest.raises(ProfileError, match=r"privacy\.email"):
        PrivacyConfig(email="hide")
