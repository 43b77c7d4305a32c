"""In which order URLs are fetched: the papers' orders, and one that learns."""
