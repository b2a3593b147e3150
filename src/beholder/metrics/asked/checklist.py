"""Metrics over criteria: checklist, those of a row; autodq, events of both texts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from statistics import fmean
from typing import Literal

from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.judges import Judge
from beholder.judges.operations import (
    CheckCriteria,
    MatchNearest,
    NameSubjects,
    TextAnswer,
    WriteCriteria,
)
from beholder.judges.operations.answer import CONTRADICTED, MET, NOT_MENTIONED
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.metrics.asked import rows
from beholder.metrics.base import f1
from beholder.records import Item, ItemScore
from beholder.text import RuleSplitter
from beholder.text.languages import language_named

_TASKS = (
    *(
        "object_category",
        "object_number",
        "object_color",
        "spatial_relation",
        "scene",
    ),
    *(
        "camera_angle",
        "OCR",
        "style",
        "character_identification",
        "dynamic_object_number",
    ),
    *("action", "camera_movement", "event"),
)
"""CAPability averages over these."""
_NAMES_ANY = {
    "action": "The text names an action.",
    "object_category": "The text names an object.",
}
"""CAPability's tasks in which silence is wrong once anything of the sort is named."""
_STATES = (MET, CONTRADICTED, NOT_MENTIONED)
_TYPES = ("camera", "scene", "action", "attribute")
"""TUNA's types of elements."""
_BY_TYPE = tuple(
    ValueInfo(f"{kind}_{name}", f"{name} of elements of this type")
    for kind in _TYPES
    for name in ("f1", "precision", "accuracy")
)
_CONSISTENCY = ValueInfo(
    "reference_consistency",
    "pairs of criteria about a subject that the text gives to one being",
)
_MACRO = tuple(
    ValueInfo(f"macro_{name}", f"mean over tasks of the pooled {name}")
    for name in ("precision", "accuracy", "coverage", "f1")
)


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """What a judge said of an item's criteria.

    Attributes:
        found: The criteria with their answers, in order.
        names: What the text calls a subject where it covers a criterion about it, by these two;
            None if this was not asked.
    """

    found: Sequence[rows.Found[rows.Criterion]]
    names: Mapping[tuple[str, str], TextAnswer | None] | None


