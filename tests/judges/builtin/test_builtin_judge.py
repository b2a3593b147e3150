"""The operations of the built-in judge."""

from __future__ import annotations

import numpy as np
import pytest

from beholder import PoSh
from beholder.aio import run_sync
from beholder.backends import Image
from beholder.errors import ConfigError, ItemError
from beholder.judges import judge
from beholder.judges.builtin import claims, vectors
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.classes import exclude, values
from beholder.judges.builtin.findings import Finding, find
from beholder.judges.builtin.lexis import named_further, says
from beholder.judges.builtin.predicates import normal
from beholder.judges.operations import (
    Decompose,
    MatchStatements,
    Presence,
    Question,
    Rank,
    Verify,
)
from toy.cases import each_case

JUDGE = judge("builtin")


def grade(question: Question, target: str) -> float:
    (presence,) = run_sync(JUDGE.ask(Presence([question], target)))
    assert sum(presence.probabilities) == pytest.approx(1.0)
    assert sum(
        (i + 1) * p for i, p in enumerate(presence.probabilities)
    ) == pytest.approx(presence.value)
    return presence.value


def test_presence_without_source_reads_the_words_of_the_question() -> None:
    text = "A tall man holds a red cup. A blue plate lies on the table."
    assert grade(Question("entity", "cup"), text) >= 3
    assert grade(Question("entity", "elephant"), text) < 3
    assert grade(Question("attribute", "red", "cup"), text) >= 3
    assert grade(Question("attribute", "red", "plate"), text) < 3
    assert grade(Question("relation", "holds", "man", "cup"), text) >= 3
    assert grade(Question("relation", "holds", "cup", "man"), text) < 3


def test_decompose_gives_statements() -> None:
    statements = run_sync(JUDGE.ask(Decompose("A red cup is on the table.")))
    assert "The cup is red." in [statement.text for statement in statements]


def test_match_finds_the_same_statement_or_none() -> None:
    claims = ["The cup is red.", "The cup is blue.", "A dog barks."]
    references = ["There is a table.", "The cup is red."]
    assert run_sync(JUDGE.ask(MatchStatements(claims, references))) == [
        1,
        None,
        None,
    ]


def test_verify_supports_what_the_reference_says() -> None:
    reference = "A young woman in a red coat walks a dog."
    claims = [
        "The woman is young.",
        "The coat is green.",
        "There is a dog.",
        "There is a horse.",
    ]
    assert run_sync(JUDGE.ask(Verify(claims, reference=reference))) == [
        True,
        False,
        True,
        False,
    ]


def test_verify_reads_wording_where_the_parse_hides_it_but_not_the_wrong_thing() -> (
    None
):
    reference = (
        "A close-up view of a brick wall with long slits in it. A red bus stands behind a white"
        " house, and the fence is brown."
    )
    claims = [
        "The image shows a close-up view of a brick wall.",
        "The slits are long.",
        "The house is red.",
        "The fence is white.",
        "The wall is not brick.",
    ]
    assert run_sync(JUDGE.ask(Verify(claims, reference=reference))) == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_statements_of_a_text_hold_in_it_and_match_themselves() -> None:
    text = "A boy brings her coffee. Two old men in hats sit on a bench; one of them smokes."
    statements = [
        statement.text for statement in run_sync(JUDGE.ask(Decompose(text)))
    ]
    assert len(statements) >= 6
    assert all(run_sync(JUDGE.ask(Verify(statements, reference=text))))
    assert run_sync(
        JUDGE.ask(MatchStatements(statements, statements))
    ) == list(range(len(statements)))


def test_statements_know_their_place() -> None:
    text = "A red cup is on the table."
    places = {s.text: s.spans for s in run_sync(JUDGE.ask(Decompose(text)))}
    assert [text[a:b] for a, b in places["The cup is red."]] == ["red"]


@pytest.mark.slow
def test_300_facts_are_matched_with_300_in_less_work_than_all_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = 0
    real = find

    def counted(
        claim: AnalysedText, text: AnalysedText
    ) -> tuple[Finding, ...]:
        nonlocal compared
        compared += 1
        return real(claim, text)

    monkeypatch.setattr(claims, "find", counted)
    facts = [f"There are {n} red cups." for n in range(2, 302)]
    references = [f"There are {n} blue plates." for n in range(2, 302)]
    assert (
        run_sync(JUDGE.ask(MatchStatements(facts, references))) == [None] * 300
    )
    assert run_sync(JUDGE.ask(MatchStatements(facts, facts[::-1]))) == list(
        range(299, -1, -1)
    )
    assert compared <= 2 * 300 * 5 * 2


