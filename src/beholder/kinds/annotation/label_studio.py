"""Judgments in Label Studio's JSON: where each part of a task is, and both directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from beholder.errors import ItemError
from beholder.kinds.annotation.records import State, read_as


class Region(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of ``result``.

    Attributes:
        id: Shared by the regions of one marked span.
        from_name: Name of the control.
        to_name: Name of what is judged.
        type: Type of the control, which is also the name of its value in ``value``.
        value: The value, beside the place it is about.
    """

    id: Any = None
    from_name: Any = None
    to_name: Any = None
    type: Any = None
    value: Any = None


class Field(msgspec.Struct, frozen=True):
    """Where a part of a judgment, or a field of it, is in Label Studio's JSON.

    Attributes:
        name: ``from_name``.
        to: ``to_name``.
        form: ``rating`` (a number), ``choice`` (one of ``words``), ``choices`` (a list of texts),
            ``ranker`` (a list of numbers) or ``textarea`` (a text).
        words: The texts of a choice, by value.
        key: The field of a part that is an object; empty for the whole part.
    """

    name: str
    to: str
    form: Literal["rating", "choice", "choices", "ranker", "textarea"]
    words: Mapping[Any, str] = {}
    key: str = ""

    @property
    def type(self) -> str:
        """Label Studio's type of control."""
        return "choices" if self.form == "choice" else self.form

    @property
    def value_name(self) -> str:
        """Name of the value, which is that of the type except for a text."""
        return "text" if self.form == "textarea" else self.type


Fields: TypeAlias = Sequence[tuple[str, Sequence[Field]]]
"""The fields of each part, by its name."""


def region(name: str, to: str, kind: str, value: Any, **place: Any) -> Region:
    """A region; ``place`` is what its value contains besides."""
    return Region(
        from_name=name, to_name=to, type=kind, value={**place, kind: value}
    )


def regions_of(fields: Fields, state: State) -> list[Region]:
    """The regions of a judgment; fields without a value have none."""
    found = []
    for part, own in fields:
        for field in own:
            value = state.get(part)
            if value is not None and field.key:
                value = value[field.key]
            if value is None or value == []:
                continue
            if field.form == "choice":
                value = [field.words[value]]
            elif field.form == "ranker":
                value = [str(one) for one in value]
            elif field.form == "textarea":
                value = [value]
            value = {field.value_name: value}
            found.append(
                Region(
                    from_name=field.name,
                    to_name=field.to,
                    type=field.type,
                    value=value,
                )
            )
    return found


def parts_from(fields: Fields, regions: Sequence[Region]) -> State:
    """The parts of a judgment whose regions are given.

    Raises:
        ItemError: A region has another form, or there are several of one name.
    """
    found: dict[str, Any] = {}
    for part, own in fields:
        values = {field.key: _value(field, regions) for field in own}
        if any(value is not None for value in values.values()):
            for field in own:
                if field.form == "choices" and values[field.key] is None:
                    values[field.key] = []
            found[part] = values.get("", values)
    return found


def _value(field: Field, regions: Iterable[Region]) -> Any:
    given = one_value(regions, field.name, field.value_name)
    if given is None:
        return None
    if field.form == "textarea":
        return "\n".join(read_as(given, list[str], field.name))
    if field.form == "choice":
        chosen = read_as(given, list[str], field.name)
        for value, words in field.words.items():
            if chosen == [words]:
                return value
        known = ", ".join(field.words.values())
        raise ItemError(
            f"{field.name}: expected one of {known}, got {str(chosen)[:60]}"
        )
    if field.form == "ranker":
        try:
            return [
                int(one) for one in read_as(given, list[int | str], field.name)
            ]
        except ValueError as error:
            raise ItemError(
                f"{field.name}: expected numbers of texts: {error}"
            ) from error
    return given


def one_value(regions: Iterable[Region], name: str, kind: str) -> Any:
    """The value of the only region of a name; None if there is none.

    Args:
        regions: The regions of one annotation.
        name: Its ``from_name``.
        kind: Its ``type``.

    Raises:
        ItemError: There are several, or the value has another form.
    """
    found = [one.value for one in regions if one.from_name == name]
    if not found:
        return None
    if (
        len(found) > 1
        or not isinstance(found[0], Mapping)
        or kind not in found[0]
    ):
        raise ItemError(f"{name}: expected one result with a value {kind!r}")
    return found[0][kind]
