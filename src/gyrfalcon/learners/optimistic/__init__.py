"""Learners with confidence widths: optimism, posterior sampling and elimination."""
