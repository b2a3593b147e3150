"""Request building and reading of the vllm backend, with an engine that plays vLLM's part."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from beholder.aio import run_to_end
from beholder.backends import Image, Message, Request, Sampling
from beholder.backends.vllm import VLLM
from beholder.errors import ConfigError, ItemError, MissingExtraError
from beholder.judges import LLMJudge
from beholder.judges.answers import InMemory
from beholder.judges.operations import Rewrite
from toy.clock import run_in_fake_time


@dataclass
class Params:
    """Sampling parameters that store their options."""

    options: dict[str, Any] = field(default_factory=dict)

    def __init__(self, **options: Any) -> None:
        self.options = options


class Engine:
    """Answers "3" to everything."""

    started: list[dict[str, Any]] = []
    calls: list[tuple[list[Any], Any, dict[str, Any]]] = []
    room = 50

    def __init__(self, **options: Any) -> None:
        Engine.started.append(options)

    def chat(
        self, conversations: list[Any], sampling_params: Any, **options: Any
    ) -> list[Any]:
        Engine.calls.append((conversations, sampling_params, options))
        if any(len(str(turns).split()) > self.room for turns in conversations):
            raise ValueError(
                "The decoder prompt is longer than the maximum model length of 50."
            )
        return [self.output(turns) for turns in conversations]

    @staticmethod
    def output(turns: list[dict[str, Any]]) -> Any:
        words = " ".join(str(turn["content"]) for turn in turns).split()
        row = {
            7: SimpleNamespace(logprob=-0.5, decoded_token="3"),
            8: SimpleNamespace(logprob=-0.1, decoded_token=" 4"),
        }
        sample = SimpleNamespace(
            text="3", finish_reason="length", logprobs=[row], token_ids=[7]
        )
        return SimpleNamespace(
            prompt_token_ids=list(range(len(words))),
            prompt_logprobs=[None]
            + [{1: SimpleNamespace(logprob=-2.0)}] * (len(words) - 1),
            outputs=[sample],
            num_cached_tokens=2,
        )


class SteppingEngine(Engine):
    """As vLLM 0.32: requests are put in, and the last one that is unfinished ends at each step."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.llm_engine = self
        self.n_given = 0
        self.running: dict[str, Any] = {}
        self.aborted: list[str] = []
        self.before_step: Any = lambda: None

    def enqueue_chat(
        self, conversations: list[Any], params: Any, **options: Any
    ) -> list[str]:
        names = []
        for output in self.chat(conversations, params, **options):
            output.request_id, output.finished = str(self.n_given), True
            self.n_given += 1
            self.running[output.request_id] = output
            names.append(f"{output.request_id}-8ae1f90c")
        return names

    def step(self) -> list[Any]:
        self.before_step()
        partial = SimpleNamespace(
            request_id=next(iter(self.running)), finished=False
        )
        return [partial, self.running.popitem()[1]]

    def abort_request(self, names: list[str]) -> None:
        self.aborted += names
        for name in names:
            del self.running[name]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[Engine]:
    module = ModuleType("vllm")
    module.__spec__ = SimpleNamespace(name="vllm")  # type: ignore[assignment]
    module.SamplingParams = Params  # type: ignore[attr-defined]

    def loaded(
        name: str,
    ) -> Any:  # as the package does it: its parts come with the engine
        if name != "LLM":
            raise AttributeError(name)
        if not hasattr(module, "sampling_params"):
            module.sampling_params = SimpleNamespace(  # type: ignore[attr-defined]
                StructuredOutputsParams=Params
            )
        return Engine

    module.__getattr__ = loaded  # type: ignore[method-assign]
    processor = SimpleNamespace(is_cpu=lambda: False)
    module.platforms = SimpleNamespace(current_platform=processor)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", module)
    Engine.started, Engine.calls = [], []
    return Engine


def ask(*texts: str, **sampling: Any) -> list[Request]:
    return [
        Request((Message("user", (text,)),), Sampling(**sampling))
        for text in texts
    ]


def test_engine_starts_at_the_first_question_and_once(
    engine: type[Engine],
) -> None:
    backend = VLLM("m", tensor_parallel_size=2)
    assert engine.started == []
    for request in ask("a", "b"):
        asyncio.run(backend.chat(request))
    assert engine.started == [
        {
            "model": "m",
            "revision": None,
            "enable_prefix_caching": True,
            "load_format": "safetensors",
            "trust_remote_code": False,
            "tensor_parallel_size": 2,
            "structured_outputs_config": {
                "backend": "xgrammar",
                "disable_any_whitespace": True,
            },
        }
    ]
    config = {"backend": "guidance"}
    asyncio.run(VLLM("m", structured_outputs_config=config).chat(ask("a")[0]))
    assert engine.started[1]["structured_outputs_config"] == config


