"""Tests of the rows that are usable: propensities, shares, balance, leakage, overlap and drift."""
