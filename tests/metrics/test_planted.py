"""Every published formula over a study with planted answers, computed here from what was planted.

Formulas: CaptionQA, VDC, VCapsBench, CapRiCorn-1K, CAPability, TUNA and AutoDQ as their sources state
them (``docs/checklists-and-questions.md`` names them); the code under test computes nothing here.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.kinds.scores.by_group import group_tables
from beholder.kinds.scores.page import write_report
from beholder.records import Item, ItemFailure, ItemScore
from beholder.run.store import Store
from servers.faults import FaultServer, serving
from toy.planted import TASKS, Study

pytestmark = pytest.mark.usefixtures("few_resamples")
Values = dict[str, float]
VERBS = [
    "is",
    "are",
    "was",
    "were",
    "do",
    "does",
    "did",
    "have",
    "has",
    "had",
    "can",
    "could",
    "will",
    "would",
    "should",
    "shall",
    "may",
    "might",
    "must",
]


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(30)


@pytest.fixture(scope="module")
def served(study: Study) -> Iterator[str]:
    with serving(FaultServer(study)) as server:
        yield server.url


def scored(
    url: str, out: Path, spec: str, items: Sequence[Item]
) -> tuple[list[tuple[Item, ItemScore | ItemFailure]], Values]:
    """The outcome of each item, and the means and values of the set."""
    run = beholder.score(
        items, metrics=[spec], judge="openai:m", base_url=url, out=out
    )
    ((name, result),) = run.summary.items()
    means = {value: estimate.mean for value, estimate in result.values.items()}
    return list(run.outcomes(name)), means


# --- questions


def kind(row: Mapping[str, Any]) -> str:
    if "options" in row:
        return "options"
    return "yes/no" if isinstance(row["answer"], bool) else "open"


def options(row: Mapping[str, Any]) -> list[str]:
    return list(row.get("options", ["yes", "no"]))


def offers_third(rules: str, row: Mapping[str, Any]) -> bool:
    if rules == "vdc":
        return False
    if "third" in row:
        return bool(row["third"])
    if rules != "captionqa":
        return True
    letters = [any(word in o for o in options(row)) for word in ("yes", "no")]
    return not all(letters) and row["question"].split()[0].lower() not in VERBS


def expected_readings(
    study: Study, rules: str, item: Item
) -> list[tuple[Mapping[str, Any], str]]:
    """The questions that the rules know, with what the judge was read to say."""
    kinds = {"own": ("options", "yes/no", "open"), "captionqa": ("options", "yes/no"),
             "vdc": ("open",), "vcapsbench": ("yes/no",)}[rules]  # fmt: skip
    readings = []
    for row in item.meta["questions"]:
        reading = study.reading[item.id, row["question"]]
        third = offers_third(rules, row)
        if reading == "silent" and not third:
            reading = "unread"  # the judge was told to answer, twice
        if kind(row) in kinds:
            readings.append((row, reading))
    return readings


def sums(rows: Sequence[tuple[Mapping[str, Any], str]]) -> dict[str, float]:
    weights: dict[str, float] = defaultdict(float)
    for row, reading in rows:
        weights[reading] += row["weight"]
    return weights


def own_values(
    study: Study, rows: Sequence[tuple[Mapping[str, Any], str]]
) -> Values:
    of = sums(rows)
    total = of["right"] + of["wrong"] + of["silent"]
    values = {
        "accuracy": of["right"] / total,
        "answered": (of["right"] + of["wrong"]) / total,
        "wrong": of["wrong"] / total,
        "unread": sum(reading == "unread" for _, reading in rows) / len(rows),
    }
    if of["right"] + of["wrong"]:
        values["precision"] = of["right"] / (of["right"] + of["wrong"])
    graded = [
        (row["weight"], study.grade[row["question"]] * (reading != "silent"))
        for row, reading in rows
        if kind(row) == "open" and reading != "unread"
    ]
    if graded:
        values["grade"] = (
            sum(w * g for w, g in graded) / sum(w for w, _ in graded) / 5
        )
    return values


def captionqa(
    rows: Sequence[tuple[Mapping[str, Any], str]],
) -> tuple[float, float]:
    """Sum of scores, and of weights."""
    gained = sum(
        row["weight"]
        * {"right": 1.0, "silent": 1 / len(options(row)) + 0.05}.get(
            reading, 0.0
        )
        for row, reading in rows
    )
    return gained, sum(row["weight"] for row, _ in rows)


def vcapsbench(of: Mapping[str, float]) -> Values:
    n = of["right"] + of["wrong"] + of["silent"]
    values = {"ar": of["right"] / n, "cr": 1 - of["silent"] / n}
    if n > of["silent"]:
        values["ir"] = of["wrong"] / (n - of["silent"])
    return values


def qa_values(study: Study, rules: str, item: Item) -> Values | None:
    rows = expected_readings(study, rules, item)
    readings = {reading for _, reading in rows}
    if readings <= {"unread"} or (rules == "vdc" and "unread" in readings):
        return None
    values = own_values(study, rows)
    if rules == "captionqa":
        gained, total = captionqa(rows)
        values["captionqa"] = gained / total
    elif rules == "vdc":
        values["vdc"], values["vdc_score"] = (
            values["accuracy"],
            5 * values["grade"],
        )
    elif rules == "vcapsbench":
        values |= vcapsbench(sums(rows))
    return values


def qa_pooled(study: Study, rules: str, items: Sequence[Item]) -> Values:
    rows = [
        pair
        for item in items
        for pair in expected_readings(study, rules, item)
    ]
    if rules == "captionqa":
        gained, total = captionqa(rows)
        of = sums(rows)
        return {"captionqa_pooled": gained / total, "accuracy_pooled": of["right"] / total,
                "cannot_pooled": of["silent"] / total}  # fmt: skip
    if rules == "vcapsbench":
        return {
            f"{name}_pooled": value
            for name, value in vcapsbench(sums(rows)).items()
        }
    return {}


# --- criteria


def distinct(criteria: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    first: dict[str, Mapping[str, Any]] = {}
    for criterion in criteria:
        first.setdefault(criterion["text"], criterion)
    return list(first.values())


def expected_states(
    study: Study, rules: str, item: Item
) -> list[tuple[Mapping[str, Any], str]]:
    criteria = item.meta["criteria"]
    states = []
    for criterion in distinct(criteria) if rules == "capricorn" else criteria:
        state = study.state[item.id, criterion["text"]]
        if rules == "capricorn" and state == "unread":
            state = "not mentioned"
        if (
            rules == "tuna"
            and int(criterion["event"][-2]) not in study.matches[item.id]
        ):
            state = "not mentioned"  # no sentence tells of its event
        word = {"action": "action", "object_category": "object"}.get(
            criterion.get("dimension", "")
        )
        is_named = (
            rules == "capability" and word and study.any_of[item.id, word]
        )
        if state == "not mentioned" and is_named:
            state = "contradicted"
        states.append((criterion, state))
    return states


def criteria_values(study: Study, rules: str, item: Item) -> Values:
    every = expected_states(study, rules, item)
    facts = [
        (criterion, s)
        for criterion, s in every
        if criterion.get("kind") != "rule" and s != "unread"
    ]
    of: dict[str, float] = defaultdict(float)
    for criterion, state in facts:
        of[state] += criterion["weight"] if rules in ("own", "tuna") else 1
    c, e, total = of["met"], of["contradicted"], sum(of.values())
    values = {
        "accuracy": c / total,
        "coverage": (c + e) / total,
        "hit": sum(state != "not mentioned" for _, state in facts)
        / len(facts),
        "wrong": e / total,
        "unread": sum(
            study.state[item.id, criterion["text"]] == "unread"
            and (rules != "tuna" or s == "unread")
            for criterion, s in every
        )
        / len(every),
    }
    if c + e or rules in ("capability", "tuna"):
        p = values["precision"] = c / (c + e) if c + e else 0.0
        a = values["accuracy"]
        values["f1"] = 2 * p * a / (p + a) if p + a else 0.0
    readable = [
        (criterion, state) for criterion, state in every if state != "unread"
    ]
    gained = sum(
        criterion["weight"] for criterion, state in readable if state == "met"
    )
    possible = sum(
        criterion["weight"]
        for criterion, _ in readable
        if criterion["weight"] > 0
    )
    values["weighted"] = min(1, max(0, gained / possible))
    if (
        rules == "capricorn"
        and (ref := consistency(study, item, every)) is not None
    ):
        values["reference_consistency"] = ref
    for kind in TYPES if rules == "tuna" else ():
        e, c, n = tuna_sums(
            [pair for pair in facts if pair[0]["dimension"] == kind]
        )
        if n:
            values[f"{kind}_precision"] = e / (e + c) if e + c else 0.0
            values[f"{kind}_accuracy"] = e / n
            values[f"{kind}_f1"] = 2 * e / (e + c + n)
    return values


TYPES = ("camera", "scene", "action", "attribute")


def tuna_sums(
    facts: Sequence[tuple[Mapping[str, Any], str]],
) -> tuple[float, float, float]:
    """Weights of entailed, of contradicted and of all elements."""
    weight: dict[str, float] = defaultdict(float)
    for criterion, state in facts:
        weight[state] += criterion["weight"]
    return weight["met"], weight["contradicted"], sum(weight.values())


def film(study: Study, item: Item) -> Item:
    """The item with three sentences about at most three events, in order, and their elements."""
    draw = random.Random(item.id)
    order = sorted(draw.choices(range(3), k=3))
    study.matches[item.id] = [
        at if draw.random() < 0.8 else None for at in order
    ]
    facts = [
        criterion
        for criterion in item.meta["criteria"]
        if "kind" not in criterion
    ]
    elements = [
        criterion | {"event": f"Event {k % 3}.", "dimension": TYPES[k % 4]}
        for k, criterion in enumerate(facts)
    ]
    return replace(
        item,
        candidate=" ".join([item.candidate] * 3),
        meta={"criteria": elements},
    )


def consistency(
    study: Study, item: Item, every: Sequence[tuple[Mapping[str, Any], str]]
) -> float | None:
    refs = []
    for subject in ("<a>", "<b>", "<c>"):
        about = [
            (criterion, s)
            for criterion, s in every
            if subject in criterion.get("subjects", ())
        ]
        if len(about) < 2:
            continue
        covered = [
            criterion["text"]
            for criterion, state in about
            if state != "not mentioned"
        ]
        names = Counter(
            study.names[item.id, subject, text] for text in covered
        )
        pairs = sum(
            math.comb(n, 2) for name, n in names.items() if name is not None
        )
        refs.append(pairs / math.comb(len(about), 2))
    return sum(refs) / len(refs) if refs else None


def capability_macro(study: Study, items: Sequence[Item]) -> Values:
    of: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        for criterion, state in expected_states(study, "capability", item):
            if "dimension" in criterion and state != "unread":
                of[criterion["dimension"]][state] += 1
    sums_by_task: dict[str, list[float]] = defaultdict(list)
    for task in TASKS:
        if not of[task]:
            continue
        c, e, n = (
            of[task]["met"],
            of[task]["contradicted"],
            sum(of[task].values()),
        )
        p, r = (c / (c + e) if c + e else 0.0), c / n
        sums_by_task["macro_precision"].append(p)
        sums_by_task["macro_accuracy"].append(r)
        sums_by_task["macro_coverage"].append((c + e) / n)
        sums_by_task["macro_f1"].append(2 * p * r / (p + r) if p + r else 0.0)
    return {
        name: sum(values) / len(values)
        for name, values in sums_by_task.items()
    }


def autodq_values(study: Study, item: Item) -> Values:
    share = {}
    for side in ("Text", "Source"):
        states = [
            study.state[item.id, event]
            for event in study.events[f"{side} {item.id}"]
        ]
        share[side] = states.count("met") / len(states) if states else 1.0
    p, r = share["Text"], share["Source"]
    return {
        "precision": p,
        "recall": r,
        "f1": 2 * p * r / (p + r) if p + r else 0.0,
        "unread": 0.0,
    }


def autodq_means(study: Study, items: Sequence[Item]) -> Values:
    each = [autodq_values(study, item) for item in items]
    p, r = (
        sum(subset_values[name] for subset_values in each) / len(each)
        for name in ("precision", "recall")
    )
    return {"precision": p, "recall": r, "f1_of_means": 2 * p * r / (p + r)}


def subset(item: Item) -> str:
    """Subsets of different sizes, so that means over them and over texts differ."""
    return "DREAM/videvo" if int(item.id[1:]) % 4 == 1 else "DREAM/youtube"


def autodq_subsets(
    study: Study, items: Sequence[Item]
) -> tuple[Values, dict[str, Values]]:
    """DREAM-1K's overall figures, and those of each subset."""
    each = {
        name: autodq_means(
            study, [item for item in items if subset(item) == name]
        )
        for name in {subset(item) for item in items}
    }
    p, r = (
        sum(subset_values[name] for subset_values in each.values()) / len(each)
        for name in ("precision", "recall")
    )
    overall = {
        "subset_precision": p,
        "subset_recall": r,
        "subset_f1": 2 * p * r / (p + r),
    }
    return overall, each


