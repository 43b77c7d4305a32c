"""Floors of sentence alignment on published gold. Floors may rise.

The development part of Text+Berg, German and French; what was measured when a floor was
set stands beside it.
"""

from __future__ import annotations

import random

import pytest

from benchmarks.sentence_quality import of_texts
from crawler.data import LangPair
from training.data.made_texts import TrueText, with_gaps

pytestmark = pytest.mark.shared

DE_FR = LangPair("de", "fr")


@pytest.mark.parametrize(
    ("gaps", "strict", "lax"),
    [
        (False, 0.88, 0.98),  # 0.896, 0.990
        (True, 0.86, 0.97),  # 0.883, 0.985
    ],
)
def test_beads_of_published_gold_are_found_without_a_lexicon(shared, gaps, strict, lax):
    folder = shared / "gold" / "textberg-dev"
    text = TrueText.read(*(folder / f"dev.{end}" for end in ("de", "fr", "gold")))
    if gaps:
        text = with_gaps(text, random.Random(str(DE_FR)))
    found = of_texts([text], DE_FR)["bifocal"]
    assert found["strict_f1"] >= strict
    assert found["lax_f1"] >= lax
