"""Proposals for the marks of a run of scores or of ``beholder lint``, written as rows.

They are asked of a judge, or are certain without one.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec

from beholder.asking.asker import ValueInfo
from beholder.asking.params import BUILTIN_JUDGE, param
from beholder.data.marks import JudgedFact, exported_rows
from beholder.data.row import to_row
from beholder.errors import ConfigError, ItemError
from beholder.judges import Judge
from beholder.judges.operations import ReviseText, TextMark
from beholder.kinds.generation.askers import RowAsker, RowColumns
from beholder.kinds.generation.engine import (
    GenerationRun,
    with_usual_concurrency,
)
from beholder.kinds.generation.generators import (
    CHARACTERS,
    WORDS,
    GeneratedText,
)
from beholder.kinds.revise.certain import find_certain_edits
from beholder.kinds.revise.edits import apply
from beholder.lint.linting import Choice, lint
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import CHECKS, LintFinding, LintSetting, Profile
from beholder.metrics import Tools
from beholder.options import DataOptions, JudgeOptions, WorkOptions
from beholder.records import Item, ItemScore, Span, Unit
from beholder.run import ROWS, SCORES, manifest
from beholder.run.inputs import rebase_path
from beholder.run.session import RunContext
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.text import RuleSplitter, words
from beholder.text.languages import language_named

RULES = ("ALT104", "ALT109", "ALT110", "ALT112", "ALT114")
"""Rules of ``beholder lint`` whose findings are corrected."""


def marks_of(item: Item) -> list[TextMark]:
    """Return the marks in ``meta`` of a row.

    Raises:
        ItemError: The marks are missing or not valid.
    """
    try:
        return msgspec.convert(item.meta.get("marks"), list[TextMark])
    except msgspec.ValidationError as error:
        raise ItemError(f"marks: {error}") from None


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def find_marked_rows(
    source: Path,
    folder: Path,
    metric: str | None,
    profile: Profile = "web",
) -> list[Item]:
    """Return the rows with at least one mark.

    Args:
        source: A run of scores, exported marks or verdicts on facts, or a file that ``beholder
            lint`` reads.
        folder: Folder that image paths become relative to.
        metric: Whose marks of a run; None takes those of all its metrics.
        profile: Profile of ``beholder lint``, for a file that it reads.

    Raises:
        ConfigError: Nothing is marked.
        RunError: The run is of another kind.
        DataError: The file cannot be read.
    """
    if manifest.is_run(source):
        marked_rows = list(_read_run(source, folder, metric))
        what = "metric such as posh or accord"
    elif _is_judged(source):
        marked_rows = list(_read_people(source, folder))
        what = "mark or a false fact on which most people agree"
    else:
        marked_rows = list(_read_lint(source, profile))
        what = f"finding of {', '.join(RULES)}"
    if not marked_rows:
        raise ConfigError(
            f"{source} has no mark to correct; name one with a {what}"
        )
    return marked_rows


def is_linted(source: Path) -> bool:
    """Return whether the marks of a source are findings of ``beholder lint``."""
    return not manifest.is_run(source) and not _is_judged(source)


def _is_judged(source: Path) -> bool:
    """Return whether the first row of a file has marks or verdicts of annotators."""
    if source.suffix != ".jsonl" or not source.is_file():
        return False
    # The first row is enough: an export has one form, and a large file need
    # not be parsed.
    with source.open("rb") as opened:
        row = opened.readline()
    return b'"verdicts"' in row or (
        b'"annotator"' in row and b'"marks"' in row
    )


class _PersonMark(msgspec.Struct, frozen=True):
    side: str
    start: Annotated[int, msgspec.Meta(ge=0)]
    end: int


class _People(msgspec.Struct, frozen=True):
    """Marks and verdicts of an annotator, in the form of ``beholder annotate export``."""

    annotator: str = ""
    marks: tuple[_PersonMark, ...] = ()
    facts: tuple[JudgedFact | str, ...] = ()  # plain texts were not judged
    audit: object = None


def _read_people(source: Path, folder: Path) -> Iterator[Item]:
    texts: dict[str, list[tuple[Item, _People]]] = {}
    # An export has a row for each annotator; those of one text belong
    # together.
    for item, judgment in exported_rows(source, _People):
        if judgment.audit is not None:
            raise ConfigError(
                f"{source} judges facts of references, which revise does not change"
            )
        texts.setdefault(
            item.id.removesuffix(f"/{judgment.annotator}"), []
        ).append((item, judgment))
    for name, judged_copies in texts.items():
        item, _ = judged_copies[0]
        judgments = [judgment for _, judgment in judged_copies]
        marks = _marks_of_people(item, judgments)
        if marks:
            plain_item = replace(item, id=name, judgments={}, meta={})
            yield _with_marks(plain_item, marks, {}, source.parent, folder)


def _marks_of_people(
    item: Item, judgments: Sequence[_People]
) -> list[TextMark]:
    """Return the mistakes and omissions of a text on which most annotators agree."""
    marks = []
    for start, end in _agreed(item.candidate, "candidate", judgments):
        words_of_mark = item.candidate[start:end]
        marks.append(TextMark("mistake", words_of_mark, (start, end)))
    # Marks in a reference are what the text leaves out; annotators see the
    # first reference.
    for reference in item.references[:1]:
        for start, end in _agreed(reference, "reference", judgments):
            marks.append(_omission(reference[start:end], reference, start))
    for fact in judgments[0].facts:
        if isinstance(fact, JudgedFact) and fact.agreed == "false":
            # A fact may be a sentence of the text; then its place is known.
            start = item.candidate.find(fact.text)
            span = None
            if start >= 0:
                span = (start, start + len(fact.text))
            marks.append(TextMark("mistake", fact.text, span))
    return marks


def _with_marks(
    item: Item,
    marks: Sequence[TextMark],
    source: Mapping[str, str],
    root: Path,
    folder: Path,
) -> Item:
    """Return a row with marks in ``meta``, its pictures relative to ``folder``."""
    images = tuple(rebase_path(image, root, folder) for image in item.images)
    meta = {"marks": list(map(asdict, marks)), "source": source}
    return replace(item, images=images, meta={**item.meta, **meta})


def _agreed(text: str, side: str, by: Sequence[_People]) -> list[Span]:
    """Return the marks of one annotator, or the runs of words that most of several marked."""
    spans_by_annotator: list[list[Span]] = []
    for person in by:
        marks = [mark for mark in person.marks if mark.side == side]
        spans_by_annotator.append([(mark.start, mark.end) for mark in marks])
    if len(by) == 1:
        return sorted(spans_by_annotator[0])

    def is_agreed(word: Span) -> bool:
        start, end = word
        n_agreeing = 0
        for spans in spans_by_annotator:
            if any(a < end and start < b for a, b in spans):
                n_agreeing += 1
        return 2 * n_agreeing > len(by)

    agreed_spans: list[Span] = []
    for is_marked, run in groupby(words(text), is_agreed):
        if is_marked:
            run_words = list(run)
            start, _ = run_words[0]
            _, end = run_words[-1]
            agreed_spans.append((start, end))
    return agreed_spans


def _read_run(run: Path, folder: Path, metric: str | None) -> Iterator[Item]:
    manifest.check_kind(run, SCORES)
    root = manifest.data_folder(run) or Path()
    data = Path(manifest.read_log(run).data.source)
    source: dict[str, str] = {}
    # Rows that were passed from Python have no file.
    if data.is_file():
        source["file"] = str(data)
        source["digest"] = digest(data)
    with Store.read(run) as store:
        names = [asker.name for asker in store.askers()]
        if metric is not None and metric not in names:
            raise ConfigError(
                f"{run} has no metric {metric!r}; expected one of {', '.join(names)}, or no"
                " --metric for the marks of all"
            )
        for position, item in store.items():
            marks = _marks_of_metrics(
                store, position, item, [metric] if metric else names
            )
            if marks:
                yield _with_marks(item, marks, source, root, folder)


def _marks_of_metrics(
    store: Store, position: int, item: Item, names: Sequence[str]
) -> list[TextMark]:
    """Return the marks of an item by some metrics, one for each place."""
    mark_by_place: dict[tuple[str, int | None, Span], TextMark] = {}
    for name in names:
        score = store.score(name, position)
        for unit in score.units if isinstance(score, ItemScore) else ():
            mark = _mark(unit, item)
            if mark is None:
                continue
            span = mark.span or (unit.spans[0][0], unit.spans[-1][1])
            text = (
                None if unit.side == "candidate" else unit.reference_index or 0
            )
            place = (mark.kind, text, span)
            # A metric such as chair marks the words alone; a correction needs what replaces them.
            if place not in mark_by_place or (
                mark.instead and not mark_by_place[place].instead
            ):
                mark_by_place[place] = mark
    marks = list(dict.fromkeys(mark_by_place.values()))
    replacements = {mark.instead for mark in marks if mark.span is not None}
    return [
        mark
        for mark in marks
        if mark.span is not None or mark.text not in replacements
    ]


def _mark(unit: Unit, item: Item) -> TextMark | None:
    if unit.detail.get("unsure") or not unit.spans:
        return None
    if unit.side == "candidate" and unit.verdict in (
        "contradicted",
        "mistake",
    ):
        span = unit.spans[0][0], unit.spans[-1][1]
        instead = str(unit.detail.get("contradiction") or "")
        text = item.candidate[slice(*span)]
        return TextMark("mistake", text, span, instead)
    if (
        unit.side == "reference"
        and unit.verdict == "omission"
        and not unit.detail.get("under")
    ):
        return _omission(
            unit.text,
            item.references[unit.reference_index or 0],
            unit.spans[0][0],
        )
    return None


def _omission(words: str, reference: str, place: int) -> TextMark:
    # The sentence around an omission helps a judge to word it.
    parts = RuleSplitter().split(reference)
    around = next(
        (
            sentence.text_in(reference)
            for sentence in parts
            if sentence.start <= place < sentence.end
        ),
        "",
    )
    return TextMark("omission", words, None, around)


_MOST_PLACES = 100
"""Places of one rule in a text that are corrected."""


def _spans(finding: LintFinding) -> list[Span]:
    """Return all places of a finding's rule in a text: a finding names the first."""
    text, span = finding.text, finding.span
    spans: list[Span] = []
    while span is not None and span not in spans and len(spans) < _MOST_PLACES:
        spans.append(span)
        # Letters keep all places where they are.
        start, end = span
        text = text[:start] + "x" * (end - start) + text[end:]
        rest = Occurrence(file="", raw=text, language=finding.language)
        hit = CHECKS[finding.rule](rest, LintSetting())
        span = hit.span if hit else None
    # Neighbours, such as two emoji, are one place; so are places that overlap.
    merged_spans: list[Span] = []
    for start, end in sorted(spans):
        if (
            merged_spans
            and not finding.text[merged_spans[-1][1] : start].strip()
        ):
            first, last = merged_spans.pop()
            start, end = first, max(last, end)
        merged_spans.append((start, end))
    return merged_spans