@dataclass(frozen=True)
class Checklist(Metric[Checked]):
    """Criteria of a row against the candidate: met, contradicted or not mentioned.

    The row's field ``criteria`` holds statements (key points, events) with optional weights, and
    rules, which are demands on the text itself. A judge reads the candidate alone and quotes its
    evidence. With weights and with M, C and N the sums of what is met, contradicted and not
    mentioned among the facts, accuracy is M / (M + C + N), coverage (M + C) / (M + C + N) and
    precision M / (M + C). Rules enter ``weighted`` alone. Range 0..1, higher is better, save for
    ``wrong`` and ``unread``.

    ``rules="capricorn"``: equal texts count once, weights are ignored, and a criterion without a
    usable answer counts as not mentioned; of criteria with ``subjects``, a model says who takes
    each part, and ``reference_consistency`` is the share of pairs of criteria about a subject that
    the text covers and gives to one being. ``rules="capability"``: weights are ignored, an
    undefined precision or f1 is 0, and an ``action`` or ``object_category`` that is not mentioned
    is contradicted if the text names any; ``macro_*`` are means over CAPability's tasks of what is
    pooled within each. ``rules="tuna"``: each sentence of the candidate is matched to at most one
    ``event`` of the criteria, in order, and criteria are checked against the sentences of their
    event alone; an undefined precision or f1 is 0; f1 comes first, and precision, accuracy (the
    published recall) and f1 are also given for each of TUNA's types of elements. Prompts are our
    own under all rules, and so are judges.

    Source: CapRiCorn-1K (Acc, Cov, Ref), CAPability (precision, recall, hit rate, F1), TUNA-CAP
    (P, R, F1).

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it.
    """

    judge: str = param(
        "builtin", "who checks: builtin (English), or a model", tool="judge"
    )
    rules: Literal["own", "capricorn", "capability", "tuna"] = param(
        "own", "whose counting"
    )
    at_once: int = param(
        10, "criteria per question to the judge", whole=(1, 100)
    )

    registered_name = "checklist"
    values = (
        ValueInfo("accuracy", "weight of the criteria that are met, of all"),
        ValueInfo(
            "coverage",
            "weight of the criteria that are met or contradicted, of all",
        ),
        ValueInfo(
            "precision",
            "weight of the criteria that are met, of met and contradicted",
        ),
        ValueInfo("f1", "harmonic mean of accuracy and precision"),
        ValueInfo(
            "hit", "number of criteria that are met or contradicted, of all"
        ),
        ValueInfo(
            "wrong",
            "weight of contradicted criteria, of all",
            higher_is_better=False,
        ),
        ValueInfo(
            "weighted",
            "weight of what is met, rules too, of all positive weights",
        ),
        ValueInfo(
            "unread",
            "share of criteria without a usable answer",
            higher_is_better=False,
        ),
        rows.CHANGED,
    )
    required_fields = frozenset()
    operations = ("check_criteria", "name_subjects", "match_nearest")
    needs = (CheckCriteria,)
    foresees_calls = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rules == "capricorn":
            object.__setattr__(self, "values", (*self.values, _CONSISTENCY))
        elif self.rules == "capability":
            object.__setattr__(self, "corpus_values", _MACRO)
        elif self.rules == "tuna":
            first = sorted(self.values, key=lambda value: value.name != "f1")
            object.__setattr__(self, "values", (*first, *_BY_TYPE))

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Subjects are named under CapRiCorn's rules alone, events matched under TUNA's."""
        more = {"capricorn": self.operations[1:2], "tuna": self.operations[2:]}
        return self.operations[:1] + more.get(self.rules, ())

    def check_row(self, item: Item) -> None:
        """Refuse a row with malformed criteria."""
        rows.check_asked(item, "criteria")

    def check_item(self, item: Item) -> None:
        """Refuse an item without criteria; an empty candidate mentions none of them."""
        if self.rules == "tuna" and not all(
            one.event for one in rows.criteria_of(item)
        ):
            raise ItemError("rules='tuna' needs the 'event' of each criterion")
        rows.criteria_of(item)

    async def gather(self, item: Item, tools: Tools) -> Checked:
        """Ask the judge, a part of the criteria at a time; nothing about an empty candidate."""
        criteria = rows.criteria_of(item)
        if self.rules == "capricorn":
            criteria = list(
                {one.text: one for one in reversed(criteria)}.values()
            )[::-1]
        judge, language = (
            tools.judge(self.judge),
            language_named(item.language),
        )
        any_of = {
            one.group for one in criteria if self.rules == "capability"
        } & _NAMES_ANY.keys()
        extra = [
            rows.Criterion(text=_NAMES_ANY[name], kind="rule")
            for name in sorted(any_of)
        ]

        ask = partial(_checked, judge, self.at_once, language)
        if self.rules == "tuna" and item.candidate.strip():
            answers = await _by_event(judge, item, criteria, ask)
        else:
            answers = await ask([*criteria, *extra], item.candidate)
        any_named = zip(sorted(any_of), answers[len(criteria) :], strict=True)
        named = {
            name
            for name, answer in any_named
            if answer and answer.state == MET
        }
        found = [
            rows.Found(one, answer, self._state(one, answer, named))
            for one, answer in zip(criteria, answers, strict=False)
        ]
        names = None
        if self.rules == "capricorn" and judge.can(NameSubjects):
            names = await _named(judge, item.candidate, criteria, language)
        return Checked(found, names)

    def _state(
        self, one: rows.Criterion, answer: TextAnswer | None, named: Set[str]
    ) -> str:
        if answer is None or answer.state is None:
            return NOT_MENTIONED if self.rules == "capricorn" else rows.UNREAD
        if answer.state == NOT_MENTIONED and one.group in named:
            return CONTRADICTED
        return answer.state

    def score_item(self, item: Item, evidence: Checked) -> ItemScore:
        """Turn states into shares.

        Raises:
            ItemError: The judge gave no usable answer to any criterion.
        """
        found = evidence.found
        left = rows.opened(found, "criteria")
        facts = [
            one
            for one in found
            if one.row.kind == "fact" and one.state != rows.UNREAD
        ]
        values = self._shares(self._sums(facts))
        if facts:
            values["hit"] = sum(
                one.state != NOT_MENTIONED for one in facts
            ) / len(facts)
        read = [one for one in found if one.state != rows.UNREAD]
        possible = sum(max(one.row.weight, 0.0) for one in read)
        if possible:
            gained = sum(one.row.weight for one in read if one.state == MET)
            values["weighted"] = min(1.0, max(0.0, gained / possible))
        if evidence.names is not None:
            values |= _consistency(found, evidence.names)
        groups = {
            name: self._sums(some)
            for name, some in rows.by_group(facts).items()
        }
        detail = rows.detailed(found, _STATES) | {
            "by_dimension": {
                name: self._shares(sums) for name, sums in groups.items()
            }
        }
        if self.rules == "capability":
            nothing = [0.0] * len(_STATES)
            detail["statistics"] = [
                n for task in _TASKS for n in groups.get(task, nothing)
            ]
        elif self.rules == "tuna":
            typed = {
                f"{kind}_{name}": value
                for kind, sums in groups.items()
                for name, value in self._shares(sums).items()
            }
            names = [info.name for info in _BY_TYPE if info.name in typed]
            values |= {name: typed[name] for name in names}
        units = tuple(
            rows.unit_of("statement", one, weight=one.row.weight)
            for one in found
        )
        return ItemScore(values | left, units, detail=detail)

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """Means over CAPability's tasks; empty without criteria of any of them."""
        tasks = [
            self._shares(sums)
            for sums in statistics.reshape(-1, len(_STATES)).tolist()
        ]
        there = [values for values in tasks if values]
        return {
            one.name: fmean(
                values[one.name.removeprefix("macro_")] for values in there
            )
            for one in _MACRO
            if there
        }

    def _sums(
        self, facts: Sequence[rows.Found[rows.Criterion]]
    ) -> list[float]:
        return rows.sums_of(
            facts, _STATES, plain=self.rules not in ("own", "tuna")
        )

    def _shares(self, sums: Sequence[float]) -> dict[str, float]:
        """The values of sums by state; what is not defined is left out."""
        values = rows.shares(sums, "coverage")
        if "precision" in values:
            values["f1"] = f1(values["precision"], values["accuracy"])
        elif values and self.rules in ("capability", "tuna"):
            values |= {"precision": 0.0, "f1": 0.0}
        return values


