"""Decision models as judges: options, writer, identity, and chat models that decide."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder import judges
from beholder.backends import Image, Scripted
from beholder.backends.decisions import QuestionLimits
from beholder.base.spec import canonical_spec
from beholder.errors import ConfigError, ItemError
from beholder.judges.decisions.judge import DecisionJudge
from beholder.judges.grades import from_first_token
from beholder.judges.operations import (
    AnswerQuestions,
    Assess,
    Caption,
    Contradict,
    Decompose,
    Presence,
    Question,
    ReviseText,
    Rewrite,
    TextQuestion,
    Verify,
    WriteCriteria,
)
from servers.decisions import DecisionServer
from servers.faults import FaultServer, completion, probe_answer, serving
from toy.cases import each_case
from toy.deciding import Knowing

NOWHERE = "http://127.0.0.1:9/v1"
PLANTED = "Pl4nted-0123456789"


@each_case("kind", ["decisions", "systemone"])
@each_case(
    "option",
    ["temperature=0.5", "samples=3", "replicates=2", "scale='certainty'"],
)
def test_what_draws_answers_is_refused_by_name(kind: str, option: str) -> None:
    name = option.partition("=")[0]
    for spec in (f"{kind}('m', {option})", f"panel({kind}('m', {option}))"):
        with pytest.raises(ConfigError, match=f"has no {name}"):
            judges.judge(spec)
    options: Any = {name: 0.5 if name != "scale" else "x"}
    with pytest.raises(ConfigError, match=f"{name} was given"):
        beholder.judge(f"{kind}:m", **options)


@pytest.mark.parametrize(
    "option", ["samples=3", "replicates=2", "scale='certainty'"]
)
def test_a_chat_model_that_decides_draws_nothing(option: str) -> None:
    name = option.partition("=")[0]
    with pytest.raises(ConfigError, match=f"{name} has no effect"):
        judges.judge(f"openai('m', decide=True, {option})", base_url=NOWHERE)


@each_case(
    ("spec", "message"),
    [
        ("decisions('m', orders=3)", "orders=3: expected 1 or 2"),
        ("decisions('m', orders=True)", "orders=True: expected 1 or 2"),
        ("decisions('m', writer=5)", "writer=5: expected a judge"),
        ("decisions('m', writer='nobody:x')", "nobody"),
        ("decisions('m', writer=openai)", "needs a model"),
        ("decisions()", "needs a model"),
        ("decisions('m', max_question=5)", "max_question"),
        ("openai('m', decide=1)", "decide=1: expected True or False"),
        ("openai('m', orders=2)", "orders"),
    ],
)
def test_options_that_cannot_be(spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        judges.judge(spec)


def test_a_writer_is_a_judge_in_the_spec() -> None:
    written = [
        "decisions('m', writer='openai:x')",
        'decisions(model="m", writer="openai:x")',
        "decisions('m', writer=openai('x'))",
    ]
    specs = {str(canonical_spec(spec)) for spec in written}
    assert specs == {"decisions('m', writer=openai('x'))"}
    [spec] = specs
    assert str(canonical_spec(spec)) == spec
    judge = judges.judge(spec)
    assert isinstance(judge, DecisionJudge)
    assert isinstance(judge.writer, judges.LLMJudge)
    assert str(judge.writer.spec) == "openai:x"


@pytest.mark.parametrize(
    "writer",
    [
        f"\"openai('x', api_key='{PLANTED}')\"",
        f"openai('x', key_env='{PLANTED}')",
        f"\"openai('x', base_url='http://user:{PLANTED}@host/v1')\"",
    ],
)
def test_a_secret_in_the_spec_of_a_writer_is_refused(writer: str) -> None:
    with pytest.raises(ConfigError) as caught:
        canonical_spec(f"decisions('m', writer={writer})")
    assert PLANTED not in str(caught.value)


def test_address_and_key_beside_a_spec_do_not_go_to_the_writer() -> None:
    """The writer may be another vendor's, who must not get the key."""
    options: dict[str, Any] = {
        "base_url": NOWHERE,
        "key_env": "MY_KEY",
        "max_questions": 5,
        "timeout": 3.0,
        "temperature": 0.5,
    }
    spec = "decisions('m', writer='openai:x')"
    for judge in (
        judges.judge(spec, **options),
        beholder.judge(spec, **options),
    ):
        assert isinstance(judge, DecisionJudge)
        own: Any = judge.backend
        writer: Any = judge.writer
        assert own._http.base_url == NOWHERE
        assert own._http.key_env == "MY_KEY"
        assert own.limits.max_questions == 5
        assert writer.backend._http.base_url == "https://api.openai.com/v1"
        assert writer.backend._http.key_env == "OPENAI_API_KEY"
        for backend in (own, writer.backend):
            assert backend._caller.limits.timeout == 3.0
        assert writer._temperature == 0.5


OPEN = [Decompose, Rewrite, Caption, ReviseText, WriteCriteria, Contradict]