# --- the study


def compared(
    outcomes: Sequence[tuple[Item, ItemScore | ItemFailure]],
    expected: Callable[[Item], Values | None],
) -> int:
    """Compare the values of each item; how many numbers these are."""
    n = 0
    for item, item_score in outcomes:
        values = expected(item)
        if values is None:
            assert isinstance(item_score, ItemFailure), (item.id, item_score)
            assert "no usable answer" in item_score.message
            continue
        assert isinstance(item_score, ItemScore), (item.id, item_score)
        assert item_score.values == pytest.approx(values, abs=1e-12), item.id
        n += len(values)
    return n


@pytest.mark.parametrize(
    ("rules", "least"),
    [("own", 150), ("captionqa", 150), ("vdc", 40), ("vcapsbench", 150)],
)
def test_every_value_of_questions(
    rules: str, least: int, study: Study, served: str, tmp_path: Path
) -> None:
    items = [
        item for item in study.items if expected_readings(study, rules, item)
    ]
    outcomes, means = scored(
        served, tmp_path / "run", f"qa(rules={rules!r})", items
    )
    n = compared(outcomes, lambda item: qa_values(study, rules, item))
    scored_items = [
        item
        for item, item_score in outcomes
        if isinstance(item_score, ItemScore)
    ]
    pooled = {
        name: mean for name, mean in means.items() if name.endswith("_pooled")
    }
    assert pooled == pytest.approx(qa_pooled(study, rules, scored_items))
    assert n >= least  # numbers, so that the study does not shrink


