"""Tables of a ranking run: systems, thresholds, groups, lengths, differences, position bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import structs

from beholder.kinds.ranking import results
from beholder.report.numbers import show_number
from beholder.tables import FAILED, Cells, Column, Table, interval_cells, record_cells

Labels: TypeAlias = Mapping[str, str]
"""Short label of each scorer, by name."""

PEOPLE = "people, the pair itself"
_NONE = "\N{EN DASH}"
_SCORER = Column("scorer", "scorer", "text")
_IMAGES = Column("images", "images", "count")
_PEOPLE = Column("people", "people")
_AGREES = Column("threshold", "best pair agrees", "text")


def ranking_tables(ranking: results.Ranking) -> list[Table]:
    """All tables of a run that have rows, in the order to read them."""
    tables, labels = ranking.tables, ranking.labels
    found = [
        _scores(ranking),
        _thresholds(tables.thresholds, labels),
        _joined(tables.thresholds, labels),
        _groups("language", tables.groups.language, labels),
        _groups("category", tables.groups.category, labels),
        _lengths(tables.lengths, labels),
        _differences(tables.differences),
        _bias(tables.bias),
    ]
    return [table for table in found if table.rows]


def _scores(ranking: results.Ranking) -> Table:
    rows: list[Cells] = [
        {"scorer": PEOPLE, "value": "", **record_cells(ranking.tables.human, "mean")}
    ]
    for row in ranking.tables.scorers:
        found = (one.scorers[row.scorer] for one in ranking.images if row.scorer in one.scorers)
        value = next((next(iter(one.values)) for one in found), "")
        rows.append(record_cells(row, "mean") | {"value": value})
        rows += [record_cells(one, "mean") | {"scorer": row.scorer} for one in row.values]
    columns = (
        _SCORER,
        Column("value", "ranked by", "text"),
        Column("mean", "correlation", interval=True, scale=(-1.0, 1.0)),
        Column("n", "images", "count"),
        FAILED,
        Column("n_level", "all level", "count"),
    )
    notes = (*_facts(ranking), *(scorer.signature for scorer in ranking.scorers))
    heads = {name: label for name, label in ranking.labels.items() if label != name}
    return Table("scores", "agreement with people", columns, tuple(rows), notes, "scorer", heads)


def _facts(ranking: results.Ranking) -> Iterator[str]:
    tables = ranking.tables
    agrees = "in any way" if tables.threshold is None else f"at least {tables.threshold:g}"
    yield (
        "Of each image the two annotators who agree best are taken (all pairs that agree equally"
        " well); an image's score is the mean of the scorer's Spearman correlations with both."
        " Means over images with 95 % bootstrap intervals over images, on a scale from −1 to 1."
    )
    yield (
        f"Images whose best pair of annotators agrees {agrees}: {tables.n_kept:,} of"
        f" {tables.n_judged:,} that can be compared ({tables.n_images:,} in the data)."
    )
    counts = ", ".join(f"{n} ({count:,} images)" for n, count in tables.n_texts.items())
    yield (
        f"Kendall's W of all annotators: {_shown(tables.kendall_w)}. Texts per image:"
        f" {counts}. Annotators' rankings with ties: {tables.n_with_ties:,}."
    )
    for reason, count in tables.reasons.items():
        yield f"{count:,} images left out: {reason}"
    if tables.n_incomplete:
        yield f"{tables.n_incomplete:,} rankings left out: a rank is missing"


def _shown(mean: results.MeanCorrelation) -> str:
    if mean.mean is None:
        return _NONE
    shown = show_number(mean.mean)
    ends = mean.interval
    return shown if ends is None else f"{shown} ({' to '.join(map(show_number, ends))})"


def _thresholds(found: Sequence[results.AtThreshold], labels: Labels) -> Table:
    scorers = (Column(name, label) for name, label in labels.items())
    columns = (_AGREES, _IMAGES, _PEOPLE, Column("prompt", "prompt order"), *scorers)
    rows: list[Cells] = []
    for row in found:
        means = {scorer.scorer: scorer.mean for scorer in row.scorers}
        people = {"images": row.n, "people": row.human.mean, "prompt": row.prompt.mean}
        rows.append({"threshold": _head(row.threshold), **people, **means})
    notes = (
        "Images are kept when their best pair agrees so well. Prompt order: the order in which"
        " kinds of text were asked for when the texts were made.",
    )
    title = "correlation by agreement of the best pair"
    return Table("correlation-by-threshold", title, columns, tuple(rows), notes)


def _joined(found: Sequence[results.AtThreshold], labels: Labels) -> Table:
    columns = [_AGREES]
    for name, label in labels.items():
        columns += [Column(name, label), Column(f"{name}, share", f"{label} in it", "percent")]
    rows: list[Cells] = []
    for row in found:
        cells: Cells = {"threshold": _head(row.threshold)}
        for one in row.scorers:
            cells |= {one.scorer: one.with_model, f"{one.scorer}, share": one.share_in_pair}
        rows.append(cells)
    notes = (
        "Agreement of the best pair when the scorer may be in it, and the share of images in"
        " which it is.",
    )
    title = "as one more annotator"
    return Table("one-more-annotator", title, tuple(columns), tuple(rows), notes)


def _head(threshold: float | None) -> str:
    return "in any way" if threshold is None else f"≥ {threshold:g}"


def _groups(kind: str, groups: Sequence[results.GroupMeans], labels: Labels) -> Table:
    scorers = (Column(name, label, interval=True) for name, label in labels.items())
    rows: list[Cells] = []
    for group in groups:
        row: Cells = {kind: group.group or _NONE, "images": group.n, "people": group.human.mean}
        for name, found in zip(labels, group.scorers, strict=True):
            row |= {name: found.mean, **interval_cells(name, found.interval)}
        rows.append(row)
    columns = (Column(kind, kind, "text"), _IMAGES, _PEOPLE, *scorers)
    return Table(kind, f"by {kind}", columns, tuple(rows))


def _lengths(lengths: Sequence[results.TextLengths], labels: Labels) -> Table:
    columns = [
        Column("language", "language", "text"),
        Column("n_texts", "texts", "count"),
        Column("characters", "characters"),
    ]
    for name in dict.fromkeys(name for row in lengths for name in row.tokens):
        columns.append(Column(name, f"tokens, {labels[name]}"))
        columns.append(Column(f"{name}, texts", f"texts, {labels[name]}", "count"))
    rows: list[Cells] = []
    for one in lengths:
        row = structs.asdict(one) | {"language": one.language or _NONE}
        for name, tokens in one.tokens.items():
            row |= {name: tokens.mean, f"{name}, texts": tokens.n_texts}
        rows.append(row)
    notes = (
        "Means over all texts of a language. Tokens are those of each model that reports them,"
        " over the texts that it scored: the same text has different numbers in two models, and"
        " in two languages.",
    )
    return Table("lengths", "lengths of texts", tuple(columns), tuple(rows), notes)


def _differences(differences: Sequence[results.ScorerDifference]) -> Table:
    columns = (
        Column("a", "scorer", "text"),
        Column("b", "minus", "text"),
        Column("image_gain", "gain by the image", "mark"),
        Column("difference", "difference", "signed", interval=True),
        Column("p", "p (sign flips)", "p"),
        Column("n", "images", "count"),
    )
    rows = tuple(record_cells(one, "difference") for one in differences)
    return Table("differences", "differences, image by image", columns, rows, by="a")


def _bias(judges: Sequence[results.PositionBias]) -> Table:
    columns = (
        _SCORER,
        Column("value", "rank and place", interval=True),
        Column("n_requests", "requests", "count"),
        FAILED,
    )
    rows = tuple(record_cells(one, "value") for one in judges)
    notes = (
        "Spearman correlation, over all requests, of the rank a text got with the place it was"
        " shown at. Above 0: what is shown first is ranked better.",
    )
    return Table("position-bias", "position bias of judges that rank", columns, rows, notes)
