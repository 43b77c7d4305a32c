"""Costs: one reason each why sentences belong together or do not."""