def test_an_operation_that_it_cannot_judge_names_a_judge_that_can() -> None:
    with pytest.raises(ConfigError, match="openai:MODEL"):
        run_sync(JUDGE.ask(Rank(["a", "b"])))
    with pytest.raises(ConfigError, match="openai:MODEL"):
        run_sync(JUDGE.ask(Verify(["A dog."], [Image(b"", "image/png")])))
    with pytest.raises(ConfigError, match="English"):
        run_sync(JUDGE.ask(Decompose("Ein Hund.", language="German")))
    with pytest.raises(ItemError, match="English"):
        run_sync(
            JUDGE.ask(
                Presence(
                    [Question("entity", "cat")], "猫が座っている。犬が走る。"
                )
            )
        )


@each_case(
    ("a", "b", "expected"),
    [
        ("red", "blue", True),
        ("red", "crimson", False),
        ("black white", "white", False),
        ("red", "wooden", False),
        ("two", "three", True),
        ("young", "old", True),
        ("man", "woman", True),
        ("man", "boy", True),
        ("dog", "cat", False),
    ],
)
def test_classes_hold_what_excludes_what(
    a: str, b: str, expected: bool
) -> None:
    assert exclude(values(a), values(b)) is expected


def test_predicates_have_one_form_and_a_direction() -> None:
    active, passive = (
        normal("hold", True),
        normal("hold by", True, passive=True),
    )
    assert (active.verb, active.verb_turned) == ("hold", False)
    assert (passive.verb, passive.verb_turned) == ("hold", True)
    left_of, right_of = (
        normal("to left of", False),
        normal("to right of", False),
    )
    assert (left_of.place, left_of.place_turned) == ("left of", False)
    assert (right_of.place, right_of.place_turned) == ("left of", True)
    assert normal("on top of", False) == normal("on", False)
    assert normal("contain", True).place == "in"


@each_case(
    ("source", "target", "expected"),
    [
        ("bearded", "beard", True),  # derived
        ("small", "little", True),  # one sense of WordNet
        ("large", "huge", True),  # a huge thing is large
        ("animal", "dog", True),  # a dog is an animal
        ("dog", "animal", False),  # an animal need not be a dog
        ("dog", "cat", False),
        ("left", "side", False),
        ("red", "blue", False),
    ],
)
def test_a_word_says_what_is_the_same_or_more_general(
    source: str, target: str, expected: bool
) -> None:
    assert says(source, target) is expected


REFERENCE = "A dog with soft brown fur lies on a rug. Its tail is upright. It is beside a red chair."


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The dog has a tail.", True),  # the whole is named by a pronoun only
        ("There is an animal.", True),
        ("There is a cat.", False),
        ("The chair is blue.", False),
        ("The chair is red.", True),
        ("The rug is red.", False),  # the chair is
    ],
)
def test_verify_reads_the_whole_text_but_not_across_things(
    claim: str, expected: bool
) -> None:
    assert run_sync(JUDGE.ask(Verify([claim], reference=REFERENCE))) == [
        expected
    ]


def test_units_of_a_wrong_thing_are_excused() -> None:
    texts = ("A man rides a red horse.", "A man rides a red donkey.")
    wrong = [
        u.text
        for u in PoSh().score_text(*texts).units
        if u.verdict in ("contradicted", "unstated")
    ]
    assert wrong == ["horse"]


@pytest.mark.parametrize(
    ("text", "guessed", "visible"),
    [
        (
            "A small bird sits on a sign beside what is possibly a nest.",
            "There is a nest.",
            "The bird sits on the sign.",
        ),
        (
            "The bridge seems to be rusted. A boat floats on the river.",
            "The bridge is rusted.",
            "The boat floats on the river.",
        ),
        (
            "A word appears on the red door. The man might be a waiter.",
            "The man is a waiter.",
            "The door is red.",
        ),
        (
            "The puddles suggest a recent storm. The street is wet.",
            "The puddles suggest the storm.",
            "The street is wet.",
        ),
        (
            "Soft light fills the room, creating a serene atmosphere.",
            "The light is creating the atmosphere.",
            "The light is soft.",
        ),
        (
            "The old garden is beautiful.",
            "The garden is beautiful.",
            "The garden is old.",
        ),
    ],
)
def test_guesses_and_mood_are_not_what_can_be_seen(
    text: str, guessed: str, visible: str
) -> None:
    relevant = {
        s.text: s.relevant for s in run_sync(JUDGE.ask(Decompose(text)))
    }
    assert (relevant[guessed], relevant[visible]) == (False, True)


