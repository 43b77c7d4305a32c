"""Every attack that once succeeded is tried again, in more than one form."""

from __future__ import annotations

import pytest

from tests.commands import ROOT
from tests.hostile.attacks import ATTACKS
from tests.hostile.findings import CLASSES
from tests.hostile.shapes import SHAPES

SAFETY = (ROOT / "docs" / "safety.md").read_text("utf-8")


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.name[:30])
def test_what_a_class_names_is_there(each):
    assert set(each.attacks) <= set(ATTACKS)
    for shape in each.shapes:
        reader, _, name = shape.partition(":")
        assert name in SHAPES[reader], shape
    for test in each.tests:
        file, _, function = test.partition("::")
        assert f"def {function}(" in (ROOT / file).read_text("utf-8"), test
    assert f"| {each.name} |" in SAFETY


def test_each_class_has_variants():
    first = CLASSES[:15]
    assert [each.name.split()[0] for each in first] == [*map(str, range(1, 16))]
    in_forms = sum(len(each.attacks) + len(each.shapes) for each in first)
    assert in_forms >= 60
