"""The options of a claim and of its plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Group, Parameter

from beholder.base.ranges import check_number
from beholder.errors import ConfigError

Method: TypeAlias = Literal["sequence", "fixed", "strata", "series"]
"""Early stop; a fixed sample; a fixed proportional sample of strata; whole series."""
PLAN = Group("Plan", sort_key=0)
"""Panel of the options of a plan on the help page."""


@dataclass(frozen=True)
class ClaimOptions:
    """The claim and its plan.

    Attributes:
        at_most: Claimed share of texts with a grave error, such as 0.02.
        alpha: Risk of accepting a collection that breaks the claim.
        claims: Claims that are shown together; each gets its part of alpha.
        seed: Seed of the order, from 0; name it after the digest was printed.
        fixed: Read a fixed number of texts instead of stopping early.
        allow: Grave errors that a fixed plan allows.
        expect: Expected share of grave errors, from which a fixed plan chooses --allow.
        strata: Group column of strata: drawn in proportion with --fixed, else only reported.
        series: Group column of series that are drawn whole; a fixed plan.
        icc: Intraclass correlation of grave errors within a series.
        twice: Share of texts that two people read.
        definition: Markdown file that says what a grave error is; by default ours.
        reader_is_author: Whether a reader is the author of texts or prompts; for the certificate.
    """

    at_most: float
    alpha: float = 0.05
    claims: int = 1
    seed: int | None = None
    fixed: Annotated[bool, Parameter(negative="", group=PLAN)] = False
    allow: Annotated[int | None, Parameter(group=PLAN)] = None
    expect: Annotated[float | None, Parameter(group=PLAN)] = None
    strata: Annotated[str, Parameter(group=PLAN)] = ""
    series: Annotated[str, Parameter(group=PLAN)] = ""
    icc: Annotated[float, Parameter(group=PLAN)] = 0.3
    twice: Annotated[float, Parameter(group=PLAN)] = 0.2
    definition: Path | None = None
    reader_is_author: Literal["yes", "no", "unknown"] = "unknown"

    def __post_init__(self) -> None:
        for name in ("at_most", "alpha"):
            check_number(
                f"--{name.replace('_', '-')}",
                getattr(self, name),
                0,
                1,
                above=True,
                below=True,
                hint="such as 0.02",
            )
        for name in ("icc", "twice"):
            check_number(f"--{name}", getattr(self, name), 0, 1)
        check_number("--claims", self.claims, 1, whole=True)
        is_fixed = self.fixed or bool(self.series)
        if is_fixed and self.allow is None and self.expect is None:
            raise ConfigError(
                "a fixed plan allows a number of errors: name --allow, or --expect with the share"
                " that you expect"
            )
        if not is_fixed and self.allow is not None:
            raise ConfigError("--allow belongs to --fixed and --series")

    @property
    def method(self) -> Method:
        """The method that the options choose."""
        if self.series:
            return "series"
        if not self.fixed:
            return "sequence"
        return "strata" if self.strata else "fixed"
