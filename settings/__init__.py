"""Settings profiles: `base` first, each profile says what it changes."""
