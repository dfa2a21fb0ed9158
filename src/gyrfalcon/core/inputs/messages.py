"""Parts of error messages: short representations of values, lists of names, and near matches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np


def short_repr(value: object) -> str:
    """Representation of a value for messages: one line of at most 60 characters, NumPy scalars as numbers."""
    text = repr(value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufU" else value)
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def suggestion(value: object, known: Iterable[object]) -> str:
    """A clause with the known names nearest to a misspelled one, or with the first few names."""
    from difflib import get_close_matches

    # A closest match among very many names would take seconds.
    names = list(islice(known, 1000))
    by_text = {str(name).casefold(): name for name in names}
    close = get_close_matches(str(value).casefold(), list(by_text), n=3)
    if close:
        return f"did you mean {' or '.join(short_repr(by_text[text]) for text in close)}?"
    return f"known are {enumeration(names)}."


def enumeration(names: Sequence[object]) -> str:
    """The names separated by commas, cut after ten."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(map(short_repr, names[:10])) + more if names else "none"
