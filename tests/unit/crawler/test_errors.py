from __future__ import annotations

import inspect

from crawler import errors


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    drawn = [
        (len(line) - len(line.lstrip("│├└─ ")), line.lstrip("│├└─ ").split()[0])
        for line in (errors.__doc__ or "").splitlines()
        if "Error" in line.split(" ")[0] or "── " in line
    ]
    parents: dict[int, str] = {}
    found = {}
    for depth, name in drawn:
        above = [d for d in parents if d < depth]
        found[name] = parents[max(above)] if above else "Exception"
        parents = {d: n for d, n in parents.items() if d < depth} | {depth: name}
    assert found == {
        name: kind.__bases__[0].__name__
        for name, kind in inspect.getmembers(errors, inspect.isclass)
    }


def test_a_mistake_of_the_user_and_a_failed_run_have_statuses_of_their_own():
    assert errors.UsageError.exit_status == 2
    assert errors.RunError.exit_status == 1