ROOM = "A blue cup is on the shelf. A lamp stands on the round table beside a chair."


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The cup is on the shelf.", True),
        (
            "The cup is on the table.",
            False,
        ),  # both are there, but not together
        ("The lamp stands on the table.", True),
        ("The lamp stands on the shelf.", False),
        (
            "The lamp stands on the chair.",
            False,
        ),  # the chair is beside what it stands on
        ("The table is beside the chair.", True),
        ("The cup is beside the chair.", False),
        ("The cup is on the round table.", False),
    ],
)
def test_a_relation_needs_its_own_ends(claim: str, expected: bool) -> None:
    assert run_sync(JUDGE.ask(Verify([claim], reference=ROOM))) == [expected]


@pytest.mark.parametrize(
    ("claim", "reference", "expected"),
    [
        (
            "The wall is overrun.",
            "The wall is overrun with vines.",
            0,
        ),  # contained in it
        (
            "The wall is overrun with vines.",
            "There is a wall.",
            None,
        ),  # more general
        (
            "There is a cup.",
            "A cup and seven plates stand on an old wooden table.",
            None,
        ),
        ("There are no dogs.", "There are cats.", None),
        ("The cup is on the shelf.", "The cup is on the table.", None),
    ],
)
def test_a_match_contains_the_claim_and_says_not_much_more(
    claim: str, reference: str, expected: int | None
) -> None:
    assert run_sync(JUDGE.ask(MatchStatements([claim], [reference]))) == [
        expected
    ]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("vanilla cake", "cake", True),
        ("cake", "vanilla cake", False),
        ("wood table", "wooden table", False),
        ("animal", "dog", False),
    ],
)
def test_a_name_goes_further_if_a_word_of_it_is_not_said(
    source: str, target: str, expected: bool
) -> None:
    assert named_further(source, target) == expected


def test_a_name_that_says_more_than_the_text_is_less_surely_there() -> None:
    plain, narrow = (
        next(
            u
            for u in PoSh().score_text(text, "Children eat a cake.").units
            if u.side == "candidate"
        )
        for text in ("A cake.", "A vanilla cake.")
    )
    assert plain.verdict == "match"
    assert plain.score is not None
    assert narrow.score is not None
    assert narrow.score < plain.score


def test_vectors_outlive_what_is_kept() -> None:
    phrases = ["dog", "", "red car", "dog", "window"]
    whole = vectors.vectors(phrases)
    small = vectors.VectorTable(3)
    assert small(["dog", "red car"]).tolist() == whole[[0, 2]].tolist()
    assert small(["window"]).tolist() == whole[[4]].tolist()
    assert len(small) == 2  # with the empty phrase
    assert small(phrases).tolist() == whole.tolist()  # more than are kept
    assert small(["window", "dog"]).tolist() == whole[[4, 0]].tolist()
    assert small([]).shape == (0, whole.shape[1])
    assert not whole[1].any()
    assert np.linalg.norm(whole[[0, 2, 4]], axis=1) == pytest.approx(1)


@each_case(
    ("words", "verb", "as_if"),
    [
        ("mount to", True, "on"),
        ("hang from", True, "on"),
        ("perch on", True, "on"),
        ("stretch along", True, "along"),
        ("construct from", True, "of"),
        ("adorn with", True, "with"),
        ("cover in", True, "with"),
        ("beyond", False, "behind"),
    ],
)
def test_a_verb_that_says_no_more_than_its_place_is_the_place(
    words: str, verb: bool, as_if: str
) -> None:
    assert normal(words, verb) == normal(as_if, False)


@pytest.mark.parametrize(
    "words", ["ride on", "construct on", "adorn on", "hang"]
)
def test_verbs_that_add_to_their_place_stay(words: str) -> None:
    assert normal(words, True).verb == words.split()[0]


def test_a_shower_holds_what_it_shows() -> None:
    assert normal("depict", True) == normal("contain", True)
