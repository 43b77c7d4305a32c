from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.sentences.beads import Agreement, read_beads
from crawler.errors import ProfileError

RUN = st.lists(st.integers(0, 6), max_size=3, unique=True).map(sorted).map(tuple)
BEADS = st.lists(st.tuples(RUN, RUN).filter(any), unique=True, max_size=8)


def test_a_file_of_beads_is_read_in_its_order_with_other_fields_ignored(tmp_path):
    file = tmp_path / "beads"
    file.write_text("[0]:[0]\n[1, 2]:[1]:0.53\n\n[]:[2]\n[3]:[]\n[0]:[0]\n[]:[]\n")
    assert read_beads(file) == [((0,), (0,)), ((1, 2), (1,)), ((), (2,)), ((3,), ())]


def test_a_line_that_is_not_a_bead_is_one_error_that_names_it(tmp_path):
    file = tmp_path / "beads"
    file.write_text("[0]:[0]\n0-0 1-1\n")
    with pytest.raises(ProfileError, match=r"beads:2: '0-0 1-1' is not a bead"):
        read_beads(file)


@given(BEADS, BEADS)
def test_the_truth_agrees_with_itself_and_counts_add_up(gold, found):
    whole = Agreement.between(gold, found)
    assert whole.strict <= whole.lax <= whole.found == len(found)
    assert whole.strict_gold <= whole.lax_gold <= whole.gold <= len(gold)
    itself = Agreement.between(gold, gold)
    assert itself.strict == itself.lax == itself.found == len(gold)
    assert (whole + itself).found == whole.found + itself.found
