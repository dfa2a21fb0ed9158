"""Parquet files of logged decisions: their columns, their schema, and tables of some rows at a time."""
