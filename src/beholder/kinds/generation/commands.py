"""The commands in which judges write: caption, classify, translate, criteria, questions, review."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from beholder.base.files import decode_json
from beholder.errors import ConfigError, DataError
from beholder.terminal.groups import (
    Data,
    EngineRunGroup,
    OutFile,
    RunGroup,
    RunOut,
)
from beholder.terminal.printing import (
    excess_failures,
    print_json,
    print_line,
    print_note,
    print_notes,
    print_plan,
    report_end,
    report_left_out,
    report_outside_pictures,
)

if TYPE_CHECKING:
    from beholder.kinds.generation.askers import RowAsker, RowColumns
    from beholder.kinds.generation.engine import Written
    from beholder.terminal.groups import FinishGroup
    from beholder.terminal.progress import TerminalProgress


@Parameter(name="*")
@dataclass(frozen=True)
class WritingGroup:
    """Settings of the texts that are written.

    Attributes:
        language: Language to write in.
        words: Length in words: none (any), 40, 30-40, median (of the references) or median:FILE.
        context: Description of the collection, for the prompt.
        system_column: Group column that names the system.
        dataset: Value of group.dataset, to keep captions of several lengths apart.
    """

    language: str = "English"
    words: str = "none"
    context: str = ""
    system_column: str = "system"
    dataset: str = ""


def caption(
    data: Data,
    /,
    *,
    out: OutFile,
    judge: tuple[str, ...] = (),
    writing: WritingGroup = WritingGroup(),
    run: EngineRunGroup = EngineRunGroup(),
) -> int:
    """Have models describe pictures; run it again to resume after an interruption.

    Rows keep their references, groups and judgments; each gets a candidate per judge.

    Example: `beholder caption photos/ --judge openai:gpt-4.1 -o captions.jsonl`

    Args:
        data: A folder of pictures, or a .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write, ready for beholder score.
        judge: Model that writes, as openai:MODEL or NAME=SPEC; repeatable.
    """
    from beholder.data.read import good_rows
    from beholder.kinds.generation.askers import CaptionRow, RowColumns
    from beholder.kinds.generation.engine import read_pictured, word_limits

    # Standard input can be read only once.
    if data == "-" and writing.words == "median":
        raise ConfigError(
            "--words median reads the data twice; name a file instead of -"
        )
    # Read before the run, as `median` needs the lengths of the references.
    items = read_pictured(data, run.rows)
    limits = word_limits(
        writing.words, good_rows(items, run.rows, [], name=data)
    )
    systems = _by_system(
        judge,
        lambda spec: CaptionRow(
            spec, writing.language, limits, writing.context
        ),
    )
    length = (
        "any length" if limits is None else f"{limits[0]} to {limits[1]} words"
    )
    print_note(f"captions of {length} in {writing.language}")
    columns = RowColumns(
        system=writing.system_column, named_dataset=writing.dataset
    )
    return _make_rows(data, out, systems, columns, run)


def classify(
    data: Data,
    /,
    *,
    out: OutFile,
    categories: Path,
    judge: str | None = None,
    by: Literal["picture", "candidate", "reference"] = "picture",
    column: str = "category",
    run: EngineRunGroup = EngineRunGroup(),
) -> int:
    """Sort pictures or texts into your categories: at most two each, at most one rated High.

    Rows stay as they are and get a group column: the one category that fits, "several" or "none".

    Example: `beholder classify photos/ --categories categories.json --judge openai:gpt-4.1
    -o sorted.jsonl`

    Args:
        data: A folder of pictures, or a .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write, ready for beholder score.
        categories: JSON file of the categories: {"name": "what it means"}.
        judge: Judge, such as openai:MODEL.
        by: Field to classify: picture, candidate or reference.
        column: Group column to write.
    """
    from beholder.kinds.generation.askers import ClassifyRow, RowColumns

    meanings = _categories(categories)
    systems = _by_system(judge, lambda spec: ClassifyRow(spec, meanings, by))
    return _make_rows(data, out, systems, RowColumns(category=column), run)


def _categories(path: Path) -> dict[str, str]:
    expected = 'expected {"name": "what it means", ...}'
    try:
        meanings = decode_json(path.read_bytes(), dict[str, str])
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(
            str(path), f"cannot be read: {reason}; {expected}"
        ) from error
    if not meanings:
        raise DataError(str(path), f"has no category; {expected}")
    return meanings


def translate(
    data: Data,
    /,
    *,
    out: OutFile,
    source: Annotated[str, Parameter(name="--from")],
    target: Annotated[str, Parameter(name="--to")],
    judge: str | None = None,
    column: str = "language",
    run: EngineRunGroup = EngineRunGroup(),
) -> int:
    """Translate candidates and references clause by clause.

    Example: `beholder translate captions.jsonl --from Hindi --to English --judge openai:gpt-4.1
    -o english.jsonl`

    Args:
        data: A .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write, ready for beholder score.
        source: Language of the texts.
        target: Language to write in.
        judge: Judge, such as openai:MODEL.
        column: Group column that names the language.
    """
    from beholder.kinds.generation.askers import RowColumns, TranslateRow

    systems = _by_system(
        judge, lambda spec: TranslateRow(spec, source, target)
    )
    return _make_rows(data, out, systems, RowColumns(language=column), run)


def criteria(
    data: Data,
    /,
    *,
    out: OutFile,
    judge: str | None = None,
    kind: Literal["facts", "events", "objects"] = "facts",
    n: int = 10,
    source: Literal["pictures", "references"] = "pictures",
    run: EngineRunGroup = EngineRunGroup(),
) -> int:
    """Write criteria for each row, which the metric checklist compares descriptions with.

    Rows stay as they are and get the field criteria.

    Example: `beholder criteria photos/ --judge openai:gpt-4.1 -o with_criteria.jsonl`

    Args:
        data: A folder of pictures, or a .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write, ready for beholder score.
        judge: Judge, such as openai:MODEL.
        kind: Subject of criteria: facts of any kind, events, or objects with a property.
        n: Maximum number of criteria per row.
        source: Source of the criteria: pictures or references.
    """
    from beholder.kinds.generation.askers import RowColumns
    from beholder.kinds.generation.questions import CriteriaRow

    systems = _by_system(
        judge, lambda spec: CriteriaRow(spec, n, source, kind)
    )
    return _make_rows(data, out, systems, RowColumns(), run)


def questions(
    data: Data,
    /,
    *,
    out: OutFile,
    judge: str | None = None,
    n: int = 10,
    source: Literal["pictures", "references"] = "pictures",
    run: EngineRunGroup = EngineRunGroup(),
) -> int:
    """Write multiple-choice questions for each row, which the metric qa asks of descriptions.

    A question is kept if the judge answers it from the source and cannot without. Rows stay as
    they are and get the field questions.

    Example: `beholder questions photos/ --judge openai:gpt-4.1 -o with_questions.jsonl`

    Args:
        data: A folder of pictures, or a .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write, ready for beholder score.
        judge: Judge, such as openai:MODEL.
        n: Maximum number of questions per row, before they are checked.
        source: Source of the questions: pictures or references.
    """
    from beholder.kinds.generation.askers import RowColumns
    from beholder.kinds.generation.questions import QuestionsRow

    systems = _by_system(judge, lambda spec: QuestionsRow(spec, n, source))
    return _make_rows(data, out, systems, RowColumns(), run)


def review(
    pictures: Data,
    /,
    *,
    judge: str,
    out: RunOut = None,
    language: tuple[str, ...] = ("en",),
    words: int = 80,
    run: RunGroup = RunGroup(),
) -> int:
    """Write five kinds of reviews per picture, and the page of instructions for ranking them.

    Example: `beholder review photos/ --judge openai:gpt-4.1 --language en`

    Args:
        pictures: Folder of the pictures, or file with one row per picture.
        judge: Vision model, such as openai:MODEL.
        out: Run directory; by default runs/review-NAME.
        language: Language to write in; repeatable.
        words: Approximate words per review.
    """
    from beholder.base.files import write_text
    from beholder.kinds.generation.kind import REVIEWS
    from beholder.kinds.generation.page import (
        INSTRUCTIONS,
        annotation_instructions,
    )
    from beholder.kinds.generation.reviews import KINDS, ReviewsConfig
    from beholder.run import kind
    from beholder.run.session import default_out
    from beholder.terminal.progress import TerminalProgress

    config = ReviewsConfig(
        pictures,
        out or default_out(pictures, "review-"),
        judge,
        language,
        words,
        rows=run.rows,
        judging=run.judging,
        work=run.work.to_options(),
    )
    if run.finish.dry_run:
        return print_plan(kind.plan(REVIEWS, config), config.out)
    engine = run.where.to_engine()
    # Standard output has results only; what a cluster prints goes where progress goes.
    with redirect_stdout(sys.stderr), TerminalProgress() as progress:
        written = kind.run(REVIEWS, config, progress, engine=engine)
    # Instructions are cheap, and a study may need any language of its raters.
    for code in INSTRUCTIONS:
        page = annotation_instructions(len(KINDS), code)
        write_text(config.out / f"instructions-{code}.html", page)
    announce = print_note if run.finish.as_json else print_line
    announce(
        f"{written.n_written} sets of {len(KINDS)} reviews: {written.path}"
    )
    print_note(
        f"instructions for annotators: {config.out}/instructions-en.html, -ja.html"
    )
    print_note(
        f"rank them: beholder rank {written.path} --media-root {config.folder}"
    )
    return _close_run(written, config.out, progress, run.finish)


def _make_rows(
    data: str,
    out: Path,
    systems: Mapping[str, RowAsker],
    columns: RowColumns,
    run: EngineRunGroup,
) -> int:
    """Run the systems over the rows and print a summary; return the exit code."""
    from beholder.kinds.generation.engine import RowsConfig
    from beholder.kinds.generation.kind import ROWS
    from beholder.run import kind
    from beholder.terminal.progress import TerminalProgress

    config = RowsConfig(
        data,
        out,
        systems,
        columns,
        run.rows,
        run.judging,
        run.work.to_options(),
    )
    if run.finish.dry_run:
        return print_plan(kind.plan(ROWS, config), config.run)
    engine = run.where.to_engine()
    with redirect_stdout(sys.stderr), TerminalProgress() as progress:
        written = kind.run(ROWS, config, progress, engine=engine)
    print_note(f"{written.n_written} rows written to {config.out}")
    if written.outside:
        report_outside_pictures(config.out.parent)
    return _close_run(written, config.run, progress, run.finish)


def _close_run(
    written: Written,
    run: Path,
    progress: TerminalProgress,
    finish: FinishGroup,
) -> int:
    """Print what was skipped and what failed; return the exit code."""
    from beholder.run import manifest

    # Notes and results are read back from the run, which has them also if nothing was asked.
    report_left_out(written.bad_rows)
    log = manifest.read_log(run)
    print_notes(log.data.notes)
    if finish.as_json:
        print_json(manifest.content(run))
    for name, result in manifest.results(log).items():
        for caution in result.cautions:
            print_note(f"{name}: {caution}")
    failures = [
        f"{name} ({system}): {why.message}"
        for name, system, why in written.failures
    ]
    return report_end(
        run,
        progress,
        problems=excess_failures(failures, finish.allow_failed),
        verb="made",
    )


def _by_system(
    judges: str | Sequence[str] | None, make: Callable[[str], RowAsker]
) -> dict[str, RowAsker]:
    """Return an asker per judge, by the name in ``NAME=SPEC`` or else the model's.

    Raises:
        ConfigError: Two judges have one name.
    """
    from beholder.base.spec import canonical_spec, parse_with_label

    askers: dict[str, RowAsker] = {}
    for text in [judges] if isinstance(judges, str) else judges or ():
        # The name becomes part of ids and groups, so two judges must not share it.
        label, parsed = parse_with_label(text)
        judge = canonical_spec(parsed)
        name, judge_spec = label or judge.argument or judge.name, str(judge)
        if name in askers:
            raise ConfigError(
                f"two judges are called {name!r}; name them, such as --judge first={judge_spec}"
            )
        askers[name] = make(judge_spec)
    return askers
