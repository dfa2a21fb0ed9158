"""The claims of the paper, each checked by a computation."""
