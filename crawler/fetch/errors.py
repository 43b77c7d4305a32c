"""The reasons why a request got no answer."""

from __future__ import annotations

from enum import StrEnum


class Failure(StrEnum):
    """A kind of failure; crawls count them by these names."""

    NO_ADDRESS = "no_address"  # the name of the host does not resolve
    PRIVATE_ADDRESS = "private_address"  # ADDRESS_ALLOW would let it in
    REFUSED = "refused"  # nobody listens there
    TIMEOUT = "timeout"
    CERTIFICATE = "certificate"  # expired, of another name, or nobody vouches for it
    TLS = "tls"  # the handshake failed for another reason
    DISCONNECTED = "disconnected"  # the connection ended before the answer began
    NOT_HTTP = "not_http"  # what came is not an HTTP answer
    INCOMPLETE = "incomplete"  # less came than was announced
    TOO_LARGE = "too_large"  # more than DOWNLOAD_MAXSIZE
    PROXY = "proxy"  # the proxy would not open a tunnel
    NETWORK = "network"  # whatever else the operating system says

    @property
    def is_final(self) -> bool:
        """Whether no other try would change anything."""
        return self in (Failure.PRIVATE_ADDRESS, Failure.TOO_LARGE)


class FetchError(Exception):
    """There is no answer; `failure` is the kind of reason, the text says more."""

    def __init__(self, failure: Failure, text: str = "") -> None:
        super().__init__(text or failure.value)
        self.failure = failure
