"""The figures and studies of the paper, each with its data, tables and drawing."""
