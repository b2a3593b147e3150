"""What every registered backend must keep; a new backend is a new row of TABLE."""

from __future__ import annotations

import asyncio
import json
import math
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import (
    BACKENDS,
    Answer,
    Backend,
    Image,
    Message,
    Request,
    Sample,
    Sampling,
    Usage,
    backend,
)
from beholder.backends.decisions import DecisionCall, PredicateQuestion
from beholder.errors import ConfigError, ItemError, MissingExtraError
from beholder.judges import LLMJudge
from beholder.judges.operations import Presence
from servers.decisions import DecisionServer
from servers.faults import (
    FaultServer,
    Refusal,
    completion,
    probe_answer,
    serving,
)
from servers.vendors import VendorServer
from toy import fake_vllm
from toy.cases import each_case

QUESTION = Request(
    (Message("user", ("How many cups?",)),), Sampling(max_tokens=4)
)
LOGPROB_QUESTION = replace(
    QUESTION, sampling=Sampling(max_tokens=1, top_logprobs=2)
)
PICTURE_QUESTION = replace(
    QUESTION,
    messages=(Message("user", (Image(b"x", "image/png"), "How many cups?")),),
)
LONG = replace(QUESTION, messages=(Message("user", ("too long " * 300,)),))


@dataclass(frozen=True)
class Row:
    """How a backend is made, and what it promises.

    Attributes:
        make: Gives (model, options) of a plain backend; it gets a folder and what to close.
        changed: The same with what changes answers: other options, or another content of a file.
        unknown: What says that an option is unknown.
        blind: Options with which it takes no pictures; None where all take some.
        n: How many samples it gives at once when three are asked for.
        first: Log-probabilities of "3" and "4" that its model gives; None where it tells none.
        surprisal: Whether it tells the probabilities of a given text.
        price: Dollars of a million prompt tokens; None where nobody knows.
        extra: Without this extra it says how to get it.
        fails: A request that can never be answered.
        question: A request that is answered.
        text: The answer; None where it is not known.
    """

    make: Callable[
        [Path, ExitStack, pytest.MonkeyPatch], tuple[str, dict[str, Any]]
    ]
    changed: Callable[[str, dict[str, Any]], tuple[str, dict[str, Any]]]
    unknown: str
    blind: dict[str, Any] | None = None
    n: int = 3
    first: tuple[float, float] | None = (-0.25, -1.5)
    surprisal: bool = False
    price: float | None = None
    extra: str | None = None
    fails: Request | None = LONG
    question: Request = QUESTION
    text: str | None = "3"


def _rules(
    folder: Path, stack: ExitStack, patch: pytest.MonkeyPatch
) -> tuple[str, dict[str, Any]]:
    path = folder / "rules.jsonl"
    path.write_text('{"contains": "How many cups", "answer": "3"}\n', "utf-8")
    return str(path), {}


def _recording(
    folder: Path, stack: ExitStack, patch: pytest.MonkeyPatch
) -> tuple[str, dict[str, Any]]:
    sample = Sample("3", "stop", (("3", -0.25), ("4", -1.5)))
    rows = [
        {
            "request": question.digest,
            "answer": json.loads(
                Answer(
                    (sample,) * question.sampling.n, "m-1", usage=Usage(9, 1)
                ).to_json()
            ),
        }
        for question in (
            QUESTION,
            LOGPROB_QUESTION,
            replace(QUESTION, sampling=Sampling(max_tokens=4, n=3)),
        )
    ]
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path), {}


