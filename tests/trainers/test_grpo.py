"""A real GRPO run of TRL with a tiny model: the reward rises, and the trainer sees what it should.

Needs TRL, in an environment of its own: ``make test-harness``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from beholder.rewards import Reward, reward

pytest.importorskip("trl", reason="needs TRL: make test-harness")

REFERENCE = "a red dog runs on the green grass"
OTHER_WORDS = [
    "blue",
    "cat",
    "tree",
    "sits",
    "house",
    "under",
    "car",
    "white",
    "bird",
    "two",
    "people",
    "walk",
    "street",
    "sky",
]
STEPS = 30


@pytest.fixture
def rouge() -> Iterator[Reward]:
    rouge_reward = reward("rouge", value="rouge_1", workers=1)
    yield rouge_reward
    rouge_reward.close()


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    names = [
        "<pad>",
        "<eos>",
        *dict.fromkeys(REFERENCE.split()),
        *OTHER_WORDS,
        "describe",
    ]
    words = models.WordLevel(
        {name: n for n, name in enumerate(names)}, unk_token="<pad>"
    )
    fast = Tokenizer(words)
    fast.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=fast, pad_token="<pad>", eos_token="<eos>"
    )


def _model(tokenizer: Any) -> Any:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=32,
        n_embd=32,
        n_layer=1,
        n_head=2,
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=0,
    )
    return GPT2LMHeadModel(config)


def test_the_reward_rises_over_thirty_steps(
    rouge: Reward, tmp_path: Path
) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    tokenizer = _tokenizer()
    rows = [{"prompt": "describe", "references": [REFERENCE]}] * 64
    arguments = GRPOConfig(
        output_dir=str(tmp_path),
        use_cpu=True,
        bf16=False,
        max_steps=STEPS,
        per_device_train_batch_size=16,
        num_generations=8,
        max_completion_length=8,
        learning_rate=1e-2,
        lr_scheduler_type="constant",
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        seed=3,
    )
    trainer = GRPOTrainer(
        model=_model(tokenizer),
        reward_funcs=[rouge],
        args=arguments,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    trainer.train()
    steps = [line for line in trainer.state.log_history if "reward" in line]
    assert len(steps) == STEPS
    first, last = (
        fmean(line["reward"] for line in part)
        for part in (steps[:5], steps[-5:])
    )
    assert last > first + 0.15, (first, last)
    assert f"rewards/{rouge.__name__}/mean" in steps[0]
    assert f"{rouge.__name__}/failed" in steps[0]
