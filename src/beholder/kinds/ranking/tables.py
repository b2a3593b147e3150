"""Tables of a ranking run: systems, thresholds, groups, lengths, differences, position bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beholder.report.numbers import show_number
from beholder.tables import FAILED, Column, Table, interval_cells

PEOPLE = "people, the pair itself"
_SCALE = (-1.0, 1.0)


def ranking_tables(ranking: Mapping[str, Any]) -> list[Table]:
    """All tables of a run that hold something, in the order to read them.

    Args:
        ranking: The content of ``ranking.json``.
    """
    tables = ranking["tables"]
    names = label_of(ranking)
    found = [_scores(ranking, names), _thresholds(tables, names), _joined(tables, names)]
    found += [_groups(kind, rows, names) for kind, rows in tables["groups"].items() if rows]
    found.append(_lengths(tables["lengths"], names))
    if tables["differences"]:
        found.append(_differences(tables["differences"]))
    if tables["bias"]:
        found.append(_bias(tables["bias"]))
    return found


def label_of(ranking: Mapping[str, Any]) -> dict[str, str]:
    """Short label of each scorer, for the heads of columns: S1, S2..."""
    return {row["name"]: f"S{place}" for place, row in enumerate(ranking["scorers"], start=1)}


def _scores(ranking: Mapping[str, Any], names: Mapping[str, str]) -> Table:
    tables = ranking["tables"]
    rows = [{"scorer": PEOPLE, "value": "", **_estimate(tables["human"])}]
    for row in tables["scorers"]:
        name = row["scorer"]
        counts = {"n_failed": row["n_failed"], "n_level": row["n_level"]}
        rows.append({"scorer": name, "value": _headline(ranking, name), **_estimate(row), **counts})
        rows += [
            {"scorer": name, "value": value["value"], **_estimate(value)} for value in row["values"]
        ]
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
        notes=(*_facts(tables), *(scorer["signature"] for scorer in ranking["scorers"])),
        by="scorer",
        heads=names,
    )


def _headline(ranking: Mapping[str, Any], scorer: str) -> str:
    """The value that a scorer ranks by: its first; empty where it scored nothing."""
    found = (image["scorers"].get(scorer) for image in ranking["images"])
    return next((next(iter(one["values"])) for one in found if one), "")


def _facts(tables: Mapping[str, Any]) -> Iterator[str]:
    limit = tables["threshold"]
    agrees = "in any way" if limit is None else f"at least {limit:g}"
    yield (
        "Of each image the two annotators who agree best are taken (all pairs that agree equally"
        " well); an image's score is the mean of the scorer's Spearman correlations with both."
        " Means over images with 95 % bootstrap intervals over images, on a scale from −1 to 1."
    )
    yield (
        f"Images whose best pair of annotators agrees {agrees}: {tables['n_kept']:,} of"
        f" {tables['n_judged']:,} that can be compared ({tables['n_images']:,} in the data)."
    )
    w = tables["kendall_w"]
    counts = ", ".join(f"{n} ({count:,} images)" for n, count in tables["n_texts"].items())
    yield (
        f"Kendall's W of all annotators: {_shown(w['mean'], w['interval'])}. Texts per image:"
        f" {counts}. Annotators' rankings with ties: {tables['n_with_ties']:,}."
    )
    for reason, count in tables["reasons"].items():
        yield f"{count:,} images left out: {reason}"
    if tables["n_incomplete"]:
        yield f"{tables['n_incomplete']:,} rankings left out: a rank is missing"


def _thresholds(tables: Mapping[str, Any], names: Mapping[str, str]) -> Table:
    return Table(
        name="correlation-by-threshold",
        title="correlation by agreement of the best pair",
        columns=(
            Column("threshold", "best pair agrees", "text"),
            Column("images", "images", "count"),
            Column("people", "people"),
            Column("prompt", "prompt order"),
            *(Column(name, label) for name, label in names.items()),
        ),
        rows=tuple(
            {
                "threshold": _head(row["threshold"]),
                "images": row["n"],
                "people": row["human"]["mean"],
                "prompt": row["prompt"]["mean"],
                **{found["scorer"]: found["mean"] for found in row["scorers"]},
            }
            for row in tables["thresholds"]
        ),
        notes=(
            "Images are kept when their best pair agrees so well. Prompt order: the order in which"
            " kinds of text were asked for when the texts were made.",
        ),
    )


def _joined(tables: Mapping[str, Any], names: Mapping[str, str]) -> Table:
    columns = [Column("threshold", "best pair agrees", "text")]
    for name, label in names.items():
        columns += [Column(name, label), Column(_share(name), f"{label} in it", "percent")]
    rows = []
    for row in tables["thresholds"]:
        cells: dict[str, Any] = {"threshold": _head(row["threshold"])}
        for found in row["scorers"]:
            cells[found["scorer"]] = found["with_model"]
            cells[_share(found["scorer"])] = found["share_in_pair"]
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


def _share(name: str) -> str:
    return f"{name}, share"


def _groups(kind: str, rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Table:
    return Table(
        name=kind,
        title=f"by {kind}",
        columns=(
            Column(kind, kind, "text"),
            Column("images", "images", "count"),
            Column("people", "people"),
            *(Column(name, label, interval=True) for name, label in names.items()),
        ),
        rows=tuple(
            {
                kind: row["group"] or "\N{EN DASH}",
                "images": row["n"],
                "people": row["human"]["mean"],
                **{
                    key: cell
                    for name, found in zip(names, row["scorers"], strict=True)
                    for key, cell in _cells(name, found["mean"], found["interval"]).items()
                },
            }
            for row in rows
        ),
    )


def _lengths(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Table:
    columns = [
        Column("language", "language", "text"),
        Column("n_texts", "texts", "count"),
        Column("characters", "characters"),
    ]
    for name in dict.fromkeys(name for row in rows for name in row["tokens"]):
        columns.append(Column(name, f"tokens, {names[name]}"))
        columns.append(Column(_texts(name), f"texts, {names[name]}", "count"))
    return Table(
        name="lengths",
        title="lengths of texts",
        columns=tuple(columns),
        rows=tuple(
            {
                "language": row["language"] or "\N{EN DASH}",
                "n_texts": row["n_texts"],
                "characters": row["characters"],
                **{name: found["mean"] for name, found in row["tokens"].items()},
                **{_texts(name): found["n_texts"] for name, found in row["tokens"].items()},
            }
            for row in rows
        ),
        notes=(
            "Means over all texts of a language. Tokens are those of each model that tells them,"
            " over the texts that it scored: the same text has different numbers in two models, and"
            " in two languages.",
        ),
    )


def _texts(name: str) -> str:
    return f"{name}, texts"


def _differences(rows: Sequence[Mapping[str, Any]]) -> Table:
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
        rows=tuple(
            {
                **{key: row[key] for key in ("a", "b", "image_gain", "n")},
                **_cells("difference", row.get("difference"), row.get("interval")),
                "p": row.get("p"),
            }
            for row in rows
        ),
        by="a",
    )


def _bias(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        name="position-bias",
        title="position bias of judges that rank",
        columns=(
            Column("scorer", "scorer", "text"),
            Column("value", "rank and place", interval=True),
            Column("n_requests", "requests", "count"),
            FAILED,
        ),
        rows=tuple({**row, **interval_cells("value", row["interval"])} for row in rows),
        notes=(
            "Spearman correlation, over all requests, of the rank a text got with the place it was"
            " shown at. Above 0: what is shown first is ranked better.",
        ),
    )


def _estimate(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**_cells("mean", row["mean"], row["interval"]), "n": row["n"]}


def _cells(key: str, value: float | None, ends: Sequence[float] | None) -> dict[str, float | None]:
    return {key: value, **interval_cells(key, ends)}


def _head(threshold: float | None) -> str:
    return "in any way" if threshold is None else f"≥ {threshold:g}"


def _shown(value: float | None, ends: Sequence[float] | None) -> str:
    if value is None:
        return "\N{EN DASH}"
    shown = show_number(value)
    return shown if ends is None else f"{shown} ({' to '.join(map(show_number, ends))})"
