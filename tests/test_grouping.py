"""Values by key keep the order in which they came."""

from __future__ import annotations

from beholder.base.grouping import group_by_key


def test_keys_and_values_stay_in_order() -> None:
    groups = group_by_key([("b", 1), ("a", 2), ("b", 3)])
    assert list(groups.items()) == [("b", [1, 3]), ("a", [2])]


def test_a_key_without_values_is_not_there() -> None:
    assert group_by_key(()) == {}