async def _checked(
    judge: Judge,
    at_once: int,
    language: str | None,
    criteria: Sequence[rows.Criterion],
    text: str,
) -> list[TextAnswer | None]:
    """What a judge says of criteria; an empty text mentions none of them."""
    if not text.strip():
        return [TextAnswer(NOT_MENTIONED)] * len(criteria)

    def ask(
        part: Sequence[rows.Criterion],
    ) -> Awaitable[Sequence[TextAnswer | None]]:
        rules = frozenset(
            i for i, one in enumerate(part) if one.kind == "rule"
        )
        return judge.ask(
            CheckCriteria([one.text for one in part], text, rules, language)
        )

    return await rows.in_parts(criteria, at_once, ask)


async def _by_event(
    judge: Judge,
    item: Item,
    criteria: Sequence[rows.Criterion],
    ask: Callable[
        [Sequence[rows.Criterion], str], Awaitable[list[TextAnswer | None]]
    ],
) -> list[TextAnswer | None]:
    """Answers to criteria from the sentences about their events; spans of the candidate."""
    text, events = (
        item.candidate,
        list(dict.fromkeys(one.event for one in criteria)),
    )
    sentences = [(part.start, part.end) for part in RuleSplitter().split(text)]
    claims, language = (
        [text[a:b] for a, b in sentences],
        language_named(item.language),
    )
    matches = _in_order(
        await judge.ask(MatchNearest(claims, events, language))
    )

    found: dict[int, TextAnswer | None] = {}

    async def ask_about(event: int) -> None:
        spans = [
            span
            for span, match in zip(sentences, matches, strict=True)
            if match == event
        ]
        # Sentences are joined by blanks: a place more for each.
        at = [i for start, end in spans for i in range(start, end + 1)]
        asked = [one for one in criteria if one.event == events[event]]
        answers = await ask(asked, " ".join(text[a:b] for a, b in spans))
        for one, answer in zip(asked, answers, strict=True):
            if answer is not None:
                places = ((at[a], at[b - 1] + 1) for a, b in answer.spans)
                answer = replace(answer, spans=tuple(places))
            found[id(one)] = answer

    await asyncio.gather(*map(ask_about, range(len(events))))
    return [found[id(one)] for one in criteria]


