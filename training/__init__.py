"""Training of the URL models: `python -m training.url_pair PROFILE key=value`."""
