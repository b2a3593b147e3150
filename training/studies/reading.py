"""Mistakes, omissions and matches of PoSh, drawn for a reader; rules in ``docs/reading.md``.

    python -m training.studies.reading draw --out SAMPLE [--seed 1] [--pairs 25]
        [--skip SEED:PAIRS ...]
    python -m training.studies.reading show --sample SAMPLE [--again SEED]
    python -m training.studies.reading shares --sample SAMPLE --marks MARKS [--first MARKS]

``draw`` takes pairs of human and model texts of one picture, and units as people see them: what is
folded under an absent thing, or not sure, is not drawn. The sample holds the texts, so it is
written where it is told to and never belongs in the repository. ``show`` prints it; with
``--again`` in another order for the second reading. A line of a file of marks is the number of a
unit and its mark. ``shares`` prints the share of each mark with 95 % intervals over resampled
pairs, and with ``--first`` how often two readings agree.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from beholder import PoSh
from beholder.language.reading import english_graphs
from beholder.metrics import Tools
from beholder.metrics.posh.plan import unit_questions
from beholder.records import ItemScore, Unit
from beholder.stats import mean_interval

DATA = Path(__file__).parents[2] / "../shared/data/human_judgments"
SETS = ("iiw400_sxs", "docci_test_sxs")
N_DRAWN = {"mistake": 5, "omission": 5, "match": 4, "contradiction": 2}
"""Units of each kind per pair; contradictions are drawn from those that the others left."""
MARKS = ("right", "false", "ill")
"""Right; false alarm (of a match: wrong); ill-formed."""


@dataclass(frozen=True)
class DrawnUnit:
    """One unit to be read.

    Attributes:
        number: Its number in the sample.
        pair: Its pair.
        drawn_as: A key of ``DRAWN``.
        verdict: The metric's.
        kind: Entity, attribute or relation.
        said: The unit in words, with its ends.
        instead: What the other text is said to say instead.
        around: The words of its text around it.
    """

    number: int
    pair: str
    drawn_as: str
    verdict: str
    kind: str
    said: str
    instead: str
    around: str


def pairs(data: Path) -> dict[str, tuple[str, str]]:
    """Candidate and reference of each pair that can be drawn."""
    pairs_by_name = {}
    for name in SETS:
        for line in (
            (data / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        ):
            row = json.loads(line)
            pairs_by_name[f"{name} {row['id']}"] = (
                row["candidate"],
                row["references"][0],
            )
    return pairs_by_name


def chosen(
    names: Iterable[str], seed: int, n: int, skipped: Sequence[tuple[int, int]]
) -> list[str]:
    """Return the pairs of a draw: none that an earlier draw, seed and number, has taken."""
    remaining = sorted(names)
    for earlier, n_taken in skipped:
        gone = set(random.Random(earlier).sample(remaining, n_taken))
        remaining = [name for name in remaining if name not in gone]
    return random.Random(seed).sample(remaining, min(n, len(remaining)))


def draw(
    texts: dict[str, tuple[str, str]], names: Sequence[str], seed: int
) -> list[DrawnUnit]:
    """Return the units of some pairs that are to be read."""
    tools = Tools()
    sample: list[DrawnUnit] = []
    for name in names:
        rng = random.Random(f"{seed} {name}")
        candidate, reference = texts[name]
        score = PoSh().score_text(candidate, reference, tools=tools)
        if not isinstance(score, ItemScore):
            raise RuntimeError(f"{name}: {score.message}")
        units = list(_worded(score, candidate, reference))
        certain_units = [
            (u, statement)
            for u, statement in units
            if u.detail.keys().isdisjoint(("under", "unsure"))
        ]
        of = {
            "mistake": [
                p
                for p in certain_units
                if p[0].verdict in ("unstated", "contradicted")
            ],
            "omission": [
                p for p in certain_units if p[0].verdict == "omission"
            ],
            "match": [p for p in certain_units if p[0].verdict == "match"],
            "contradiction": [
                p for p in certain_units if p[0].verdict == "contradicted"
            ],
        }
        taken_units: list[Unit] = []
        for drawn_as, n in N_DRAWN.items():
            free = [
                pair
                for pair in of[drawn_as]
                if not any(pair[0] is u for u in taken_units)
            ]
            for unit, statement in rng.sample(free, min(n, len(free))):
                taken_units.append(unit)
                text = candidate if unit.side == "candidate" else reference
                sample.append(
                    DrawnUnit(
                        len(sample) + 1,
                        name,
                        drawn_as,
                        str(unit.verdict),
                        unit.kind,
                        statement,
                        str(unit.detail.get("contradiction", "")),
                        _around(unit, text),
                    )
                )
    return sample


def _worded(
    score: ItemScore, candidate: str, reference: str
) -> Iterator[tuple[Unit, str]]:
    """Yield each unit with its words: "dog", "dog: red", "dog [chases] cat".

    Questions about relations that the metric left out have no unit.
    """
    units = list(score.units)
    for graph in english_graphs.read_texts((candidate, reference)):
        for asked_unit, question in unit_questions(graph):
            if not units or (units[0].kind, units[0].text) != (
                asked_unit.kind,
                asked_unit.text,
            ):
                continue
            ends = f" {question.object}" if question.object else ""
            statement = {
                "entity": question.text,
                "attribute": f"{question.subject}: {question.text}",
                "relation": f"{question.subject} [{question.text}]{ends}",
            }[question.kind]
            yield units.pop(0), statement
    if units:
        raise RuntimeError(
            f"{len(units)} units without a question, the first is {units[0]}"
        )


def _around(unit: Unit, text: str) -> str:
    if not unit.spans:
        return ""
    start, end = unit.spans[0]
    return f"{text[max(0, start - 40) : start]}<{text[start:end]}>{text[end : end + 40]}"


def show_sample(
    sample: Sequence[DrawnUnit], texts: dict[str, tuple[str, str]], again: int
) -> Iterator[str]:
    """Yield the sample as it is read."""
    groups: dict[str, list[DrawnUnit]] = defaultdict(list)
    for unit in sample:
        groups[unit.pair].append(unit)
    order = list(groups)
    if again:
        random.Random(again).shuffle(order)
    for name in order:
        candidate, reference = texts[name]
        yield f"\n=== {name}\nCANDIDATE {candidate}\n\nREFERENCE {reference}\n"
        rows = groups[name]
        if again:
            rows = random.Random(f"{again} {name}").sample(rows, len(rows))
        for unit in rows:
            instead = f"  (instead: {unit.instead})" if unit.instead else ""
            yield f"{unit.number:4} {unit.drawn_as:13} {unit.verdict:12} {unit.said}{instead}"
            yield f"{'':31}{unit.around!r}"


def marks(path: Path) -> dict[int, str]:
    """Return the marks of a reading.

    Raises:
        ValueError: A line is no number with a known mark.
    """
    marks_by_number = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        number, mark = line.split()[:2]
        if mark not in MARKS:
            raise ValueError(
                f"{path}: {line!r}: a mark is one of {', '.join(MARKS)}"
            )
        marks_by_number[int(number)] = mark
    return marks_by_number


def shares(
    sample: Sequence[DrawnUnit],
    marked: dict[int, str],
    first: dict[int, str] | None,
) -> Iterator[str]:
    """Yield the table."""
    groups: dict[str, list[DrawnUnit]] = defaultdict(list)
    for unit in sample:
        groups[unit.drawn_as].append(unit)
        if unit.verdict == "contradicted":
            groups["contradicted, all"].append(unit)
    for name, rows in groups.items():
        clusters = [unit.pair for unit in rows]
        cells = []
        for mark in MARKS:
            of = mean_interval(
                [float(marked[u.number] == mark) for u in rows],
                clusters=clusters,
            )
            low, high = (
                (of.interval.low, of.interval.high)
                if of.interval
                else (0.0, 1.0)
            )
            cells.append(f"{mark} {of.mean:.3f} [{low:.3f}, {high:.3f}]")
        yield f"{name:20}{len(rows):5}  {'  '.join(cells)}"
    if first is not None:
        n_same = sum(
            marked[unit.number] == first[unit.number] for unit in sample
        )
        yield f"two readings give the same mark to {n_same} of {len(sample)}"


def _draw_of(text: str) -> tuple[int, int]:
    seed, _, n = text.partition(":")
    return int(seed), int(n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("draw", "show", "shares"))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sample", "--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=25)
    parser.add_argument(
        "--skip", type=_draw_of, nargs="*", default=[], metavar="SEED:PAIRS"
    )
    parser.add_argument("--again", type=int, default=0, metavar="SEED")
    parser.add_argument("--marks", type=Path)
    parser.add_argument("--first", type=Path)
    options = parser.parse_args()
    texts = pairs(options.data)
    if options.step == "draw":
        names = chosen(texts, options.seed, options.pairs, options.skip)
        drawn_units = draw(texts, names, options.seed)
        lines = [
            json.dumps(asdict(unit), ensure_ascii=False)
            for unit in drawn_units
        ]
        options.sample.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{len(drawn_units)} units of {len(names)} pairs")
        return
    rows = options.sample.read_text(encoding="utf-8").splitlines()
    sample = [DrawnUnit(**json.loads(line)) for line in rows]
    if options.step == "show":
        print("\n".join(show_sample(sample, texts, options.again)))
    else:
        first = marks(options.first) if options.first else None
        print("\n".join(shares(sample, marks(options.marks), first)))


if __name__ == "__main__":
    main()
