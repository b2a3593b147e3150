"""Operations of the LLM judge with a scripted model."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from beholder.backends import Answer, Image, Request, Sample, Scripted
from beholder.errors import ConfigError, ItemError
from beholder.judges import Draw, Judge, LLMJudge
from beholder.judges.operations import (
    Assess,
    AtomicStatement,
    Caption,
    Category,
    Classify,
    Contradict,
    Decompose,
    GradeDescription,
    JudgedFrame,
    MatchStatements,
    MeasureSurprisal,
    Operation,
    Presence,
    Question,
    Rank,
    RateSequence,
    RateTransition,
    Review,
    Rewrite,
    Translate,
    TranslatedClause,
    Verify,
)
from toy.cases import each_case

STYLE: Any = ("style",)
PICTURE = Image(b"not looked at", "image/png")


def says(*answers: object) -> tuple[LLMJudge, Scripted]:
    """A judge that says these things in turn."""
    turn = iter(answers)

    def answer(request: Request) -> str:
        value = next(turn)
        return (
            value
            if isinstance(value, str)
            else json.dumps(value, ensure_ascii=False)
        )

    backend = Scripted(answer)
    return LLMJudge(backend), backend


def prompt(request: Request) -> str:
    return request.messages[-1].text


def test_presence_reads_one_token_and_shares_the_beginning_of_its_prompts() -> (
    None
):
    def answer(request: Request) -> Answer:
        first = (("4", math.log(0.5)), ("5", math.log(0.5)))
        return Answer((Sample("4", "length", first),), "m")

    backend = Scripted(answer, top_logprobs=20)
    questions = [
        Question("entity", "the tall man"),
        Question("attribute", "red", "the cup"),
        Question("relation", "on", "the cup", "the table"),
    ]
    judge = LLMJudge(backend)
    grades = asyncio.run(
        judge.ask(Presence(questions, "A long text.", "Another text."))
    )
    assert [grade.value for grade in grades] == pytest.approx([4.5] * 3)
    assert {request.sampling.max_tokens for request in backend.requests} == {1}
    assert {
        (r.sampling.n, r.sampling.top_logprobs) for r in backend.requests
    } == {(1, 20)}
    assert len({request.messages[0].text for request in backend.requests}) == 1
    prompts = [prompt(request) for request in backend.requests]
    shared = prompts[0][: prompts[0].index("</target>")]
    assert "A long text." in shared
    assert all(p.startswith(shared) for p in prompts)
    assert not any("Another text." in p for p in prompts), (
        "only the target is sent"
    )


def test_contradict_gives_the_place_of_copied_words_and_believes_no_others() -> (
    None
):
    questions = [
        Question("entity", "the tall man"),
        Question("attribute", "red", "the cup"),
        Question("relation", "on", "the cup", "the table"),
    ]
    rows = [
        {"id": 0, "instead": "Short man."},
        {"id": 1, "instead": None},
        {"id": 2, "instead": "on a chair"},
    ]
    judge, backend = says({"rows": rows})
    target = "A short\nman with a cup."
    assert asyncio.run(judge.ask(Contradict(questions, target))) == [
        (2, 11),
        None,
        None,
    ]
    text = prompt(backend.requests[0])
    assert '<statement id="1">the cup: red</statement>' in text
    assert '<statement id="2">the cup on the table</statement>' in text


def test_decompose_keeps_script_subject_and_relevance() -> None:
    rows = [
        {"text": "एक स्कूटर खड़ा है।", "subject": "स्कूटर_0", "relevant": True},
        {"text": "वह उदास लगता है।", "subject": None, "relevant": False},
    ]
    judge, backend = says({"statements": rows})
    statements = asyncio.run(
        judge.ask(Decompose("स्कूटर {scooter} <noise>", language="Hindi"))
    )
    assert statements == [
        AtomicStatement("एक स्कूटर खड़ा है।", "स्कूटर_0", True),
        AtomicStatement("वह उदास लगता है।", None, False),
    ]
    assert "The text is in Hindi" in prompt(backend.requests[0])
    assert "स्कूटर {scooter} ‹noise›" in prompt(backend.requests[0])


def test_match_takes_every_way_to_say_nothing_and_ids_that_do_not_exist_as_none() -> (
    None
):
    rows = [
        {"id": 0, "reference": "1"},
        {"id": 1, "reference": None},
        {"id": 2, "reference": "None"},
        {"id": 3, "reference": -1},
        {"id": 4, "reference": 2},
        {"id": 5, "reference": [1, 0]},
        {"id": 6, "reference": []},
    ]
    judge, backend = says({"matches": rows})
    matches = asyncio.run(
        judge.ask(
            MatchStatements(["a", "b", "c", "d", "e", "f", "g"], ["x", "y"])
        )
    )
    assert matches == [1, None, None, None, None, 1, None]
    assert len(backend.requests) == 1


def test_match_that_is_no_id_is_asked_again() -> None:
    judge, backend = says(
        {"matches": [{"id": 0, "reference": "the second"}]},
        {"matches": [{"id": 0, "reference": 1}]},
    )
    assert asyncio.run(judge.ask(MatchStatements(["a"], ["x", "y"]))) == [1]
    assert "'reference' must be a whole number" in prompt(backend.requests[1])


def test_match_rows_missing_twice_have_no_match() -> None:
    judge, backend = says(
        {"matches": [{"id": 0, "reference": 1}]},
        {"matches": [{"id": 2, "reference": 0}]},
    )
    assert asyncio.run(
        judge.ask(MatchStatements(["a", "b", "c"], ["x", "y"]))
    ) == [1, None, 0]
    assert len(backend.requests) == 2


def test_match_with_an_empty_side_asks_nobody() -> None:
    judge, backend = says()
    assert asyncio.run(judge.ask(MatchStatements(["a", "b"], []))) == [
        None,
        None,
    ]
    assert asyncio.run(judge.ask(MatchStatements([], ["x"]))) == []
    assert asyncio.run(judge.ask(Verify([], reference="x"))) == []
    assert backend.requests == []


def test_missing_rows_alone_are_asked_again_with_their_own_ids() -> None:
    judge, backend = says(
        {
            "rows": [
                {"id": 2, "supported": True},
                {"id": 0, "supported": False},
            ]
        },
        {"rows": [{"id": 1, "supported": True}]},
    )
    assert asyncio.run(judge.ask(Verify(["a", "b", "c"], reference="R"))) == [
        False,
        True,
        True,
    ]
    second = prompt(backend.requests[1])
    assert '<statement id="1">b</statement>' in second
    assert 'id="0"' not in second
    assert 'id="2"' not in second


def test_the_answer_limit_grows_with_the_statements_that_are_asked_about() -> (
    None
):
    judge, backend = says(
        {"rows": [{"id": 0, "supported": True}]},
        {"rows": [{"id": 1, "supported": True}, {"id": 2, "supported": True}]},
        {"matches": [{"id": i, "reference": None} for i in range(3)]},
    )
    asyncio.run(judge.ask(Verify(["a", "b", "c"], reference="R")))
    asyncio.run(judge.ask(MatchStatements(["a", "b", "c"], ["x"])))
    # 128 and 32 for each: all three, the two left out, all three.
    assert [r.sampling.max_tokens for r in backend.requests] == [224, 192, 224]


def test_rows_missing_twice_are_a_failure_that_names_them() -> None:
    judge, _ = says({"rows": [{"id": 0, "supported": True}]}, {"rows": []})
    with pytest.raises(ItemError, match="left out statement 1 of 2 in verify"):
        asyncio.run(judge.ask(Verify(["a", "b"], reference="R")))


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": 5, "supported": True}],
        [{"supported": True}],
        ["yes"],
        {"0": True},
    ],
)
def test_rows_that_do_not_fit_are_refused_after_one_repair(
    rows: object,
) -> None:
    judge, backend = says({"rows": rows}, {"rows": rows})
    with pytest.raises(ItemError, match="no usable answer to verify"):
        asyncio.run(judge.ask(Verify(["a"], reference="R")))
    assert len(backend.requests) == 2


def test_an_item_with_rows_that_contradict_one_another_is_asked_about_again_alone() -> (
    None
):
    twice = [{"id": 0, "supported": True}, {"id": 0, "supported": False}]
    judge, backend = says(
        {"rows": [*twice, {"id": 1, "supported": True}]},
        {"rows": [{"id": 0, "supported": False}]},
    )
    assert asyncio.run(judge.ask(Verify(["a", "b"], reference="R"))) == [
        False,
        True,
    ]
    assert '<statement id="0">a</statement>' in prompt(backend.requests[1])
    assert '<statement id="1">' not in prompt(backend.requests[1])
    judge, _ = says({"rows": twice}, {"rows": twice})
    with pytest.raises(
        ItemError,
        match="statement 0 of 1 in verify, or gave it rows that differ",
    ):
        asyncio.run(judge.ask(Verify(["a"], reference="R")))


def test_equal_statements_are_kept_apart_by_position() -> None:
    judge, _ = says(
        {"rows": [{"id": 0, "supported": True}, {"id": 1, "supported": False}]}
    )
    assert asyncio.run(judge.ask(Verify(["a", "a"], reference="R"))) == [
        True,
        False,
    ]


def test_verify_shows_the_picture_and_needs_evidence() -> None:
    judge, backend = says({"rows": [{"id": 0, "supported": 1}]})
    assert asyncio.run(judge.ask(Verify(["a"], images=[PICTURE]))) == [True]
    assert backend.requests[0].images == (PICTURE,)
    with pytest.raises(ItemError, match="pictures or a reference"):
        asyncio.run(judge.ask(Verify(["a"])))


def test_rewrite_is_stripped_and_one_line() -> None:
    judge, backend = says(
        "Sure! Here it is:\nthe man", '"the man holding a cup."'
    )
    assert (
        asyncio.run(judge.ask(Rewrite("man holds cup")))
        == "the man holding a cup"
    )
    assert "one noun phrase" in prompt(backend.requests[1])


def test_caption_states_language_words_context_and_what_is_known() -> None:
    judge, backend = says("Ein Hafen.")
    options: dict[str, Any] = {"language": "German", "words": (150, 200)}
    caption = asyncio.run(
        judge.ask(
            Caption(
                [PICTURE],
                context="Photographs of 1928.",
                note="june 1928",
                **options,
            )
        )
    )
    assert caption == "Ein Hafen."
    text = prompt(backend.requests[0])
    assert "in German, in 150 to 200 words" in text
    assert "About the collection: Photographs of 1928." in text
    assert "<note>\njune 1928\n</note>" in text


def test_sequence_is_rated_by_sight_or_by_words_and_never_by_a_mixture() -> (
    None
):
    judge, backend = says(*[{"reason": "r", "score": 7}] * 3)
    rating = asyncio.run(
        judge.ask(
            RateSequence(
                [JudgedFrame(PICTURE, note="june"), JudgedFrame(PICTURE)]
            )
        )
    )
    assert (rating.value, rating.reason) == (7, "r")
    parts = backend.requests[0].messages[-1].parts
    assert parts[:4] == ("Picture 1:\n", PICTURE, "Picture 2:\n", PICTURE)
    asyncio.run(
        judge.ask(
            RateSequence(
                [JudgedFrame(caption="a"), JudgedFrame(caption="b")],
                anchors=True,
            )
        )
    )
    assert "that is a 9" in prompt(backend.requests[1])
    assert "that is a 9" not in prompt(backend.requests[0])
    with pytest.raises(ItemError, match="1 of 2 pictures missing"):
        asyncio.run(
            judge.ask(
                RateSequence([JudgedFrame(PICTURE), JudgedFrame(caption="b")])
            )
        )
    with pytest.raises(ItemError, match="needs a picture or a caption"):
        asyncio.run(
            judge.ask(RateTransition(JudgedFrame(caption="a"), JudgedFrame()))
        )


def test_replicates_of_a_rating_have_their_own_seeds_and_temperature() -> None:
    judge, backend = says(*[{"reason": "", "score": s} for s in (5, 6, 7)])
    shots = [JudgedFrame(caption="a"), JudgedFrame(caption="b")]
    ratings = [
        asyncio.run(judge.ask(RateSequence(shots), Draw(r, 0.7))).value
        for r in range(3)
    ]
    assert ratings == [5, 6, 7]
    assert [request.replicate for request in backend.requests] == [0, 1, 2]
    assert {request.sampling.temperature for request in backend.requests} == {
        0.7
    }


@each_case(
    "ranks",
    [
        [1, 1, 2],
        [1, 2],
        [1, 2, 3, 4],
        [0, 1, 2],
        [1, 2, "third"],
        "1, 2, 3",
        None,
    ],
)
def test_ranks_that_are_no_permutation_get_one_repair(ranks: object) -> None:
    judge, backend = says({"ranks": ranks}, {"ranks": [2, 3, 1]})
    assert asyncio.run(judge.ask(Rank(["a", "b", "c"], images=[PICTURE]))) == [
        2,
        3,
        1,
    ]
    assert len(backend.requests) == 2
    judge, _ = says({"ranks": ranks}, {"ranks": ranks})
    with pytest.raises(ItemError, match="no usable answer to rank"):
        asyncio.run(judge.ask(Rank(["a", "b", "c"])))


def test_classify_keeps_to_the_offered_categories_and_one_high() -> None:
    categories = {"nature": "Plants and land.", "trade": "Shops."}
    good = [
        {"name": "nature", "rating": "High"},
        {"name": "trade", "rating": "Low"},
    ]
    judge, _ = says({"categories": good})
    assert asyncio.run(judge.ask(Classify(categories, images=[PICTURE]))) == [
        Category("nature", "High"),
        Category("trade", "Low"),
    ]
    for bad in (
        [
            {"name": "nature", "rating": "High"},
            {"name": "trade", "rating": "High"},
        ],
        [{"name": "war", "rating": "Low"}],
        [{"name": "nature", "rating": "high"}],
        [{"name": "nature", "rating": "Low"}] * 2,
    ):
        judge, _ = says({"categories": bad}, {"categories": []})
        assert (
            asyncio.run(judge.ask(Classify(categories, text="A tree."))) == []
        )


def test_translate_gives_clauses_in_order() -> None:
    rows = [
        {"source": "Ein Hund", "translation": "A dog"},
        {"source": "b", "translation": "c"},
    ]
    judge, backend = says({"clauses": rows})
    clauses = asyncio.run(
        judge.ask(Translate("Ein Hund b", source="German", target="English"))
    )
    assert clauses == [
        TranslatedClause("Ein Hund", "A dog"),
        TranslatedClause("b", "c"),
    ]
    assert "from German into English" in prompt(backend.requests[0])


def test_a_translation_that_leaves_out_a_clause_gets_one_repair() -> None:
    text = "यहाँ एक कुत्ता है, और वहाँ एक बिल्ली सोती है"
    whole = [
        {
            "source": text,
            "translation": "Here is a dog, and there a cat sleeps",
        }
    ]
    half = [{"source": "यहाँ एक कुत्ता है", "translation": "Here is a dog"}]
    judge, backend = says({"clauses": half}, {"clauses": whole})
    clauses = asyncio.run(
        judge.ask(Translate(text, source="Hindi", target="English"))
    )
    assert [clause.source for clause in clauses] == [text]
    assert "leave out" in prompt(backend.requests[1])
    loosely = [
        {
            "source": text.replace(",", "").replace("और ", ""),
            "translation": "x",
        }
    ]
    judge, _ = says({"clauses": loosely})  # one short word less is let pass
    assert (
        len(
            asyncio.run(
                judge.ask(Translate(text, source="Hindi", target="English"))
            )
        )
        == 1
    )


def test_empty_list_of_statements_is_an_answer() -> None:
    judge, _ = says({"statements": []})
    assert asyncio.run(judge.ask(Decompose("Hm."))) == []


def test_content_filter_is_a_failure_with_that_reason() -> None:
    refused = Answer((Sample("", "content_filter"),), "scripted")
    judge = LLMJudge(Scripted(lambda request: refused))
    with pytest.raises(ItemError, match="content filter"):
        asyncio.run(judge.ask(Decompose("x")))


FAIR, UNFAIR = "A clear view of a cat.", "The cat has no bicycle."


def test_reviews_come_one_per_kind() -> None:
    judge, backend = says({"reviews": [FAIR, f" {UNFAIR} "]})
    reviews = asyncio.run(
        judge.ask(Review([PICTURE], ["fair", "unfair"], language="English"))
    )
    assert reviews == [FAIR, UNFAIR]
    assert "1. fair\n2. unfair" in prompt(backend.requests[0])
    with pytest.raises(ItemError, match="needs a picture"):
        asyncio.run(judge.ask(Review([], ["fair"])))


@each_case(
    ("reviews", "why"),
    [
        ([FAIR], "must hold 2 texts"),
        ([FAIR, UNFAIR, FAIR], "must hold 2 texts"),
        ([FAIR, " "], "must hold 2 texts"),
        ([FAIR, 3], "must hold 2 texts"),
        ([FAIR, FAIR], "two reviews are the same"),
        ([FAIR, "- A cat, sitting still."], "review 2 has a list or heading"),
        (
            ["1. A cat.\n2. A mat. Well lit.", FAIR],
            "review 1 has a list or heading",
        ),
        ([FAIR, 2 * UNFAIR], "at most 1.5 times the shortest"),
    ],
)
def test_reviews_that_break_a_rule_get_one_repair_that_says_which(
    reviews: list[object], why: str
) -> None:
    judge, backend = says({"reviews": reviews}, {"reviews": [FAIR, UNFAIR]})
    kinds = ["fair", "unfair"]
    assert asyncio.run(judge.ask(Review([PICTURE], kinds))) == [FAIR, UNFAIR]
    assert why in prompt(backend.requests[1])
    judge, _ = says({"reviews": reviews}, {"reviews": reviews})
    with pytest.raises(ItemError, match="no usable answer to review"):
        asyncio.run(judge.ask(Review([PICTURE], kinds)))


class Nothing(Judge):
    """A judge that can do nothing."""

    def can(self, kind: type[Operation[Any]]) -> bool:
        """Nothing."""
        return False

    async def ask(self, operation: Operation[Any], draw: Draw = Draw()) -> Any:  # noqa: B008
        """Refuse."""
        self._cannot(type(operation))

    @property
    def identity(self) -> str:
        """Its name."""
        return "nothing"


@pytest.mark.parametrize(
    "call",
    [
        lambda judge: judge.ask(Decompose("x")),
        lambda judge: judge.ask(Caption([PICTURE])),
        lambda judge: judge.ask(Review([PICTURE], ["fair"])),
        lambda judge: judge.ask(MeasureSurprisal(["x"], prompt="y")),
    ],
)
def test_judge_without_an_operation_names_those_that_have_it(
    call: Callable[[Judge], Any],
) -> None:
    with pytest.raises(
        ConfigError, match=r"Nothing has no operation .* judge='openai:MODEL'"
    ):
        asyncio.run(call(Nothing()))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda j: j.ask(Assess("A cat.", ("overall",))),
            "by a picture or by references",
        ),
        (
            lambda j: j.ask(Assess("A cat.", (), references=["A cat."])),
            "aspects",
        ),
        (
            lambda j: j.ask(Assess("A cat.", STYLE, references=["A cat."])),
            "aspects",
        ),
        (
            lambda j: j.ask(GradeDescription("A cat.", images=[])),
            "grade needs a picture",
        ),
    ],
)
def test_a_description_without_evidence_or_aspect_is_not_asked_about(
    call: Callable[[Judge], Any], message: str
) -> None:
    judge, backend = says("{}")
    with pytest.raises(ItemError, match=message):
        asyncio.run(call(judge))
    assert backend.requests == []


def test_grade_counts_whole_digits_only() -> None:
    def answer(request: Request) -> Answer:
        first = (
            ("10", math.log(0.5)),
            ("7", math.log(0.25)),
            ("3", math.log(0.25)),
        )
        return Answer((Sample("10", "length", first),), "m")

    judge = LLMJudge(Scripted(answer, top_logprobs=20))
    grade = asyncio.run(
        judge.ask(GradeDescription("A cat.", images=[PICTURE]))
    )
    assert grade.value == pytest.approx(5.0)
    assert grade.mass == pytest.approx(0.5)
    assert len(grade.probabilities) == 10
