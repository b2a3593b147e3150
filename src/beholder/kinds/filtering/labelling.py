"""Labels of a filter: rows that people read, and what they say about what remains."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from beholder.base import files
from beholder.base.optional import load_object
from beholder.data import sources
from beholder.errors import ConfigError, DataError, RunError
from beholder.kinds.filtering.deciding import NO_TEXT, read_verdicts
from beholder.kinds.filtering.pictures import (
    PictureFolder,
    extract_pictures,
    link_or_copy,
)
from beholder.kinds.filtering.result import (
    VERDICTS,
    FilterResult,
    check_unchanged,
    read_result,
)
from beholder.kinds.filtering.rows import read_numbers, read_rows
from beholder.kinds.filtering.source_row import SourcePart
from beholder.stats.remaining import (
    FEWEST_LABELS,
    Rate,
    Remaining,
    Stratum,
    allocate_labels,
    estimate_remaining,
)

SAMPLES = "samples.json"
MANY_UNSURE = 0.1
"""Share of labels that are unsure above which both bounds are given."""
_GUESSES = {
    "drop": 0.9,
    "quarantine": 0.5,
    "keep-low": 0.15,
    "keep-2+": 0.15,
    "keep-1": 0.1,
    "keep": 0.02,
}
"""Guessed share of bad rows by stratum, or by decision: labels go where the guess is least sure."""

Bad = Literal["grave", "minor"]


class DrawnRows(msgspec.Struct, frozen=True):
    """A sample that was drawn.

    Attributes:
        digest: Digest of the filter that it was drawn from.
        rows: Numbers of its rows.
    """

    digest: str
    rows: tuple[int, ...]


class SampleLog(msgspec.Struct, frozen=True):
    """The content of ``samples.json``: all samples of a filter, oldest first."""

    format: int = 1
    samples: tuple[DrawnRows, ...] = ()


@dataclass(frozen=True)
class RemainingEstimate:
    """The answer of ``estimate``.

    Attributes:
        remaining: What the filter did, unsure labels counted as bad.
        unsure_good: The same with unsure labels counted as good; None without unsure ones.
        strata: The strata with rows, labels and bad labels.
        n_labels: Labels that count.
        n_unsure: Labels that are unsure.
        cautions: What a reader should know.
    """

    remaining: Remaining
    unsure_good: Remaining | None
    strata: tuple[Stratum, ...]
    n_labels: int
    n_unsure: int
    cautions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values; NaN, a share of nothing, is null as msgspec writes it."""
        fields = msgspec.json.decode(msgspec.json.encode(self))
        return {"format": 1, **fields}


def draw_rows(
    job: Path, n_labels: int, seed: int, *, is_new: bool
) -> tuple[list[int], dict[str, int], list[str]]:
    """Draw rows to label: half of them from kept rows, more from strata that are less sure.

    At most one row of a picture is drawn, except from a stratum of which all rows are drawn.

    Args:
        job: Folder of a finished filter.
        n_labels: Labels in all.
        seed: Seed of the draw.
        is_new: Whether rows of earlier samples are left out.

    Returns:
        Row numbers in random order, the labels by stratum, and cautions.

    Raises:
        ConfigError: The number of labels is not positive.
        RunError: The filter is not finished.
    """
    if n_labels < 1:
        raise ConfigError(f"--n {n_labels}: expected 1 or more")
    result = read_result(job)
    log = read_log(job)
    earlier_rows = {
        row for sample in log.samples for row in sample.rows if is_new
    }
    by_stratum: dict[str, list[int]] = defaultdict(list)
    picture_keys = read_numbers(_row_parts(job), "picture_hash")
    for row in read_verdicts(job / VERDICTS, ["row", "stratum"]):
        by_stratum[row["stratum"]].append(row["row"])
    labels_by_stratum = _allocate(result.strata, n_labels)
    # A draw depends on the seed and the number of earlier draws alone.
    n_before = len(log.samples) if is_new else 0
    generator = np.random.default_rng([seed, n_before])
    seen_pictures: set[int] = set()
    drawn_rows: list[int] = []
    cautions: list[str] = []
    for stratum, n in labels_by_stratum.items():
        order = generator.permutation(np.array(by_stratum[stratum]))
        # Where all rows are read, rows of one picture do not matter.
        are_all = n >= len(order)
        chosen: list[int] = []
        for number in order.tolist():
            picture = int(picture_keys[number])
            is_seen = picture in seen_pictures and not are_all
            if len(chosen) == n or number in earlier_rows or is_seen:
                continue
            seen_pictures.update({picture} - {0})
            chosen.append(number)
        if len(chosen) < n:
            cautions.append(
                f"stratum {stratum} has {len(chosen)} rows of other pictures that were not drawn"
                f" before, of {n} wanted"
            )
        drawn_rows += chosen
    shuffled = generator.permutation(np.array(drawn_rows, np.int64)).tolist()
    log = SampleLog(
        samples=(*log.samples, DrawnRows(result.digest, tuple(drawn_rows)))
    )
    files.write_bytes(job / SAMPLES, msgspec.json.encode(log))
    return shuffled, labels_by_stratum, cautions


