"""The convex hull of decision stumps under an L1 budget."""