def _other_file(
    model: str, options: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    path = Path(model)
    path.write_text(path.read_text("utf-8").replace('"3"', '"5"'), "utf-8")
    return model, options


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    """A model that sees nothing, answers "3" and tells how likely that was."""
    if "image_url" in str(body["messages"]):
        raise Refusal(400, "this model takes no images (image_url)")
    if len(str(body["messages"])) > 2000:
        raise Refusal(
            400, "This model's maximum context length is 100 tokens."
        )
    response = probe_answer(body) or completion(
        "3", first={"3": -0.25, "4": -1.5} if body.get("logprobs") else None
    )
    return {**response, "choices": response["choices"] * body.get("n", 1)}


def _server(
    folder: Path, stack: ExitStack, patch: pytest.MonkeyPatch
) -> tuple[str, dict[str, Any]]:
    server = stack.enter_context(serving(FaultServer(_reply)))
    prices = folder / "prices.json"
    prices.write_text(
        '{"models": {"served-1": {"input": 2.0, "output": 8.0}}}', "utf-8"
    )
    return "m", {"base_url": server.url, "attempts": 1, "prices": str(prices)}


def _vendor(kind: str) -> Callable[..., tuple[str, dict[str, Any]]]:
    def make(
        folder: Path, stack: ExitStack, patch: pytest.MonkeyPatch
    ) -> tuple[str, dict[str, Any]]:
        server = stack.enter_context(serving(VendorServer(kind, _reply)))
        prices = folder / "prices.json"
        prices.write_text(
            '{"models": {"served-1": {"input": 2.0, "output": 8.0}}}', "utf-8"
        )
        return "m", {
            "base_url": server.base,
            "attempts": 1,
            "prices": str(prices),
        }

    return make


def _deciding(
    folder: Path, stack: ExitStack, patch: pytest.MonkeyPatch
) -> tuple[str, dict[str, Any]]:
    """A decision model that sees nothing."""
    server = stack.enter_context(serving(DecisionServer()))
    server.reply = lambda call: (
        (400, "the input is longer than the context")
        if "too long" in str(call.body)
        else None
    )
    prices = folder / "prices.json"
    prices.write_text('{"models": {"decider-1": {"input": 2, "output": 8}}}')
    return "m", {
        "base_url": server.url,
        "attempts": 1,
        "prices": str(prices),
    }


def _more(model: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return model, {**options, "extra": {"top_k": 1}}


def _fake_engine(
    folder: Path, stack: ExitStack, patch: pytest.MonkeyPatch
) -> tuple[str, dict[str, Any]]:
    fake_vllm.install(patch)
    return "m", {}


def _tiny_llama(
    folder: Path, stack: ExitStack, patch: pytest.MonkeyPatch
) -> tuple[str, dict[str, Any]]:
    pytest.importorskip("torch", reason="runs with `make test-hf`")
    from toy.tiny_models import save_llama

    return save_llama(folder), {}


def _other_weights(
    model: str, options: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    path = Path(model) / "model.safetensors"
    weights = path.read_bytes()
    path.write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    return model, options


CUPS = DecisionCall(
    {"text": "Three cups."}, (PredicateQuestion("Three cups."),)
)
DECIDING = Row(
    _deciding,
    _more,
    "no_such_option",
    {},
    1,
    None,
    price=2.0,
    fails=replace(CUPS, state={"text": "too long " * 300}).to_request(),
    question=CUPS.to_request(),
    text='[{"probabilities":[0.75]}]',
)

TABLE: dict[str, Row] = {
    "decisions": DECIDING,
    "systemone": DECIDING,
    "scripted": Row(
        _rules, _other_file, "no_such_option", {"images": False}, first=None
    ),
    "replay": Row(_recording, _other_file, "no_such_option"),
    "openai": Row(_server, _more, "no_such_option", {}, price=2.0),
    "anthropic": Row(
        _vendor("anthropic"), _more, "no_such_option", {}, 1, None, price=2.0
    ),
    "gemini": Row(
        _vendor("gemini"), _more, "no_such_option", {}, 1, price=2.0
    ),
    "vllm": Row(
        _fake_engine,
        lambda model, options: (model, {**options, "dtype": "float32"}),
        "no_such_option",
        {"images": False},
        surprisal=True,
        price=0.0,
        extra="vllm",
    ),
    "hf": Row(
        _tiny_llama,
        _other_weights,
        "no_such_option",
        {},
        first=None,  # what random weights give is tested in test_hf.py
        surprisal=True,
        price=0.0,
        extra="hf",
        fails=None,  # a tiny model has room; too long prompts are tested in test_hf.py
        text=None,
    ),
}


@pytest.mark.parametrize("kind", ["decisions", "systemone"])
def test_a_decision_model_says_that_it_answers_no_other_question(
    kind: str,
) -> None:
    model = backend(kind, "m", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError, match="closed questions alone"):
        model.estimate_tokens(QUESTION)


def test_the_table_has_every_builtin_backend() -> None:
    assert set(TABLE) == set(BACKENDS.builtin())


@dataclass
class Kit:
    """A backend of a row, and how to make others."""

    kind: str
    row: Row
    model: str
    options: dict[str, Any]

    def make(self, **more: Any) -> Backend:
        return backend(self.kind, self.model, **{**self.options, **more})


@pytest.fixture(params=TABLE)
def kit(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Kit]:
    row = TABLE[request.param]
    with ExitStack() as stack:
        yield Kit(request.param, row, *row.make(tmp_path, stack, monkeypatch))


def judge_identity(backend: Backend) -> str:
    """Return the identity that signatures name."""
    return LLMJudge(backend).identity


def test_a_backend_made_again_has_the_same_identity_and_another_one_another(
    kit: Kit,
) -> None:
    first = judge_identity(kit.make())
    assert judge_identity(kit.make()) == first
    assert kit.make().name.startswith(f"{kit.kind}:")
    kit.model, kit.options = kit.row.changed(kit.model, kit.options)
    assert judge_identity(kit.make()) != first


def test_an_unknown_option_is_refused_by_name(kit: Kit) -> None:
    with pytest.raises((ConfigError, TypeError), match=kit.row.unknown):
        asyncio.run(
            kit.make(no_such_option=1).chat(QUESTION)
        )  # vllm: what the engine knows


def test_an_answer_says_who_gave_it_and_what_it_took(kit: Kit) -> None:
    backend = kit.make()
    able = asyncio.run(backend.capabilities())
    answer = asyncio.run(backend.chat(kit.row.question))
    assert answer.model == able.model
    assert len(answer.samples) == 1
    assert answer.usage.prompt > 0
    assert Answer.from_json(answer.to_json()).samples == answer.samples
    if kit.row.text is not None:
        assert answer.text == kit.row.text


def test_as_many_samples_come_as_are_asked_for(kit: Kit) -> None:
    question = kit.row.question
    sampling = replace(question.sampling, n=3)
    answer = asyncio.run(kit.make().chat(replace(question, sampling=sampling)))
    assert len(answer.samples) == kit.row.n


def test_log_probabilities_come_as_promised(kit: Kit) -> None:
    backend = kit.make()
    able = asyncio.run(backend.capabilities())
    question = replace(kit.row.question, sampling=LOGPROB_QUESTION.sampling)
    (sample,) = asyncio.run(backend.chat(question)).samples
    if kit.row.first is not None:
        assert able.top_logprobs >= 2
        assert sample.first == (
            ("3", kit.row.first[0]),
            ("4", kit.row.first[1]),
        )
    elif able.top_logprobs:
        values = [value for _, value in sample.first or ()]
        assert len(values) == 2
        assert values == sorted(values, reverse=True)
        assert sum(map(math.exp, values)) <= 1.0 + 1e-6
    else:
        assert sample.first is None


def test_pictures_are_refused_where_they_are_not_seen(kit: Kit) -> None:
    if kit.row.blind is None:
        assert (
            asyncio.run(kit.make().capabilities(images=True)).images
            is not False
        )
        return
    backend = kit.make(**kit.row.blind)
    assert asyncio.run(backend.capabilities(images=True)).images is False
    with pytest.raises(ConfigError, match="does not take pictures"):
        LLMJudge(backend).check_can(Presence, images=True)
    if kit.kind in (
        "openai",
        "anthropic",
        "gemini",
        "decisions",
        "systemone",
        "hf",
    ):  # the options of the others say so
        with pytest.raises(ConfigError, match="does not take pictures"):
            asyncio.run(backend.chat(PICTURE_QUESTION))


def test_probabilities_of_a_given_text_come_or_are_refused_with_the_way_out(
    kit: Kit,
) -> None:
    backend = kit.make()
    if kit.row.surprisal:
        (surprisal,) = asyncio.run(
            backend.surprisal(["good light"], prompt="Review it now.")
        )
        assert surprisal.n_characters == len("good light")
        assert surprisal.n_tokens >= 1
        assert surprisal.nll > 0
    else:
        with pytest.raises(ConfigError, match=r"hf:NAME|hf:"):
            asyncio.run(
                backend.surprisal(["good light"], prompt="Review it now.")
            )


def test_what_can_never_be_answered_is_the_fault_of_the_item(kit: Kit) -> None:
    if kit.row.fails is None:
        return
    with pytest.raises(ItemError, match=r".{20,}"):
        asyncio.run(kit.make().chat(kit.row.fails))


def test_what_tokens_cost_is_known_or_said_to_be_unknown(kit: Kit) -> None:
    backend = kit.make()
    asyncio.run(backend.chat(kit.row.question))
    price = backend.price()
    if kit.row.price is None:
        assert price is None
    else:
        assert price is not None
        assert price.cost(Usage(prompt=1_000_000)) == pytest.approx(
            kit.row.price
        )


def test_one_backend_serves_event_loops_after_each_other(kit: Kit) -> None:
    backend = kit.make()
    assert (
        asyncio.run(backend.chat(kit.row.question)).samples
        == asyncio.run(backend.chat(kit.row.question)).samples
    )


def test_the_registered_class_is_found_by_its_name_in_another_process(
    kit: Kit,
) -> None:
    """Workers make backends of specs; a class that does not pickle by name could not be found."""
    cls: Any = BACKENDS.get(kit.kind)
    assert pickle.loads(pickle.dumps(cls)) is cls


@pytest.mark.parametrize(
    "kind", [kind for kind, row in TABLE.items() if row.extra]
)
def test_without_its_extra_a_backend_says_how_to_get_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, package=None: None
    )
    for name in ("torch", "transformers", "vllm"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        MissingExtraError, match=rf"beholder\[{TABLE[kind].extra}\]"
    ):
        asyncio.run(backend(kind, "m").chat(QUESTION))


@each_case(
    "model", ["", " ", "a/../../b", "..", "./a", "a\nb", "a?key=1", "a#b", 5]
)
def test_what_is_no_name_of_a_model_is_refused(model: object) -> None:
    with pytest.raises(ConfigError, match="expected the name of a model"):
        backend("openai", model)  # type: ignore[arg-type]


@each_case(
    ("extra", "message"),
    [
        ({"messages": []}, "would replace a part of the question"),
        ({"system": 5}, "would replace a part of the question"),
        ({"contents": None}, "would replace a part of the question"),
        ({"model": "other"}, "would replace a part of the question"),
        ([1], "expected a dict of fields"),
        ({1: 2}, "expected a dict of fields"),
        ({"top_k": float("nan")}, "is not JSON"),
        ({"stop": {1, 2}}, "is not JSON"),
    ],
)
def test_extra_fields_that_are_no_fields_are_refused(
    extra: object, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        backend("openai", "m", extra=extra)
