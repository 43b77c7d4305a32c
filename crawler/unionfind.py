"""Disjoint sets that grow together: copies of a text, sites of one owner, URL groups.

Source: Tarjan & van Leeuwen (1984), "Worst-case analysis of set union algorithms", with
path compression. The smallest member stands for its set, so that nothing depends on the
order in which sets were joined. (scipy's DisjointSet has no such rule, and importing it
takes longer than starting a crawl.)
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T", int, str)


class UnionFind(Generic[T]):
    """Disjoint sets; an item that was never joined is a set of its own.

    >>> sets = UnionFind[str]()
    >>> sets.join("b", "c"), sets.join("c", "a"), sets.join("a", "b")
    (True, True, False)
    >>> sets.find("c"), sets.members("b"), sets.members("x")
    ('a', ['a', 'b', 'c'], ['x'])
    """

    def __init__(self) -> None:
        self._parent: dict[T, T] = {}
        self._next: dict[T, T] = {}  # the members of each set as a ring

    def find(self, item: T) -> T:
        """The smallest member of an item's set."""
        root = self._parent.get(item)
        if root is None:
            return item
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        while (parent := self._parent.get(item, item)) != root:
            self._parent[item] = root
            item = parent
        return root

    def join(self, a: T, b: T) -> bool:
        """Make one set of two; False if they are one already."""
        first, second = sorted((self.find(a), self.find(b)))
        if first == second:
            return False
        self._parent[second] = first
        after = self._next.get(first, first)
        self._next[first] = self._next.get(second, second)
        self._next[second] = after
        return True

    def members(self, item: T) -> list[T]:
        """Every item of an item's set, sorted."""
        found = [item]
        while (item := self._next.get(item, item)) != found[0]:
            found.append(item)
        return sorted(found)

    def sets(self) -> list[list[T]]:
        """The sets of more than one item, sorted."""
        roots = {self.find(item) for item in self._next}
        return [self.members(root) for root in sorted(roots)]

    def copy(self) -> UnionFind[T]:
        """The same sets, to be joined further."""
        made = UnionFind[T]()
        made._parent, made._next = self._parent.copy(), self._next.copy()
        return made
