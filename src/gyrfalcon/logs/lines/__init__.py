"""Lines of JSON that bandits append to a folder: decisions, and the outcomes that follow them."""
