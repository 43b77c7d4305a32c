"""Which pages, and which sentences, are translations of each other. See README.md."""
