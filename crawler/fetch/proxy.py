"""The proxies that the environment names: HTTP_PROXY, HTTPS_PROXY and NO_PROXY.

A proxy may be at any address, for connections to its host and port alone. It resolves
the names of what lies behind it, and must guard.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment

from crawler.errors import ProfileError
from crawler.fetch.guard import is_address


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy, and the value of Proxy-Authorization that it wants to hear."""

    host: str
    port: int
    is_secure: bool = False  # it is spoken to over TLS
    authorization: bytes | None = None

    @classmethod
    def parse(cls, url: str, authorization: bytes | None = None) -> Proxy:
        """The proxy of a URL; ProfileError for one that does not speak HTTP."""
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ProfileError(
                f"{parts.scheme}://{parts.hostname or ''}: is not a proxy that speaks"
                " HTTP (name another in HTTP_PROXY and HTTPS_PROXY, or none)"
            )
        if parts.username and authorization is None:
            words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            authorization = b"Basic " + b64encode(words.encode())
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        return cls(parts.hostname, port, secure, authorization)


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxy of each scheme, and who is asked without one.

    >>> excepted = ".is, b.example:81, 10.0.0.0/8"
    >>> proxies = Proxies({"http": Proxy("cache", 3128)}, excepted)
    >>> [proxies.find("http", host, 81) is None for host in ("a.is", "b.example", "c")]
    [True, True, False]
    >>> proxies.find("https", "c", 443), proxies.find("http", "10.9.0.1", 80)
    (None, None)
    """

    of_scheme: Mapping[str, Proxy] = field(default_factory=dict)
    excepted: str = ""  # NO_PROXY: `*`, or hosts, domains and networks with commas

    @classmethod
    def of_environment(cls) -> Proxies:
        """Those of the environment's variables; ProfileError as `Proxy.parse` does."""
        named = getproxies_environment()
        schemes = [scheme for scheme in ("http", "https") if named.get(scheme)]
        proxies = {scheme: Proxy.parse(named[scheme]) for scheme in schemes}
        return cls(proxies, named.get("no", ""))

    def find(self, scheme: str, host: str, port: int) -> Proxy | None:
        """The proxy through which a host is asked, None: it is asked itself."""
        proxy = self.of_scheme.get(scheme)
        return None if proxy is None or self._is_excepted(host, port) else proxy

    def _is_excepted(self, host: str, port: int) -> bool:
        names = [host.lower(), f"{host.lower()}:{port}"]
        for item in self.excepted.lower().split(","):
            name = item.strip().removeprefix("*").strip(".").replace("[", "", 1)
            name = name.replace("]", "", 1)
            if item.strip() == "*" or name in names:
                return True
            if name and any(one.endswith(f".{name}") for one in names):
                return True
            if is_address(host) and "/" in name and is_address(name.partition("/")[0]):
                with suppress(ValueError):  # of a mask
                    if ip_address(host) in ip_network(name, strict=False):
                        return True
        return False
