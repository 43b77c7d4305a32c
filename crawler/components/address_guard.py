"""No connection to a private address, whatever name it hides behind.

The check is on the addresses that a name resolved to, at the moment a connection is
made to one of them: so decimal and octal forms, redirects, robots.txt, sitemaps and
names that resolve differently the second time (DNS rebinding) all come through here.
A proxy that the environment names may be anywhere; behind it, it is the proxy that
resolves names, and that must guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Any, Self, cast
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy.crawler import Crawler
from scrapy.resolver import CachingHostnameResolver
from scrapy.utils.datatypes import LocalCache
from twisted.internet.address import IPv4Address as TCPAddress
from twisted.internet.interfaces import (
    IAddress,
    IHostnameResolver,
    IHostResolution,
    IResolutionReceiver,
)
from zope.interface import implementer

from crawler.errors import ProfileError

_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
# Where clouds give secrets although Python 3.11 calls the addresses public: all of the
# IETF's protocol assignments (RFC 6890), Oracle's among them, and Azure's wire server.
_METADATA = (IPv4Network("192.0.0.0/24"), IPv4Network("168.63.129.16/32"))


class AddressRefusedError(Exception):
    """A name that resolves to private addresses only; ADDRESS_ALLOW would let it in."""


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Does it belong to one host on the public internet (IANA's registries)?

    An IPv4 address inside an IPv6 one is judged as what it is.

    >>> is_public(ip_address("::ffff:10.0.0.1")), is_public(ip_address("9.9.9.9"))
    (False, True)
    """
    if isinstance(address, IPv6Address):
        inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if address in _NAT64:
            inner.append(IPv4Address(int(address) & 0xFFFF_FFFF))
        found = [one for one in inner if one is not None]
        if found:
            return all(map(is_public, found))
        if address.is_site_local:  # RFC 3879 took these back; some networks have them
            return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not any(address in network for network in _METADATA)
    )


class AddressRules:
    """Public addresses, and what the user names: hosts, addresses, networks."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        """Read ADDRESS_ALLOW; ProfileError for what is neither name nor network."""
        self._names: set[str] = set()
        self._networks: list[IPv4Network | IPv6Network] = []
        for item in (given.strip().lower() for given in allowed):
            if "/" not in item and not _is_address(item):
                self._names.add(item.rstrip("."))
                continue
            try:
                self._networks.append(ip_network(item))
            except ValueError as error:
                raise ProfileError(
                    f"ADDRESS_ALLOW={item}: {error} (give host names, addresses or"
                    " networks, such as 10.1.0.0/16)"
                ) from error

    def allow(self, host: str, address: str) -> bool:
        """May a connection to this host go to this address?"""
        if host.lower().rstrip(".") in self._names:
            return True
        ip = ip_address(address.partition("%")[0])
        return is_public(ip) or any(ip in network for network in self._networks)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


@implementer(IHostnameResolver)
class GuardedResolver(CachingHostnameResolver):
    """Scrapy's resolver for IPv4 and IPv6, which keeps private addresses to itself."""

    def __init__(self, reactor: Any, cache_size: int, allowed: Sequence[str]) -> None:
        """Let pass public addresses and what is `allowed`."""
        super().__init__(reactor, cache_size)
        self._allowed = allowed
        self.refused: LocalCache[str, str] = LocalCache(10_000)  # host → its address

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Any) -> Self:
        """With the cache and the rules of the settings."""
        settings = crawler.settings
        proxies = [urlsplit(proxy).hostname for proxy in getproxies().values()]
        allowed = [*settings.getlist("ADDRESS_ALLOW"), *filter(None, proxies)]
        return cls(reactor, settings.getint("DNSCACHE_SIZE"), allowed)

    @cached_property
    def _rules(self) -> AddressRules:
        """Read when first needed: what is wrong with them, `Opening` has said then."""
        return AddressRules(self._allowed)

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        """Resolve, and hand on what may be connected to."""
        sieve: Any = _Sieve(resolutionReceiver, hostName, self._rules, self.refused)
        return super().resolveHostName(
            sieve,
            hostName,
            portNumber,
            addressTypes,
            transportSemantics,
        )


@implementer(IResolutionReceiver)
class _Sieve:
    """Stands before the receiver of a resolution."""

    def __init__(
        self,
        receiver: Any,
        host: str,
        rules: AddressRules,
        refused: LocalCache[str, str],
    ) -> None:
        self._receiver, self._host = receiver, host
        self._rules, self._refused = rules, refused

    def resolutionBegan(self, resolution: IHostResolution) -> None:
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: IAddress) -> None:
        host = cast("TCPAddress", address).host
        if self._rules.allow(self._host, host):
            self._receiver.addressResolved(address)
        else:
            self._refused[self._host] = host

    def resolutionComplete(self) -> None:
        self._receiver.resolutionComplete()
