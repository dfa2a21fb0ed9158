"""Claims of the paper, each checked by computation."""
