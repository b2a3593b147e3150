"""Annotators of judged texts: agreement of repeated judgments, preferences, and marked shares.

These are the figures that a paper on human judgments reports of its own people, from the rows of
the data. Judgments of the same texts are compared, whoever gave them: by ``annotator`` where rows
name one, else in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from beholder.base.grouping import by_key
from beholder.data.marks import MARKED, SIDES, Label, MarkProtocol
from beholder.errors import ConfigError
from beholder.kinds.agreement.load import JudgedSet
from beholder.records import Item, Side
from beholder.stats.bootstrap import mean_interval
from beholder.stats.correlation import correlate
from beholder.stats.krippendorff import krippendorff_alpha
from beholder.stats.spans import (
    Share,
    TokenSpan,
    relaxed_f1,
    token_labels,
    touched,
)
from beholder.tables import (
    Cells,
    Column,
    Table,
    estimate_cells,
    interval_cells,
)

Source = tuple[str, ...]
Pair = tuple[Any, Any]
"""The judgments of two annotators of the same texts, the expert's first."""
Row = tuple[Source, Sequence[float]]
"""The source of two texts, and all judgments of them."""

AMONG = "annotators"
A_WORD = 1e-9
"""Share of a span's words that any common word exceeds."""

OVERLAPS: Mapping[str, tuple[str, float, Share]] = {
    "word": ("a word", A_WORD, "own"),
    "half": ("half", 0.5, "own"),
    "strict": ("half of longer", 0.5, "longer"),
}
"""Ways to match two spans, by key: the heading, the share of words, and of which span."""

_BETWEEN = Column("between", "between", "text")
_N_PAIRS = Column("n", "compared", "count")
_N_JUDGMENTS = Column("n_judgments", "judgments", "count")

ANNOTATORS = Table(
    "annotators",
    "Agreement of annotators",
    (
        Column("question", "question", "text"),
        _BETWEEN,
        Column("alpha", "alpha", interval=True),
        Column("pearson", "Pearson", interval=True),
        Column("p", "p", "p"),
        Column("same", "same answer", "percent"),
        _N_PAIRS,
        _N_JUDGMENTS,
    ),
    notes=(
        "alpha: Krippendorff's, ordinal; Pearson: of an earlier judgment of a pair with a later"
        " one, or of the expert's with another; 95 % intervals over pictures.",
    ),
)
PREFERENCES = Table(
    "preferences",
    "Mean preference",
    (
        Column("question", "question", "text"),
        Column("system", "system", "text"),
        Column("against", "against", "text"),
        Column("preference", "preference", "signed", interval=True),
        Column("alpha", "alpha", interval=True),
        _N_JUDGMENTS,
        Column("n_pairs", "pairs", "count"),
    ),
    notes=(
        "Preference: mean over judgments of the label, positive if the system is better than the"
        " other (with labels of DOCENT from -2 to 2); 95 % intervals over pictures.",
    ),
    by="question",
)
MARKS = Table(
    "annotators-marks",
    "Agreement of annotators on marked spans",
    (
        Column("marked", "marked", "text"),
        _BETWEEN,
        *(
            Column(f"f1_{key}", f"F1, {heading}", interval=True)
            for key, (heading, _, _) in OVERLAPS.items()
        ),
        *(
            Column(f"recall_{key}", f"recall, {heading}")
            for key, (heading, _, _) in OVERLAPS.items()
        ),
        _N_PAIRS,
        _N_JUDGMENTS,
    ),
    notes=(
        "Two spans match if they share a word, half of a span's own words (50 %), or half of the"
        " words of the longer one. Recall: share of the spans of the first judgment (the expert's)"
        " that the other one marks, too. 95 % intervals over pictures.",
    ),
)
MARKED_SHARES = Table(
    "marked-shares",
    "Marked share of the words",
    (
        Column("marked", "marked", "text"),
        Column("system", "system", "text"),
        Column("share", "share", "percent", interval=True),
        _N_JUDGMENTS,
    ),
    notes=(
        "Mean over judgments of the share of words that are marked: mistakes in the text of the"
        " system, omissions in the reference; 95 % intervals over pictures.",
    ),
    by="marked",
)


@dataclass(frozen=True)
class LabelledPair:
    """A judgment of two texts of one question.

    Attributes:
        texts: The source and both texts, in the order of the first judgment of them.
        annotator: Who judged; empty if the row names no one.
        value: The label; positive if the first of the texts is better.
    """

    texts: tuple[Source, str, str]
    annotator: str
    value: float


