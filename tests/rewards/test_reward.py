"""Rewards as trainers call them: signatures, None, faults of texts, guards, logging."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import multiprocessing
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import ConfigError, ItemError, RunError
from beholder.metrics import Tools
from beholder.records import Item
from beholder.rewards import LengthGuard, Reward, reward
from toy.changing import changing
from toy.metric import ScheduledAsker, WordCount


@dataclass(frozen=True)
class WordJudge(ScheduledAsker):
    """Refuses some texts before it asks."""

    registered_name = "word_judge"

    async def gather(self, item: Item, tools: Tools) -> float:
        if "FAIL" in item.candidate:
            raise ItemError("the candidate says FAIL")
        return await super().gather(item, tools)


@pytest.fixture(scope="module")
def rouge() -> Iterator[Reward]:
    rouge_reward = reward("rouge", value="rouge_1", guards=(), workers=1)
    yield rouge_reward
    rouge_reward.close()


@pytest.fixture(scope="module")
def posh() -> Iterator[Reward]:
    with closing(
        reward("posh", lowest=-3.0, guards=(), workers=1)
    ) as posh_reward:
        yield posh_reward


def _call(
    scorer: Reward, completions: list[Any], **columns: Any
) -> list[float | None]:
    return asyncio.run(
        scorer(["p"] * len(completions), completions, **columns)
    )


def test_rewards_are_the_values_of_the_metric_in_order(rouge: Reward) -> None:
    # F1 of words: 2 of 2 and 2 of 4 -> 2/3; none; all
    texts: list[Any] = [
        "red dog",
        "blue cat",
        [{"role": "assistant", "content": "a red dog runs"}],
    ]
    rewards = _call(
        rouge,
        texts,
        references=["a red dog runs"] * 3,
        completion_ids=[[1]] * 3,
    )
    assert rewards == pytest.approx([2 / 3, 0.0, 1.0])


def test_trainers_see_a_coroutine_function_with_a_name(rouge: Reward) -> None:
    assert inspect.iscoroutinefunction(rouge.__call__)
    assert inspect.iscoroutinefunction(rouge.compute_score)
    assert rouge.__name__ == "rouge.rouge_1"


def test_a_row_without_references_has_no_reward_and_no_failure(
    rouge: Reward, caplog: pytest.LogCaptureFixture
) -> None:
    logged: list[tuple[str, float]] = []
    rewards = _call(
        rouge,
        ["a dog", "a dog"],
        references=[None, ["a dog"]],
        log_metric=lambda name, value: logged.append((name, value)),
    )
    assert rewards == [None, pytest.approx(1.0)]
    assert logged == [("rouge.rouge_1/failed", 0.0)]
    assert not caplog.records


def test_an_empty_text_has_the_lowest_reward_and_is_told(
    rouge: Reward, caplog: pytest.LogCaptureFixture
) -> None:
    logged: list[tuple[str, float]] = []
    with caplog.at_level(logging.WARNING, "beholder.rewards"):
        rewards = _call(
            rouge,
            ["  ", "a dog", "<think>it never"],
            references=["a dog"] * 3,
            log_metric=lambda name, value: logged.append((name, value)),
        )
    assert rewards == pytest.approx([0.0, 1.0, 0.0])
    ((name, share),) = logged
    assert name == "rouge.rouge_1/failed"
    assert share == pytest.approx(2 / 3)
    assert [record.getMessage() for record in caplog.records] == [
        "rouge.rouge_1: 2 of 3 texts: the candidate is empty"
    ]


def test_less_is_better_turns_the_sign() -> None:
    ter_reward = reward("ter", lowest=-2.0, guards=(), workers=1)
    try:  # one of two words is wrong: an edit rate of 1/2
        assert _call(
            ter_reward, ["red cat", ""], references=["red dog"] * 2
        ) == pytest.approx([-0.5, -2])
    finally:
        ter_reward.close()


def test_a_value_without_a_worst_end_needs_one_named() -> None:
    with pytest.raises(
        ConfigError, match=r"ter\.ter has no worst value .* lowest="
    ):
        reward("ter")


def test_guards_lower_a_reward_towards_the_lowest() -> None:
    # 4 words for 2: with a limit of 1, half of what lies above the lowest is left.
    # F1 of words: 2 of 4 and 2 of 2 -> 2/3; above -1: 5/3, half of it 5/6
    guarded = reward(
        "rouge",
        value="rouge_1",
        lowest=-1.0,
        guards=[LengthGuard(1.0)],
        workers=1,
    )
    try:
        rewards = _call(guarded, ["red dog and cat"], references=["red dog"])
        assert rewards == pytest.approx([-1 + 5 / 6])
    finally:
        guarded.close()


def test_verl_asks_for_one_text(rouge: Reward) -> None:
    pending = rouge.compute_score(
        "set", "a red dog", ["a red dog", "x"], {"index": 3}, more=1
    )
    assert asyncio.run(pending) == pytest.approx(1.0)
    with pytest.raises(ItemError, match="no reward for the text 'a red dog'"):
        asyncio.run(rouge.compute_score("set", "a red dog", []))
    with pytest.raises(
        ItemError, match="'a red dog' of row 3: ground_truth is empty"
    ):
        asyncio.run(rouge.compute_score("set", "a red dog", " ", {"index": 3}))


def test_verl_may_take_a_plain_function(rouge: Reward) -> None:
    assert not inspect.iscoroutinefunction(rouge.compute_score_sync)
    arguments = {
        "solution_str": "a red dog",
        "ground_truth": "a red dog",
        "extra_info": None,
    }
    assert rouge.compute_score_sync(
        data_source="set", **arguments
    ) == pytest.approx(1.0)


def test_blank_references_are_told_with_their_places(
    rouge: Reward, caplog: pytest.LogCaptureFixture
) -> None:
    logged: list[tuple[str, float]] = []
    rewards = _call(
        rouge,
        ["a dog"] * 5,
        references=["", ["", "a dog"], [], ["a dog"], [" "]],
        log_metric=lambda name, value: logged.append((name, value)),
    )
    assert rewards == [
        None,
        pytest.approx(1.0),
        None,
        pytest.approx(1.0),
        None,
    ]
    (record,) = caplog.records
    message = "rouge.rouge_1: 2 of 5 texts: the references are blank (completion 1, 5)"
    assert record.getMessage() == message
    assert logged == [("rouge.rouge_1/failed", 0.4)]


def test_a_missing_column_names_those_there_are(rouge: Reward) -> None:
    with pytest.raises(
        ConfigError,
        match=r"needs the column 'references'; .* has: caption, image",
    ):
        _call(rouge, ["a"], caption=["x"], image=["y"])


@pytest.mark.parametrize(
    ("verify", "columns", "missing"),
    [
        ("image", {"references": ["x"]}, "images"),
        ("auto", {"images": ["x"]}, "references"),
        ("reference", {"images": ["x"]}, "references"),
    ],
)
def test_the_columns_needed_are_those_of_the_metric_as_it_is_set(
    verify: str, columns: dict[str, list[str]], missing: str
) -> None:
    with (
        closing(
            reward(f"dcscore(verify={verify!r})", value="precision", workers=1)
        ) as of_facts,
        pytest.raises(ConfigError, match=f"needs the column '{missing}'"),
    ):
        _call(of_facts, ["a"], **columns)


def test_another_column_may_hold_the_references() -> None:
    caption_reward = reward(
        "rouge", value="rouge_1", references="caption", guards=(), workers=1
    )
    try:
        assert _call(
            caption_reward, ["a dog"], caption=[["a dog"]]
        ) == pytest.approx([1.0])
    finally:
        caption_reward.close()


def test_wrong_names_are_refused_at_once() -> None:
    with pytest.raises(
        ConfigError,
        match=r"rouge has no value 'f1'; it has: rouge_l, rouge_l_f1",
    ):
        reward("rouge", value="f1")
    with pytest.raises(ConfigError, match="limit does not apply to a reward"):
        reward("rouge", limit=3)


def test_metrics_of_the_whole_data_set_want_its_rows() -> None:
    with pytest.raises(
        ConfigError, match="cider counts in the whole data set"
    ):
        reward("cider")
    rows: list[dict[str, Any]] = [
        {"references": ["red dog"]},
        {"references": ["blue cat"]},
        {"references": None},
    ]
    cider_reward = reward("cider", data=rows, guards=(), workers=1)
    try:
        rewards = _call(
            cider_reward,
            ["red dog", "blue dog"],
            references=["red dog", "red dog"],
        )
    finally:
        cider_reward.close()
    # A text like its reference: each of the orders 1 and 2 has cosine 1, orders 3 and 4 have no
    # words: 10 * (1 + 1 + 0 + 0) / 4.
    assert rewards[0] == pytest.approx(5.0)
    assert rewards[1] is not None
    assert rewards[1] < 5.0


def test_what_failed_by_no_fault_of_the_text_is_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    word_reward = reward(WordCount(), guards=(), workers=1)
    try:
        with caplog.at_level(logging.WARNING, "beholder.rewards"):
            assert _call(
                word_reward, ["it is LATER", "one BUG", "two words"]
            ) == [
                None,
                None,
                2.0,
            ]
    finally:
        word_reward.close()
    messages = [record.getMessage() for record in caplog.records]
    assert (
        "word_count.words: 1 of 3 texts: the candidate says LATER" in messages
    )
    assert any("a bug in word_count" in line for line in messages)


@pytest.mark.slow
def test_workers_that_were_killed_while_idle_are_replaced() -> None:
    with closing(reward(WordCount(), guards=(), workers=1)) as word_reward:
        assert _call(word_reward, ["two words", "one"]) == [2.0, 1.0]
        for _ in range(2):
            workers = multiprocessing.active_children()
            assert workers
            for worker in workers:  # the pool itself may end the others first
                worker.kill()
                worker.join()
            assert _call(word_reward, ["two words", "one"]) == [2.0, 1.0]


@pytest.mark.slow
def test_calls_that_overlap_share_the_workers_that_replace_dead_ones() -> None:
    async def both(word_reward: Reward) -> list[Any]:
        calls = [
            word_reward(["p"], ["DIE"]),
            word_reward(["p"], ["two words"]),
        ]
        return await asyncio.gather(*calls, return_exceptions=True)

    with closing(reward(WordCount(), guards=(), workers=1)) as word_reward:
        dead, _ = asyncio.run(both(word_reward))
        assert isinstance(dead, RunError)
        assert "a worker process died" in str(dead)
        assert _call(word_reward, ["two words"]) == [2.0]


FORKED = """
import asyncio, os, sys
from beholder.rewards import reward

