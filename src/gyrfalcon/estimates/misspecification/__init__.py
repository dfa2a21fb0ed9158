"""Estimates of the misspecification b from passive rows."""