@pytest.mark.parametrize("kind", OPEN, ids=lambda kind: kind.name)
def test_what_must_be_written_needs_a_writer(kind: Any) -> None:
    alone = judges.judge("decisions:m", base_url=NOWHERE)
    assert not alone.can(kind)
    with pytest.raises(ConfigError, match=r"needs words.*writer='openai:MOD"):
        alone.check_can(kind)
    written = judges.judge("decisions('m', writer='openai:x')")
    assert written.can(kind)
    written.check_can(kind)
    # A writer that writes nothing is none.
    twice = judges.judge("decisions('m', writer='systemone:x')")
    assert not twice.can(kind)
    with pytest.raises(ConfigError, match="systemone:x decides and writes"):
        twice.check_can(kind)


class Blind(Knowing):
    """Sees no pictures."""

    able = Knowing.able.__class__("blind", images=False)


def test_whoever_answers_must_see() -> None:
    seeing = DecisionJudge(Knowing(lambda *_: [1.0]))
    blind = DecisionJudge(Blind(lambda *_: [1.0]))
    for model, writer, kind, sees in (
        (seeing, blind, Verify, True),
        (blind, seeing, Verify, False),
    ):
        judge = DecisionJudge(model.backend, writer=writer)
        assert judge.sees is sees
        if sees:
            judge.check_can(kind, images=True)
        else:
            with pytest.raises(ConfigError, match="does not take pictures"):
                judge.check_can(kind, images=True)
    # What is written is shown to the writer.
    scripted = Scripted(lambda request: "a cat")
    judge = DecisionJudge(blind.backend, writer=judges.LLMJudge(scripted))
    judge.check_can(Caption, images=True)


def test_a_writer_that_reads_english_alone_is_said() -> None:
    model = Knowing(lambda *_: [1.0])
    assert not DecisionJudge(model).english_only
    assert DecisionJudge(model, writer=judges.judge("builtin")).english_only


def test_the_writer_writes_and_the_model_decides() -> None:
    model = Knowing(lambda *_: [0.25])
    judge = DecisionJudge(model, writer=judges.judge("builtin"))
    statements = asyncio.run(judge.ask(Decompose("A cat sleeps on a sofa.")))
    assert any("sofa" in statement.text for statement in statements)
    assert model.calls == []
    [grade] = asyncio.run(judge.ask(Presence([Question("entity", "x")], "A.")))
    assert grade.value == 2.0
    assert len(model.calls) == 1


def test_an_open_question_fails_its_item_and_is_said() -> None:
    operation = AnswerQuestions(
        [TextQuestion("Who?"), TextQuestion("Which?", ("a", "b"))], "A text."
    )
    model = Knowing(lambda *_: [0.5, 0.25, 0.25])
    with pytest.raises(ItemError, match=r"without options.*writer="):
        asyncio.run(DecisionJudge(model).ask(operation))
    assert model.calls == []


# Identity


def identity(operation: str = "presence", **options: Any) -> str:
    orders = options.pop("orders", 1)
    writer = options.pop("writer", None)
    model = Knowing(lambda *_: [1.0], QuestionLimits(**options))
    judge = DecisionJudge(model, orders=orders, writer=writer)
    return judge.identity_for([operation])


def test_what_changes_answers_is_in_the_identity() -> None:
    writer = judges.judge("builtin")
    different = [
        identity(),
        identity("verify"),
        identity(orders=2),
        identity(max_questions=10),
        identity(max_options=10),
        identity(window=10_000),
        identity("decompose"),
        identity("decompose", writer=writer),
    ]
    assert len(set(different)) == len(different)
    # A writer that is not asked is no part of the answers.
    assert identity(writer=writer) == identity()
    assert "builtin" in identity("decompose", writer=writer)
    # What is written alone does not depend on the decision model.
    alone = writer.identity_for(["decompose"])
    assert identity("decompose", writer=writer) == alone


def test_how_a_server_is_reached_is_not_in_the_identity() -> None:
    with serving(DecisionServer()) as server:

        def served(spec: str, **options: Any) -> str:
            judge = judges.judge(spec, base_url=server.url, **options)
            return judge.identity_for(["presence"])

        plain = served("decisions:m")
        assert plain == served("decisions('m', timeout=5, concurrency=2)")
        assert plain == served("decisions:m", attempts=2, wait=0.1)
        assert "decider-1" in plain
        others = {
            served("systemone:m"),
            served("decisions('m', shape='systemone')"),
            served("decisions('m', extra={'seed': 1})"),
        }
        assert len(others | {plain}) == 4


def test_writers_in_one_panel_repeat_no_answers() -> None:
    panel: Any = judges.judge(
        "panel(decisions('a', writer='openai:x'),"
        " decisions('b', writer='openai:x'))"
    )
    draws = [seat.draw(judges.Draw()).replicate for seat in panel._seats]
    assert len(set(draws)) == 2


# Chat models that decide

FIRST = {"4": -0.5, "5": -1.25, "A": -0.75, " B": -2.0, "C": -3.0, "x": -4.0}


def chat(body: dict[str, Any]) -> dict[str, Any]:
    """A chat model with one distribution over first tokens."""
    return probe_answer(body) or completion(
        "4", first=FIRST if body.get("logprobs") else None
    )


