"""Environments made of data: labelled data sets and logged decisions."""
