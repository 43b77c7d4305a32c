"""No connection to a private address, whatever name it hides behind.

The check is on the addresses that a name resolved to, at the moment a connection is
made to one of them: so decimal and octal forms, redirects, robots.txt, sitemaps and
names that resolve differently the second time (DNS rebinding) all come through here.
A proxy that the environment names may be anywhere; behind it, it is the proxy that
resolves names, and that must guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Self

from crawler.errors import ProfileError

_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
# Where clouds give secrets although Python 3.11 calls the addresses public: all of the
# IETF's protocol assignments (RFC 6890), Oracle's among them, and Azure's wire server.
_METADATA = (IPv4Network("192.0.0.0/24"), IPv4Network("168.63.129.16/32"))


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one host's on the public internet (IANA's registries).

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

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._networks: list[IPv4Network | IPv6Network] = []

    @classmethod
    def parse(cls, allowed: Sequence[str]) -> Self:
        """Read ADDRESS_ALLOW; ProfileError for what is neither name nor network."""
        rules = cls()
        for item in (given.strip().lower() for given in allowed):
            if "/" not in item and not is_address(item):
                rules._names.add(item.rstrip("."))
                continue
            try:
                rules._networks.append(ip_network(item))
            except ValueError as error:
                raise ProfileError(
                    f"ADDRESS_ALLOW={item}: {error} (give host names, addresses or"
                    " networks, such as 10.1.0.0/16)"
                ) from error
        return rules

    def allow(self, host: str, address: str) -> bool:
        """Whether a connection to this host may go to this address."""
        if host.lower().rstrip(".") in self._names:
            return True
        ip = ip_address(address.partition("%")[0])
        return is_public(ip) or any(ip in network for network in self._networks)


def is_address(text: str) -> bool:
    """Whether a host is an IP address, not a name."""
    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
