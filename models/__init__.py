"""URL models: they see only URLs."""