def read_log(job: Path) -> SampleLog:
    """Return the samples of a filter that were drawn."""
    path = job / SAMPLES
    if not path.is_file():
        return SampleLog()
    content = files.read_json(
        path, form=1, kind="list of samples", missing_message=""
    )
    return files.as_record(content, SampleLog, path)


def _row_parts(job: Path) -> list[Path]:
    return sorted((job / "work").glob("rows-*/part-*.parquet"))


def write_sample(job: Path, rows: Sequence[int], out: Path) -> None:
    """Write what people read: texts without decision and reasons, and their pictures beside them.

    Args:
        job: Folder of a finished filter.
        rows: Row numbers, in the order of reading.
        out: The file; pictures go to ``NAME-pictures`` beside it.

    Raises:
        RunError: A source changed since it was filtered.
    """
    result = read_result(job)
    check_unchanged(result)
    item_by_row: dict[int, dict[str, Any]] = {}
    wanted_rows = set(rows)
    stored_rows = read_rows(_row_parts(job), ("text", "image"))
    for row, fields in enumerate(stored_rows):
        if row in wanted_rows:
            item = {"id": f"row-{row}", "candidate": fields["text"] or ""}
            if fields["image"]:
                item["images"] = [fields["image"]]
            item_by_row[row] = item
    _copy_pictures(result, item_by_row, out)
    files.write_jsonl(out, (item_by_row[row] for row in rows))


def _copy_pictures(
    result: FilterResult, item_by_row: Mapping[int, dict[str, Any]], out: Path
) -> None:
    """Copy pictures that are at hand, named by their rows, and name the copies in the items.

    A reader sees pictures of shards in no other way, and names of files may say what they show.
    """
    folder = out.parent / f"{out.stem}-pictures"

    def place_of(row: int, image: str) -> Path:
        return folder / f"row-{row}{Path(image).suffix.lower()}"

    first = 0
    for file in result.files:
        source = PictureFolder.from_source(file.name, result.media_root)
        for start, stop, n in file.parts:
            rows = {
                row - first: row
                for row, item in item_by_row.items()
                if first <= row < first + n and "images" in item
            }
            first += n
            for row in rows.values():
                (image,) = item_by_row[row]["images"]
                place = place_of(row, image)
                place.unlink(missing_ok=True)
                if file.form != "tar" and source.has(image):
                    files.make_folder(folder)
                    link_or_copy(source.folder / image, place)
            if file.form == "tar":
                part = SourcePart(file.name, file.form, start, stop)
                extract_pictures(part, rows, place_of)
            for row in rows.values():
                place = place_of(row, item_by_row[row]["images"][0])
                if place.is_file():
                    name = place.relative_to(out.parent).as_posix()
                    item_by_row[row]["images"] = [name]


def _allocate(strata: Mapping[str, int], n_labels: int) -> dict[str, int]:
    """Return the number of labels of each stratum: half of them for kept rows."""
    labels_by_stratum: dict[str, int] = {}
    # A row without a text needs no reader.
    read_strata = [name for name in strata if not name.endswith(NO_TEXT)]
    kept_strata = [name for name in read_strata if name.startswith("keep")]
    removed_strata = [name for name in read_strata if name not in kept_strata]
    n_kept = n_labels // 2 if removed_strata else n_labels
    for names, n in (
        (kept_strata, n_kept),
        (removed_strata, n_labels - n_kept),
    ):
        guesses = [
            _GUESSES.get(name, _GUESSES[name.partition("-")[0]])
            for name in names
        ]
        counts = allocate_labels(n, [strata[name] for name in names], guesses)
        labels_by_stratum |= dict(zip(names, counts, strict=True))
    return labels_by_stratum


def read_labels(path: Path, bad: Bad = "grave") -> dict[int, bool | None]:
    """Return by row number whether people call it bad; None for unsure.

    Args:
        path: A study of the task ``reading``, or a table with ``id`` and ``bad`` (true, false, or
            empty for unsure).
        bad: The mildest level of error that counts as bad.

    Raises:
        DataError: A label is not valid.
        RunError: The folder contains no study, or one of another task.
    """
    if path.is_dir():
        return _study_labels(path, bad)
    labels: dict[int, bool | None] = {}
    for number, row in sources.read_rows(path, str(path)):
        if isinstance(row, DataError):
            raise row
        value = row.get("bad")
        text = str(value).strip().lower()
        if text not in _LABELS:
            raise DataError(
                str(path),
                f"bad is {value!r}; expected true, false, or empty for unsure",
                line=number,
            )
        labels[_row_number(row.get("id"), str(path))] = _LABELS[text]
    return labels


