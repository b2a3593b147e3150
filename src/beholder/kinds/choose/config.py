"""The options of a choice, and what its folder keeps of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec
from cyclopts import Parameter

from beholder.base.spec import Spec, canonical_spec, parse_with_label
from beholder.errors import ConfigError
from beholder.options import check_count
from beholder.text.languages import language_named

if TYPE_CHECKING:
    from beholder.backends.money import Price

Main: TypeAlias = Literal["right", "complete"]

LIMITS: Mapping[str, float] = {
    "language": 0.95,
    "clean": 0.95,
    "answered": 0.98,
}
"""Least wanted share of texts by criterion; ``answered`` is the share without a failure."""

FEWEST, MOST_CAPTIONERS = 2, 20
"""Captioners of a choice."""


@dataclass(frozen=True)
class ChoiceOptions:
    """The captioners, the sample and the rule of a choice.

    Attributes:
        captioner: Model, as a=openai:gpt-4.1 (none: texts with a group column system); repeatable.
        judge: Vision model that judges, such as openai:MODEL; without one, references decide.
        n: Pictures that are drawn.
        seed: Seed of the draw.
        language: Language to write in.
        words: Length in words: none (any), 40, 30-40, median (of the references) or median:FILE.
        context: Description of the collection, for the prompt.
        repeat: Drawn pictures that get a second text.
        metric: Metric and value of right instead of ours, such as dcscore.precision.
        main: Criterion that the rule uses first.
        limit: Least share of texts, as language=0.95, clean=0.95 or answered=0.98; repeatable.
        price: Dollars per million tokens of a captioner or of judge, as NAME=IN/OUT; repeatable.
        judge_check: Check the judge first by questions with known answers; a weak one is said.
        battles: Compare texts in pairs, in both orders; by default if there are no references.
    """

    captioner: tuple[str, ...] = ()
    judge: str | None = None
    n: int = 150
    seed: int = 0
    language: str = "English"
    words: str = "none"
    context: str = ""
    repeat: int = 50
    metric: str | None = None
    main: Main = "right"
    limit: tuple[str, ...] = ()
    price: Annotated[tuple[str, ...], Parameter(group="Work and cost")] = ()
    judge_check: Annotated[
        bool, Parameter(group="Judges and embedders", negative="")
    ] = False
    battles: Annotated[bool | None, Parameter(negative="--no-battles")] = None

    def __post_init__(self) -> None:
        check_count("n", self.n, "such as 150")
        if self.repeat < 0:
            raise ConfigError(f"--repeat {self.repeat}: expected 0 or more")
        if len(self.captioner) == 1:
            raise ConfigError(
                "choose compares; to measure one captioner use caption and score"
            )
        if len(self.captioner) > MOST_CAPTIONERS:
            raise ConfigError(
                f"{len(self.captioner)} captioners: expected {FEWEST} to {MOST_CAPTIONERS}"
            )
        _ = self.captioners, self.limits, self.prices

    @property
    def captioners(self) -> dict[str, str]:
        """Specs of the captioners, by name.

        Raises:
            ConfigError: Two captioners have one name.
        """
        specs: dict[str, str] = {}
        for text in self.captioner:
            label, parsed = parse_with_label(text)
            spec = canonical_spec(parsed)
            name = label or spec.argument or spec.name
            if name in specs:
                raise ConfigError(
                    f"two captioners are called {name!r}; name them, such as --captioner"
                    f" first={spec}"
                )
            specs[name] = str(spec)
        return specs

    @property
    def limits(self) -> dict[str, float]:
        """Least wanted share by criterion.

        Raises:
            ConfigError: There is no such limit, or a share is not between 0 and 1.
        """
        limits = dict(LIMITS)
        for text in self.limit:
            name, _, share = text.partition("=")
            value = _number(share)
            if name not in LIMITS or value is None or not 0 < value < 1:
                raise ConfigError(
                    f"--limit {text}: expected {', '.join(LIMITS)} = a share between 0 and 1,"
                    " such as language=0.95"
                )
            limits[name] = value
        return limits

    @property
    def prices(self) -> dict[str, Price]:
        """Price by captioner.

        Raises:
            ConfigError: A price has another form.
        """
        if not self.price:
            return {}
        from beholder.backends.money import Price

        prices = {}
        for text in self.price:
            name, _, amounts = text.rpartition("=")
            ends = [_number(amount) for amount in amounts.split("/")]
            if not name or len(ends) != 2 or None in ends:
                raise ConfigError(
                    f"--price {text}: expected NAME=IN/OUT in dollars per million tokens, such as"
                    " c=0.2/0.8"
                )
            cost_in, cost_out = ends
            assert cost_in is not None
            assert cost_out is not None
            prices[name] = Price(
                cost_in, cost_out, free=not (cost_in or cost_out)
            )
        return prices

    @property
    def language_name(self) -> str:
        """English name of the language; as it was written if it has none."""
        return language_named(self.language) or self.language


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``choice.json``: what the first start fixed.

    Attributes:
        format: Version of the file's format.
        data: The data as they were named.
        root: Folder that the pictures' names in the data are relative to.
        n_all: Pictures of the collection.
        n_drawn: Pictures drawn.
        n_copies: Drawn pictures that were left out, because they repeat the bytes of others.
        n_unused: Texts of the data that are not used.
        n_bad_rows: Invalid rows that were skipped.
        digest: SHA-256 of the drawn rows.
        has_references: Whether every drawn picture has a reference.
        options: The options as they were given.
        asking: Flags of the questions with their values, such as ``--base-url``.
    """

    format: int = 1
    data: str
    root: str
    n_all: int
    n_drawn: int
    n_copies: int
    n_unused: int = 0
    n_bad_rows: int = 0
    digest: str
    has_references: bool
    options: ChoiceOptions
    asking: Mapping[str, str] = {}


def family_of(spec: Spec) -> str:
    """Return the first word of a model's name, such as ``gpt``; models that share it are akin."""
    model = (spec.argument or spec.name).rsplit("/", 1)[-1].lower()
    # ft:gpt-4.1:me is a trained model of your own, us.anthropic.claude-4 the model of a vendor.
    words: list[str] = re.split("[-_: ]", model.removeprefix("ft:"))[0].split(
        "."
    )
    family = next(word for word in (*words[::-1], "") if not word.isdigit())
    return family.rstrip("0123456789")


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
