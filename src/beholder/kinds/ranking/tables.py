"""Tables of a ranking run: systems, thresholds, groups, lengths, differences, position bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

from beholder.kinds.ranking import results
from beholder.report.numbers import show_number
from beholder.tables import (
    Cells,
    Column,
    Table,
    heading,
    interval_cells,
    record_cells,
)

Labels: TypeAlias = Mapping[str, str]
"""Short label of each scorer, by name."""

PEOPLE = "people, the pair itself"
_NONE = "\N{EN DASH}"


def ranking_tables(ranking: results.Ranking) -> list[Table]:
    """Return all tables of a run that have rows, in the order to read them."""
    tables, labels = ranking.tables, ranking.labels
    study = [
        _scores(ranking),
        _thresholds(tables.thresholds, labels),
        _thresholds_by_language(tables.thresholds_by_language, labels),
        _joined(tables.thresholds, labels),
        _groups("language", tables.groups.language, labels),
        _groups("category", tables.groups.category, labels),
        _lengths(tables.lengths, labels),
        Table.from_records(
            "differences",
            "differences, image by image",
            results.ScorerDifference,
            tables.differences,
            by="a",
        ),
        _position_bias(tables.bias),
    ]
    return [table for table in study if table.rows]


@dataclass(frozen=True)
class ScoreRow:
    """Mean correlation of a scorer, by one of its values, with people."""

    scorer: Annotated[str, heading("scorer", "text")]
    value: Annotated[str, heading("ranked by", "text")]
    mean: Annotated[
        float | None, heading("correlation", interval=True, scale=(-1.0, 1.0))
    ]
    interval: results.Ends | None
    n: Annotated[int, heading("images", "count")]
    n_failed: Annotated[int | None, heading("failed", "failed")] = None
    n_level: Annotated[int | None, heading("all level", "count")] = None
    reason: str | None = None


def _score_row(
    scorer: str,
    value: str,
    correlation: results.MeanCorrelation,
    n_failed: int | None = None,
    n_level: int | None = None,
) -> ScoreRow:
    mean, interval, n = correlation.mean, correlation.interval, correlation.n
    return ScoreRow(
        scorer, value, mean, interval, n, n_failed, n_level, correlation.reason
    )


def _scores(ranking: results.Ranking) -> Table:
    tables = ranking.tables
    rows = [_score_row(PEOPLE, "", tables.human)]
    for scorer in tables.scorers:
        name = scorer.scorer
        value = _ranking_value(ranking, name)
        rows.append(
            _score_row(name, value, scorer, scorer.n_failed, scorer.n_level)
        )
        rows += [
            _score_row(name, further.value, further)
            for further in scorer.values
        ]
    agrees = (
        "in any way"
        if tables.threshold is None
        else f"at least {tables.threshold:g}"
    )
    counts = ", ".join(
        f"{n} ({count:,} images)" for n, count in tables.n_texts.items()
    )
    notes = (
        "Of each image the two annotators who agree best are taken (all pairs that agree equally"
        " well); an image's score is the mean of the scorer's Spearman correlations with both."
        " Means over images with 95 % bootstrap intervals over images, on a scale from −1 to 1.",
        f"Images whose best pair of annotators agrees {agrees}: {tables.n_kept:,} of"
        f" {tables.n_judged:,} that can be compared ({tables.n_images:,} in the data).",
        f"Kendall's W of all annotators: {_shown(tables.kendall_w)}. Texts per image: {counts}."
        f" Annotators' rankings with ties: {tables.n_with_ties:,}.",
        *_left_out(tables),
        *(scorer.signature for scorer in ranking.scorers),
    )
    heads = {
        name: label for name, label in ranking.labels.items() if label != name
    }
    table = Table.from_records(
        "scores", "agreement with people", ScoreRow, rows, notes, by="scorer"
    )
    return replace(table, heads=heads)


def _ranking_value(ranking: results.Ranking, scorer: str) -> str:
    """Return the value by which a scorer ranks; an empty text if it ranked no image."""
    for image in ranking.images:
        if scorer in image.scorers:
            return next(iter(image.scorers[scorer].values))
    return ""


def _left_out(tables: results.RankingTables) -> Iterator[str]:
    for reason, count in tables.reasons.items():
        yield f"{count:,} images left out: {reason}"
    if tables.n_incomplete:
        yield f"{tables.n_incomplete:,} rankings left out: a rank is missing"


def _shown(mean: results.MeanCorrelation) -> str:
    if mean.mean is None:
        return _NONE
    shown = show_number(mean.mean)
    ends = mean.interval
    interval = (
        mean.reason if ends is None else " to ".join(map(show_number, ends))
    )
    return f"{shown} ({interval})" if interval else shown


@dataclass(frozen=True)
class ThresholdRow:
    """Mean correlations over the images whose best pair agrees so well."""

    threshold: Annotated[str, heading("best pair agrees", "text")]
    images: Annotated[int, heading("images", "count")]
    people: Annotated[float | None, heading("people")]
    prompt: Annotated[float | None, heading("prompt order")]


def _thresholds(rows: Sequence[results.AtThreshold], labels: Labels) -> Table:
    note = (
        "Images are kept when their best pair agrees so well. Prompt order: the order in which"
        " kinds of text were asked for when the texts were made."
    )
    return Table.from_records(
        "correlation-by-threshold",
        "correlation by agreement of the best pair",
        ThresholdRow,
        map(_threshold_cells, rows),
        [note],
        after=(Column(name, label) for name, label in labels.items()),
    )


def _thresholds_by_language(
    rows: Sequence[results.AtThreshold], labels: Labels
) -> Table:
    return Table.from_records(
        "threshold-by-language",
        "correlation by language and agreement of the best pair",
        ThresholdRow,
        ({"language": row.language, **_threshold_cells(row)} for row in rows),
        before=[Column("language", "language", "text")],
        after=(Column(name, label) for name, label in labels.items()),
    )


def _threshold_cells(row: results.AtThreshold) -> Cells:
    means = {scorer.scorer: scorer.mean for scorer in row.scorers}
    people = ThresholdRow(
        _head(row.threshold), row.n, row.human.mean, row.prompt.mean
    )
    return record_cells(people) | means


@dataclass(frozen=True)
class JoinedRow:
    """Agreement of the best pair when a scorer may be in it, and how often it is, by scorer."""

    threshold: Annotated[str, heading("best pair agrees", "text")]


def _joined(
    thresholds: Sequence[results.AtThreshold], labels: Labels
) -> Table:
    columns: list[Column] = []
    for name, label in labels.items():
        columns += [
            Column(name, label),
            Column(f"{name}, share", f"{label} in it", "percent"),
        ]
    rows: list[Cells] = []
    for row in thresholds:
        cells = record_cells(JoinedRow(_head(row.threshold)))
        for scorer in row.scorers:
            cells[scorer.scorer] = scorer.with_model
            cells[f"{scorer.scorer}, share"] = scorer.share_in_pair
        rows.append(cells)
    note = (
        "Agreement of the best pair when the scorer may be in it, and the share of images in which"
        " it is."
    )
    return Table.from_records(
        "one-more-annotator",
        "as one more annotator",
        JoinedRow,
        rows,
        [note],
        after=columns,
    )


def _head(threshold: float | None) -> str:
    return "in any way" if threshold is None else f"≥ {threshold:g}"


@dataclass(frozen=True)
class GroupRow:
    """Mean correlations over the images of a language or category."""

    images: Annotated[int, heading("images", "count")]
    people: Annotated[float | None, heading("people")]


def _groups(
    kind: str, groups: Sequence[results.GroupMeans], labels: Labels
) -> Table:
    rows: list[Cells] = []
    for group in groups:
        cells = {
            kind: group.group or _NONE,
            **record_cells(GroupRow(group.n, group.human.mean)),
        }
        for name, mean in zip(labels, group.scorers, strict=True):
            cells |= {
                name: mean.mean,
                **interval_cells(name, mean.interval, mean.reason),
            }
        rows.append(cells)
    return Table.from_records(
        kind,
        f"by {kind}",
        GroupRow,
        rows,
        before=[Column(kind, kind, "text")],
        after=(
            Column(name, label, interval=True)
            for name, label in labels.items()
        ),
    )


def _lengths(lengths: Sequence[results.TextLengths], labels: Labels) -> Table:
    columns: list[Column] = []
    for name in dict.fromkeys(name for row in lengths for name in row.tokens):
        columns.append(Column(name, f"tokens, {labels[name]}"))
        columns.append(
            Column(f"{name}, texts", f"texts, {labels[name]}", "count")
        )
    rows: list[Cells] = []
    for row in lengths:
        cells = record_cells(row) | {"language": row.language or _NONE}
        for name, tokens in row.tokens.items():
            cells |= {name: tokens.mean, f"{name}, texts": tokens.n_texts}
        rows.append(cells)
    note = (
        "Means over all texts of a language. Tokens are those of each model that reports them, over"
        " the texts that it scored: the same text has different numbers in two models, and in two"
        " languages."
    )
    return Table.from_records(
        "lengths",
        "lengths of texts",
        results.TextLengths,
        rows,
        [note],
        after=columns,
    )


def _position_bias(rows: Sequence[results.PositionBias]) -> Table:
    note = (
        "Spearman correlation, over all requests, of the rank a text got with the place it was"
        " shown at. Above 0: what is shown first is ranked better."
    )
    return Table.from_records(
        "position-bias",
        "position bias of judges that rank",
        results.PositionBias,
        rows,
        [note],
    )