def annotator_tables(
    judged: JudgedSet, labels: Sequence[str] = (), expert: str | None = None
) -> list[Table]:
    """Agreement of annotators, and what they say of the systems.

    Args:
        judged: Pairs of texts with labels (rows with ``candidate_b``), or texts with marked spans.
        labels: Questions to take; by default all labels that are numbers.
        expert: Annotator whom all others are compared with.

    Raises:
        ConfigError: The set has neither, a label is missing, or no annotator has the expert's name.
    """
    annotators = sorted(set(map(_annotator, judged.items)))
    if expert is not None and expert not in annotators:
        names = (
            ", ".join(filter(None, annotators))
            or "none; rows need an `annotator`"
        )
        raise ConfigError(
            f"--expert {expert}: expected an annotator of the data, got {names}"
        )
    protocol = MARKED.get(judged.name)
    if protocol is not None and protocol.runs:
        return [
            _agree_on_marks(judged.items, protocol, expert),
            _share_marks(judged, protocol),
        ]
    pairs = [item for item in judged.items if item.meta.get("candidate_b")]
    numeric = dict.fromkeys(
        name
        for item in pairs
        for name in item.judgments
        if _numbers(item, name)
    )
    questions = [*(labels or numeric)]
    if not questions or not numeric.keys() >= set(questions):
        raise ConfigError(
            f"{judged.name}: --judges takes a run directory, whose metrics are the raters; or data"
            " with marked spans, with pairs of texts (`candidate_b`) and numbers as labels, or with"
            " one --label that is a list of ratings; numeric labels of pairs here are:"
            f" {', '.join(numeric) or 'none'}"
        )
    agreement: list[Cells] = []
    preferences: list[Cells] = []
    for question in questions:
        agreement += _agree_on_labels(
            question, list(_labels(pairs, question)), expert
        )
        preferences += _prefer(question, pairs)
    return [
        ANNOTATORS.with_rows(agreement),
        PREFERENCES.with_rows(preferences),
    ]


def _annotator(item: Item) -> str:
    return str(item.meta.get("annotator", ""))


def _numbers(item: Item, question: str) -> list[float]:
    """The labels of an item: one, or one of each annotator; empty for what is no number."""
    value = item.judgments.get(question)
    values: Sequence[Any] = (
        value if isinstance(value, list | tuple) else [value]
    )
    numeric = all(
        isinstance(label, int | float) and not isinstance(label, bool)
        for label in values
    )
    return [float(label) for label in values] if numeric else []


def _labels(pairs: Sequence[Item], question: str) -> Iterator[LabelledPair]:
    """Labels of a question; one is negated if its texts were judged the other way round before."""
    order: set[tuple[Source, str, str]] = set()
    for item in pairs:
        first, second = item.candidate, str(item.meta["candidate_b"])
        turned = (item.source, second, first) in order
        texts = (
            item.source,
            *((second, first) if turned else (first, second)),
        )
        order.add(texts)
        values = _numbers(item, question)
        for place, value in enumerate(values, start=1):
            name = _annotator(item) or (f"#{place}" if len(values) > 1 else "")
            yield LabelledPair(texts, name, -value if turned else value)


def _pair_up(
    judgments: Sequence[tuple[str, Any]], expert: str | None
) -> Iterator[tuple[str, Pair]]:
    """Each two judgments of the same texts, and between whom they are."""
    for (name, value), (other_name, other) in combinations(judgments, 2):
        if expert is None or expert not in (name, other_name):
            yield AMONG, (value, other)
        elif name != other_name:
            yield (
                f"{expert} and others",
                (value, other) if name == expert else (other, value),
            )


def _between(expert: str | None) -> list[str]:
    return [AMONG] if expert is None else [AMONG, f"{expert} and others"]


def _agree_on_labels(
    question: str, labels: Sequence[LabelledPair], expert: str | None
) -> Iterator[Cells]:
    by_texts = by_key(
        (label.texts, (label.annotator, label.value)) for label in labels
    )
    for between in _between(expert):
        compared = [
            (texts[0], pair)
            for texts, judgments in by_texts.items()
            for group, pair in _pair_up(judgments, expert)
            if group == between
        ]
        rows: list[Row] = [(source, pair) for source, pair in compared]
        if between == AMONG:
            rows = [
                (
                    texts[0],
                    [value for name, value in judgments if name != expert],
                )
                for texts, judgments in by_texts.items()
            ]
        cells: Cells = {
            "question": question,
            "between": between,
            "n": len(compared),
        }
        cells |= {
            "n_judgments": sum(len(values) for _, values in rows),
            **_alpha(rows),
        }
        if compared:
            first, second = np.array([pair for _, pair in compared]).T
            clusters = [source for source, _ in compared]
            correlation = correlate(
                first, second, "pearson", clusters=clusters
            )
            cells |= {"pearson": correlation.value, "p": correlation.p_value}
            cells |= interval_cells(
                "pearson", correlation.interval, correlation.reason
            )
            cells["same"] = float((first == second).mean())
        yield cells


