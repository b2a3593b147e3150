"""Prices and budgets; costs by hand."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from beholder.backends import Image, Message, Request, Sampling, Usage
from beholder.backends.money import Budget, Price, load_prices, price_of
from beholder.errors import BudgetError, ConfigError
from toy.clock import run_in_fake_time, validate_params


def test_cost_counts_cached_tokens_at_their_own_price() -> None:
    # 600 fresh at 2, 400 cached at 0.5, 100 out at 8, per million: 1200 + 200 + 800 = 2200 / 1e6
    usage = Usage(prompt=1000, cached=400, completion=100)
    assert Price(2.0, 8.0, 0.5).cost(usage) == pytest.approx(0.0022)
    assert Price(2.0, 8.0, 0.5).cost(usage, factor=0.5) == pytest.approx(
        0.0011
    )
    assert Price(2.0, 8.0).cost(usage) == pytest.approx(0.0028)
    # Half of 600 fresh at 2 and 100 out at 8, and 400 cached at 0.4: 1000 + 160 = 1160 / 1e6
    batch = Price(2.0, 8.0, 0.5, batch_cached=0.4)
    assert batch.cost(usage, factor=0.5) == pytest.approx(0.00116)
    assert batch.cost(usage) == pytest.approx(0.0022)


def test_dated_snapshot_costs_what_its_own_family_costs() -> None:
    prices = {"gpt-4.1": Price(2, 8), "gpt-4.1-mini": Price(0.4, 1.6)}
    assert price_of("gpt-4.1-2025-04-14", prices) == Price(2, 8)
    assert price_of("gpt-4.1-mini-2025-04-14", prices) == Price(0.4, 1.6)
    assert price_of("gpt-4.1-huge", prices) is None


def test_a_price_that_ends_is_followed_by_the_next() -> None:
    now, then = Price(1, 2, until="9999-12-31", then=Price(3, 4)), Price(3, 4)
    assert price_of("m", {"m": now}) is now
    assert (
        price_of(
            "m-2026-01-01", {"m": Price(1, 2, until="2026-01-01", then=then)}
        )
        is then
    )


def test_a_picture_is_held_at_the_most_that_its_model_counts_for_one() -> None:
    pictures = (Image(b"a", "image/png"), Image(b"b", "image/png"))
    request = Request((Message("user", pictures),), Sampling(max_tokens=10))
    # 12 bytes of the turn are 4 tokens.
    assert request.most_usage() == Usage(prompt=4 + 2 * 4000, completion=10)
    assert request.most_usage(5, 36_835) == Usage(
        prompt=4 + 2 * 36_835, completion=15
    )
    mini = price_of("gpt-4o-mini-2024-07-18", load_prices())
    assert mini is not None
    assert mini.image == 2833 + 8 * 5667


def test_a_table_with_a_fresh_date_has_a_model_of_the_last_90_days() -> None:
    text = (files("beholder.backends") / "prices.json").read_text("utf-8")
    table = json.loads(text)
    releases = [
        f"{model['released']}-01"[:10]
        for model in table["models"].values()
        if "released" in model
    ]
    read, newest = map(date.fromisoformat, (table["as_of"], max(releases)))
    assert timedelta(0) <= read - newest <= timedelta(days=90)
    # A model that is asked for decisions has another price than in a chat.
    prices = load_prices()
    assert prices["gpt-6-luna"].output == 0.5
    assert prices["decisions/gpt-6-luna"].output == 0


def test_own_table_goes_before_the_shipped_one(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"models": {"gpt-4.1": {"input": 1, "output": 2}}}')
    assert load_prices(path)["gpt-4.1"] == Price(1.0, 2.0)
    assert load_prices(path)["gpt-4o"] == load_prices()["gpt-4o"]
    path.write_text(
        '{"models": {"m": {"input": 1, "output": 2, "image": 900}}}'
    )
    assert load_prices(path)["m"] == Price(1.0, 2.0, image=900)
    path.write_text('{"models": {"m": {"input": "cheap"}}}')
    with pytest.raises(ConfigError, match=r"p.json is not a price table"):
        load_prices(path)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ('{"input": -10, "output": 1}', "input is -10.0, expected US dollars"),
        (
            '{"input": 1, "output": -1e-9}',
            "output is -1e-09, expected US dollars",
        ),
        (
            '{"input": 1, "output": 1, "cached": -1}',
            "cached is -1.0, expected US dollars",
        ),
        (
            '{"input": 1, "output": 1, "image": -1}',
            "image is -1, expected US dollars",
        ),
        (
            '{"input": 1, "output": 1, "long": {"input": -1, "output": 1}}',
            "input is -1.0",
        ),
        ('{"input": 1, "output": 1e999}', "p.json is not a price table"),
        (
            '{"input": 0, "output": 0}',
            'input and output are 0; add "free": true',
        ),
        ('{"input": 1, "output": "\\ud800"}', "p.json is not a price table"),
    ],
)
def test_prices_that_would_lower_what_is_spent_are_refused(
    tmp_path: Path, model: str, message: str
) -> None:
    path = tmp_path / "p.json"
    path.write_text(f'{{"models": {{"m": {model}}}}}')
    with pytest.raises(ConfigError, match=message):
        load_prices(path)


def test_a_model_may_be_free(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(
        '{"models": {"m": {"input": 0, "output": 0, "free": true}}}'
    )
    assert load_prices(path)["m"].cost(Usage(1000, 0, 1000)) == 0


def test_a_file_that_is_no_price_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    with pytest.raises(
        ConfigError, match=r"picture.png cannot be read: No such file"
    ):
        load_prices(path)
    path.write_bytes(b"\x89PNG")
    with pytest.raises(
        ConfigError, match=r"picture.png is not a price table \(not JSON"
    ):
        load_prices(path)


def test_every_shipped_price_says_when_and_where_it_was_read() -> None:
    for model, price in load_prices().items():
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", price.date), model
        assert price.source, model
        if price.cached is not None:
            assert price.cached < price.input, model
        # Decision models write nothing, so their answers are free.
        if model.startswith("decisions/"):
            assert price.output == 0, model
        else:
            assert price.input < price.output, model


def test_call_that_could_pass_the_limit_waits_for_those_under_way_then_is_refused() -> (
    None
):
    async def go() -> tuple[Budget, list[str]]:
        budget = Budget(max_cost=1.0)
        log: list[str] = []

        async def call(name: str, highest_cost: float, real: float) -> None:
            async with budget.reserve(highest_cost, "m"):
                log.append(f"{name} runs")
                await validate_params()
                budget.pay(real)

        first = asyncio.create_task(call("first", 0.9, 0.3))
        await validate_params()
        await call(
            "second", 0.6, 0.6
        )  # fits only once the first has told its real cost
        await first
        with pytest.raises(BudgetError, match=r"spent 0\.9000"):
            await call("third", 0.2, 0.2)
        with pytest.raises(BudgetError):
            await call(
                "small", 0.01, 0.01
            )  # after the stop nothing slips through
        return budget, log

    budget, log = run_in_fake_time(go())
    assert log == ["first runs", "second runs"]
    assert budget.spent == pytest.approx(0.9)
