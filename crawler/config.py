"""Configuration: frozen dataclasses that are read from TOML files.

A dataclass's defaults are the paper's numbers. A profile is a TOML file with a table
per dataclass field that is itself a dataclass; `key=value` words on a command line
override single fields, with dots for nested ones (`strand.max_dp=0.3`). A key that the
dataclass does not have is an error that names the nearest one it has.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from crawler.errors import ProfileError

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class Plugin:
    """A class that a profile names, by a short name or a dotted path, and its options.

    In TOML a string, or a table: `search = "shingles"` or
    `search = { use = "shingles", max_pages = 20 }`.
    """

    use: str
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # any TOML


def load_object(path: str) -> Any:  # any class or function, by its dotted path
    """The object that a dotted path names; ProfileError if there is none."""
    module_name, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ProfileError(
            f"cannot load {path!r}: {error} (give the dotted path of a class)"
        ) from error


def load_profile(
    kind: type[T],
    path: str | Path | None = None,
    overrides: Sequence[str] = (),
) -> T:
    """A `kind` from a TOML file (or only its defaults) and `key=value` overrides."""
    table: dict[str, Any] = {}
    where = str(path) if path else "overrides"
    if path:
        try:
            table = tomllib.loads(Path(path).read_text("utf-8"))
        except OSError as error:
            raise ProfileError(
                f"{path}: {error.strerror} (give the path of a TOML profile)"
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ProfileError(f"{path}: {error} (expected a TOML profile)") from error
    for word in overrides:
        key, equals, value = word.partition("=")
        if not equals:
            raise ProfileError(f"{word!r} is not a valid override (write key=value)")
        *outer, last = key.split(".")
        inner = table
        for name in outer:
            inner = inner.setdefault(name, {})
            if not isinstance(inner, dict):
                raise ProfileError(
                    f"{word!r}: {name!r} is not a table (it has a value)"
                )
        inner[last] = _literal(value)
    return from_table(kind, table, where)


def from_table(kind: type[T], table: Mapping[str, Any], where: str) -> T:
    """Build a dataclass from a table, strictly; `where` opens the error messages."""
    assert dataclasses.is_dataclass(kind)
    hints = typing.get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]
    values = {}
    for key, value in table.items():
        if key not in names:
            near = difflib.get_close_matches(key, names, n=1)
            cure = (
                f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
            )
            raise ProfileError(f"{where}: unknown key {key!r}; {cure}")
        values[key] = _value(hints[key], value, f"{where}: {key}")
    return kind(**values)


def _value(hint: Any, value: Any, where: str) -> Any:
    if hint is Plugin and isinstance(value, str):
        return Plugin(value)
    if hint is Plugin and isinstance(value, dict) and isinstance(value.get("use"), str):
        return Plugin(value["use"], {k: v for k, v in value.items() if k != "use"})
    if hint is Plugin:
        raise ProfileError(f"{where}: expected a name, or a table with `use`")
    if typing.get_origin(hint) is Mapping:
        if not isinstance(value, dict):
            raise ProfileError(f"{where}: expected a table, got {value!r}")
        inner = typing.get_args(hint)[1]
        return {k: _value(inner, v, f"{where}.{k}") for k, v in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, dict):
            raise ProfileError(f"{where}: expected a table, got {value!r}")
        return from_table(hint, value, where)
    if typing.get_origin(hint) is tuple and isinstance(value, list | tuple | str):
        items = value
        if isinstance(value, str):
            items = [_literal(item) for item in value.split(",")]
        inner = typing.get_args(hint)[0]
        return tuple(_value(inner, item, where) for item in items)
    allowed = [
        option
        for option in (
            typing.get_args(hint)
            if typing.get_origin(hint) in (types.UnionType, typing.Union)
            else [hint]
        )
        if isinstance(option, type)
    ]
    if float in allowed and type(value) is int:
        return float(value)
    if str in allowed and isinstance(value, int | float) and type(value) not in allowed:
        return str(value)
    if not isinstance(value, tuple(allowed)) or (
        isinstance(value, bool) and bool not in allowed
    ):
        expected = " or ".join(option.__name__ for option in allowed)
        raise ProfileError(f"{where}: expected {expected}, got {value!r}")
    return value


def _literal(text: str) -> Any:
    """A value from the command line, as TOML would read it; bare words are strings."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def to_table(value: Any) -> Any:
    """A profile as plain data, for run.json."""
    if isinstance(value, Plugin):
        return {"use": value.use, **value.options} if value.options else value.use
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_table(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, tuple | list):
        return [to_table(item) for item in value]
    return value
