from __future__ import annotations

import gc
import weakref

from twisted.internet.testing import MemoryReactorClock
from twisted.web.client import URI, BrowserLikePolicyForHTTPS

from crawler.components.download import _MAX_ENDPOINTS, _Endpoints


def test_a_crawl_of_many_hosts_does_not_keep_the_certificates_of_each():
    endpoints = _Endpoints(
        MemoryReactorClock(), BrowserLikePolicyForHTTPS(), 60.0, None
    )

    def endpoint(host: str) -> object:
        return endpoints.endpointForURI(URI.fromBytes(f"https://{host}/".encode()))

    met = weakref.ref(endpoint("a.example"))
    assert met() is endpoint("a.example")
    for number in range(_MAX_ENDPOINTS):
        endpoint(f"b{number}.example")
    gc.collect()
    assert met() is None
