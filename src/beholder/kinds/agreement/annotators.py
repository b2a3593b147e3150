"""Annotators of judged texts: agreement of repeated judgments, preferences, and marked shares.

These are the figures that a paper on human judgments reports of its own people, from the rows of
the data. Judgments of the same texts are compared, whoever gave them: by ``annotator`` where rows
name one, else in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from math import nan
from typing import Any

import numpy as np

from beholder.base.grouping import group_by_key
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
    token_ranges,
)
from beholder.tables import (
    Cells,
    Column,
    Table,
    estimate_cells,
    interval_cells,
)

Source = tuple[str, ...]
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
class Judgment:
    """One annotator's judgment of a text, or of a pair of texts.

    Attributes:
        source: Described thing, such as a picture.
        texts: The texts, in the order of their first judgment.
        annotator: Name of the annotator; empty if the row has none.
        value: A number, positive if the first of two texts is better; or marked spans.
    """

    source: Source
    texts: tuple[object, ...]
    annotator: str
    value: Any


def annotator_tables(
    judged: JudgedSet, labels: Sequence[str] = (), expert: str | None = None
) -> list[Table]:
    """Build the tables of annotators' agreement and of their judgments of the systems.

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
    # Spans can be matched only where a part is a word; sentences have no runs.
    protocol = MARKED.get(judged.name)
    if protocol is not None and protocol.runs:
        return [
            _agree_on_marks(judged.items, protocol, expert),
            _share_marks(judged, protocol),
        ]
    pairs = [item for item in judged.items if item.meta.get("candidate_b")]
    # Names of models and categories are judgments, too, but have no mean.
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
        preferences += _average_preferences(question, pairs)
    return [
        ANNOTATORS.with_rows(agreement),
        PREFERENCES.with_rows(preferences),
    ]


def _annotator(item: Item) -> str:
    return str(item.meta.get("annotator", ""))


def _numbers(item: Item, question: str) -> list[float]:
    """Return the numeric labels of an item, one per annotator; empty if a label is not a number."""
    value = item.judgments.get(question)
    values: Sequence[Any] = (
        value if isinstance(value, list | tuple) else [value]
    )
    numeric = all(
        isinstance(label, int | float) and not isinstance(label, bool)
        for label in values
    )
    return [float(label) for label in values] if numeric else []


def _labels(pairs: Sequence[Item], question: str) -> Iterator[Judgment]:
    """Yield the judgments of a question; negated if the pair came in the other order before."""
    order: set[tuple[Source, str, str]] = set()
    for item in pairs:
        texts = (item.candidate, str(item.meta["candidate_b"]))
        # Annotators may see a pair in either order; their labels must mean the
        # same.
        is_turned = (item.source, *texts[::-1]) in order
        if is_turned:
            texts = texts[::-1]
        order.add((item.source, *texts))
        values = _numbers(item, question)
        for place, value in enumerate(values, start=1):
            # In a list of ratings the place stands for the annotator.
            name = _annotator(item) or (f"#{place}" if len(values) > 1 else "")
            yield Judgment(
                item.source, texts, name, -value if is_turned else value
            )


def _pair_up(
    judgments: Iterable[Judgment], expert: str | None
) -> dict[str, list[tuple[Judgment, Judgment]]]:
    """Pair judgments of the same texts, grouped by the two sides that are compared."""
    pairs: dict[str, list[tuple[Judgment, Judgment]]] = {AMONG: []}
    if expert is not None:
        pairs[f"{expert} and others"] = []
    for same_texts in _by_texts(judgments):
        for pair in combinations(same_texts, 2):
            names = [judgment.annotator for judgment in pair]
            # Two judgments by the expert say nothing of agreement with others.
            if expert not in names:
                pairs[AMONG].append(pair)
            elif names[0] != names[1]:
                ordered = pair if names[0] == expert else pair[::-1]
                pairs[f"{expert} and others"].append(ordered)
    return pairs


def _by_texts(judgments: Iterable[Judgment]) -> Iterable[list[Judgment]]:
    return group_by_key(
        ((judgment.source, judgment.texts), judgment) for judgment in judgments
    ).values()


