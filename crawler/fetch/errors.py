"""The reasons why a request got no answer."""

from __future__ import annotations

from enum import StrEnum


class Failure(StrEnum):
    """A kind of failure; crawls count them by these names."""

    NO_ADDRESS = "no_address"  # the name of the host does not resolve
    PRIVATE_ADDRESS = "private_address"  # ADDRESS_ALLOW would let it in
    REFUSED = "refused"  # nobody listens there
    TIMEOUT = "timeout"
    EXPIRED = "certificate/expired"  # or not valid yet
    WRONG_NAME = "certificate/wrong_name"  # of another host
    SELF_SIGNED = "certificate/self_signed"
    UNTRUSTED = "certificate/untrusted"  # nobody that we know vouches for it
    TLS = "tls"  # the handshake failed for another reason
    DISCONNECTED = "disconnected"  # the connection ended before the answer began
    NOT_HTTP = "not_http"  # what came is not an HTTP answer
    INCOMPLETE = "incomplete"  # less came than was announced
    TOO_LARGE = "too_large"  # more than DOWNLOAD_MAXSIZE
    PROXY = "proxy"  # the proxy would not open a tunnel
    NETWORK = "network"  # whatever else the operating system says
    NOT_OURS = "not_ours"  # the site went to another worker before the request left

    @property
    def is_final(self) -> bool:
        """Whether no other try would change anything."""
        return self in (Failure.PRIVATE_ADDRESS, Failure.TOO_LARGE)

    @property
    def is_lasting(self) -> bool:
        """Whether another try within minutes would change nothing."""
        return self.is_final or self.startswith("certificate/")


# What a person can do about it; reasons that begin alike have one cure.
_CURES = {
    Failure.EXPIRED: "its certificate has expired, or our clock is wrong",
    Failure.WRONG_NAME: "its certificate is for another name: is the address right?",
    Failure.SELF_SIGNED: "its certificate is signed by itself",
    Failure.UNTRUSTED: "its certificate is signed by nobody that we know",
    Failure.NO_ADDRESS: "check the address of the seed",
    Failure.REFUSED: "nobody listens there: is the server running?",
    Failure.TIMEOUT: "raise DOWNLOAD_TIMEOUT, or try another day",
    Failure.PRIVATE_ADDRESS: "a private address: if you mean it, ADDRESS_ALLOW=HOST",
}


def cure_of(reason: str) -> str:
    """What a person can do about a reason, such as `no_answer/timeout`; empty: nothing.

    >>> cure_of("no_answer/refused")
    'nobody listens there: is the server running?'
    """
    failure = reason.removeprefix("no_answer/").removeprefix("robots/")
    cure = next((text for kind, text in _CURES.items() if kind == failure), "")
    if failure.startswith("certificate/"):
        cure += '; to take it nevertheless, TLS_VERIFY="except HOST"'
    return cure


class FetchError(Exception):
    """There is no answer; `failure` is the kind of reason, the text says more."""

    def __init__(self, failure: Failure, text: str = "") -> None:
        super().__init__(text or failure.value)
        self.failure = failure