def test_the_engine_logs_where_no_results_are_printed(
    engine: type[Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_LOGGING_STREAM", "set back when the test ends")
    monkeypatch.delenv("VLLM_LOGGING_STREAM")
    asyncio.run(VLLM("m").chat(ask("a")[0]))
    assert os.environ["VLLM_LOGGING_STREAM"] == "ext://sys.stderr"


def test_older_engines_know_no_option_for_white_space(
    engine: type[Engine],
) -> None:
    sys.modules["vllm"].sampling_params = SimpleNamespace()  # type: ignore[attr-defined]
    asyncio.run(VLLM("m").chat(ask("a")[0]))
    assert "structured_outputs_config" not in engine.started[0]


def test_code_of_a_model_is_trusted_by_a_named_option_and_at_a_revision_only(
    engine: type[Engine],
) -> None:
    with pytest.raises(
        ConfigError, match="runs the model's own code; name the revision"
    ):
        VLLM("m", trust_remote_code=True)
    with pytest.raises(
        ConfigError, match="trust_remote_code is True or False"
    ):
        VLLM("m", trust_remote_code="yes")  # type: ignore[arg-type]  # what is tested
    asyncio.run(
        VLLM("m", trust_remote_code=True, revision="abc").chat(ask("a")[0])
    )
    assert engine.started[0]["trust_remote_code"] is True
    assert engine.started[0]["revision"] == "abc"


def test_a_model_in_a_folder_is_named_by_its_weights(tmp_path: Path) -> None:
    """Else a checkpoint that was written over is given the answers of the one before."""

    def served(model: str, **options: Any) -> str:
        return asyncio.run(VLLM(model, **options).capabilities()).model

    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    before = served(str(tmp_path))
    assert served(str(tmp_path)) == before
    weights.write_bytes(b"two")
    assert served(str(tmp_path)) != before
    one_file = served(str(weights))
    weights.write_bytes(b"six")
    assert served(str(weights)) != one_file
    # The first twelve digits, so that answers kept by earlier versions are found.
    assert re.fullmatch(r".+@[0-9a-f]{12}", before)
    assert served("org/model") == "org/model@main"
    assert served("org/model", revision="abc") == "org/model@abc"


def test_prompts_with_a_shared_beginning_come_one_after_the_other(
    engine: type[Engine],
) -> None:
    async def go() -> None:
        backend = VLLM("m", thinking=False)
        requests = ask(
            "text A q1", "text B q1", "text A q2", "text B q2", max_tokens=1
        )
        await asyncio.gather(*(backend.chat(request) for request in requests))

    asyncio.run(go())
    assert len(engine.calls) == 1
    conversations, _, options = engine.calls[0]
    first_turns = [turns[0]["content"] for turns in conversations]
    assert first_turns == ["text A q1", "text A q2", "text B q1", "text B q2"]
    assert options["chat_template_kwargs"] == {"enable_thinking": False}


def test_sampling_schema_and_pictures_reach_the_engine(
    engine: type[Engine],
) -> None:
    sampling = Sampling(
        temperature=0.7, max_tokens=5, n=3, seed=10, top_logprobs=20
    )
    message = Message("user", (Image(b"x", "image/png"), "What?"))
    request = Request((message,), sampling, {"type": "object"}, replicate=2)
    asyncio.run(VLLM("m", images=True).chat(request))
    conversations, params, _ = engine.calls[0]
    options = params[0].options
    guided = options.pop("structured_outputs")
    assert guided.options == {"json": {"type": "object"}}
    assert options == {
        "temperature": 0.7,
        "max_tokens": 5,
        "n": 3,
        "seed": 12,
        "logprobs": 20,
    }
    part = conversations[0][0]["content"][0]
    assert part["image_url"]["url"] == "data:image/png;base64,eA=="


def test_a_seed_is_sent_with_drawn_answers_alone_and_not_to_a_cpu(
    engine: type[Engine],
) -> None:
    def seeds() -> list[Any]:
        return [params[0].options.get("seed") for _, params, _ in engine.calls]

    for request in ask("a", temperature=0.7, seed=3) + ask(
        "b", temperature=0.0, seed=3
    ):
        asyncio.run(VLLM("m").chat(request))
    assert seeds() == [3, None]
    processor = sys.modules["vllm"].platforms.current_platform
    processor.is_cpu = lambda: True
    asyncio.run(VLLM("m").chat(ask("a", temperature=0.7, seed=3)[0]))
    assert seeds() == [3, None, None]


def test_answer_holds_first_token_usage_and_finish(
    engine: type[Engine],
) -> None:
    answer = asyncio.run(
        VLLM("m").chat(ask("one two three", max_tokens=1, top_logprobs=5)[0])
    )
    assert answer.samples[0].first == ((" 4", -0.1), ("3", -0.5))
    assert (
        answer.usage.prompt,
        answer.usage.cached,
        answer.usage.completion,
    ) == (3, 2, 1)
    assert answer.samples[0].finish == "length"


def test_prompt_too_long_fails_alone(engine: type[Engine]) -> None:
    async def go() -> list[Any]:
        backend = VLLM("m")
        requests = ask("word " * 99, "short", max_tokens=5)
        return await asyncio.gather(
            *(backend.chat(r) for r in requests), return_exceptions=True
        )

    long, short = asyncio.run(go())
    assert isinstance(long, ItemError)
    assert "longer than the maximum" in str(long)
    # 99 words of 5 bytes and 12 more, 3 bytes to a token, and 5 tokens to answer.
    assert "it has about 174 tokens" in str(long)
    assert "not cut: shorten the text or use a judge with more room" in str(
        long
    )
    assert short.text == "3"


@pytest.fixture
def stepping(engine: type[Engine]) -> list[SteppingEngine]:
    """Return the list of engines that the test starts."""
    engines: list[SteppingEngine] = []

    def make(**options: Any) -> SteppingEngine:
        engines.append(SteppingEngine(**options))
        return engines[-1]

    sys.modules["vllm"].LLM = make  # type: ignore[attr-defined]
    sys.modules["vllm"].sampling_params = SimpleNamespace(  # type: ignore[attr-defined]
        StructuredOutputsParams=Params
    )
    return engines


def test_answers_come_back_to_their_questions_in_whatever_order_they_finish(
    stepping: list[SteppingEngine],
) -> None:
    async def go() -> list[Any]:
        backend = VLLM("m")
        requests = ask("one", "one two", "one two three", max_tokens=5)
        return await asyncio.gather(
            *(backend.chat(request) for request in requests)
        )

    assert [answer.usage.prompt for answer in asyncio.run(go())] == [1, 2, 3]
    assert stepping[0].aborted == []


def test_what_is_finished_is_told_at_once_and_the_rest_ends_when_nobody_waits(
    stepping: list[SteppingEngine],
) -> None:
    backend = VLLM("m")
    arrived: list[str] = []
    closed = threading.Event()

    async def chat_once(request: Request) -> None:
        await backend.chat(request)
        arrived.append(request.messages[0].text)

    async def interrupted() -> None:
        await backend.chat(ask("x")[0])
        loop, me = asyncio.get_running_loop(), asyncio.current_task()
        steps = iter(range(3))

        def before_step() -> None:
            if next(steps) == 2:
                while len(arrived) < 2:
                    asyncio.run_coroutine_threadsafe(
                        asyncio.sleep(0), loop
                    ).result(60)
                loop.call_soon_threadsafe(me.cancel)  # type: ignore[union-attr]
                closed.wait(60)

        stepping[0].before_step = before_step
        await asyncio.gather(
            *map(chat_once, ask("a", "b", "c", "d", max_tokens=5))
        )

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())
    closed.set()
    backend._batcher._thread.shutdown(wait=True)
    assert arrived == ["d", "c"]
    assert stepping[0].aborted == ["1"], "the third step ended b"
    assert stepping[0].running == {}


def test_an_interrupt_waits_for_no_answer_that_costs_nothing(
    stepping: list[SteppingEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = VLLM("m")
    judge = LLMJudge(backend, answers=InMemory())
    monkeypatch.setattr(Engine, "room", 1000)
    closed = threading.Event()

    start = 0.0

    async def interrupted() -> None:
        await backend.chat(ask("x")[0])
        loop, me = asyncio.get_running_loop(), asyncio.current_task()

        def interrupt() -> None:
            nonlocal start
            start = loop.time()
            me.cancel()  # type: ignore[union-attr]

        def before_step() -> None:
            loop.call_soon_threadsafe(interrupt)
            closed.wait(60)

        stepping[0].before_step = before_step
        await judge.ask(Rewrite("a thing"))

    async def waited() -> float:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.ensure_future(run_to_end(interrupted()))
        return asyncio.get_running_loop().time() - start

    assert run_in_fake_time(waited()) < 1
    closed.set()
    backend._batcher._thread.shutdown(wait=True)


def test_perplexity_counts_the_texts_tokens_alone(
    engine: type[Engine],
) -> None:
    surprisals = asyncio.run(
        VLLM("m").surprisal(["good light", "x"], prompt="Review it now.")
    )
    assert [(p.nll, p.n_tokens) for p in surprisals] == [(4.0, 2), (2.0, 1)]


def test_a_text_whose_first_token_is_the_prompts_last_is_a_failure(
    engine: type[Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = engine.output

    def merged(turns: list[dict[str, Any]]) -> Any:
        output = whole(turns)
        if turns[-1]["content"].startswith("\n"):
            output.prompt_token_ids[2] = 99
        return output

    monkeypatch.setattr(engine, "output", staticmethod(merged))
    with pytest.raises(
        ItemError, match="makes one token of the end of the prompt"
    ):
        asyncio.run(
            VLLM("m").surprisal(["\ngood light"], prompt="Review it now.")
        )


def test_missing_package_says_how_to_get_it() -> None:
    if "vllm" in sys.modules:
        pytest.skip("vllm is installed here")
    with pytest.raises(
        MissingExtraError, match=r"pip install 'beholder\[vllm\]'"
    ):
        asyncio.run(VLLM("m").chat(ask("a")[0]))