def _read_lint(source: Path, profile: Profile) -> Iterator[Item]:
    rows: dict[tuple[str, str], tuple[LintFinding, list[TextMark]]] = {}
    report = lint(
        [source],
        LintSetting(profile, terms=()),
        choice=Choice(select=frozenset(RULES)),
    )
    for finding in report.findings:
        if finding.span is not None:
            place = (
                f"{finding.line}:{finding.column}"
                if finding.column
                else finding.locator
            )
            key = (f"{finding.file}#{place}", finding.text)
            _, marks = rows.setdefault(key, (finding, []))
            for span in _spans(finding):
                marked_words = finding.text[slice(*span)]
                marks.append(TextMark(finding.rule, marked_words, span))
    # Ids must be unique: a place with texts in several languages gets the
    # language behind it, or the text where this is not enough.
    names = Counter(name for name, _ in rows)
    names += Counter(
        f"{name} ({finding.language})"
        for (name, _), (finding, _) in rows.items()
    )
    for (name, text), (finding, marks) in rows.items():
        file = source / finding.file if source.is_dir() else source
        where: dict[str, Any] = {"file": str(file), "digest": digest(file)}
        where |= {
            attribute: getattr(finding, attribute)
            for attribute in ("line", "column", "locator", "text_from")
        }
        group = {"language": finding.language} if finding.language else {}
        meta = {"marks": list(map(asdict, marks)), "source": where}
        unique_name = name
        if names[name] > 1:
            unique_name = f"{name} ({finding.language})"
            if not finding.language or names[unique_name] > 1:
                unique_name = f"{name} ({text})"
        yield Item(unique_name, text, group=group, meta=meta)


