"""Which addresses are public, what a user may allow, names that change their mind."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ProfileError
from crawler.fetch.guard import AddressRules, is_public

PRIVATE = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",  # carrier-grade NAT
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",  # Azure's wire server
    "169.254.169.254",  # metadata of most clouds
    "172.16.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",  # NAT64 of the metadata address
    "64:ff9b:1::1",
    "2001:db8::1",
    "2002:7f00:1::",  # 6to4 of loopback
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",  # Teredo to 192.0.2.45
    "fc00::1",
    "fd00:ec2::254",  # metadata, over IPv6
    "fe80::1",
    "fec0::1",
    "ff02::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "193.4.58.17",
    "2001:4860:4860::8888",
    "2a00:1450:4009::1",
    "64:ff9b::808:808",
    "::ffff:8.8.8.8",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_private(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address):
    assert is_public(ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_as_what_it_is(address: IPv4Address):
    number, public = int(address), is_public(address)
    for outside in (
        0xFFFF << 32 | number,
        0x64FF9B << 96 | number,
        0x2002 << 112 | number << 80,
    ):
        assert is_public(ip_address(outside)) == public


def test_what_the_user_names_is_let_in_and_no_more():
    rules = AddressRules.parse(
        ["Intranet.Example", "10.1.0.0/16", "::1", "192.168.0.7"]
    )
    assert rules.allow("intranet.example.", "10.9.0.1")
    assert not rules.allow("www.intranet.example", "10.9.0.1")
    assert rules.allow("a.example", "10.1.2.3")
    assert rules.allow("a.example", "::1")
    assert rules.allow("a.example", "192.168.0.7")
    assert not rules.allow("a.example", "192.168.0.8")
    assert not rules.allow("a.example", "fe80::1%eth0")
    assert rules.allow("a.example", "8.8.8.8")


@pytest.mark.parametrize("item", ["10.0.0.0/33", "10.0.0.1/8", "intra/net"])
def test_what_cannot_be_allowed_is_named(item):
    with pytest.raises(ProfileError, match="ADDRESS_ALLOW=" + item):
        AddressRules.parse([item])