def test_the_readout_is_the_grade_by_the_existing_route() -> None:
    grade = from_first_token(tuple(FIRST.items()), 1, 5)
    operation = Assess("A cat.", ["overall"], ["A cat."], low=1, high=5)
    with serving(FaultServer(chat)) as server:
        judge = judges.judge("openai('m', decide=True)", base_url=server.url)
        answer = asyncio.run(judge.ask(operation))
        body = server.bodies[-1]
    assert answer.grades["overall"] == pytest.approx(grade.value, abs=1e-12)
    assert (body["max_tokens"], body["logprobs"]) == (1, True)
    words = str(body["messages"])
    assert "1) very bad" in words
    assert "5) very good" in words


def test_letters_are_read_for_statements_and_options() -> None:
    with serving(FaultServer(chat)) as server:
        judge = judges.judge("openai('m', decide=True)", base_url=server.url)
        units = [Question("entity", "a cat"), Question("entity", "a dog")]
        grades = asyncio.run(judge.ask(Presence(units, "A cat.")))
        bodies = server.bodies[-2:]
    # "A" is yes: exp(-0.75) of exp(-0.75) + exp(-2).
    p = 0.7772998611746911
    assert [g.value for g in grades] == pytest.approx([1 + 4 * p] * 2)
    # The prompts differ at the end alone, so that servers reuse the rest.
    first, second = (str(b["messages"]) for b in bodies)
    until_text = first.index("A cat.") + len("A cat.")
    assert first[:until_text] == second[:until_text]


def test_letters_are_no_poor_digits(tmp_path: Path) -> None:
    """The caution about grades whose probability is not on digits is not about letters."""
    first = {"A": -0.01, "B": -5.0}

    def lettered(body: dict[str, Any]) -> dict[str, Any]:
        return probe_answer(body) or completion(
            "A", first=first if body.get("logprobs") else None
        )

    file = judges.AnswerFile(tmp_path / "run.sqlite")
    with serving(FaultServer(lettered)) as server:
        judge = judges.judge(
            "openai('m', decide=True)",
            base_url=server.url,
            answers=judges.Answers(file),
        )
        assert asyncio.run(judge.ask(Verify(["a"], reference="b"))) == [True]
    judging = file.judging()
    file.close()
    assert judging.n_answers == 1
    assert judging.caution == ""


def test_a_server_without_log_probabilities_cannot_decide() -> None:
    def silent(body: dict[str, Any]) -> dict[str, Any]:
        return probe_answer(body) or completion("A")

    with serving(FaultServer(silent)) as server:
        judge = judges.judge("openai('m', decide=True)", base_url=server.url)
        with pytest.raises(ConfigError, match="no log-probabilities"):
            asyncio.run(judge.ask(Verify(["a"], reference="b")))


def test_labels_without_probability_are_no_answer() -> None:
    def elsewhere(body: dict[str, Any]) -> dict[str, Any]:
        first = {"x": -0.01, "A": -5.0} if body.get("logprobs") else None
        return probe_answer(body) or completion("x", first=first)

    with serving(FaultServer(elsewhere)) as server:
        judge = judges.judge("openai('m', decide=True)", base_url=server.url)
        with pytest.raises(ItemError, match="none of A, B is likely"):
            asyncio.run(judge.ask(Verify(["a"], reference="b")))


def test_the_same_chat_model_writes() -> None:
    def writer(body: dict[str, Any]) -> dict[str, Any]:
        return probe_answer(body) or completion(
            "a red cat", first=FIRST if body.get("logprobs") else None
        )

    with serving(FaultServer(writer)) as server:
        judge = judges.judge("openai('m', decide=True)", base_url=server.url)
        assert asyncio.run(judge.ask(Rewrite("cat red"))) == "a red cat"


def test_a_tiny_model_decides_as_it_grades(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="runs with `make test-hf`")
    from toy.tiny_models import save_llama

    judge: Any = judges.judge(f"hf('{save_llama(tmp_path)}', decide=True)")
    operation = Assess("A cat.", ["overall"], ["A cat."], low=1, high=5)
    asked: list[Any] = []
    chat_now = judge.backend.chat

    async def listen(request: Any) -> Any:
        answer = await chat_now(request)
        asked.append(answer.samples[0].first)
        return answer

    judge.backend.chat = listen
    try:
        answer = asyncio.run(judge.ask(operation))
    except ItemError:  # hardly anything of a random model lies on digits
        with pytest.raises(Exception, match="digit"):
            from_first_token(asked[-1], 1, 5)
    else:
        grade = from_first_token(asked[-1], 1, 5)
        assert answer.grades["overall"] == pytest.approx(grade.value)


def test_pictures_are_shown_with_the_questions() -> None:
    model = Knowing(lambda *_: [0.75])
    picture = Image(b"x", "image/png")
    judge = DecisionJudge(model)
    assert asyncio.run(judge.ask(Verify(["a"], [picture]))) == [True]
    assert model.calls[0].images == (picture,)
