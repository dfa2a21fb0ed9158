"""Other libraries, each by its own public interface: one file per library."""
