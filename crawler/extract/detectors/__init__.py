"""Which detector tells the languages of a crawl: one file each, chosen by setting."""