@pytest.mark.parametrize("rules", ["own", "capricorn", "capability"])
def test_every_value_of_criteria(
    rules: str, study: Study, served: str, tmp_path: Path
) -> None:
    spec = f"checklist(rules={rules!r})"
    outcomes, means = scored(served, tmp_path / "run", spec, study.items)
    n = compared(outcomes, lambda item: criteria_values(study, rules, item))
    if rules == "capability":
        macro = {
            name: mean
            for name, mean in means.items()
            if name.startswith("macro_")
        }
        assert macro == pytest.approx(capability_macro(study, study.items))
    assert n >= 200


def test_every_value_of_elements(
    study: Study, served: str, tmp_path: Path
) -> None:
    films = [film(study, item) for item in study.items]
    outcomes, _ = scored(
        served, tmp_path / "run", "checklist(rules='tuna')", films
    )
    assert (
        compared(outcomes, lambda item: criteria_values(study, "tuna", item))
        >= 400
    )


def test_every_value_of_events(
    study: Study, served: str, tmp_path: Path
) -> None:
    items = [replace(item, meta={}) for item in study.items]
    outcomes, means = scored(served, tmp_path / "run", "autodq", items)
    n = compared(outcomes, lambda item: autodq_values(study, item))
    of_means = autodq_means(study, items)
    assert {name: means[name] for name in of_means} == pytest.approx(of_means)
    assert not any(name.startswith("subset") for name in means)
    assert n >= 100


def test_events_of_several_subsets_are_averaged_over_these(
    study: Study, served: str, tmp_path: Path
) -> None:
    items = [
        replace(i, meta={}, group={"dataset": subset(i)}) for i in study.items
    ]
    _, means = scored(served, tmp_path / "run", "autodq", items)
    overall, each = autodq_subsets(study, items)
    expected = overall | autodq_means(study, items)
    assert {name: means[name] for name in expected} == pytest.approx(expected)
    assert means["subset_f1"] != pytest.approx(means["f1_of_means"])
    with Store.read(tmp_path / "run") as store:
        (table,) = group_tables(store)
    assert [row["group"] for row in table.rows] == sorted(each)
    for row in table.rows:
        of = each[row["group"]]
        assert {name: row[name] for name in of} == pytest.approx(of)
        assert row["n"] == sum(subset(item) == row["group"] for item in items)
        assert (
            row["f1_of_means_low"]
            <= of["f1_of_means"]
            <= row["f1_of_means_high"]
        )
    page = write_report(tmp_path / "run").read_text("utf-8")
    assert "by subset</h3>" in page
    assert "<code>subset_f1</code>" in page
