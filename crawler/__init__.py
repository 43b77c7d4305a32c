"""The system: everything but the URL models. See docs/architecture.md."""
