"""Ranking by perplexity of a tiny LLaVA, from the data file to the table; needs torch."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.asking.tools import for_model
from beholder.data import read_reviews
from beholder.judges.operations import MeasureSurprisal
from beholder.kinds.ranking.engine import run_ranking
from beholder.kinds.ranking.rankers import ByMetric, RankConfig, Scored
from beholder.metrics import Tools, metric
from beholder.metrics.judged.perplexity import INSTRUCTIONS, Perplexity
from beholder.records import Item, ItemScore, Reviews
from beholder.run.session import Quiet
from toy.reviewer import write_reviews
from toy.tiny_models import save_llama, save_llava

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_llava(tmp_path_factory.mktemp("llava"))


def test_a_run_encodes_each_image_once_and_a_second_run_none(
    llava: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.models.clip.modeling_clip import CLIPVisionModel

    n_encoded = 0
    forward = CLIPVisionModel.forward

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal n_encoded
        n_encoded += len(
            kwargs["pixel_values"] if "pixel_values" in kwargs else args[0]
        )
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(CLIPVisionModel, "forward", counting)
    write_reviews(tmp_path / "r.jsonl", 6)
    data = str(tmp_path / "r.jsonl")
    seeing = ByMetric(Perplexity(f"hf:{llava}"))
    blind = ByMetric(Perplexity(f"hf:{llava}", image=False))
    config = RankConfig(
        data, tmp_path / "run", (seeing, blind), threshold=None
    )
    ranking = run_ranking(config, Quiet())[0]
    assert n_encoded == 6
    first, second = ranking.tables.scorers
    assert first.n == second.n == 6
    assert first.mean != second.mean
    (gain,) = ranking.tables.differences
    assert gain.image_gain
    assert run_ranking(config, Quiet())[0] == ranking
    assert n_encoded == 6


def test_values_are_those_of_the_judge_and_lower_is_better(
    llava: str, tmp_path: Path
) -> None:
    write_reviews(tmp_path / "r.jsonl", 1)
    (reviews,) = read_reviews(str(tmp_path / "r.jsonl"))
    assert isinstance(reviews, Reviews)
    assert reviews.image is not None
    picture = for_model(tmp_path / reviews.image)
    judge = judges.judge(f"hf:{llava}")
    expected = asyncio.run(
        judge.ask(
            MeasureSurprisal(
                reviews.texts, prompt=INSTRUCTIONS["en"], images=[picture]
            )
        )
    )
    tools = Tools(folder=tmp_path)
    scored: Scored = asyncio.run(
        ByMetric(Perplexity(f"hf:{llava}")).rank(reviews, tools)
    )
    for n, surprisal in enumerate(expected):
        values = {name: numbers[n] for name, numbers in scored.values.items()}
        assert values["nll"] == pytest.approx(surprisal.nll, rel=1e-6)
        assert values["tokens"] == surprisal.n_tokens
        assert values["perplexity"] == pytest.approx(
            math.exp(surprisal.nll / surprisal.n_tokens), rel=1e-6
        )
        bits = surprisal.nll / math.log(2) / len(reviews.texts[n])
        assert values["bits_per_character"] == pytest.approx(bits, rel=1e-6)
    best = min(range(5), key=lambda n: scored.values["perplexity"][n])
    assert scored.ranks()[best] == 1.0
    # the same texts one by one, as `beholder score` asks
    items = [
        Item(str(n), text, images=(reviews.image,), group={"language": "en"})
        for n, text in enumerate(reviews.texts)
    ]
    scores = metric(f"perplexity(judge='hf:{llava}')").score(
        items, tools=tools
    )
    for n, score in enumerate(scores):
        assert isinstance(score, ItemScore)
        assert score.values["nll"] == pytest.approx(
            scored.values["nll"][n], rel=1e-5
        )


def test_a_model_that_cannot_see_ranks_without_the_image_only(
    tmp_path: Path,
) -> None:
    from beholder.errors import ConfigError

    blind = save_llama(tmp_path / "llama")
    write_reviews(tmp_path / "r.jsonl", 1)
    (reviews,) = read_reviews(str(tmp_path / "r.jsonl"))
    assert isinstance(reviews, Reviews)
    tools = Tools(folder=tmp_path)
    with pytest.raises(ConfigError, match="does not take pictures"):
        asyncio.run(ByMetric(Perplexity(f"hf:{blind}")).rank(reviews, tools))
    scored = asyncio.run(
        ByMetric(Perplexity(f"hf:{blind}", image=False)).rank(reviews, tools)
    )
    assert len(set(scored.ranks())) == 5
