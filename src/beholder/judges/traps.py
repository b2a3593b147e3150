"""Traps for judges that give probabilities: what changes their answers and should not.

Five texts of our own have choices with one right answer and facts in two wordings and denied. The
questions are put as decisions, as the operations of ``judges.decisions`` put them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from beholder.backends.decisions import (
    ChoiceQuestion,
    Decision,
    DecisionCall,
    DecisionQuestion,
    PredicateQuestion,
)
from beholder.judges.answers import AnswerStore, noted_keys
from beholder.judges.decisions.decider import Decider
from beholder.judges.decisions.judge import DecisionJudge
from beholder.judges.decisions.methods.base import word_question
from beholder.judges.operations import Presence
from beholder.judges.probes import attempt, load_probes
from beholder.stats.judge_bias import Bias, mean_bias, share_bias

N_CALLS = 50
"""Calls at most, if the server takes all questions of a text in one."""

LONG_TEXTS = (2_000, 8_000, 60_000)
"""Tokens of the texts whose last sentence is asked about; the last is shorter in small windows.

A chat model pays for a text with each question, so it gets the first two alone."""

_WINDOW_SHARE = 0.8
"""Of a window that the longest text fills: tokens are estimated."""

_MOST_QUESTIONS = 100
"""Questions of the call that shows how a server counts a state."""

_STATE_TOKENS = 600
_DECIMALS = range(7)
_LEAST_CHOICES = 10
_LEAST_ENDS = 5
_COMPANY_UNIT = "mean change of a probability"
_ANSWERS_UNIT = "share of answers that change"

_LAST_SENTENCE = (
    "At the very end, a parrot sits on a ladder beside a violin, a jar of"
    " honey and a copper kettle."
)
_LAST_THINGS = ("a parrot", "a ladder", "a violin", "honey", "a kettle")
_ABSENT_THINGS = ("an elephant", "a canoe", "a trumpet", "snow", "a tent")


@dataclass(frozen=True)
class ChoiceTrap:
    """A question with options.

    Attributes:
        question: The question.
        options: The options, the last of which is "the text does not say".
        right: Place of the right option.
    """

    question: str
    options: tuple[str, ...]
    right: int


@dataclass(frozen=True)
class FactTrap:
    """A fact of a text.

    Attributes:
        stated: In words of the text.
        reworded: In other words.
        denied: The opposite.
    """

    stated: str
    reworded: str
    denied: str


@dataclass(frozen=True)
class TrapText:
    """A text with its traps."""

    text: str
    choices: tuple[ChoiceTrap, ...]
    facts: tuple[FactTrap, ...]


@dataclass(frozen=True)
class TextEnd:
    """Answers about the last sentence of a long text, which a server may cut.

    Attributes:
        n_tokens: Tokens of the text, estimated.
        n_seen: Things of the last sentence that the judge says are there; None without an answer.
        reason: Why there is no answer; a server that refuses a long text cuts nothing.
    """

    n_tokens: int
    n_seen: int | None
    reason: str = ""


@dataclass(frozen=True)
class StateCount:
    """Tokens that a server counts for one question and for many about the same text.

    Attributes:
        n_questions: Questions of the second call.
        tokens_of_one: Tokens counted for one question; None if the server reports none.
        tokens_of_all: Tokens counted for all.
        state_tokens: Tokens of the text, estimated.
    """

    n_questions: int
    tokens_of_one: int | None
    tokens_of_all: int | None
    state_tokens: int

    @property
    def is_once(self) -> bool | None:
        """Return whether the text counts once a call; None if it is not known."""
        if self.tokens_of_one is None or self.tokens_of_all is None:
            return None
        tokens = self.tokens_of_all - self.tokens_of_one
        # A further question costs its own words, or the text again.
        return tokens / (self.n_questions - 1) < self.state_tokens / 2


@dataclass(frozen=True)
class TrapReport:
    """Effects of irrelevant changes on the answers of a judge that gives probabilities.

    Attributes:
        biases: Shares and mean changes; 0 is best.
        right_choices: Right answers to the choices, and how many were answered.
        ends: Long texts, from the shortest.
        state_count: How the server counts a text; None if each question is a request of its own.
    """

    biases: tuple[Bias, ...]
    right_choices: tuple[int, int]
    ends: tuple[TextEnd, ...]
    state_count: StateCount | None


@cache
def trap_texts() -> tuple[TrapText, ...]:
    """Return the texts of the package with their traps."""
    file = resources.files("beholder.judges").joinpath("traps.txt")
    texts = []
    for block in file.read_text(encoding="utf-8").strip().split("\n\n")[1:]:
        text, *rows = block.split("\n")
        choices, facts = [], []
        for row in rows:
            kind, *cells = (part.strip() for part in row.split("|"))
            if kind == "fact":
                facts.append(FactTrap(*cells))
                continue
            question, *options = cells
            right = next(
                place
                for place, option in enumerate(options)
                if option.startswith("*")
            )
            names = tuple(option.removeprefix("*") for option in options)
            choices.append(ChoiceTrap(question, names, right))
        texts.append(TrapText(text, tuple(choices), tuple(facts)))
    return tuple(texts)


async def check_traps(
    judge: DecisionJudge, answers: AnswerStore
) -> TrapReport:
    """Put the traps to a judge; what has no answer is counted and left out.

    Args:
        judge: The judge.
        answers: The store of its answers, whose tokens are read.
    """
    decider = judge.decider_for(Presence.name)
    # First, because a server may count a text that it has in its cache as less.
    state_count = await _count_state(judge, decider, answers)
    plain, reversed_options, numbered, facts = (
        [answer for text in column for answer in text]
        for column in zip(
            *await asyncio.gather(
                *(_ask_text(decider, text) for text in trap_texts())
            ),
            strict=True,
        )
    )
    right = [
        trap.options[trap.right]
        for text in trap_texts()
        for trap in text.choices
    ]
    answered = [
        (answer, expected)
        for answer, expected in zip(plain, right, strict=True)
        if answer is not None
    ]
    ends = await _read_ends(judge, decider)
    return TrapReport(
        biases=(
            _changed_answers("order of options", plain, reversed_options),
            _changed_answers("names of options", plain, numbered),
            *await _compare_company(decider),
            _negation_bias(facts),
            _literal_bias(facts),
            _cutting_bias(ends),
        ),
        right_choices=(
            sum(answer == expected for answer, expected in answered),
            len(answered),
        ),
        ends=tuple(ends),
        state_count=state_count,
    )


async def _ask_text(
    decider: Decider, text: TrapText
) -> tuple[list[str | None], ...]:
    """Return the answers to a text's choices in three forms, and to its facts.

    The forms are: as they are, with reversed options, and with numbers as names. Facts have an
    answer for each wording: "yes", "no" or None.
    """
    plain = [
        ChoiceQuestion(
            trap.question, tuple((name, None) for name in trap.options)
        )
        for trap in text.choices
    ]
    turned = [
        ChoiceQuestion(question.instructions, question.options[::-1])
        for question in plain
    ]
    numbered = [
        ChoiceQuestion(
            question.instructions,
            tuple(
                (f"s{place}", name)
                for place, (name, _) in enumerate(question.options)
            ),
        )
        for question in plain
    ]
    claims = [
        PredicateQuestion(
            f"The description says this, in these or other words: {claim}"
        )
        for fact in text.facts
        for claim in (fact.stated, fact.reworded, fact.denied)
    ]
    forms: list[Sequence[DecisionQuestion]] = [plain, turned, numbered, claims]
    answers = await asyncio.gather(
        *(_decide(decider, text.text, questions) for questions in forms)
    )
    *choices, verdicts = answers
    likeliest = [
        [
            _likeliest(question, decision)
            for question, decision in zip(form, decisions, strict=True)
        ]
        for form, decisions in zip(
            (plain, turned, numbered), choices, strict=True
        )
    ]
    return *likeliest, [_verdict(decision) for decision in verdicts]


async def _decide(
    decider: Decider, text: str, questions: Sequence[DecisionQuestion]
) -> list[Decision]:
    """Return a decision for each question; where the call fails, each has the reason."""
    decisions = await attempt(decider.decide({"description": text}, questions))
    if isinstance(decisions, str):
        return [Decision(reason=decisions)] * len(questions)
    return decisions


def _likeliest(question: ChoiceQuestion, decision: Decision) -> str | None:
    """Return the words of the likeliest option; None without an answer.

    Of equally likely options the first by its words is taken, so that a tie is no flip.
    """
    if decision.reason:
        return None
    options = [about or name for name, about in question.options]
    pairs = zip(decision.probabilities, options, strict=True)
    return min(pairs, key=lambda pair: (-pair[0], pair[1]))[1]


def _verdict(decision: Decision) -> str | None:
    if decision.reason:
        return None
    return "yes" if decision.probabilities[0] > 0.5 else "no"


def _changed_answers(
    name: str, before: Sequence[str | None], after: Sequence[str | None]
) -> Bias:
    changed = [
        x != y
        for x, y in zip(before, after, strict=True)
        if x is not None and y is not None
    ]
    return share_bias(
        name, _ANSWERS_UNIT, changed, "choices", least=_LEAST_CHOICES
    )


def _negation_bias(verdicts: Sequence[str | None]) -> Bias:
    same = [
        stated == denied
        for stated, denied in zip(verdicts[::3], verdicts[2::3], strict=True)
        if stated is not None and denied is not None
    ]
    return share_bias(
        "negation",
        "share of facts that get the answer of their denial",
        same,
        "facts",
        least=_LEAST_CHOICES,
    )


def _literal_bias(verdicts: Sequence[str | None]) -> Bias:
    # A fact that is not seen in its own words says nothing about other words.
    missed = [
        reworded == "no"
        for stated, reworded in zip(verdicts[::3], verdicts[1::3], strict=True)
        if stated == "yes" and reworded is not None
    ]
    return share_bias(
        "literal reading",
        "share of facts seen in the text's words alone",
        missed,
        "facts",
        least=_LEAST_CHOICES,
    )


async def _compare_company(decider: Decider) -> tuple[Bias, ...]:
    """Compare the same questions alone, among others, and after all others."""
    probes = load_probes("obvious.txt")
    questions = [
        PredicateQuestion(
            word_question(
                decider,
                probe.question.kind,
                {
                    "text": probe.question.text,
                    "subject": probe.question.subject,
                    "object": probe.question.object,
                },
            )
        )
        for probe in probes
    ]
    scene = probes[0].text
    places = range(len(questions))
    orders = [
        [*questions[place + 1 :], *questions[: place + 1]] for place in places
    ]
    together = await _decide(decider, scene, questions)
    alone = await asyncio.gather(
        *(_decide(decider, scene, [question]) for question in questions)
    )
    last = await asyncio.gather(
        *(_decide(decider, scene, order) for order in orders)
    )
    triples = [
        (single[0], together[place], row[-1])
        for place, (single, row) in enumerate(zip(alone, last, strict=True))
    ]
    values = [
        [decision.probabilities[0] for decision in triple]
        for triple in triples
        if not any(decision.reason for decision in triple)
    ]
    return (
        mean_bias(
            "company of questions",
            _COMPANY_UNIT,
            [abs(beside - single) for single, beside, _ in values],
            "questions",
            least=_LEAST_CHOICES,
        ),
        mean_bias(
            "place among questions",
            _COMPANY_UNIT,
            [abs(at_end - beside) for _, beside, at_end in values],
            "questions",
            least=_LEAST_CHOICES,
        ),
        share_bias(
            "joint answers",
            _ANSWERS_UNIT,
            [len({value > 0.5 for value in row}) > 1 for row in values],
            "questions",
            least=_LEAST_CHOICES,
        ),
    )


def _filler(n_tokens: int) -> str:
    """Return sentences of about so many tokens, each different."""
    sentences: list[str] = []
    n_seen = 0
    while n_seen < n_tokens:
        sentence = f"House {len(sentences) + 1} of the row has grey shutters."
        sentences.append(sentence)
        n_seen += _count_tokens(sentence)
    return " ".join(sentences)


def _count_tokens(text: str) -> int:
    call = DecisionCall({"description": text}, ())
    return int(call.to_request().estimated_tokens())


async def _read_ends(judge: DecisionJudge, decider: Decider) -> list[TextEnd]:
    """Ask about the last sentence alone and at the end of longer and longer texts."""
    longest = int(_WINDOW_SHARE * judge.limits.window)
    text_lengths = LONG_TEXTS if judge.is_deciding else LONG_TEXTS[:2]
    lengths = sorted({min(tokens, longest) for tokens in text_lengths})
    questions = [
        PredicateQuestion(word_question(decider, "entity", {"text": thing}))
        for thing in (*_LAST_THINGS, *_ABSENT_THINGS)
    ]
    ends = []
    for n_tokens in (0, *lengths):
        text = f"{_filler(n_tokens)} {_LAST_SENTENCE}".strip()
        decisions = await _decide(decider, text, questions)
        verdicts = [_verdict(decision) for decision in decisions]
        seen, absent = (
            verdicts[: len(_LAST_THINGS)],
            verdicts[len(_LAST_THINGS) :],
        )
        reason = next((d.reason for d in decisions if d.reason), "")
        if not reason and "yes" in absent:
            reason = "says yes to what no text states"
        ends.append(
            TextEnd(
                n_tokens=_count_tokens(text),
                n_seen=None if reason else seen.count("yes"),
                reason=reason,
            )
        )
    return ends


def _cutting_bias(ends: Sequence[TextEnd]) -> Bias:
    """Return the share of last things that are missed in long texts, seen in the short one."""
    short, *long_texts = ends
    missed: list[bool] = []
    for end in long_texts:
        if short.n_seen is None or end.n_seen is None:
            continue
        n_kept = min(end.n_seen, short.n_seen)
        missed += [False] * n_kept + [True] * (short.n_seen - n_kept)
    return share_bias(
        "cutting of long texts",
        "share of things in the last sentence that are missed",
        missed,
        "things",
        least=_LEAST_ENDS,
    )


async def _count_state(
    judge: DecisionJudge, decider: Decider, answers: AnswerStore
) -> StateCount | None:
    """Ask one question and many about one text, and compare the tokens that are counted."""
    if not judge.is_deciding:
        return None
    text = _filler(_STATE_TOKENS)
    n_questions = min(_MOST_QUESTIONS, judge.limits.max_questions)
    if n_questions < 2:
        return None
    questions = [
        PredicateQuestion(f"House {number} of the row has grey shutters.")
        for number in range(1, n_questions + 1)
    ]
    counts, estimates = [], []
    for chosen in (questions[:1], questions):
        with noted_keys() as keys:
            await _decide(decider, text, chosen)
        stored = [answers.get_answer(key) for key in keys]
        counts.append(sum(a.usage.prompt for a in stored if a is not None))
        call = DecisionCall({"description": text}, tuple(chosen))
        estimates.append(call.to_request().estimated_tokens())
    tokens_of_one, tokens_of_all = counts
    # Where a server reports no tokens, ours are stored, which prove nothing.
    is_estimated = (
        abs((tokens_of_all - tokens_of_one) - (estimates[1] - estimates[0]))
        <= 1
    )
    is_known = tokens_of_one > 0 and tokens_of_all > 0 and not is_estimated
    return StateCount(
        n_questions=n_questions,
        tokens_of_one=tokens_of_one if is_known else None,
        tokens_of_all=tokens_of_all if is_known else None,
        state_tokens=_count_tokens(text),
    )


def find_step(probabilities: Sequence[float]) -> float | None:
    """Return the smallest step between probabilities, as a power of ten; None if it is finer.

    Args:
        probabilities: As the server gave them, not divided by their sum.
    """
    for decimals in _DECIMALS:
        if all(abs(round(p, decimals) - p) < 1e-9 for p in probabilities):
            return 10.0**-decimals
    return None
