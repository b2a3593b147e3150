"""What every registered metric must keep; a new metric is a new row of TABLE."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from beholder.asking.params import choices
from beholder.backends import BACKENDS
from beholder.errors import ConfigError, ItemError
from beholder.metrics import METRICS, metric, params
from beholder.records import Item, ItemFailure, ItemScore
from toy.cases import each_case
from toy.reviewer import Reviewer

if "reviewer" not in BACKENDS.names():
    BACKENDS.register("reviewer")(Reviewer)

RULES = Path(__file__).parent / "toy" / "assess_rules.jsonl"

# plain: the spec with what must be given. changed: another setting. scored: the metric that the tests of scores run, where the default needs
# a model. elsewhere: these run in a test of its own, because it needs pictures or weights.
TABLE: dict[str, dict[str, object]] = {
    "accord": {"identical": 1.0, "changed": "accord(encoder='hf:x')"},
    "bertscore": {
        "changed": "bertscore(layer=9)",
        "elsewhere": "classical/test_bertscore.py",
    },
    "clair": {
        "identical": 1.0,
        "plain": "clair(judge='openai:m')",
        "changed": "clair(judge='openai:x')",
        "scored": f"clair(judge='scripted:{RULES}')",
    },
    "clipscore": {
        "changed": "clipscore(prefix='')",
        "elsewhere": "classical/test_clipscore.py",
    },
    "direct_assessment": {
        "identical": 1.0,
        "plain": "direct_assessment(judge='openai:m')",
        "changed": "direct_assessment(judge='openai:m', scale=10)",
        "scored": f"direct_assessment(judge='scripted:{RULES}')",
    },
    "dsg": {"identical": 1.0, "changed": "dsg(judge='openai:m')"},
    "fleur": {
        "plain": "fleur(judge='openai:m')",
        "changed": "fleur(judge='openai:m', references=True)",
        "elsewhere": "judged/test_judge_baselines.py",
    },
    "llava_critic": {
        "plain": "llava_critic(judge='openai:m')",
        "changed": "llava_critic(judge='openai:m', references=True)",
        "elsewhere": "judged/test_judge_baselines.py",
    },
    "prometheus": {
        "identical": 1.0,
        "plain": "prometheus(judge='openai:m')",
        "changed": "prometheus(judge='openai:x')",
        "scored": f"prometheus(judge='scripted:{RULES}')",
    },
    "refclipscore": {
        "changed": "refclipscore(prefix='')",
        "elsewhere": "classical/test_clipscore.py",
    },
    "capture": {"identical": 1.0, "changed": "capture(embedder='st:x')"},
    "sg_embed": {"identical": 1.0, "changed": "sg_embed(embedder='st:x')"},
    "softspice": {"identical": 1.0, "changed": "softspice(embedder='st:x')"},
    "spice": {"identical": 1.0, "changed": "spice(parser='spacy:x')"},
    "bleu": {"identical": 1.0, "changed": "bleu(rules='sacrebleu')"},
    "chair": {"identical": 0.0, "changed": "chair(parser='spacy:x')"},
    "autodq": {
        "plain": "autodq(judge='openai:m')",
        "changed": "autodq(judge='openai:m', what='objects')",
        "elsewhere": "test_written.py",
    },
    "checklist": {
        "changed": "checklist(at_once=2)",
        "elsewhere": "test_asked.py",
    },
    "qa": {
        "plain": "qa(judge='openai:m')",
        "changed": "qa(judge='openai:m', seed=2)",
        "elsewhere": "test_asked.py",
    },
    "audit": {
        "plain": "audit(judge='openai:m')",
        "changed": "audit(judge='openai:m', answers=1)",
        "elsewhere": "judged/test_audit.py",
    },
    "placement": {
        "plain": "placement(judge='openai:m')",
        "changed": "placement(judge='openai:m', sight=False)",
        "elsewhere": "judged/test_placement.py",
    },
    "chrf": {"identical": 1.0, "changed": "chrf(beta=1.0)"},
    "cider": {
        "identical": 0.0,
        "changed": "cider(tokenizer='space')",
    },  # one image: nothing is rare
    "cider_d": {"identical": 0.0, "changed": "cider_d(tokenizer='space')"},
    "cosine": {"identical": 1.0, "changed": "cosine(references='mean')"},
    "dcscore": {"identical": 1.0, "changed": "dcscore(direction='mar')"},
    "length": {"identical": 22.0, "changed": "length(tokenizer='space')"},
    "meteor": {"identical": 1.0, "changed": "meteor(synonyms='none')"},
    "ngram_embed": {"identical": 1.0, "changed": "ngram_embed(n=3)"},
    "perplexity": {
        "identical": math.e,  # the scripted model gives each token one nat
        "plain": "perplexity(judge='openai:m')",
        "changed": "perplexity(judge='openai:m', image=False)",
        "scored": "perplexity(judge='reviewer:flat', image=False)",
    },
    "rouge": {"identical": 1.0, "changed": "rouge(beta=2.0)"},
    "ter": {"identical": 0.0, "changed": "ter(tokenizer='space')"},
    "token_f1": {"identical": 1.0, "changed": "token_f1(weights='none')"},
    "posh": {"identical": 1.0, "changed": "posh(weighting='equal')"},
    "vcs": {"identical": 1.0, "changed": "vcs(lct=2)"},
    "vcs_short": {"identical": 1.0, "changed": "vcs_short(stop_words='none')"},
}
TEXT = (
    "A woman opens a shutter. She stacks lemons on a table. A boy brings her coffee. "
    "An old man buys three lemons."
)


def test_the_table_has_every_builtin_metric() -> None:
    assert set(TABLE) == set(METRICS.builtin())


PLAIN = {name: str(row.get("plain", name)) for name, row in TABLE.items()}
SCORED = {
    name: str(row.get("scored", name))
    for name, row in TABLE.items()
    if "elsewhere" not in row
}


def test_what_is_scored_elsewhere_has_its_tests() -> None:
    for row in TABLE.values():
        if "elsewhere" in row:
            assert (
                Path(__file__).parent / "metrics" / str(row["elsewhere"])
            ).is_file()


class TestContract:
    @each_case("name", TABLE)
    def test_name_round_trips(self, name: str) -> None:
        for text in (PLAIN[name], str(TABLE[name]["changed"])):
            assert metric(text).name == text
            assert metric(metric(text).name) == metric(text)
        assert metric(PLAIN[name]) != metric(str(TABLE[name]["changed"]))

    @each_case("name", TABLE)
    def test_what_must_be_given_is_asked_for(self, name: str) -> None:
        if PLAIN[name] == name:
            assert metric(name).name == name
        else:
            with pytest.raises(
                ConfigError, match=rf"{name} needs a judge .*--judge"
            ):
                metric(name)

    @each_case("name", TABLE)
    def test_a_value_that_is_no_choice_is_refused(self, name: str) -> None:
        for field, listed in choices(METRICS.get(name)).items():
            with pytest.raises(
                ConfigError,
                match=rf"{field}='odd': expected one of {listed[0]!r}",
            ):
                metric(PLAIN[name], **{field: "odd"})

    @each_case("name", TABLE)
    def test_a_tool_written_otherwise_is_the_same_metric(
        self, name: str
    ) -> None:
        for p in params(METRICS.get(name)):
            if p.metadata["tool"]:
                texts = ("x('a')", "x:a", "x(model='a')")
                built = {
                    metric(name, **{"judge": "openai:m", p.name: text})
                    for text in texts
                }
                assert len(built) == 1
                assert f"{p.name}='x:a'" in next(iter(built)).name
                nested = metric(
                    f"{name}({p.name}=x('a', b=1))", judge="openai:m"
                ).name
                assert f"{p.name}=x('a', b=1)" in nested
                assert metric(nested, judge="openai:m").name == nested

    @each_case("name", TABLE)
    def test_config_is_json_and_every_field_has_help(self, name: str) -> None:
        built = metric(PLAIN[name])
        assert json.loads(json.dumps(built.config())) == built.config()
        assert all(p.metadata["help"] for p in params(built))

    @each_case("name", TABLE)
    def test_signature_names_every_field_that_affects_the_score(
        self, name: str
    ) -> None:
        signature = metric(PLAIN[name]).signature()
        for p in params(METRICS.get(name)):
            assert (f"|{p.name}:" in signature) == p.metadata["affects_score"]


EMPTY_IS_AN_ANSWER = {"qa", "checklist", "placement"}
"""A text that says nothing answers no question, and may be right for a picture that decorates."""
WORDLESS = [
    "-",
    ".",
    "...",
    "?!",
    "*",
    "—",
    "。",
    "🏖️",
    "👍🏽 ❤",
    "( ) [ ]",
    "„“",
    "\u200b-",
]


@each_case("name", sorted(set(TABLE) - EMPTY_IS_AN_ANSWER))
@each_case("text", WORDLESS)
def test_a_text_without_words_is_a_failure_of_every_metric(
    name: str, text: str
) -> None:
    built = metric(PLAIN[name])
    fields = {"images": ("a.png",), "meta": {"objects": ["dog"]}}
    with pytest.raises(ItemError, match="the candidate has no words"):
        built.check(Item("a", text, (TEXT,), **fields))  # type: ignore[arg-type]
    if "references" in built.required_fields:
        with pytest.raises(ItemError, match="reference 2 has no words"):
            built.check(Item("a", TEXT, (TEXT, text), **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "spec"), SCORED.items(), ids=list(SCORED))
@pytest.mark.filterwarnings("ignore:.* over one image is 0")
class TestScores:
    def test_values_are_those_it_states_and_lie_in_their_range(
        self, name: str, spec: str
    ) -> None:
        built = metric(spec)
        score = built.score_text(
            "A dog sleeps. A red car passes by.", TEXT
        ).values
        assert list(score) == [value.name for value in built.values]
        for value in built.values:
            assert value.low <= score[value.name] <= value.high

    def test_identical_texts_get_the_stated_headline(
        self, name: str, spec: str
    ) -> None:
        built = metric(spec)
        score = built.score_text(TEXT, TEXT).values[built.values[0].name]
        assert score == pytest.approx(TABLE[name]["identical"], abs=1e-6)

    def test_order_of_items_does_not_matter(
        self, name: str, spec: str
    ) -> None:
        items = [
            Item("a", "A dog sleeps on a mat.", (TEXT,)),
            Item("b", "A woman sells lemons. A boy sleeps.", (TEXT,)),
            Item("c", "A man buys lemons.", ("A man sells a car. He waves.",)),
        ]
        forward = metric(spec).score(items)
        backward = metric(spec).score(items[::-1])
        assert [f.values for f in forward if isinstance(f, ItemScore)] == [
            b.values for b in backward[::-1] if isinstance(b, ItemScore)
        ]

    @each_case(
        ("candidate", "references"),
        [("", (TEXT,)), (" \n", (TEXT,)), (TEXT, ())],
    )
    def test_an_empty_side_is_a_failure_with_a_reason(
        self, name: str, spec: str, candidate: str, references: tuple[str, ...]
    ) -> None:
        if (
            not references
            and "references" not in METRICS.get(name).required_fields
        ):
            return  # it reads none
        (outcome,) = metric(spec).score([Item("a", candidate, references)])
        assert isinstance(outcome, ItemFailure)
        assert outcome.message
        with pytest.raises(ItemError):
            metric(spec).score_text(candidate, references)

    @each_case(
        "text",
        ["word", "!!!", "🙂", "<b>bold</b> & \"quotes\"", "\x00\x01\x7f", "एक लाल स्कूटर। वह खड़ी है।",
         "猫が座っている。犬が走る。", "a" * 5000, "dog " * 500],
    )  # fmt: skip
    def test_odd_texts_get_a_score_or_a_reason(
        self, name: str, spec: str, text: str
    ) -> None:
        pairs = {"a": (text, TEXT), "b": (TEXT, text), "c": (text, text)}
        items = [
            Item(i, candidate, (reference,))
            for i, (candidate, reference) in pairs.items()
        ]
        for outcome in metric(spec).score(items):
            assert (
                isinstance(outcome, ItemScore) or "bug" not in outcome.message
            )


EMBEDDING = [
    name
    for name in TABLE
    if any(p.name == "embedder" for p in params(METRICS.get(name)))
]


@pytest.mark.parametrize("name", EMBEDDING)
def test_the_encoder_in_the_package_can_stand_for_every_embedder(
    name: str,
) -> None:
    built = metric(name, embedder="minilm")
    first = built.values[0].name
    copy = built.score_text(TEXT, TEXT)
    assert copy.values[first] == pytest.approx(
        TABLE[name]["identical"], abs=1e-6
    )
    assert "|embedder:minilm@" in copy.signature
    other_names = [
        metric(name, embedder=kind)
        .score_text("A dog sleeps beside lemons.", TEXT)
        .values
        for kind in ("minilm", "static")
    ]
    assert (
        other_names[0] != other_names[1]
    )  # and it is what the texts were compared by
