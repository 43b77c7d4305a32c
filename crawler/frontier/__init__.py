"""Which URL comes next: scores, evidence, and the stores that keep them."""