_LABELS = {
    **dict.fromkeys(("true", "1", "1.0", "yes"), True),
    **dict.fromkeys(("false", "0", "0.0", "no"), False),
    **dict.fromkeys(("", "none", "unsure"), None),
}


def _row_number(name: object, place: str) -> int:
    prefix, _, number = str(name).partition("row-")
    if prefix or not number.isdecimal():
        raise DataError(
            place,
            f"the id {name!r} is none of a sample; expected row-NUMBER, as 'beholder filter sample'"
            " writes it",
        )
    return int(number)


def _study_labels(study: Path, bad: Bad) -> dict[int, bool | None]:
    # Named as text: kinds of work do not import each other.
    read_study = load_object(
        "beholder.kinds.annotation.exchange:study_readings"
    )
    readings = read_study(study)
    if readings["task"] != "reading":
        raise RunError(
            f"{study} is a study of {readings['task']}; label with 'beholder annotate reading'"
        )
    levels = {"grave"} if bad == "grave" else {"grave", "minor"}
    verdicts: dict[int, dict[str, bool | None]] = defaultdict(dict)
    for row in readings["rows"]:
        if not row["done"] or row["gold"] is not None:
            continue
        judgment = row["judgment"]
        number = _row_number(row["unit"], str(study))
        verdicts[number][row["annotator"]] = (
            None if judgment.get("cannot") else judgment["level"] in levels
        )
    labels: dict[int, bool | None] = {}
    for number, by_reader in verdicts.items():
        adjudicator = readings["adjudicator"]
        if adjudicator in by_reader:
            labels[number] = by_reader[adjudicator]
            continue
        # The stricter reader counts, as in ``accept``.
        values = set(by_reader.values())
        labels[number] = (
            True if True in values else None if None in values else False
        )
    return labels


def estimate(
    job: Path,
    labels: Mapping[int, bool | None],
    *,
    same_labels: bool = False,
) -> RemainingEstimate:
    """Return precision, recall and the rate of bad rows left.

    Args:
        job: Folder of a finished filter.
        labels: Whether a row is bad, by its number.
        same_labels: Whether labels may come from before the present settings.

    Raises:
        TooFewLabelsError: A stratum has no label.
        RunError: Labels belong to other settings.
        DataError: A label is of a row that is not in the filter, or that was not drawn.
    """
    result = read_result(job)
    cautions = list(_check_origin(job, result, labels, same_labels))
    n_labels: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    unsure: Counter[str] = Counter()
    for row in read_verdicts(job / VERDICTS, ["row", "stratum"]):
        if row["row"] in labels:
            label, stratum = labels[row["row"]], row["stratum"]
            n_labels[stratum] += 1
            bad[stratum] += label is True
            unsure[stratum] += label is None
    n_read, n_unsure = n_labels.total(), unsure.total()
    for name, n in result.strata.items():
        if name.endswith(NO_TEXT):
            n_labels[name] = bad[name] = n
    missing = [
        f"label at least {min(FEWEST_LABELS, n)} of stratum {name} ({n:,} rows)"
        for name, n in result.strata.items()
        if not n_labels[name]
    ]
    if missing:
        raise TooFewLabelsError(f"no total: {'; '.join(missing)}")
    cautions += [
        f"stratum {name} has {n_labels[name]} labels; label at least {FEWEST_LABELS}"
        for name, n in result.strata.items()
        if n_labels[name] < min(FEWEST_LABELS, n)
    ]

    def strata_with(is_unsure_bad: bool) -> list[Stratum]:
        return [
            Stratum(
                name,
                n,
                n_labels[name],
                bad[name] + unsure[name] * is_unsure_bad,
                name.startswith("keep"),
            )
            for name, n in result.strata.items()
        ]

    strata = strata_with(True)
    if n_unsure:
        share = n_unsure / n_read
        both = "; both bounds are given" if share > MANY_UNSURE else ""
        cautions.append(
            f"{n_unsure} of {n_read} labels are unsure and count as bad{both}"
        )
    return RemainingEstimate(
        _estimate(strata),
        _estimate(strata_with(False)) if n_unsure else None,
        tuple(strata),
        n_read,
        n_unsure,
        tuple(cautions),
    )