def _in_order(matches: Sequence[int | None]) -> list[int | None]:
    """Matches without those that go back: of all series that do not, the longest one's."""
    longest: list[list[int]] = [[]]
    for at, match in enumerate(matches):
        if match is not None:
            before = (
                one
                for one in longest
                if not one or (matches[one[-1]] or 0) <= match
            )
            longest.append([*max(before, key=len), at])
    kept = max(longest, key=len)
    return [match if at in kept else None for at, match in enumerate(matches)]


async def _named(
    judge: Judge,
    text: str,
    criteria: Sequence[rows.Criterion],
    language: str | None,
) -> dict[tuple[str, str], TextAnswer | None]:
    """Who takes the part of each subject of two criteria or more, by subject and criterion."""
    of = {
        subject: [one.text for one in criteria if subject in one.subjects]
        for one in criteria
        for subject in one.subjects
    }
    asked = [
        (name, told)
        for name, texts in of.items()
        if len(texts) > 1
        for told in texts
    ]
    if not asked or not text.strip():
        return {}
    answers = await judge.ask(NameSubjects(asked, text, language))
    return dict(zip(asked, answers, strict=True))


def _consistency(
    found: Sequence[rows.Found[rows.Criterion]],
    names: Mapping[tuple[str, str], TextAnswer | None],
) -> dict[str, float]:
    """Ref: the mean over subjects of two criteria or more; of one without a usable name, none."""
    counts = Counter(
        subject for one in found for subject in set(one.row.subjects)
    )
    refs = []
    for subject, n in counts.items():
        about = [one.row.text for one in found if subject in one.row.subjects
                 and one.state != NOT_MENTIONED]  # fmt: skip
        said = [names.get((subject, text)) for text in about]
        if n > 1 and (len(said) < 2 or all(said)):
            alike = Counter(one.state for one in said if one and one.state)
            refs.append(
                sum(comb(size, 2) for size in alike.values()) / comb(n, 2)
            )
    return {_CONSISTENCY.name: fmean(refs)} if refs else {}


_MOST = 10
"""Events of a text, as published."""

Answers = Sequence[rows.Found[rows.Criterion]]


Events = tuple[Answers, Answers]
"""Events of the candidate with what the references say of them, and the reverse."""


