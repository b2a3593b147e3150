"""Tables of a ranking run: systems, thresholds, groups, lengths, differences, position bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from beholder.kinds.ranking import results
from beholder.report.numbers import show_number
from beholder.tables import (
    Cells,
    Column,
    Table,
    interval_cells,
    record_cells,
)

Labels: TypeAlias = Mapping[str, str]
"""Short label of each scorer, by name."""

LANGUAGE = Column("language", "language", "text")
AGREEMENT = Column("threshold", "best pair agrees", "text")
N_IMAGES = Column("n", "images", "count")
PEOPLE = "people: the two who agree best"
ANY = "any"
"""The threshold of no threshold, in tables and on the axis of the figure."""
_THRESHOLD_NOTE = (
    "Images are kept when their best pair agrees so well. Prompt order: the order in which"
    " kinds of text were asked for when the texts were made."
)
_NONE = "\N{EN DASH}"


def ranking_tables(ranking: results.Ranking) -> list[Table]:
    """Return all tables of a run that have rows, in the order to read them."""
    # First how scorers agree with people, then by threshold and group, then what may mislead:
    # lengths, differences within chance, position bias.
    tables, labels = ranking.tables, ranking.labels
    study = [
        _scores(ranking),
        _further_values(ranking),
        _thresholds(
            "correlation-by-threshold",
            "correlation by agreement of the best pair",
            tables.thresholds,
            labels,
            (_THRESHOLD_NOTE,),
        ),
        _thresholds(
            "threshold-by-language",
            "correlation by language and agreement of the best pair",
            tables.thresholds_by_language,
            labels,
        ),
        _one_more_annotator(tables.thresholds, labels),
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


_SCORE_COLUMNS = (
    Column("scorer", "scorer", "text"),
    Column("value", "ranked by", "text"),
    Column("mean", "correlation", interval=True, scale=(-1.0, 1.0)),
    N_IMAGES,
    Column("n_failed", "failed", "failed"),
    Column("n_level", "all level", "count"),
)


def _score_cells(
    scorer: str, value: str, correlation: results.MeanCorrelation
) -> Cells:
    mean, interval = correlation.mean, correlation.interval
    return {
        "scorer": scorer,
        "value": value,
        "mean": mean,
        **interval_cells("mean", interval, correlation.reason),
        "n": correlation.n,
        # Only the value that a scorer ranks by has counts of failed and level images.
        "n_failed": getattr(correlation, "n_failed", None),
        "n_level": getattr(correlation, "n_level", None),
    }


def _scores(ranking: results.Ranking) -> Table:
    tables = ranking.tables
    rows = [_score_cells(PEOPLE, "", tables.human)]
    for scorer in tables.scorers:
        name = scorer.scorer
        rows.append(_score_cells(name, _ranking_value(ranking, name), scorer))
    agrees = (
        "at any level"
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
        f"Kendall's W of all annotators: {_show_mean(tables.kendall_w)}. Texts per image: {counts}."
        f" Annotators' rankings with ties: {tables.n_with_ties:,}.",
        *_left_out(tables),
        *_undirected(ranking),
        *dict.fromkeys(scorer.signature for scorer in ranking.scorers),
    )
    return Table(
        "scores",
        "agreement with people",
        _SCORE_COLUMNS,
        tuple(rows),
        notes,
        by="scorer",
        heads=_short_labels(ranking),
    )


def _short_labels(ranking: results.Ranking) -> dict[str, str]:
    """Return the labels by which figures name the scorers, where they differ from the names."""
    return {
        name: label for name, label in ranking.labels.items() if label != name
    }


def _further_values(ranking: results.Ranking) -> Table:
    """Return what the values that do not rank would have given."""
    return Table(
        "further-values",
        "if another value of the scorer ranked",
        _SCORE_COLUMNS[:-2],
        tuple(
            _score_cells(scorer.scorer, mean.value, mean)
            for scorer in ranking.tables.scorers
            for mean in scorer.values
        ),
        by="scorer",
        heads=_short_labels(ranking),
    )


def _undirected(ranking: results.Ranking) -> Iterator[str]:
    for scorer in ranking.scorers:
        if scorer.undirected:
            names = ", ".join(scorer.undirected)
            yield (
                f"{scorer.name}: {names} has no better end. The larger value ranks first, so the"
                " sign of its correlation says only whether people prefer more or less of it."
            )


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


def _show_mean(mean: results.MeanCorrelation) -> str:
    """Return a mean with its interval, or with the reason why it has none."""
    if mean.mean is None:
        return _NONE
    text = show_number(mean.mean)
    ends = mean.interval
    interval = (
        mean.reason if ends is None else " to ".join(map(show_number, ends))
    )
    return f"{text} ({interval})" if interval else text


def _thresholds(
    name: str,
    title: str,
    rows: Sequence[results.AtThreshold],
    labels: Labels,
    notes: tuple[str, ...] = (),
) -> Table:
    """Return mean correlations over the images whose best pair agrees so well."""
    columns = [
        LANGUAGE,
        AGREEMENT,
        Column("images", "images", "count"),
        Column("people", "people"),
        Column("prompt", "prompt order"),
    ]
    cells: list[Cells] = [
        {
            "language": row.language,
            "threshold": _head(row.threshold),
            "images": row.n,
            "people": row.human.mean,
            "prompt": row.prompt.mean,
            **{scorer.scorer: scorer.mean for scorer in row.scorers},
        }
        for row in rows
    ]
    # The same columns serve the table over all languages and the one by language.
    if not any(row.language for row in rows):
        columns.remove(LANGUAGE)
    columns += [Column(key, label) for key, label in labels.items()]
    return Table(name, title, tuple(columns), tuple(cells), notes)


def _one_more_annotator(
    thresholds: Sequence[results.AtThreshold], labels: Labels
) -> Table:
    """Return the agreement of the best pair when a scorer may be in it, and how often it is."""
    columns = [AGREEMENT]
    for name, label in labels.items():
        columns += [
            Column(name, label),
            Column(f"{name}, share", f"{label} in it", "percent"),
        ]
    rows: list[Cells] = []
    for row in thresholds:
        cells: Cells = {"threshold": _head(row.threshold)}
        for scorer in row.scorers:
            cells[scorer.scorer] = scorer.with_model
            cells[f"{scorer.scorer}, share"] = scorer.share_in_pair
        rows.append(cells)
    note = (
        "Agreement of the best pair when the scorer may be in it, and the share of images in which"
        " it is."
    )
    return Table(
        "one-more-annotator",
        "as one more annotator",
        tuple(columns),
        tuple(rows),
        (note,),
    )


def _head(threshold: float | None) -> str:
    return ANY if threshold is None else f"≥ {threshold:g}"


def _groups(
    kind: str, groups: Sequence[results.GroupMeans], labels: Labels
) -> Table:
    """Return mean correlations over the images of each language or category."""
    columns = [
        Column(kind, kind, "text"),
        Column("images", "images", "count"),
        Column("people", "people"),
    ]
    columns += [
        Column(name, label, interval=True) for name, label in labels.items()
    ]
    rows: list[Cells] = []
    for group in groups:
        cells: Cells = {
            kind: group.group or _NONE,
            "images": group.n,
            "people": group.human.mean,
        }
        for name, mean in zip(labels, group.scorers, strict=True):
            cells |= interval_cells(name, mean.interval, mean.reason)
            cells[name] = mean.mean
        rows.append(cells)
    return Table(kind, f"by {kind}", tuple(columns), tuple(rows))


def _lengths(lengths: Sequence[results.TextLengths], labels: Labels) -> Table:
    # Only models that report tokens get columns, in the order in which they first appear.
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
