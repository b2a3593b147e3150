"""A metric that a program in an environment of its own computes.

For metrics whose libraries clash with those of this environment, or with each other's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from beholder.asking.params import param
from beholder.asking.tools import Tools
from beholder.backends.child_process import (
    ChildProcess,
    Program,
    check_values,
    read_program,
)
from beholder.base.spec import Spec
from beholder.metrics.base import Metric, ValueInfo
from beholder.records import Item, ItemScore

_DIRECTIONS = {"higher": True, "lower": False, "neither": None}


@dataclass(frozen=True)
class ProcessMetric(Metric[Mapping[str, float | None]]):
    """Values that a program gives, which a TOML file names and describes."""

    registered_name = "process"
    required_fields = frozenset()

    file: str = param(help="TOML file of the program.", is_file=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        program, identity = read_program(Path(self.file))
        values = tuple(
            ValueInfo(
                name,
                value.help,
                value.low,
                value.high,
                _DIRECTIONS[value.better],
            )
            for name, value in program.values.items()
        )
        # No fields: they follow from the file, which the signature states by digest.
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_program", program)
        object.__setattr__(self, "_identity", identity)

    @property
    def program(self) -> Program:
        """Content of the TOML file."""
        return cast(Program, vars(self)["_program"])

    @property
    def name(self) -> str:
        """Its spec, such as ``process:chrf.toml``."""
        return str(Spec(self.registered_name, self.file))

    @property
    def needed_fields(self) -> frozenset[str]:
        """References and images, if the program reads them."""
        return frozenset(self.program.inputs) & {"references", "images"}

    @property
    def looks(self) -> bool:
        """True if the program reads pictures."""
        return "images" in self.program.inputs

    def tool_specs(self) -> list[tuple[str, str]]:
        """The child, which is a tool of the run."""
        return [("process", self.file)]

    def signature(self, identities: Mapping[str, str] | None = None) -> str:
        """Return the signature, with digests of all files of the program."""
        digests = {"file": str(vars(self)["_identity"])}
        return super().signature(digests | dict(identities or {}))

    def identities(self, tools: Tools) -> dict[str, str]:
        """Return digests of all files; refuse a program that does not exist."""
        child = self._child(tools)
        child.check()
        return super().identities(tools) | {"file": child.identity}

    async def gather(
        self, item: Item, tools: Tools
    ) -> Mapping[str, float | None]:
        """Send the inputs of the row; pictures as paths, after they were checked."""
        fields: dict[str, object] = {}
        for name in self.program.inputs:
            fields[name] = getattr(item, name)
        if self.looks:
            from beholder.media import check_image  # Pillow

            files = tools.pictures.files(item.images)
            for file in files:
                await asyncio.to_thread(check_image, file)
            fields["images"] = [str(file.resolve()) for file in files]
        return await self._child(tools).ask(fields)

    def score_item(
        self, item: Item, evidence: Mapping[str, float | None]
    ) -> ItemScore:
        """Check the values; one outside its range is a failure."""
        return ItemScore(check_values(self.program, evidence, self.file))

    def _child(self, tools: Tools) -> ChildProcess:
        return cast(ChildProcess, tools.get("process", self.file))
