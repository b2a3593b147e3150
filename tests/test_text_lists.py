"""One text where a list of texts is meant is refused: it would be taken for its letters."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder import stats
from beholder.errors import ConfigError
from beholder.harness.testing import assert_score
from beholder.judges import operations
from beholder.metrics import Metric, Tools, metric
from beholder.records import Frame, Item, MetricResult, Reviews, Storyline
from toy.cases import each_case

TEXT = "A dog runs."
ROUGE = metric("rouge")

CASES: dict[str, Callable[[], object]] = {
    "Item.references": lambda: Item("1", TEXT, TEXT),  # type: ignore[arg-type]
    "Item.images": lambda: Item("1", TEXT, images="x.png"),  # type: ignore[arg-type]
    "Reviews.texts": lambda: Reviews("1", "abc"),  # type: ignore[arg-type]
    "Reviews.references": lambda: Reviews("1", ("a", "b"), references=TEXT),  # type: ignore[arg-type]
    "Storyline.frames": lambda: Storyline("1", "abc"),  # type: ignore[arg-type]
    "MetricResult.cautions": lambda: MetricResult(
        "m",
        {},
        0,
        0,
        "",
        cautions="odd",  # type: ignore[arg-type]
    ),
    "score_text.images": lambda: ROUGE.score_text(
        TEXT, [TEXT], images="x.png"
    ),
    "assert_score.images": lambda: assert_score(
        TEXT, TEXT, of=ROUGE, at_least=0, images="x.png"
    ),
    "Tools.embed.texts": lambda: asyncio.run(Tools().embed("static", TEXT)),
    "agree.metrics": lambda: beholder.agree("labels.jsonl", "rouge"),
    "agree.labels": lambda: beholder.agree(
        "labels.jsonl", ["rouge"], labels="overall"
    ),
    "score.metrics": lambda: beholder.score([], "rouge"),
    "rank.scorers": lambda: beholder.rank([], "rouge"),
    "choose.captioners": lambda: beholder.choose("x", "y", captioners="a=b"),
    "choose.limits": lambda: beholder.choose("x", "y", limits="a=0.9"),
    "choose.prices": lambda: beholder.choose("x", "y", prices="a=1/2"),
    "filter.metrics": lambda: beholder.filter("x", out="y", metrics="rouge"),
    "compare.by": lambda: beholder.narrate.compare([], "sight"),  # type: ignore[arg-type]
    "bradley_terry.first": lambda: stats.bradley_terry(
        "ab", ["b", "a"], [1, 0]
    ),
    "bradley_terry.second": lambda: stats.bradley_terry(
        ["a", "b"], "ba", [1, 0]
    ),
    "elo.first": lambda: stats.elo("ab", ["b", "a"], [1, 0]),
    "elo.second": lambda: stats.elo(["a", "b"], "ba", [1, 0]),
    "Rank.texts": lambda: operations.Rank("ab"),
    "Verify.claims": lambda: operations.Verify("claim", (), TEXT),
}


@each_case("case", CASES)
def test_one_text_for_several_is_refused(case: str) -> None:
    with pytest.raises(
        ConfigError, match=r"expected a list of texts, got one text; write \['"
    ):
        CASES[case]()


@each_case(
    ("fields", "reason"),
    [
        ({"references": ["a", 3]}, "references: expected texts, got 3"),
        ({"references": ["a", None]}, "references: expected texts, got None"),
        ({"references": [["a"]]}, r"references: expected texts, got \['a'\]"),
        ({"references": {"a": 1}}, "references: expected a list of texts"),
        ({"references": None}, "references: expected a list of texts"),
        ({"images": [Path("x.png")]}, "images: expected texts, got .*x.png"),
    ],
)
def test_what_is_no_text_is_refused(
    fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        Item("1", TEXT, **fields)


def test_the_labels_of_a_correction_are_a_list(tmp_path: Path) -> None:
    rows = [{"id": "1", "candidate": TEXT, "references": [TEXT]}]
    run = beholder.score(rows, ["length"], out=tmp_path / "run")
    with pytest.raises(ConfigError, match="label: expected a list of texts"):
        run.corrected("labels.jsonl", label="overall")


@pytest.mark.parametrize(
    "more", [(TEXT,), (["x.png"],), (None,), (TEXT, "A cat.")]
)
def test_a_second_reference_is_no_picture(more: tuple[Any, ...]) -> None:
    with pytest.raises(
        ConfigError, match=r"write several references as a list"
    ):
        ROUGE.score_text(TEXT, "A cat sits.", *more)


def test_several_references_are_a_list_and_one_may_be_alone() -> None:
    # ROUGE-L is the best over references: the second is the candidate itself.
    assert (
        ROUGE.score_text(TEXT, ["A cat sits.", TEXT]).values["rouge_l"] == 1.0
    )
    assert ROUGE.score_text(TEXT, TEXT).values["rouge_l"] == 1.0


def test_records_take_lists_and_tuples() -> None:
    assert Item("1", TEXT, (TEXT,)).references == (TEXT,)
    assert Reviews("1", ("a", "b")).texts == ("a", "b")
    assert Storyline("1", (Frame("a"),)).frames == (Frame("a"),)


def _takers() -> Iterator[str]:
    """Parameters of public classes and functions that take several texts and not one."""
    for name in dir(beholder):
        thing = getattr(beholder, name)
        if inspect.isclass(thing) and issubclass(thing, Metric):
            continue  # all have the methods of ``Metric``, which are in the table
        callables = {name: thing} if callable(thing) else {}
        if inspect.ismodule(thing):
            callables = {
                member: getattr(thing, member)
                for member in getattr(thing, "__all__", dir(thing))
            }
        for called, function in callables.items():
            if (
                not callable(function)
                or called.startswith("_")
                or called[0].isupper()
            ):
                parameters = {}
            else:
                parameters = dict(inspect.signature(function).parameters)
            for parameter in parameters.values():
                if str(parameter.annotation).startswith(
                    ("Sequence[str", "tuple[str")
                ):
                    yield f"{called}.{parameter.name}"
        if inspect.isclass(thing) and hasattr(thing, "__dataclass_fields__"):
            for field in thing.__dataclass_fields__.values():
                if str(field.type).startswith(
                    ("Sequence[str", "tuple[str", "tuple[Frame")
                ):
                    yield f"{name}.{field.name}"


def test_the_table_has_all_that_take_several_texts() -> None:
    assert set(_takers()) <= set(CASES), set(_takers()) - set(CASES)
