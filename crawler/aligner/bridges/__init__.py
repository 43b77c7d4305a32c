"""Bridge: bring two languages into one vocabulary."""
