"""What becomes of an answer, all but its place in the order of the crawl."""
