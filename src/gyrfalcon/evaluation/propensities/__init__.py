"""Propensities of logs that lack them, estimated by logistic regression, and their calibration."""
