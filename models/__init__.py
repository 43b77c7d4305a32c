"""URL models: what they see of a page is its URL alone."""
