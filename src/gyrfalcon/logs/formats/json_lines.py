"""Lines of JSON, one object each, in chunks of columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.formats.chunks import Chunk
from gyrfalcon.logs.formats.csv_lines import CHUNK_ROWS, open_bytes


def json_objects(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with one on each line, and the numbers of their lines, counted from 1.

    Raises
    ------
    ValueError
        If a line is no JSON object.
    """
    source = os.fspath(path)
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except ValueError as error:
                raise ValueError(
                    f"{source}, line {number}: the line is no JSON ({error}); give one object on each line."
                ) from None
            if not isinstance(record, dict):
                raise ValueError(  # noqa: TRY004 - every refused input is a ValueError
                    f"{source}, line {number}: the line is {short_repr(record)}; give an object on each line."
                )
            yield number, record


def json_chunks(path: str | os.PathLike[str], chunk_rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
    """Chunks of a file of JSON lines; what an object lacks is None, in columns that other lines have."""
    records, source = json_objects(path), os.fspath(path)
    names: dict[str, None] = {}
    for _, record in json_objects(path):
        names.update(dict.fromkeys(record))
    rows = list(islice(records, chunk_rows))
    while True:
        columns = {name: [record.get(name) for _, record in rows] for name in names}
        yield Chunk(columns, np.array([number for number, _ in rows], dtype=np.int64), source, "line")
        rows = list(islice(records, chunk_rows))
        if not rows:
            return
