"""The form in which a host answers: http or https, with or without a slash at the end.

A site links to itself in several forms and redirects all of them to one, each time for
a request. After a few redirects of a kind, and as long as no page has come in the other
form, links are taken in the form that the host redirects to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from crawler.urls import host_of

Kind = Literal["add_slash", "drop_slash", "drop_index"]
# Redirects of a kind after which links are rewritten: two may be two moved pages.
_ENOUGH = 3
# Errors in a row that end the rules of a host: what it has there is somewhere else.
_FAILURES = 3


def rewritten(url: str, kind: Kind) -> str | None:
    """The URL in the other form; None if a rule of this kind does not concern it.

    >>> rewritten("https://a.is/um", "add_slash")
    'https://a.is/um/'
    >>> rewritten("https://a.is/um.html", "add_slash")
    >>> rewritten("https://a.is/um/index.php", "drop_index")
    'https://a.is/um/'
    """
    path = url.partition("://")[2]
    folder, slash, last = path.rpartition("/")
    if not slash or "?" in path:
        return None
    match kind:
        case "add_slash":
            return f"{url}/" if last and "." not in last else None
        case "drop_slash":
            return url[:-1] if not last and "/" in folder else None
        case "drop_index":
            is_index = last.lower().startswith("index.")
            return url[: -len(last)] if is_index else None


@dataclass(slots=True)
class UrlForms:
    """The rules of each host, as its answers have shown them."""

    # A page in the other form ends a rule: its redirects are None from then on.
    _redirects: dict[str, dict[Kind, int | None]] = field(default_factory=dict)
    _failures: dict[str, int] = field(default_factory=dict)
    # host → http or https, whichever gave a page first: fetching everything by both
    # would double the traffic
    _schemes: dict[str, str] = field(default_factory=dict)

    def redirected(self, url: str, location: str) -> bool:
        """Count a redirect; True if a rule may have changed by it."""
        scheme, _, rest = location.partition("://")
        host = host_of(location)
        if rest == url.partition("://")[2]:
            self._schemes[host] = scheme
            return False
        if self.unified(location) == url:  # it redirects to where we came from
            self._redirects[host] = dict.fromkeys(_KINDS)
            return True
        for kind in _KINDS:
            target = rewritten(url, kind)
            if target is not None and target.partition("://")[2] == rest:
                counts = self._redirects.setdefault(host, {})
                known = counts.get(kind, 0)
                if known is not None and known < _ENOUGH:
                    counts[kind] = known + 1
                    return True
        return False

    def answered(self, url: str) -> bool:
        """Take that a page came at this URL; True if a rule has changed by it."""
        host = host_of(url)
        self._schemes.setdefault(host, url.partition("://")[0])
        self._failures.pop(host, None)
        changed = False
        for kind in _KINDS:
            if rewritten(url, kind) is not None:
                counts = self._redirects.setdefault(host, {})
                changed |= counts.get(kind, 0) is not None
                counts[kind] = None
        return changed

    def failed(self, url: str) -> bool:
        """Take that no page is at this URL; True if that ends the rules of its host."""
        host = host_of(url)
        counts = self._redirects.get(host, {})
        if "?" in url or _ENOUGH not in counts.values():
            return False
        self._failures[host] = self._failures.get(host, 0) + 1
        if self._failures[host] < _FAILURES:
            return False
        self._redirects[host] = dict.fromkeys(_KINDS)
        return True

    def unified(self, url: str) -> str:
        """The URL in the form that its host is known to answer in."""
        host = host_of(url)
        scheme = self._schemes.get(host)
        if scheme is not None and not url.startswith(f"{scheme}://"):
            url = f"{scheme}://{url.partition('://')[2]}"
        for kind, redirects in self._redirects.get(host, {}).items():
            if redirects == _ENOUGH:
                url = rewritten(url, kind) or url
        return url

    def state(self) -> Mapping[str, Mapping[Kind, int | None]]:
        """The redirects that were counted; schemes follow from the pages."""
        return self._redirects

    def restore(self, state: Mapping[str, Mapping[Any, int | None]]) -> None:
        """Take what `state` gave."""
        self._redirects = {host: dict(counts) for host, counts in state.items()}


_KINDS: tuple[Kind, ...] = ("add_slash", "drop_slash", "drop_index")
