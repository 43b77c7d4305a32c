"""The workers of `memory:` and `sqlite:`: one, since nobody else sees them."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.data import Site


class SingleWorker:
    """Workers of one: every site is its own, and there is nobody to wait for."""

    worker = "0"
    run = None

    def holds(self, url: str) -> bool:
        """True: nobody takes a lease away."""
        return True

    def close_site(self, site: Site) -> None:
        """Do nothing: nobody else waits for it."""

    def set_resting(self, site: Site, resting: bool) -> None:
        """Do nothing: nobody else asks."""

    def take_adopted(self) -> Sequence[Site]:
        """Nothing: no other worker gives a site away."""
        return ()

    def open_elsewhere(self, *, awake: bool = False) -> bool:
        """False: there is no other worker."""
        return False
