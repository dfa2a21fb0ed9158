"""Decision logs on disk: lines that a live process appends to, Parquet files of those that it has closed."""