if __name__ == "__main__":
    asked = reward("rouge", value="rouge_1", guards=(), workers=1)
    ask = lambda: asyncio.run(asked(completions=["a dog"], references=["a dog"]))
    assert ask() == [1.0]
    for child_asks in (False, True):
        child = os.fork()
        if not child:
            assert not child_asks or ask() == [1.0]
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
    assert ask() == [1.0], "the child has left the workers of its parent alone"
"""


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="no processes are forked here"
)
@pytest.mark.slow
def test_a_forked_child_ends_in_silence(tmp_path: Path) -> None:
    script = tmp_path / "forked.py"
    script.write_text(FORKED, encoding="utf-8")
    command = [sys.executable, "-W", "ignore", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("completion", "fragment"),
    [
        (None, "None"),
        (5, "5"),
        (b"text", "b'text'"),
        (
            [{"role": "assistant", "content": 5}],
            "{'role': 'assistant', 'content': 5}",
        ),
        ([{"content": [None]}], "None"),
        ([{"content": [5]}], "5"),
        ([{"content": [{"text": None}]}], "{'text': None}"),
        ([5], "5"),
        (["text"], "'text'"),
    ],
)
def test_what_is_no_completion_is_refused_in_words(
    rouge: Reward, completion: Any, fragment: str
) -> None:
    words = rf"completion 2: a completion holds .*{re.escape(fragment)}.*: expected a text, or messages"
    with pytest.raises(ConfigError, match=words):
        _call(rouge, ["a dog", completion], references=["a dog"] * 2)


@pytest.mark.parametrize(
    "reference", [5, float("nan"), b"a dog", {"text": "a dog"}, ["a", 5]]
)
def test_what_is_no_reference_is_refused_in_words(
    rouge: Reward, reference: Any
) -> None:
    with pytest.raises(
        ConfigError,
        match=r"the column of references holds .*: expected a text",
    ):
        _call(rouge, ["a dog", "a dog"], references=["a dog", reference])


ODD_TEXTS = {
    "vcs": ["((((", "!!!", "\ufdd0", "half \ud800", "\udfff", ""],
    "vcs_short": ["((((", "\ufdd0", "half \ud800"],
    "accord": ["dog " * 7200, "half \ud800"],
}


@pytest.mark.parametrize("metric", ODD_TEXTS)
def test_texts_that_are_refused_at_any_step_get_the_lowest_reward(
    metric: str, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(
        reward(metric, lowest=-3.0, guards=(), workers=1)
    ) as metric_reward:
        _check_refused(metric_reward, ODD_TEXTS[metric])
    assert "bug" not in caplog.text


def test_texts_that_posh_refuses_get_the_lowest_reward(
    posh: Reward, caplog: pytest.LogCaptureFixture
) -> None:
    _check_refused(posh, ["dog " * 300_000, "half \ud800"])
    assert "bug" not in caplog.text


def _check_refused(scorer: Reward, odd_texts: list[Any]) -> None:
    texts: list[Any] = ["A dog sleeps on a sofa.", *odd_texts]
    references = ["A dog is asleep."] * len(texts)
    good, *refused = _call(scorer, texts, references=references)
    assert good is not None
    assert good > -3
    assert refused == [-3.0] * len(refused)
    unfit = _call(scorer, texts[:1], references=["\ud800"])
    assert unfit == [None], (
        "a reference that cannot be used is no fault of the text"
    )


def test_dense_rewards_of_a_text_that_is_refused_are_the_lowest() -> None:
    with closing(reward("vcs_short", guards=(), workers=1)) as short_reward:
        offsets = [[(0, 2), (2, 4)], [(0, 1)]]
        token_rewards = asyncio.run(
            short_reward.dense(
                ["((((", "x"], offsets, references=["A dog sleeps.", "(((("]
            )
        )
    assert token_rewards == [[-1.0, -1.0], None]


def test_a_text_that_a_judge_would_not_be_asked_about_is_at_fault(
    tmp_path: Path,
) -> None:
    """Another text is tried with typical answers: the judge, which refuses all, is not asked."""
    rules = tmp_path / "rules.jsonl"
    rules.write_text(
        '{"contains": "no such text", "answer": 1}\n', encoding="utf-8"
    )
    with closing(
        reward(WordJudge(judge=f"scripted:{rules}"), guards=())
    ) as judged_reward:
        rewards = _call(
            judged_reward, ["FAIL", "a dog"], references=["a dog"] * 2
        )
    assert rewards == [1.0, None]


def test_judges_are_asked_in_the_loop_and_their_answers_kept(
    tmp_path: Path,
) -> None:
    rules = tmp_path / "rules.jsonl"
    says = {
        "reason": "As I see it.",
        "mistakes": 3,
        "omissions": 3,
        "same_picture": 50,
    }

    def answer(overall: int) -> None:
        rule = {
            "contains": "The description to be judged",
            "answer": {**says, "overall": overall},
        }
        rules.write_text(f"{json.dumps(rule)}\n", encoding="utf-8")

    answer(3)  # the middle of the scale from 1 to 5
    cache = tmp_path / "answers.sqlite"
    text = f"direct_assessment(judge='{changing(rules)}')"
    for _ in range(2):
        cached_reward = reward(text, guards=(), cache=cache)
        try:
            assert _call(cached_reward, ["a dog"], references=["a dog"]) == [
                0.5
            ]
        finally:
            cached_reward.close()
        answer(5)


def test_a_language_that_is_not_read_is_the_text_s_fault(posh: Reward) -> None:
    german = "Ein Mann geht mit seinem Hund durch den Park und die Sonne scheint auf die Wiese."
    rewards = _call(
        posh, [german], references=["A man walks his dog in the park."]
    )
    assert rewards == [-3.0]


def test_dense_rewards_stand_at_the_words_behind_thinking(
    posh: Reward,
) -> None:
    text, references = "A red dog sleeps.", ["A brown dog sleeps."]
    offsets = [(0, 1), (2, 5), (6, 9), (10, 16), (16, 17)]
    (plain,) = asyncio.run(
        posh.dense([text], [offsets], references=references)
    )
    later = [(0, 2), *((start + 2, end + 2) for start, end in offsets)]
    with_thinking = f"<think>A cat?</think>\n\n{text}"
    (behind,) = asyncio.run(
        posh.dense([with_thinking], [later], references=references)
    )
    assert plain is not None
    article, red, dog, _, dot = plain
    assert (article, dot) == (0.0, 0.0)
    assert red < 0 < dog
    assert behind == [0.0, *plain]


def test_a_closed_reward_says_so() -> None:
    rouge_reward = reward("rouge", workers=1)
    rouge_reward.close()
    with pytest.raises(RunError, match="is closed; make another"):
        asyncio.run(rouge_reward(completions=["a dog"], references=["a dog"]))