def _agree_on_labels(
    question: str, labels: Sequence[Judgment], expert: str | None
) -> Iterator[Cells]:
    for between, pairs in _pair_up(labels, expert).items():
        # Alpha takes all judgments of a text at once; against the expert, two
        # at a time.
        rows: Iterable[Sequence[Judgment]] = pairs
        if between == AMONG:
            peer_labels = [
                label for label in labels if label.annotator != expert
            ]
            rows = _by_texts(peer_labels)
        values = [
            (row[0].source, [judgment.value for judgment in row])
            for row in rows
        ]
        cells: Cells = {
            "question": question,
            "between": between,
            "n": len(pairs),
            "n_judgments": sum(len(numbers) for _, numbers in values),
            **_alpha(values),
        }
        if pairs:
            first, second = (
                np.array([judgment.value for judgment in side])
                for side in zip(*pairs, strict=True)
            )
            correlation = correlate(
                first,
                second,
                "pearson",
                clusters=[judgment.source for judgment, _ in pairs],
            )
            cells |= {
                "pearson": correlation.value,
                **interval_cells(
                    "pearson", correlation.interval, correlation.reason
                ),
                "p": correlation.p_value,
                "same": float((first == second).mean()),
            }
        yield cells


def _alpha(rows: Sequence[Row]) -> Cells:
    """Compute ordinal alpha from rows of judgments, a row of any length for each pair of texts."""
    # Rows of different length are filled with NaN, which alpha leaves out.
    columns = list(zip_longest(*(values for _, values in rows), fillvalue=nan))
    if len(columns) < 2:
        return {"alpha": None, **interval_cells("alpha", None)}
    alpha = krippendorff_alpha(
        np.array(columns).T, "ordinal", clusters=[source for source, _ in rows]
    )
    return {
        "alpha": alpha.value,
        **interval_cells("alpha", alpha.interval, alpha.reason),
    }


def _systems(item: Item) -> tuple[str, str]:
    """Return the systems of a pair of texts, or the names of the text columns."""
    names = {**item.meta, **item.judgments}
    return str(names.get("model1", "candidate")), str(
        names.get("model2", "candidate_b")
    )


def _average_preferences(
    question: str, pairs: Sequence[Item]
) -> Iterator[Cells]:
    """Yield the mean preference of each pair of systems, in order of first appearance."""
    order = list(
        dict.fromkeys(name for item in pairs for name in _systems(item))
    )
    # One order of names for each pair of systems, whichever text came first.
    by_systems = group_by_key(
        (tuple(sorted(_systems(item), key=order.index)), item)
        for item in pairs
    )
    for (system, against), items in by_systems.items():
        labels = [
            Judgment(
                item.source,
                tuple(sorted((item.candidate, str(item.meta["candidate_b"])))),
                "",
                value if _systems(item)[0] == system else -value,
            )
            for item in items
            for value in _numbers(item, question)
        ]
        if not labels:
            continue
        preference = mean_interval(
            [label.value for label in labels],
            clusters=[label.source for label in labels],
        )
        rows = [
            (same_texts[0].source, [label.value for label in same_texts])
            for same_texts in _by_texts(labels)
        ]
        yield {
            "question": question,
            "system": system,
            "against": against,
            **estimate_cells("preference", preference),
            **_alpha(rows),
            "n_judgments": len(labels),
            "n_pairs": len(rows),
        }


def _agree_on_marks(
    items: Sequence[Item], protocol: MarkProtocol, expert: str | None
) -> Table:
    rows: list[Cells] = []
    for label, side in SIDES:
        marks = [
            Judgment(
                item.source,
                (item.candidate, item.references[:1]),
                _annotator(item),
                _spans(item, label, side, protocol),
            )
            for item in items
            if label in item.judgments
        ]
        # F1 is symmetric; recall takes the first judgment, the expert's, as
        # the reference.
        for between, pairs in _pair_up(marks, expert).items():
            cells: Cells = {
                "marked": label,
                "between": between,
                "n": len(pairs),
                "n_judgments": len(marks),
            }
            for key, (_, overlap, share) in OVERLAPS.items():
                agreement = relaxed_f1(
                    [second.value for _, second in pairs],
                    [first.value for first, _ in pairs],
                    overlap=overlap,
                    of=share,
                    clusters=[first.source for first, _ in pairs],
                )
                cells |= {
                    f"f1_{key}": agreement.f1,
                    f"recall_{key}": agreement.recall,
                    **interval_cells(
                        f"f1_{key}", agreement.interval, agreement.reason
                    ),
                }
            rows.append(cells)
    return MARKS.with_rows(rows)


def _share_marks(judged: JudgedSet, protocol: MarkProtocol) -> Table:
    rows: list[Cells] = []
    for label, side in SIDES:
        marked = [item for item in judged.items if label in item.judgments]
        by_system = group_by_key(
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
    return token_ranges(protocol.parts(item, _text(item, side)), marks)


def _text(item: Item, side: Side) -> str:
    return item.candidate if side == "candidate" else item.references[0]