def _alpha(rows: Sequence[Row]) -> Cells:
    """Ordinal alpha of judgments of the same texts, a row of any length for each two texts."""
    width = max(len(values) for _, values in rows) if rows else 0
    if width < 2:
        return {"alpha": None, **interval_cells("alpha", None)}
    table = np.full((len(rows), width), np.nan)
    for line, (_, values) in zip(table, rows, strict=True):
        line[: len(values)] = values
    alpha = krippendorff_alpha(
        table, "ordinal", clusters=[source for source, _ in rows]
    )
    return {
        "alpha": alpha.value,
        **interval_cells("alpha", alpha.interval, alpha.reason),
    }


def _systems(item: Item) -> tuple[str, str]:
    """The systems of a pair of texts; the columns of the texts where rows name none."""
    names = {**item.meta, **item.judgments}
    return str(names.get("model1", "candidate")), str(
        names.get("model2", "candidate_b")
    )


def _texts(item: Item) -> tuple[Source, frozenset[str]]:
    """The source and both texts of a pair, in whichever order."""
    return item.source, frozenset(
        (item.candidate, str(item.meta["candidate_b"]))
    )


def _prefer(question: str, pairs: Sequence[Item]) -> Iterator[Cells]:
    """Mean preference of each two systems, in the order in which they appear first."""
    order = list(
        dict.fromkeys(name for item in pairs for name in _systems(item))
    )
    by_systems = by_key(
        (tuple(sorted(_systems(item), key=order.index)), item)
        for item in pairs
    )
    for (system, against), items in by_systems.items():
        signed = [
            (item, value if _systems(item)[0] == system else -value)
            for item in items
            for value in _numbers(item, question)
        ]
        if not signed:
            continue
        values = [value for _, value in signed]
        sources = [item.source for item, _ in signed]
        by_texts = by_key((_texts(item), value) for item, value in signed)
        yield {
            "question": question,
            "system": system,
            "against": against,
            **estimate_cells(
                "preference", mean_interval(values, clusters=sources)
            ),
            **_alpha(
                [(source, labels) for (source, _), labels in by_texts.items()]
            ),
            "n_judgments": len(values),
            "n_pairs": len(by_texts),
        }


def _agree_on_marks(
    items: Sequence[Item], protocol: MarkProtocol, expert: str | None
) -> Table:
    rows: list[Cells] = []
    for label, side in SIDES:
        marked = [item for item in items if label in item.judgments]
        by_texts = by_key(
            (
                (item.source, item.candidate, item.references[:1]),
                (_annotator(item), _spans(item, label, side, protocol)),
            )
            for item in marked
        )
        for between in _between(expert):
            compared = [
                (texts[0], pair)
                for texts, judgments in by_texts.items()
                for group, pair in _pair_up(judgments, expert)
                if group == between
            ]
            cells: Cells = {
                "marked": label,
                "between": between,
                "n": len(compared),
            }
            cells["n_judgments"] = len(marked)
            for key, (_, overlap, share) in OVERLAPS.items():
                agreement = relaxed_f1(
                    [other for _, (_, other) in compared],
                    [first for _, (first, _) in compared],
                    overlap=overlap,
                    of=share,
                    clusters=[source for source, _ in compared],
                )
                cells |= {
                    f"f1_{key}": agreement.f1,
                    f"recall_{key}": agreement.recall,
                }
                cells |= interval_cells(
                    f"f1_{key}", agreement.interval, agreement.reason
                )
            rows.append(cells)
    return MARKS.with_rows(rows)


def _share_marks(judged: JudgedSet, protocol: MarkProtocol) -> Table:
    rows: list[Cells] = []
    for label, side in SIDES:
        marked = [item for item in judged.items if label in item.judgments]
        by_system = by_key(
            (item.group.get("system", ""), item) for item in marked
        )
        for system, items in by_system.items():
            shares = [
                _marked_share(item, label, side, protocol) for item in items
            ]
            mean = mean_interval(
                shares, clusters=[item.source for item in items]
            )
            cells: Cells = {
                "marked": label,
                "system": system,
                "n_judgments": len(items),
            }
            rows.append(cells | estimate_cells("share", mean))
    return MARKED_SHARES.with_rows(rows)


def _marked_share(
    item: Item, label: Label, side: Side, protocol: MarkProtocol
) -> float:
    n_words = len(protocol.parts(item, _text(item, side)))
    marks = token_labels(n_words, _spans(item, label, side, protocol))
    return float(marks.mean()) if n_words else 0.0


def _spans(
    item: Item, label: Label, side: Side, protocol: MarkProtocol
) -> list[TokenSpan]:
    marks = [(int(start), int(end)) for start, end in item.judgments[label]]
    return touched(protocol.parts(item, _text(item, side)), marks)


def _text(item: Item, side: Side) -> str:
    return item.candidate if side == "candidate" else item.references[0]
