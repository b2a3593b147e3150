"""Tables of a ranking run: systems, thresholds, groups, lengths, differences, position bias."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from beholder.kinds.ranking import results
from beholder.report.numbers import show_number
from beholder.tables import FAILED, Cells, Column, Table, interval_cells, record_cells

PEOPLE = "people, the pair itself"
_SCALE = (-1.0, 1.0)
_IMAGES = Column("images", "images", "count")
_PEOPLE = Column("people", "people")
_AGREES = Column("threshold", "best pair agrees", "text")


def ranking_tables(ranking: results.Ranking) -> list[Table]:
    """All tables of a run that have rows, in the order to read them."""
    tables = ranking.tables
    found = [_scores(ranking), _thresholds(ranking), _joined(ranking)]
    for kind, rows in (("language", tables.groups.language), ("category", tables.groups.category)):
        if rows:
            found.append(_groups(kind, rows, ranking.labels))
    found.append(_lengths(ranking))
    if tables.differences:
        found.append(_differences(tables.differences))
    if tables.bias:
        found.append(_bias(tables.bias))
    return found


def _scores(ranking: results.Ranking) -> Table:
    rows: list[Cells] = [
        {"scorer": PEOPLE, "value": "", **record_cells(ranking.tables.human, "mean")}
    ]
    for row in ranking.tables.scorers:
        found = (
            image.scorers[row.scorer] for image in ranking.images if row.scorer in image.scorers
        )
        value = next((next(iter(one.values)) for one in found), "")
        rows.append(record_cells(row, "mean") | {"value": value})
        rows += [record_cells(one, "mean") | {"scorer": row.scorer} for one in row.values]
    return Table(
        name="scores",
        title="agreement with people",
        columns=(
            Column("scorer", "scorer", "text"),
            Column("value", "ranked by", "text"),
            Column("mean", "correlation", interval=True, scale=_SCALE),
            Column("n", "images", "count"),
            FAILED,
            Column("n_level", "all level", "count"),
        ),
        rows=tuple(rows),
        notes=(*_facts(ranking), *(scorer.signature for scorer in ranking.scorers)),
        by="scorer",
        heads={name: label for name, label in ranking.labels.items() if label != name},
    )


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
        return "\N{EN DASH}"
    shown = show_number(mean.mean)
    ends = mean.interval
    return shown if ends is None else f"{shown} ({' to '.join(map(show_number, ends))})"


def _thresholds(ranking: results.Ranking) -> Table:
    return Table(
        name="correlation-by-threshold",
        title="correlation by agreement of the best pair",
        columns=(
            _AGREES,
            _IMAGES,
            _PEOPLE,
            Column("prompt", "prompt order"),
            *(Column(name, label) for name, label in ranking.labels.items()),
        ),
        rows=tuple(
            {
                "threshold": _head(row.threshold),
                "images": row.n,
                "people": row.human.mean,
                "prompt": row.prompt.mean,
                **{found.scorer: found.mean for found in row.scorers},
            }
            for row in ranking.tables.thresholds
        ),
        notes=(
            "Images are kept when their best pair agrees so well. Prompt order: the order in which"
            " kinds of text were asked for when the texts were made.",
        ),
    )


def _joined(ranking: results.Ranking) -> Table:
    columns = [_AGREES]
    for name, label in ranking.labels.items():
        columns += [Column(name, label), Column(f"{name}, share", f"{label} in it", "percent")]
    rows = []
    for row in ranking.tables.thresholds:
        cells: Cells = {"threshold": _head(row.threshold)}
        for found in row.scorers:
            cells |= {found.scorer: found.with_model, f"{found.scorer}, share": found.share_in_pair}
        rows.append(cells)
    return Table(
        name="one-more-annotator",
        title="as one more annotator",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(
            "Agreement of the best pair when the scorer may be in it, and the share of images in"
            " which it is.",
        ),
    )


def _head(threshold: float | None) -> str:
    return "in any way" if threshold is None else f"≥ {threshold:g}"


def _groups(kind: str, groups: Sequence[results.GroupMeans], labels: dict[str, str]) -> Table:
    rows = []
    for group in groups:
        row: Cells = {kind: group.group or "\N{EN DASH}", "images": group.n}
        row["people"] = group.human.mean
        for name, found in zip(labels, group.scorers, strict=True):
            row |= {name: found.mean, **interval_cells(name, found.interval)}
        rows.append(row)
    return Table(
        name=kind,
        title=f"by {kind}",
        columns=(
            Column(kind, kind, "text"),
            _IMAGES,
            _PEOPLE,
            *(Column(name, label, interval=True) for name, label in labels.items()),
        ),
        rows=tuple(rows),
    )


def _lengths(ranking: results.Ranking) -> Table:
    columns = [
        Column("language", "language", "text"),
        Column("n_texts", "texts", "count"),
        Column("characters", "characters"),
    ]
    lengths, labels = ranking.tables.lengths, ranking.labels
    for name in dict.fromkeys(name for row in lengths for name in row.tokens):
        columns.append(Column(name, f"tokens, {labels[name]}"))
        columns.append(Column(f"{name}, texts", f"texts, {labels[name]}", "count"))
    rows = []
    for one in lengths:
        row: Cells = {"language": one.language or "\N{EN DASH}", "n_texts": one.n_texts}
        row["characters"] = one.characters
        for name, tokens in one.tokens.items():
            row |= {name: tokens.mean, f"{name}, texts": tokens.n_texts}
        rows.append(row)
    return Table(
        name="lengths",
        title="lengths of texts",
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(
            "Means over all texts of a language. Tokens are those of each model that reports them,"
            " over the texts that it scored: the same text has different numbers in two models, and"
            " in two languages.",
        ),
    )


def _differences(differences: Sequence[results.ScorerDifference]) -> Table:
    return Table(
        name="differences",
        title="differences, image by image",
        columns=(
            Column("a", "scorer", "text"),
            Column("b", "minus", "text"),
            Column("image_gain", "gain by the image", "mark"),
            Column("difference", "difference", "signed", interval=True),
            Column("p", "p (sign flips)", "p"),
            Column("n", "images", "count"),
        ),
        rows=tuple(record_cells(one, "difference") for one in differences),
        by="a",
    )


def _bias(judges: Sequence[results.PositionBias]) -> Table:
    return Table(
        name="position-bias",
        title="position bias of judges that rank",
        columns=(
            Column("scorer", "scorer", "text"),
            Column("value", "rank and place", interval=True),
            Column("n_requests", "requests", "count"),
            FAILED,
        ),
        rows=tuple(record_cells(one, "value") for one in judges),
        notes=(
            "Spearman correlation, over all requests, of the rank a text got with the place it was"
            " shown at. Above 0: what is shown first is ranked better.",
        ),
    )
