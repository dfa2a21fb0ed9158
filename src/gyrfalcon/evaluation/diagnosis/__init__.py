"""Diagnosis of a model class from a log: whether it is wrong, where, and what that costs in reward."""
