"""Order is judged in a text of one or two sentences, too, and references have no order."""

from __future__ import annotations

from itertools import permutations

import pytest

from beholder import VCS, VCSShort
from beholder.metrics.vcs.metric import chunks_of
from beholder.text.rules import RuleSplitter

# Written for these tests: three tales of six steps each, a clause of at least five words a step.
TALES = [
    [
        "a girl pulls a sledge uphill",
        "she stops beside a tall fir",
        "her brother throws a snowball at her",
        "both of them fall over laughing",
        "their father calls them to supper",
        "the sledge stays in the snow",
    ],
    [
        "the baker lights the big oven",
        "he weighs flour on old scales",
        "his daughter cracks eggs into a bowl",
        "they knead the dough with both hands",
        "the loaves rise under a cloth",
        "customers queue outside the closed door",
    ],
    [
        "a fisherman rows out at dawn",
        "gulls circle above his small boat",
        "he drops a net into deep water",
        "a storm darkens the whole sky",
        "waves wash over the wooden planks",
        "a lifeboat tows him to harbour",
    ],
]


def write_clauses(clauses: list[str], n_sentences: int) -> str:
    """The clauses joined by commas to sentences of equal length."""
    size = len(clauses) // n_sentences
    parts = [
        ", ".join(clauses[at : at + size])
        for at in range(0, len(clauses), size)
    ]
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)


@pytest.mark.parametrize("tale", TALES)
@pytest.mark.parametrize("n_sentences", [1, 2])
def test_a_tale_told_backwards_by_commas_is_seen(
    tale: list[str], n_sentences: int
) -> None:
    whole = write_clauses(tale, 6)
    forward = VCS().score_text(write_clauses(tale, n_sentences), whole).values
    backward = (
        VCS().score_text(write_clauses(tale[::-1], n_sentences), whole).values
    )
    assert backward["nas"] < 0.5
    assert backward["vcs"] < 0.5
    assert forward["nas"] == 1
    assert forward["vcs"] > 0.9


@pytest.mark.parametrize("tale", TALES)
def test_one_sentence_backwards_against_one_sentence_is_seen(
    tale: list[str],
) -> None:
    score = VCS().score_text(
        write_clauses(tale[::-1], 1), write_clauses(tale, 1)
    )
    assert score.values["nas"] < 0.5
    assert VCS().score_text(
        write_clauses(tale, 1), write_clauses(tale, 1)
    ).values["vcs"] == pytest.approx(1)


def test_a_plain_sentence_against_several_is_one_chunk_as_before() -> None:
    # NAS of one chunk is 1 and SAS decides; no mark, no cut.
    score = VCS().score_text(
        "A girl pulls a sledge and falls over.", write_clauses(TALES[0], 6)
    )
    assert len([unit for unit in score.units if unit.side == "candidate"]) == 1
    assert score.values["nas"] == 1


def test_a_step_left_out_of_one_sentence_lowers_the_score() -> None:
    for tale in TALES:
        whole = write_clauses(tale, 6)
        all_of_it = VCS().score_text(write_clauses(tale, 1), whole).values
        without = (
            VCS()
            .score_text(write_clauses(tale[:3] + tale[4:], 1), whole)
            .values
        )
        assert without["vcs"] < all_of_it["vcs"]
        assert without["las_recall"] < all_of_it["las_recall"]


def test_either_text_may_be_the_reference() -> None:
    in_order, reversed_tale = (
        write_clauses(TALES[0], 1),
        write_clauses(TALES[0][::-1], 6),
    )
    there, back = (
        VCS().score_text(*pair).values
        for pair in ((in_order, reversed_tale), (reversed_tale, in_order))
    )
    assert there["vcs"] == pytest.approx(back["vcs"], abs=1e-6)
    assert there["las_precision"] == pytest.approx(
        back["las_recall"], abs=1e-6
    )


@pytest.mark.parametrize("rules", ["paper", "package", "head"])
def test_published_rules_cut_at_sentences_alone(rules: str) -> None:
    score = VCS(rules=rules).score_text(  # type: ignore[arg-type]
        write_clauses(TALES[0], 1), write_clauses(TALES[0], 6)
    )
    assert [unit.text for unit in score.units[:2]] == [
        write_clauses(TALES[0], 1),
        "A girl pulls a sledge uphill.",
    ]
    assert "clauses" not in score.signature


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        # Fewer than five words before or after a mark: one piece.
        ("A red, green and blue kite.", ["A red, green and blue kite."]),
        (
            "Two boys with kites run along, and an old man watches; nobody speaks to him - “they never do,” he tells all of us.",
            [
                "Two boys with kites run along,",
                "and an old man watches;",
                "nobody speaks to him - “they never do,”",
                "he tells all of us.",
            ],
        ),
        # No mark inside a number.
        ("About a thousand people sit in 1,000 chairs of red plush tonight.", None),
        # Three sentences are chunks enough.
        ("One is here, and it is very big. Two. Three.", ["One is here, and it is very big.", "Two.", "Three."]),
        ("彼はドアを開け、台所へ歩いて行く。", ["彼はドアを開け、", "台所へ歩いて行く。"]),
    ],
)  # fmt: skip
def test_where_a_short_text_is_cut(
    text: str, chunks: list[str] | None
) -> None:
    pieces = [
        chunk.text_in(text)
        for chunk in chunks_of(text, RuleSplitter().split(text))
    ]
    assert pieces == (chunks or [text])


REFERENCES = [
    "The stock market fell.",
    "A cat sleeps on the mat.",
    "Rain fills a rusty bucket.",
]


@pytest.mark.parametrize("metric", [
    VCS(), VCS(references="mean"), VCS(rules="paper"),
    VCSShort(), VCSShort(references="best"), VCSShort(references="mean"), VCSShort(rules="paper"),
], ids=str)  # fmt: skip
def test_the_order_of_references_changes_nothing(
    metric: VCS | VCSShort,
) -> None:
    scores_seen = []
    for references in permutations(REFERENCES):
        score = metric.score_text("A dog runs.", references)
        scores_seen.append(
            (score.values, references[score.detail["reference_index"]])
        )
    assert all(each == scores_seen[0] for each in scores_seen)
