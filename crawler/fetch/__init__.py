"""Downloads over HTTP/1.1, within bounds, from addresses that may be asked."""