_REFUSED = "refused"


@dataclass(frozen=True)
class ReviseRow(RowAsker):
    """A row's text with its marks corrected becomes the candidate.

    Without a model only edits that are certain are made; each mark that is left has its reason. A
    model words the rest; if its answer changes more than the marks, also when asked again, the
    certain edits alone are made. ``meta.revision`` has the former text, the edits as places of it,
    and the marks that are left.
    """

    registered_name: ClassVar[str] = "revise"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        WORDS,
        CHARACTERS,
        ValueInfo(
            "left",
            "marks that were not corrected",
            high=1e9,
            higher_is_better=False,
        ),
    )
    operations: ClassVar[tuple[str, ...]] = ("revise_text",)

    judge: str = param(
        BUILTIN_JUDGE,
        "who words corrections; builtin: certain ones",
        tool="judge",
    )
    longer: float = param(
        1.5, "length that the text may get, times its length, plus 100"
    )

    looks = False
    """Texts are revised unseen."""

    def identities(self, tools: Tools) -> dict[str, str]:
        """Return the identity of the judge; the built-in judge answers no requests."""
        if self.judge != BUILTIN_JUDGE:
            tools.judge(self.judge).check_can(ReviseText)
        return super().identities(tools)

    async def make(
        self, subject: Item, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return the proposal, then the reason for each mark that is left, by its index."""
        text = subject.candidate
        marks = marks_of(subject)
        edits, refused = find_certain_edits(text, marks, subject.language)
        proposal = apply(text, edits)
        by = "rules"
        open_marks = [
            marks[reason.mark]
            for reason in refused
            if not marks[reason.mark].kind.startswith("ALT")
        ]
        # The judge words the whole text, so it gets all marks but those of
        # lint.
        if open_marks and self.judge != BUILTIN_JUDGE:
            limit = int(self.longer * len(text)) + 100
            asked_marks = [
                mark for mark in marks if not mark.kind.startswith("ALT")
            ]
            try:
                language = language_named(subject.language)
                proposal = await judge.ask(
                    ReviseText(text, asked_marks, limit, language)
                )
                by = "judge"
                refused = []
            except ItemError as error:
                # The judge failed: the certain edits stay, and each reason
                # says so.
                refused = [
                    reason._replace(why=f"{reason.why}; {error}")
                    for reason in refused
                ]
        reasons = (
            GeneratedText(reason.why, _REFUSED, str(reason.mark))
            for reason in refused
        )
        return (GeneratedText(proposal, by), *reasons)

    def measure(self, parts: Sequence[GeneratedText]) -> dict[str, float]:
        """Return the length of the proposal and the number of marks that are left."""
        measures = super().measure(parts[:1])
        n_left = len(parts) - 1
        return measures | {"left": float(n_left)}

    def _row(
        self,
        item: Item,
        parts: Sequence[GeneratedText],
        system: str,
        columns: RowColumns,
    ) -> Item:
        revision = {
            "text": item.candidate,
            "by": parts[0].label,
            "edits": list(edits_between(item.candidate, parts[0].text)),
            "refused": [
                {"mark": int(part.source), "why": part.text}
                for part in parts[1:]
            ],
        }
        return replace(
            item,
            candidate=parts[0].text,
            meta={**item.meta, "revision": revision},
        )


def edits_between(old_text: str, new_text: str) -> Iterator[dict[str, Any]]:
    """Yield the edits from one text to another by words, as ranges of the old text, in order."""
    # Tokens with their blanks, so that joined tokens are the text again.
    token_pattern = re.compile(r"\s+|\w+|[^\w\s]")
    a = token_pattern.findall(old_text)
    b = token_pattern.findall(new_text)
    starts = [0]
    for token in a:
        starts.append(starts[-1] + len(token))
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    for op, i, j, k, m in matcher.get_opcodes():
        if op != "equal":
            yield {
                "op": op,
                "start": starts[i],
                "end": starts[j],
                "old": "".join(a[i:j]),
                "new": "".join(b[k:m]),
            }


@dataclass(frozen=True)
class ReviseConfig:
    """Source, output and options of a revision.

    Attributes:
        source: As for ``marked``.
        out: The JSONL file to write; the run directory is ``OUT.run``.
        judge: Judge that words corrections.
        metric: Whose marks of a run; None takes those of all its metrics.
        judging: Settings of questions to judges.
        work: Concurrency, storage and budget.
        profile: Profile of ``beholder lint``.
    """

    source: Path
    out: Path
    judge: str = BUILTIN_JUDGE
    metric: str | None = None
    judging: JudgeOptions = field(default_factory=JudgeOptions)
    work: WorkOptions = field(default_factory=WorkOptions)
    profile: Profile = "web"

    @property
    def run(self) -> Path:
        """Directory of the run."""
        return self.out.with_name(f"{self.out.name}.run")

    def making(self) -> GenerationRun[Item]:
        """Return the run that makes the proposals."""
        asker = ReviseRow(self.judge)
        rows = find_marked_rows(
            self.source, self.out.parent, self.metric, self.profile
        )

        def row(
            item: Item, system: str, parts: Sequence[GeneratedText], judge: str
        ) -> Mapping[str, Any]:
            return to_row(asker.row(item, parts, system, judge, RowColumns()))

        return GenerationRun(
            kind=ROWS,
            folder=self.run,
            out=self.out,
            data=str(self.source),
            rows=DataOptions(),
            means=RunContext(
                self.judging,
                with_usual_concurrency(self.work),
                self.out.parent,
            ),
            subjects=ITEM,
            read=lambda notes: iter(rows),
            source=None,
            picture=lambda item: item.images[0] if item.images else None,
            systems={"revise": asker},
            row=row,
        )
