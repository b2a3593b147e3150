"""The bias card of a metric's judge: what else than quality its grades follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from statistics import fmean

from beholder.records import Span
from beholder.run.labels import Graded, Target, graded
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.spec import Spec, parse, tool
from beholder.stats.judge_bias import OWN_UNIT, Bias, length_bias, own_text_bias, place_bias
from beholder.tables import Column, Table, interval_cells
from beholder.text.rules import RuleSplitter

FAULTS = ("contradicted", "unstated", "mistake", "unmatched", "omission")
"""Verdicts by which a metric finds fault with a part of a text."""

_BIAS_COLUMNS = (
    Column("scored", "value", "text"),
    Column("name", "follows", "text"),
    Column("value", "by", interval=True),
    Column("unit", "counted as", "text"),
    Column("n", "n", "count"),
    Column("reason", "not enough data", "text"),
)

_ELSEWHERE = {
    "seat": "pairs won by the first seat alone",
    "flips": "share of pairs whose order decides",
    "wording": "share of yes, supported minus present",
    "repeats": "share of verdicts that change",
}
"""Entries for which a run asks nothing, and what they count."""


def bias_table(run: Store, wanted: Sequence[Target]) -> Table:
    """What else than quality the metrics follow: length, place, authors; and why some is unknown.

    A text is a judge's own if the row's ``system`` is the name of the judge's model.

    Args:
        run: The run.
        wanted: Values with their labels.
    """
    rows = []
    for target in wanted:
        known = [row for row in graded(run, target) if row[2] is not None]
        judged = [grade for _, grade, *_ in known]
        human = [label or 0.0 for _, _, label, *_ in known]
        pictures = [picture for *_, picture, _ in known]
        words = [len(item.candidate.split()) for *_, item in known]
        entries = [
            length_bias(words, judged, human, pictures),
            *_places(run, target),
            _own_texts(known, _model(target.metric)),
            *(
                Bias(name, None, None, 0, unit, "a run does not ask twice: beholder judge-check")
                for name, unit in _ELSEWHERE.items()
            ),
        ]
        rows += [
            {
                "scored": f"{target.metric}.{target.value}",
                **asdict(one),
                **interval_cells("value", one.interval),
            }
            for one in entries
        ]
    notes = ("0 is no bias; errors of the labels draw length towards its value without labels",)
    return Table("bias", "What else the grades follow", _BIAS_COLUMNS, tuple(rows), notes)


def _own_texts(known: Sequence[Graded], model: str | None) -> Bias:
    """How much more a judge overrates texts of its own model."""
    if not model:
        return Bias("own texts", None, None, 0, OWN_UNIT, "the metric asks no model")
    gaps: dict[bytes, dict[bool, list[float]]] = {}
    for _, grade, label, picture, item in known:
        own = item.group.get("system", "").casefold() == model.casefold()
        gaps.setdefault(picture, {}).setdefault(own, []).append(grade - (label or 0.0))
    both = [gap for gap in gaps.values() if len(gap) == 2]
    own_gaps, others = ([fmean(gap[own]) for gap in both] for own in (True, False))
    return own_text_bias(own_gaps, others)


def overlap(some: Sequence[Span], others: Sequence[Span]) -> bool:
    """Whether a span of one list touches one of the other."""
    return any(a < end and start < b for a, b in some for start, end in others)


def _places(run: Store, target: Target) -> Iterator[Bias]:
    """Whether a metric finds fault with wrong sentences, and with right ones, by their place."""
    splitter, items = RuleSplitter(), [item for _, item in run.subjects(ITEM)]
    sources = run.sources(len(items))
    rows: dict[bool, list[tuple[float, bool, bytes]]] = {True: [], False: []}
    for place, units in run.units(target.metric) if target.labels.name == "mistakes" else ():
        item = items[place]
        marks = target.labels.marks.get((item.id, item.candidate))
        sentences = splitter.split(item.candidate)
        if marks is None or len(sentences) < 2:
            continue
        marked = [span for spans in marks for span in spans]
        bad = [
            span
            for unit in units
            if unit.side == "candidate" and unit.verdict in FAULTS
            for span in unit.spans
        ]
        for number, one in enumerate(sentences):
            wrong, found = (overlap([(one.start, one.end)], spans) for spans in (marked, bad))
            rows[wrong].append((number / (len(sentences) - 1), found, sources[place]))
    for wrong, some in rows.items():
        at, hits, of = zip(*some, strict=True) if some else ((), (), ())
        yield place_bias(at, hits, of, wrong=wrong)


def _model(metric: str) -> str | None:
    """The model of a metric's judge; None if it has none."""
    judge = parse(metric).options.get("judge", "builtin")
    return tool(judge).argument if isinstance(judge, str | Spec) else None
