"""BERTScore with a tiny BERT; expected values by a forward pass and loops written out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import beholder
from beholder.embed.contextual import TransformersEncoder
from beholder.errors import ConfigError, DataError
from beholder.metrics import metric
from beholder.records import Item, ItemFailure, ItemScore
from toy.tiny_encoders import bert_layer, make_bert, token_ids

pytest.importorskip("torch")
pytest.importorskip("transformers")

PAIRS = [
    ("a small dog runs.", "the dog runs along the beach."),
    (
        "two men sit on a bench",
        "two men in blue coats sit on a wooden bench and look",
    ),
    ("river", "a child plays near the fountain"),
    ("an umbrella", "an umbrella"),
]
ITEMS = [
    Item(str(i), candidate, (reference,))
    for i, (candidate, reference) in enumerate(PAIRS)
]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("bert"))


def score(
    bert: Path, items: list[Item], options: str = "layer=2"
) -> list[Any]:
    return metric(f"bertscore(model='hf:{bert}', {options})").score(items)


def brute_force(
    bert: Path,
    candidate: str,
    reference: str,
    layer: int,
    idf: Any = None,
    *,
    match: bool = False,
) -> tuple[float, float, float]:
    """F1, precision and recall, one pair of tokens at a time."""
    sides = []
    for text in (candidate, reference):
        sides.append(
            list(
                zip(
                    token_ids(bert, text, 24),
                    bert_layer(bert, text, layer),
                    strict=True,
                )
            )
        )

    def covered(some: list[Any], other_tokens: list[Any]) -> float:
        options = other_tokens if match else other_tokens[1:-1]
        total, weight = 0.0, 0.0
        for token, vector in some[1:-1]:  # without the markers of both ends
            best = max(
                float(np.dot(vector, other_vector))
                for _, other_vector in options
            )
            w = 1.0 if idf is None else idf(token)
            total, weight = total + w * best, weight + w
        return total / weight

    p, r = covered(sides[0], sides[1]), covered(sides[1], sides[0])
    return (2 * p * r / (p + r) if p > 0 and r > 0 else 0.0), p, r


def triple(score: Any) -> list[float]:
    return [score.values[name] for name in ("f1", "precision", "recall")]


@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_matching_equals_brute_force_at_each_layer(
    bert: Path, layer: int
) -> None:
    for (candidate, reference), item_score in zip(
        PAIRS, score(bert, ITEMS, f"layer={layer}"), strict=True
    ):
        assert triple(item_score) == pytest.approx(
            brute_force(bert, candidate, reference, layer), abs=1e-5
        )


def test_markers_can_be_matched_as_in_the_published_package(
    bert: Path,
) -> None:
    plain = score(bert, ITEMS)
    matched = score(bert, ITEMS, "layer=2, special='match'")
    for (candidate, reference), item_score in zip(PAIRS, matched, strict=True):
        expected = brute_force(bert, candidate, reference, 2, match=True)
        assert triple(item_score) == pytest.approx(expected, abs=1e-5)
    assert [triple(f) for f in plain] != [triple(f) for f in matched]


def test_idf_weighs_tokens_by_the_references_that_have_them(
    bert: Path,
) -> None:
    texts = [set(token_ids(bert, reference, 24)) for _, reference in PAIRS]

    def idf(token: int) -> float:
        return math.log(
            (len(texts) + 1) / (sum(token in text for text in texts) + 1)
        )

    for (candidate, reference), item_score in zip(
        PAIRS, score(bert, ITEMS, "layer=2, idf=True"), strict=True
    ):
        assert triple(item_score) == pytest.approx(
            brute_force(bert, candidate, reference, 2, idf), abs=1e-5
        )
        assert "|idf:4refs@" in item_score.signature


def test_idf_over_one_reference_is_a_reason(bert: Path) -> None:
    (item_score,) = score(
        bert, [Item("a", "a dog", ("a dog",))], "layer=2, idf=True"
    )
    assert isinstance(item_score, ItemFailure)
    assert "idf weighs it 0" in item_score.message


def test_the_best_reference_counts(bert: Path) -> None:
    references = tuple(reference for _, reference in PAIRS)
    (item_score,) = score(bert, [Item("a", PAIRS[0][0], references)])
    expected = max(
        brute_force(bert, PAIRS[0][0], reference, 2)
        for reference in references
    )
    assert triple(item_score) == pytest.approx(expected, abs=1e-5)


def test_a_text_is_1_with_itself(bert: Path) -> None:
    assert triple(score(bert, ITEMS[3:])[0]) == pytest.approx(
        [1, 1, 1], abs=1e-5
    )


def test_a_baseline_maps_to_0_and_1_stays_1(
    bert: Path, tmp_path: Path
) -> None:
    (plain,) = score(bert, ITEMS[:1])
    f1, p, r = triple(plain)
    table = tmp_path / "tiny.tsv"
    table.write_text(
        f"LAYER,P,R,F\n0,0.1,0.2,0.3\n2,{p},{r - 0.1},0.5\n", encoding="utf-8"
    )
    rescaled, _, _, same = score(bert, ITEMS, f"layer=2, baseline='{table}'")
    expected = [(f1 - 0.5) / 0.5, 0.0, 0.1 / (1.1 - r)]
    assert triple(rescaled) == pytest.approx(expected, abs=1e-6)
    assert triple(same) == pytest.approx([1, 1, 1], abs=1e-4)
    assert "|baseline:table@" in rescaled.signature


def test_long_texts_are_cut_and_counted(bert: Path) -> None:
    long = " ".join(reference for _, reference in PAIRS)
    long_score, short_score = score(
        bert, [Item("a", long, (PAIRS[0][1],)), Item("b", "dog", ("a", "dog"))]
    )
    assert (long_score.values["cut"], long_score.detail["n_cut_texts"]) == (
        0.5,
        1,
    )
    assert short_score.values["cut"] == 0.0
    expected = brute_force(bert, long, PAIRS[0][1], 2)
    assert triple(long_score) == pytest.approx(expected, abs=1e-5)


def test_each_text_is_encoded_once(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = TransformersEncoder.encode
    tokenized: list[Any] = []

    def recorded(self: TransformersEncoder, questions: Any) -> Any:
        tokenized.extend(questions)
        return encode(self, questions)

    monkeypatch.setattr(TransformersEncoder, "encode", recorded)
    score(bert, [*ITEMS, Item("again", PAIRS[0][0], (PAIRS[1][1],))])
    assert len(tokenized) == len(set(tokenized)) == 7


def test_degenerate_texts_have_a_reason_and_wrong_settings_an_error(
    bert: Path, tmp_path: Path
) -> None:
    empty, blank = score(
        bert, [Item("a", "", ("a",)), Item("b", "dog", (" ",))]
    )
    assert empty.message == "the candidate is empty"
    assert blank.message == "reference 1 has no words"
    with pytest.raises(ConfigError, match="has layers 0 to 3"):
        score(bert, ITEMS, "layer=4")
    with pytest.raises(ConfigError, match="hf:NAME_OR_PATH"):
        metric("bertscore(model='st:x', layer=1)").score(ITEMS)
    for option in ("layer=-1", "special='x'"):
        with pytest.raises(ConfigError):
            metric(f"bertscore({option})")
    table = tmp_path / "bad.tsv"
    table.write_text("LAYER,P,R,F\n2,1.0,0.5,0.5\n", encoding="utf-8")
    for layer, message in ((1, "with layer 1"), (2, "must lie below 1")):
        with pytest.raises(DataError, match=message):
            metric(f"bertscore(layer={layer}, baseline='{table}')")


def test_rows_of_a_language_are_read_by_its_encoder_at_its_layer(
    bert: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other_bert = make_bert(tmp_path_factory.mktemp("other") / "second")
    options = f"layer=2, languages={{'hi': ('hf:{other_bert}', 1)}}"
    candidate, reference = PAIRS[0]
    items = [
        Item("en", candidate, (reference,), group={"language": "English"}),
        Item("hi", candidate, (reference,), group={"language": "Hindi"}),
        Item("fr", candidate, (reference,), group={"language": "fr"}),
    ]
    english, hindi, french = score(bert, items, options)
    assert isinstance(english, ItemScore)
    assert english.values["f1"] == pytest.approx(
        brute_force(bert, candidate, reference, 2)[0], abs=1e-5
    )
    assert hindi.values["f1"] == pytest.approx(
        brute_force(other_bert, candidate, reference, 1)[0], abs=1e-5
    )
    assert french.values == english.values
    assert hindi.values["f1"] != pytest.approx(english.values["f1"], abs=1e-3)
    assert "languages:Hindi=hf:second@" in english.signature
    assert "/1|" in english.signature


def test_an_encoder_that_no_row_needs_is_not_loaded(
    bert: Path, tmp_path: Path
) -> None:
    candidate, reference = PAIRS[0]
    rows = [Item("hi", candidate, (reference,), group={"language": "Hindi"})]
    nowhere = f"hf:{tmp_path / 'nowhere'}"
    spec = f"bertscore(model='{nowhere}', layer=1, languages={{'hi': ('hf:{bert}', 2)}})"
    (hindi,) = metric(spec).score(rows)
    assert isinstance(hindi, ItemScore), hindi
    assert hindi.values["f1"] == pytest.approx(
        brute_force(bert, candidate, reference, 2)[0], abs=1e-5
    )
    assert f"|model:{nowhere}|" in hindi.signature
    data = tmp_path / "rows.jsonl"
    row = {
        "id": "hi",
        "candidate": candidate,
        "references": [reference],
        "group": {"language": "hi"},
    }
    data.write_text(json.dumps(row) + "\n", encoding="utf-8")
    run = beholder.score(data, metrics=[spec], out=tmp_path / "run")
    assert [result.n_failed for result in run.summary.values()] == [0]


def test_each_language_needs_an_encoder_that_reads_it() -> None:
    rows = [
        Item("hi", "एक कुत्ता", ("एक लाल कुत्ता",), group={"language": "Hindi"}),
        Item(
            "de",
            "Ein Hund läuft im Park.",
            ("Ein Hund.",),
            group={"language": "de"},
        ),
        Item("en", "A dog.", ("A dog.",), group={"language": "en"}),
    ]
    hindi, german, english = metric(
        "bertscore(model='minilm', languages={'Hindi': ('minilm', 3)})"
    ).score(rows)
    for failure in (hindi, german):
        assert isinstance(failure, ItemFailure)
        assert "encoder minilm reads English" in failure.message
    assert isinstance(english, ItemScore)
    assert english.values["f1"] == pytest.approx(1.0, abs=1e-5)
    assert TransformersEncoder("hf:FacebookAI/roberta-large").english_only
    assert not TransformersEncoder(
        "hf:bert-base-multilingual-cased"
    ).english_only


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "languages={'klingon': ('minilm', 3)}",
            "'klingon': no language is called so",
        ),
        ("languages={'hi': 'minilm'}", "expected an encoder and its layer"),
        (
            "languages={'hi': ('minilm', -1)}",
            "expected an encoder and its layer",
        ),
        (
            "languages={'hi': ('minilm', 3)}, idf=True",
            "score each language alone",
        ),
    ],
)
def test_wrong_encoders_of_languages_are_refused(
    options: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        metric(f"bertscore(model='minilm', {options})")


def test_two_ways_to_write_a_language_are_one_metric() -> None:
    first = metric(
        "bertscore(model='minilm', languages={'hi': ('minilm', 3)})"
    )
    assert first == metric(
        "bertscore(model='minilm', languages={'Hindi': ('minilm', 3)})"
    )
    assert metric(first.name) == first
    assert first.tool_specs() == [("encoder", "minilm")]