_REMOVED = {"drop": "dropped", "quarantine": "set aside"}


def _of_decision(
    strata: Sequence[Stratum], decision: str
) -> tuple[Stratum, ...]:
    return tuple(s for s in strata if s.name.startswith(decision))


def _estimate(strata: Sequence[Stratum]) -> Remaining:
    """Return the estimate; its precision is that of dropped rows, without those set aside."""
    remaining = estimate_remaining(strata)
    dropped = _of_decision(strata, "drop")
    if not dropped:
        return remaining
    return replace(remaining, precision=estimate_remaining(dropped).precision)


class TooFewLabelsError(RunError):
    """The labels are not enough to decide."""


def _check_origin(
    job: Path,
    result: FilterResult,
    labels: Mapping[int, bool | None],
    same_labels: bool,
) -> Iterator[str]:
    """Yield a caution on labels that the thresholds may have been chosen on; refuse others."""
    current = {
        row
        for sample in read_log(job).samples
        if sample.digest == result.digest
        for row in sample.rows
    }
    drawn_rows = {
        row for sample in read_log(job).samples for row in sample.rows
    }
    strange = sorted(set(labels) - drawn_rows)
    if strange:
        raise DataError(
            str(job),
            f"{len(strange)} labels are of rows that were not drawn, such as row-{strange[0]};"
            " labels of chosen rows say nothing about the others",
        )
    n_before = len(set(labels) - current)
    if not n_before:
        return
    if not same_labels:
        raise RunError(
            f"{n_before} labels were drawn before the present settings of {job}; thresholds that"
            " were chosen on them make precision and recall too good. 'beholder filter sample"
            f" {job} --new' draws others; --same-labels uses these with a caution"
        )
    yield (
        f"{n_before} labels were drawn before the present settings: if thresholds were chosen on"
        " them, precision and recall are too good"
    )


def describe(estimated: RemainingEstimate) -> list[str]:
    """Return the estimate in sentences."""
    lines = describe_remaining(estimated.remaining, estimated.strata)
    share = estimated.n_unsure / estimated.n_labels
    if estimated.unsure_good is not None and share > MANY_UNSURE:
        removed_strata = describe_remaining(
            estimated.unsure_good, estimated.strata
        )
        lines = [
            *(f"unsure as bad: {line}" for line in lines),
            *(f"unsure as good: {line}" for line in removed_strata),
        ]
    return lines


def describe_remaining(
    remaining: Remaining, strata: tuple[Stratum, ...]
) -> list[str]:
    """Return what a filter did in sentences; a rate of 0 is never written without its limit."""
    kept_strata = [stratum for stratum in strata if stratum.is_kept]
    dropped = [stratum for stratum in strata if not stratum.is_kept]
    n_kept = _count_labels(kept_strata)
    lines = []
    for decision, what in _REMOVED.items():
        chosen = _of_decision(strata, decision)
        if chosen:
            rate = estimate_remaining(chosen).precision
            n = _count_labels(chosen)
            share = f"{_percent(rate)} were"
            if not rate.value:
                share = f"none was, at most {100 * rate.high:.1f} % were"
            lines.append(f"of the rows {what} {share} bad ({n} labels)")
    if kept_strata and not remaining.n_kept_bad.value:
        lines.append(
            f"no bad row among {n_kept}: at most {100 * remaining.rate_left.high:.1f} % are left"
        )
    elif kept_strata:
        lines.append(
            f"bad rows left: {_percent(remaining.rate_left)} of the kept ({n_kept} labels), before"
            f" {100 * remaining.rate_before:.1f} %"
        )
    if dropped and kept_strata:
        lines.append(_describe_recall(remaining))
    return lines


def _count_labels(strata: Sequence[Stratum]) -> int:
    """Return the rows that people read; those without a text need no reader."""
    return sum(s.n_labels for s in strata if not s.name.endswith(NO_TEXT))


def _describe_recall(remaining: Remaining) -> str:
    lost = (
        f"lost about {remaining.n_good_lost:,.0f} good ones"
        f" ({100 * remaining.share_good_lost:.1f} %)"
    )
    if math.isnan(remaining.recall.value):
        return f"no label is bad, so the share of bad rows found is unknown; {lost}"
    if not remaining.n_kept_bad.value:
        found_share = f"at least {100 * remaining.recall.low:.0f} %"
    else:
        found_share = _percent(remaining.recall, digits=0)
    return f"the filter found {found_share} of the bad rows and {lost}"


def _percent(rate: Rate, digits: int = 1) -> str:
    value, low, high = (
        f"{100 * share:.{digits}f}"
        for share in (rate.value, rate.low, rate.high)
    )
    return f"{value} % ({low} to {high})"
