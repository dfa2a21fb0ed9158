"""The command line, with one command per file."""
