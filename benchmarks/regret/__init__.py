"""Mean reward of our learners and other libraries on the same rounds: `python -m benchmarks.regret`."""