@dataclass(frozen=True)
class AutoDQ(Metric[Events]):
    """Events of the references that the candidate entails, and the reverse.

    A judge lists up to ten events of each text and checks each against the other text. Recall is
    the share of reference events that the candidate entails, precision the share of candidate
    events that the references entail; neutral and contradicted events count the same. A text
    without events gives 1. The row's field ``criteria`` gives the reference events if it is there.
    ``f1_of_means`` is the F1 of mean precision and mean recall. Of data with several values of the
    group ``dataset``, such as DREAM-1K, ``subset_*`` are the published figures: means over these
    subsets of their mean precision and mean recall, and the F1 of both. With ``what="objects"``
    things with one property each take the place of events: the second half of CapST. Several
    references are read as one text. Prompts are our own. Range 0..1, higher is better.

    Source: AutoDQ of DREAM-1K (Tarsier), CapST of CaReBench.

    Raises:
        ConfigError: A parameter is out of its range, or the judge cannot do it.
    """

    judge: str = param(
        help="who lists and checks: a model, not builtin", tool="judge"
    )
    what: Literal["events", "objects"] = param("events", "what is listed")
    at_once: int = param(
        _MOST, "events per question to the judge", whole=(1, 100)
    )

    registered_name = "autodq"
    values = (
        ValueInfo("f1", "harmonic mean of precision and recall"),
        ValueInfo(
            "precision", "share of candidate events that the references entail"
        ),
        ValueInfo(
            "recall", "share of reference events that the candidate entails"
        ),
        ValueInfo(
            "unread",
            "share of events without a usable answer",
            higher_is_better=False,
        ),
        rows.CHANGED,
    )
    corpus_values = (
        ValueInfo(
            "f1_of_means",
            "harmonic mean of the set's mean precision and mean recall",
        ),
        ValueInfo("subset_f1", "harmonic mean of the next two"),
        ValueInfo(
            "subset_precision", "mean over subsets of their mean precision"
        ),
        ValueInfo("subset_recall", "mean over subsets of their mean recall"),
    )

    needs = (WriteCriteria, CheckCriteria)
    foresees_calls = True

    def check_row(self, item: Item) -> None:
        """Refuse a row with malformed criteria."""
        rows.check_asked(item, "criteria")

    async def gather(self, item: Item, tools: Tools) -> Events:
        """List the events of both texts, then check each list against the other text."""
        judge, language = (
            tools.judge(self.judge),
            language_named(item.language),
        )
        reference = "\n\n".join(
            text for text in item.references if text.strip()
        )

        async def listed(text: str) -> list[rows.Criterion]:
            if not text.strip():
                return []
            asked = WriteCriteria(
                text=text, n=_MOST, kind=self.what, language=language
            )
            written = enumerate(await judge.ask(asked), start=1)
            return [
                rows.Criterion(id=str(n), text=one.text) for n, one in written
            ]

        async def reference_events() -> list[rows.Criterion]:
            return (
                rows.criteria_of(item)
                if item.meta.get("criteria")
                else await listed(reference)
            )

        ours, theirs = await asyncio.gather(
            listed(item.candidate), reference_events()
        )
        both = ((ours, reference), (theirs, item.candidate))
        ask = partial(_checked, judge, self.at_once, language)
        said = await asyncio.gather(
            *(ask(events, text) for events, text in both)
        )
        first, second = (
            [
                rows.Found(
                    one, answer, (answer and answer.state) or rows.UNREAD
                )
                for one, answer in zip(events, answers, strict=True)
            ]
            for (events, _), answers in zip(both, said, strict=True)
        )
        return first, second

    def score_item(self, item: Item, evidence: Events) -> ItemScore:
        """Turn states into shares.

        Raises:
            ItemError: The judge gave no usable answer to any event of a text.
        """
        ours, theirs = evidence
        precision, recall = _share(ours), _share(theirs)
        shares = {
            "f1": f1(precision, recall),
            "precision": precision,
            "recall": recall,
        }
        units = (
            *(rows.unit_of("event", one, "candidate") for one in ours),
            *(rows.unit_of("event", one, "reference") for one in theirs),
        )
        values = shares | rows.opened([*ours, *theirs], "events")
        detail = {
            "statistics": [precision, recall, 1.0],
            "subset": item.group.get("dataset", ""),
        }
        return ItemScore(values, units, detail=detail)

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """F1 of the mean precision and the mean recall, over texts and over subsets."""
        subsets = statistics.reshape(-1, 3)
        precision, recall, n = subsets.sum(axis=0).tolist()
        values = {"f1_of_means": f1(precision / n, recall / n)}
        if len(subsets) > 1:
            there = subsets[subsets[:, 2] > 0]
            p, r = (
                (there[:, :2] / there[:, 2:]).clip(0, 1).mean(axis=0).tolist()
            )
            values |= {
                "subset_f1": f1(p, r),
                "subset_precision": p,
                "subset_recall": r,
            }
        return values


def _share(checked: Answers) -> float:
    """The share of events that the other text entails, of those read; 1 if there are none."""
    rows.opened(checked, "events")
    read = [one.state == MET for one in checked if one.answer]
    return sum(read) / len(read) if read else 1.0
