"""PyArrow, which is an extra: imported where Parquet files are read or written."""

from __future__ import annotations

from typing import Any


def import_pyarrow() -> Any:
    """PyArrow's module for Parquet files."""
    try:
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise ImportError('Parquet files need pyarrow; install it: pip install "gyrfalcon[arrow]".') from None
    return pyarrow.parquet
