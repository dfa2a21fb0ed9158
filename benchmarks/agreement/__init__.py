"""Agreement with other implementations of the same formulas: `make agreement`."""
