"""The metric DCScore: texts to facts, facts to matches and verdicts, these to scores."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from beholder.asking.params import BUILTIN_JUDGE
from beholder.backends import Image
from beholder.base.spec import parse_spec
from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.judges import Draw
from beholder.judges import operations as ops
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.metrics.base import check_words_in
from beholder.metrics.dcscore.scoring import (
    COUNTS_BY_SIGHT,
    VALUES,
    VALUES_BY_SIGHT,
    reference_id,
    score_trials,
    score_units,
)
from beholder.metrics.dcscore.units import (
    DCScoreEvidence,
    Direction,
    Pairing,
    fact_units,
)
from beholder.records import Item, ItemScore
from beholder.text import without_marks, word_order
from beholder.text.languages import language_named

_PUBLISHED_TEMPERATURES = {"match": 1.0, "verify": 0.3}

_VALUES = (
    ValueInfo("f1", "harmonic mean of precision and recall"),
    ValueInfo(
        "precision",
        "share of predicted facts that are verified, times in_order of the detail; low for"
        " hallucinations",
    ),
    ValueInfo(
        "recall",
        "reference facts that are covered by verified facts, extras counted in",
    ),
    ValueInfo(
        "hallucination_rate",
        "share of predicted facts that are not verified; words out of order do not change it",
        higher_is_better=False,
    ),
    ValueInfo(
        "omission_rate",
        "share of reference facts without a match",
        higher_is_better=False,
    ),
    ValueInfo("dcscore", "mean of f1 and relevant_f1"),
    ValueInfo("relevant_f1", "f1 over facts that say what can be seen"),
    ValueInfo("relevant_precision", "precision over these facts"),
    ValueInfo(
        "relevant_recall", "recall over these facts; rules='code' can exceed 1"
    ),
)


@dataclass(frozen=True)
class DCScore(Metric[DCScoreEvidence]):
    """DCScore: which facts of a description are wrong, and which of the reference are missing?

    Each text is decomposed into the smallest facts, once. The predicted facts P are matched to the
    target facts T and verified against the picture or the other text. Precision is the share of P
    that is verified (the rest: hallucination rate), recall what they cover of T together with
    verified extras, f1 their harmonic mean; ``dcscore`` averages f1 over all and over relevant
    facts. Range 0..1, higher is better but for the two rates.

    ``direction="har"``: P is the candidate, T the reference. ``"mar"`` swaps the roles over the
    same facts. ``"both"`` gives each value twice, as ``har_f1`` and ``mar_f1``.

    A value that is not defined for an item (no relevant fact: no relevant half) is left out and
    reported in ``detail["flags"]``; ``on_empty="zero"`` makes it 0.

    An English candidate that has a reference's words out of order keeps down to a fifth of all
    values but the two rates, as in PoSh: its words still make single facts. The factor is
    ``detail["in_order"]``.

    Several references: a candidate's fact is right if any of them (or the picture) supports it;
    matches and recall are per reference, and the best f1 or the mean counts. In both directions
    the mean is the default: each reference is a person's text, and each is scored.

    Pictures without references (``verify="image"`` or ``"auto"``): each fact of the candidate is
    verified by sight. The text has ``precision`` and ``hallucination_rate``, and none of the
    values that need a reference; ``on_empty="zero"`` does not make these 0.

    Source: Painting with Words (DeCapBench, ICLR 2025); HAR and MAR after the study of human and
    model captions in both directions. ``docs/dcscore.md`` has the rules and the corrections.

    Raises:
        ConfigError: A parameter is out of its range, or a judge that cannot see is given pictures.
    """

    judge: str = param(
        "builtin",
        "the judge that decomposes, matches and verifies",
        tool="judge",
    )
    direction: Literal["har", "mar", "both"] = param(
        "har", "which text is checked against which"
    )
    rules: Literal["code", "code_fixed", "eq2_distinct", "eq2_pairs"] = param(
        "code", "how recall is counted"
    )
    verify: Literal["auto", "image", "reference", "both"] = param(
        "auto", "evidence; auto: the references and the images that there are"
    )
    samples: int | tuple[int, int] = param(
        1, "answers to average: n, or (match, verify)"
    )
    match_temperature: float | None = param(
        None,
        "of matching; None: the judge's own, 1.0 with several samples",
        number=(0, 2),
    )
    verify_temperature: float | None = param(
        None,
        "of verification; None: the judge's own, 0.3 with several samples",
        number=(0, 2),
    )
    match: Literal["contained", "nearest"] = param(
        "contained",
        "a target matches that says the fact; or the nearest, exact or not",
    )
    language: str | None = param(
        "row",
        "stated in the prompt; row: the language that the row names; None: not stated",
    )
    clean: Literal["speech", "none"] = param(
        "speech",
        "speech: blank marks of transcripts, such as <noise> and {photo}",
    )
    references: Literal["best", "mean"] | None = param(
        None,
        "over references: the best by f1, or all; None: all in direction='both', else best",
    )
    on_empty: Literal["omit", "zero"] = param("omit", "undefined values")

    pictured: bool = field(default=False, repr=False, compare=False)
    n_items: int = field(default=0, repr=False, compare=False)
    n_with_references: int = field(default=0, repr=False, compare=False)
    n_by_sight: int = field(default=0, repr=False, compare=False)

    registered_name = "dcscore"
    operations = ("decompose", "match", "match_nearest", "verify")
    bounds = Bounds(characters=100_000)
    values = _VALUES
    score_units = staticmethod(score_units)

    def __post_init__(self) -> None:
        super().__post_init__()
        # Specs write a pair as a list; equal settings must be equal objects.
        if isinstance(self.samples, list):
            object.__setattr__(self, "samples", tuple(self.samples))
        pair = self._n_samples
        if len(pair) != 2 or not all(
            type(n) is int and 1 <= n <= 100 for n in pair
        ):
            raise ConfigError(
                f"samples={self.samples!r}: expected n or (match, verify), from 1 to 100"
            )
        if self.direction == "both":
            # In both directions each value is there twice.
            directed_values = tuple(
                replace(v, name=f"{d}_{v.name}", help=f"{d.upper()}: {v.help}")
                for d in self.directions
                for v in _VALUES
            )
            object.__setattr__(self, "values", directed_values)
        # Without any reference, values that need one would be empty columns,
        # and the headline one of them.
        if self.n_by_sight and not self.n_with_references:
            defined_values = tuple(
                value
                for value in self.values
                if value.name in self._names_by_sight
            )
            object.__setattr__(self, "values", defined_values)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions to score, in order."""
        return (
            ("har", "mar") if self.direction == "both" else (self.direction,)
        )

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Operations in use: one of the two ways to match."""
        match = "match_nearest" if self.match == "nearest" else "match"
        return ("decompose", match, "verify")

    @property
    def over_references(self) -> Literal["best", "mean"]:
        """Rule for several references: the field's, or that of the direction."""
        return self.references or (
            "mean" if self.direction == "both" else "best"
        )

    def config(self) -> dict[str, object]:
        """Return all fields, with the resolved rule for several references."""
        return super().config() | {"references": self.over_references}

    def prepare(self, items: Iterable[Item]) -> Self:
        """Return this metric with the numbers of items, and of those without references."""
        counts: Counter[str] = Counter()
        for item in items:
            counts["pictured"] += self._looks_at(item)
            counts["n_items"] += 1
            counts["n_with_references"] += bool(item.references)
            counts["n_by_sight"] += self._is_by_sight(item)
        return replace(
            self,
            pictured=counts["pictured"] > 0,
            n_items=counts["n_items"],
            n_with_references=counts["n_with_references"],
            n_by_sight=counts["n_by_sight"],
        )

    def state(self) -> Mapping[str, Any] | None:
        """Return whether there is a picture to look at, and numbers of items, as JSON."""
        names = ("pictured", "n_items", "n_with_references", "n_by_sight")
        return {name: getattr(self, name) for name in names}

    def with_state(self, state: Mapping[str, Any]) -> Self:
        """Return this metric as it looks at the pictures of the run, or not."""
        return replace(self, **state)

    def cautions(self, columns: Mapping[str, FloatArray]) -> tuple[str, ...]:
        """Warn of texts without most values because they have no references."""
        cautions = super().cautions(columns)
        if not self.n_by_sight:
            return cautions
        return (
            *cautions,
            f"{self.n_by_sight:,} of {self.n_items:,} texts have no references: their facts are"
            " verified by the pictures, and they count in"
            f" {' and '.join(self._names_by_sight)} alone",
        )

    @property
    def looks(self) -> bool:
        """True if there is a picture to look at."""
        return self.pictured

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identity of the judge.

        A judge that cannot write statements, or see where it will have to, is refused here,
        before any work.
        """
        tools.judge(self.judge).check_can(ops.Decompose)
        if self.pictured and not tools.judge(self.judge).sees:
            raise self._cannot_see()
        return super().identities(tools)

    @property
    def needed_fields(self) -> frozenset[str]:
        """The references, and pictures where they are the evidence, alone if they can be."""
        if self.verify == "image" and "har" in self.directions:
            return frozenset({"images"})
        pictures = {"images"} if self.verify in ("image", "both") else set()
        return self.required_fields | pictures

    def check_item(self, item: Item) -> None:
        """Refuse an item without evidence, or with a text without words.

        Raises:
            ItemError: Names the field that is missing or empty, or the text without words.
        """
        if not self._is_by_sight(item):
            super().check_item(item)
        check_words_in(item, has_references=True)

    async def gather(self, item: Item, tools: Tools) -> DCScoreEvidence:
        """Decompose the texts once, then match and verify their facts.

        Raises:
            ConfigError: There are pictures and the judge cannot see.
        """
        judge = tools.judge(self.judge)
        images: list[Image] = []
        if self._looks_at(item):
            if not await judge.accepts_images():
                raise self._cannot_see()
            images = await tools.pictures.read(item.images)
        clean = without_marks if self.clean == "speech" else str
        texts = [clean(text) for text in (item.candidate, *item.references)]
        language = (
            language_named(item.language)
            if self.language == "row"
            else self.language
        )
        facts = await asyncio.gather(
            *(judge.ask(ops.Decompose(t, language)) for t in texts)
        )

        n_match, n_verify = self._n_samples

        async def verify_facts(
            predicted: list[str], trusted: str | None
        ) -> tuple[tuple[bool, ...], ...]:
            verify = ops.Verify(predicted, images, trusted, language)
            draws = self._draws("verify", n_verify)
            samples = await asyncio.gather(
                *(judge.ask(verify, draw) for draw in draws)
            )
            return tuple(map(tuple, samples))

        async def check_by_sight() -> Pairing:
            predicted = [fact.text for fact in facts[0]]
            verified = await verify_facts(predicted, None)
            return Pairing("har", None, (), verified)

        async def check_pair(direction: Direction, reference: int) -> Pairing:
            sides = [
                [fact.text for fact in side]
                for side in (facts[0], facts[1 + reference])
                # In the direction har the candidate is predicted; mar exchanges
                # the roles of the same facts.
            ]
            predicted, targets = sides if direction == "har" else sides[::-1]
            trusted = (
                "\n\n".join(texts[1:]) if direction == "har" else texts[0]
            )
            matching = (
                ops.MatchNearest
                if self.match == "nearest"
                else ops.MatchStatements
            )
            match = matching(predicted, targets, language)
            # Each sample is a draw of its own: with one number for all, a
            # store would repeat the answer.
            draws = self._draws("match", n_match)
            matches, verified = await asyncio.gather(
                asyncio.gather(*(judge.ask(match, draw) for draw in draws)),
                verify_facts(
                    predicted, None if self.verify == "image" else trusted
                ),
            )
            ids = tuple(
                tuple(reference_id(i, len(targets)) for i in sample)
                for sample in matches
            )
            # The judge may name a fact that does not exist: that is no match,
            # and is flagged.
            n_unmatched = [
                sum(sample.count(None) for sample in samples)
                for samples in (ids, map(list, matches))
            ]
            lost = n_unmatched[0] - n_unmatched[1]
            flags = [f"{lost} matches name a fact that does not exist"]
            return Pairing(
                direction,
                reference,
                ids,
                verified,
                tuple(flags if lost else ()),
            )

        checks = [
            check_pair(direction, reference)
            for direction in self.directions
            for reference in range(len(item.references))
        ]
        if self._is_by_sight(item):
            checks = [check_by_sight()]
        pairings = await asyncio.gather(*checks)
        is_read = bool(item.references) and self.verify != "image"
        verified_by = " or ".join(
            ["image"] * bool(images) + ["text"] * is_read
        )
        candidate_facts, *reference_facts = map(tuple, facts)
        return DCScoreEvidence(
            candidate_facts,
            tuple(reference_facts),
            tuple(pairings),
            verified_by,
        )

    def score_item(self, item: Item, evidence: DCScoreEvidence) -> ItemScore:
        """Score the facts from the verdicts on them.

        Raises:
            ItemError: The target text states nothing, so that recall is not defined; or there are
                no references and the candidate states nothing.
        """
        if self._is_by_sight(item):
            return self._score_by_sight(item, evidence)
        values: dict[str, float] = {}
        chosen: dict[Direction, Pairing] = {}
        directions_detail: dict[str, Any] = {}
        order_factor = word_order.in_order(
            item.candidate, item.references, item.language
        )
        for direction in self.directions:
            scored_pairings = [
                (pairing, self._trials(evidence, pairing))
                for pairing in evidence.pairings
                if pairing.direction == direction
            ]
            # Without facts on the target side, and nothing added, recall is 0
            # / 0.
            defined_pairings = [
                (p, trials)
                for p, trials in scored_pairings
                if not math.isnan(trials["f1"])
            ]
            if not defined_pairings:
                side = "reference" if direction == "har" else "candidate"
                raise ItemError(
                    f"the judge found no fact in the {side} and none to add to it; there is"
                    " nothing that could be missing"
                )
            # Several references: the values of the best, or means over all
            # that are defined.
            pairing, best = max(
                defined_pairings, key=lambda pair: _closeness(pair[1])
            )
            chosen[direction] = pairing
            prefix = f"{direction}_" if self.direction == "both" else ""
            for name in VALUES:
                column = (
                    [best[name]]
                    if self.over_references == "best"
                    else [t[name] for _, t in defined_pairings]
                )
                defined = [value for value in column if not math.isnan(value)]
                if defined:
                    # Words out of order do not make a fact false, so both
                    # rates keep their value.
                    share = 1.0 if name.endswith("_rate") else order_factor
                    values[prefix + name] = share * (
                        sum(defined) / len(defined)
                    )
                elif self.on_empty == "zero":
                    values[prefix + name] = 0.0
            directions_detail[direction] = {
                "reference": pairing.reference,
                "over": self.over_references,
                "counts": best["counts"],
                "flags": [*pairing.flags, *best["flags"]],
                "variance": {
                    k: v
                    for k, v in best["variance"].items()
                    if not math.isnan(v)
                },
            }
        detail = {
            "verified_by": evidence.verified_by,
            "in_order": order_factor,
            "directions": directions_detail,
        }
        return ItemScore(
            values, fact_units(item, evidence, chosen), detail=detail
        )

    def _score_by_sight(
        self, item: Item, evidence: DCScoreEvidence
    ) -> ItemScore:
        """Score the candidate's facts without a target side, from the verdicts on the picture.

        Raises:
            ItemError: The candidate states nothing, so that no value is defined.
        """
        (pairing,) = evidence.pairings
        relevant = [fact.relevant for fact in evidence.candidate]
        # Precision does not depend on matches: no fact has one.
        unmatched = [[None] * len(relevant)]
        trials = score_trials(
            pairing.verified, unmatched, relevant, (), self.rules
        )
        if not relevant and self.on_empty == "omit":
            raise ItemError(
                "the judge found no fact in the candidate, and the item has no references; there"
                " is nothing to verify"
            )
        rates = [trials["precision"], trials["hallucination_rate"]]
        values = {
            name: rate if relevant else 0.0
            for name, rate in zip(self._names_by_sight, rates, strict=True)
        }
        detail = {
            "verified_by": evidence.verified_by,
            "in_order": 1.0,
            "directions": {
                "har": {
                    "reference": None,
                    "over": self.over_references,
                    "counts": {
                        name: trials["counts"][name]
                        for name in COUNTS_BY_SIGHT
                    },
                    "flags": [
                        f"no reference: {' and '.join(VALUES_BY_SIGHT)} alone"
                    ],
                    "variance": {
                        name: trials["variance"][name]
                        for name in VALUES_BY_SIGHT
                        if relevant
                    },
                }
            },
        }
        units = fact_units(item, evidence, {"har": pairing})
        return ItemScore(values, units, detail=detail)

    @property
    def _names_by_sight(self) -> tuple[str, ...]:
        """Names of the values of an item without references."""
        prefix = "har_" if self.direction == "both" else ""
        return tuple(prefix + name for name in VALUES_BY_SIGHT)

    def _trials(
        self, evidence: DCScoreEvidence, pairing: Pairing
    ) -> Mapping[str, Any]:
        predicted, targets = evidence.sides(pairing)
        relevant = (
            [fact.relevant for fact in predicted],
            [fact.relevant for fact in targets],
        )
        return score_trials(
            pairing.verified, pairing.matches, *relevant, self.rules
        )

    @property
    def _n_samples(self) -> tuple[int, int]:
        return (
            self.samples
            if isinstance(self.samples, tuple)
            else (self.samples, self.samples)
        )

    def _draws(self, stage: Literal["match", "verify"], n: int) -> list[Draw]:
        heat: float | None = getattr(self, f"{stage}_temperature")
        # Several answers at the judge's own temperature, often 0, would all be
        # the same.
        if heat is None and n > 1:
            heat = _PUBLISHED_TEMPERATURES[stage]
        return [Draw(number, heat) for number in range(n)]

    def _looks_at(self, item: Item) -> bool:
        return bool(item.images) and self.verify != "reference"

    def _is_by_sight(self, item: Item) -> bool:
        """Return whether pictures are the only evidence: an item without references."""
        is_enough = self.verify in ("auto", "image")
        has_own_direction = "har" in self.directions
        return (
            bool(item.images)
            and not item.references
            and is_enough
            and has_own_direction
        )

    def _cannot_see(self) -> ConfigError:
        # Models on servers were shown two squares; the built-in judge was not.
        probe = (
            ""
            if parse_spec(self.judge).name == BUILTIN_JUDGE
            else " (a model on a server: it refused a red and a blue square, or answered alike to"
            " both)"
        )
        return ConfigError(
            f"the judge {self.judge} cannot see{probe}, and there are images; choose one that can"
            " (judge='openai:MODEL'), or verify by the texts alone, if there are references:"
            " dcscore(verify='reference')"
        )


def _closeness(trials: Mapping[str, Any]) -> tuple[float, float]:
    """Return F1 and, as a tie-breaker, coverage, so that the order of references has no effect."""
    omitted = trials["omission_rate"]
    return trials["f1"], 0.0 if math.isnan(omitted) else 1.0 - omitted
