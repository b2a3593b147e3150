"""The human-judgment sets that beholder knows: where each is published, and how it is read."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from beholder.records import Item


@dataclass(frozen=True)
class HumanSet:
    """A published set of human judgments.

    Attributes:
        name: Name on the command line.
        what: What people judged, one line.
        where: Where it is published.
        licence: As its source states it.
        read: Reads the published files in a folder; None where it is a table on the hub.
        hub: Name, configuration and split on the Hugging Face hub; None where it is not there.
        row: Items of one row of that table.
        mapped: As ``read``, of files whose columns have to be named.
    """

    name: str
    what: str
    where: str
    licence: str
    read: Callable[[Path], Iterator[Item]] | None = None
    hub: tuple[str, str | None, str] | None = None
    row: Callable[[int, Mapping[str, Any]], Iterator[Item]] | None = None
    mapped: Callable[[Path, Mapping[str, str]], Iterator[Item]] | None = None


def _known() -> Mapping[str, HumanSet]:
    listed = tomllib.loads(Path(__file__).with_name("sets.toml").read_text(encoding="utf-8"))
    for facts in listed.values():
        if "hub" in facts:
            dataset, configuration, split = facts["hub"]
            facts["hub"] = (dataset, configuration or None, split)
        for reader in {"read", "row", "mapped"} & set(facts):
            facts[reader] = resolve_name(f"{__package__}.{facts[reader]}")
    return {name: HumanSet(name, **facts) for name, facts in listed.items()}


SETS = _known()
