"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Put the content there in one step: if stopped, the old file or the new one is left, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
