"""Page → Document: bytes, charset, tokens, links, language."""
