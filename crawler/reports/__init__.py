"""Numbers and pages for people."""
