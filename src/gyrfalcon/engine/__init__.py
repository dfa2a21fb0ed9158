"""Turnover of epochs, shared by simulation, replay of logs and the live bandit."""
