"""Pure arrays and values: no files, clocks, random generators or mutable state."""
