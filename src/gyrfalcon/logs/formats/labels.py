"""Labels of actions in formats of text, which do not say whether 3 is a number."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def are_whole(labels: Iterable[Hashable]) -> bool:
    """Whether all labels are whole numbers, in numbers or as text without leading zeros."""
    return all(type(label) is int or _is_whole_text(label) for label in labels)


def as_whole(labels: Iterable[Hashable]) -> list[Hashable]:
    """The labels as whole numbers where all of them are, unchanged otherwise.

    >>> as_whole(["3", "14"]), as_whole(["3", "a"]), as_whole(["03"])
    ([3, 14], ['3', 'a'], ['03'])
    """
    kept = list(labels)
    return [int(str(label)) for label in kept] if are_whole(kept) else kept


def in_order(labels: Iterable[Hashable]) -> list[Hashable]:
    """Labels in ascending order where they have one, unchanged otherwise."""
    kept = list(labels)
    if all(isinstance(label, str) for label in kept) or all(type(label) is int for label in kept):
        return sorted(kept)  # type: ignore[type-var]
    return kept


def _is_whole_text(label: Hashable) -> bool:
    if not isinstance(label, str):
        return False
    digits = label.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19 and label == str(int(label))
