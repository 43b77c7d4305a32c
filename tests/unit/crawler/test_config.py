from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from crawler.config import from_table, load_object, load_profile, to_table
from crawler.errors import ProfileError


@dataclass(frozen=True, slots=True)
class Strand:
    max_dp: float = 0.2
    min_chunks: int = 4
    loud: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    strand: Strand = field(default_factory=Strand)
    rooms: tuple[str, ...] = ("handles",)
    limit: int | None = None
    name: str = ""


def test_a_profile_is_its_file_over_its_defaults(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text('limit = 3\nrooms = ["links"]\n[strand]\nmax_dp = 1\n')
    profile = load_profile(Profile, path)
    assert profile == Profile(Strand(1.0), ("links",), 3)
    assert isinstance(profile.strand.max_dp, float)


def test_overrides_win_and_reach_into_tables():
    words = ["strand.max_dp=0.5", "strand.loud=true", "rooms=a,b", "name=12"]
    assert load_profile(Profile, None, words) == Profile(
        Strand(0.5, loud=True), ("a", "b"), name="12"
    )


def test_a_profile_survives_the_way_to_run_json_and_back():
    profile = Profile(Strand(0.3, 7), ("a", "b"), 9, "x")
    assert from_table(Profile, to_table(profile), "run.json") == profile
    assert to_table(Profile())["limit"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["strand.max_dpp=0.3"], "unknown key 'max_dpp'; did you mean 'max_dp'"),
        (["nothing=1"], "unknown key 'nothing'; known: "),
        (["strand.max_dp=high"], "expected float, got 'high'"),
        (["strand.min_chunks=1.5"], "expected int, got 1.5"),
        (["strand.min_chunks=true"], "expected int, got True"),
        (["strand=3"], "expected a table, got 3"),
        (["limit=x"], "expected int or NoneType, got 'x'"),
        (["limit"], "'limit' is not a valid override"),
        (["name.first=x"], "name: expected str"),
        (["limit=1", "limit.x=2"], "'limit' is not a table"),
    ],
)
def test_a_mistake_is_reported_with_its_place(words, message):
    with pytest.raises(ProfileError, match=message):
        load_profile(Profile, None, words)


@pytest.mark.parametrize("content", [b"limit = ", b"\xff", None])
def test_a_file_that_is_not_toml_is_named(tmp_path, content):
    path = tmp_path / "p.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ProfileError, match=str(path)):
        load_profile(Profile, path)


def test_objects_are_loaded_by_dotted_path():
    assert load_object("crawler.config.load_object") is load_object


@pytest.mark.parametrize(
    "path", ["", "x", "json", "json.Nothing", "no.such.module", "..x", "json..loads"]
)
def test_a_path_that_cannot_be_imported_is_a_usage_error(path):
    with pytest.raises(ProfileError, match="give the dotted path of a class"):
        load_object(path)
