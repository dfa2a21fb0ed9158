"""Content hashes of stored values: the same value has the same hash, in any process and on any machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from gyrfalcon.storage.class_ids import ClassIds
from gyrfalcon.storage.codec import Encoder

_BYTES = 12


def content_hash(value: object, classes: Iterable[type] = ()) -> str:
    """The hash of what a file of this value would hold.

    Parameters
    ----------
    value
        A value that can be saved.
    classes
        Dataclasses of your own that it holds.

    Examples
    --------
    >>> import numpy as np
    >>> content_hash([1.0, np.arange(3)]) == content_hash([1.0, np.arange(3)])
    True
    """
    encoder = Encoder(ClassIds(classes))
    tree = json.dumps(encoder.encode(value), allow_nan=False)
    digest = blake2b(tree.encode(), digest_size=_BYTES)
    for array in encoder.arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return digest.hexdigest()
