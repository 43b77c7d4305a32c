"""Candidate generators: pages that could be parallel with a page."""
