"""Other libraries as players, each by its own public interface: one file per library."""
