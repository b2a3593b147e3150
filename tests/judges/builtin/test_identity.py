"""The name of the built-in judge changes with all that can change an answer, and with nothing else."""

from __future__ import annotations

import ast
import hashlib

import pytest
from training import identity

from beholder.metrics import Tools
from beholder.metrics.dcscore import DCScore
from beholder.metrics.posh import PoSh


def test_the_manifest_is_that_of_the_code_and_data() -> None:
    written = identity.MANIFEST.read_text(encoding="utf-8")
    assert written == identity.as_text(identity.manifest()), (
        "code or data of the built-in judge changed; `make identity` gives it its new name"
    )


def test_the_manifest_names_what_answers_hang_on() -> None:
    found = identity.manifest()
    assert set(found["data"]) == {
        "embed/static_model/config.json",  # revision of the vectors
        "embed/static_model/model.safetensors",
        "embed/minilm_model/entailment.safetensors",
        "embed/minilm_model/entailment_inputs.safetensors",
        "embed/minilm_model/minilm.json",
        "embed/minilm_model/minilm.safetensors",  # vectors of word pieces, which the parser reads
        "embed/minilm_model/minilm_inputs.safetensors",
        "embed/minilm_model/minilm_tokenizer.json",
        "embed/static_model/tokenizer.json",
        "judges/builtin/classes.txt",
        "judges/builtin/inference.txt",
        "judges/builtin/numbers.json",
        "judges/builtin/predicates.txt",
        "language/certainty.json",
        "language/english.safetensors",  # weights of the parser
        "language/english_inputs.safetensors",
        "language/lemmas.txt",
        "language/lexicon.txt",
        "language/tokens.json",
        "language/unseen.txt",
        "text/word_frequencies.txt",
        "text/wordnet/kinds.txt.xz",
    }
    parts = {path.name for path in (identity.PACKAGE / "judges/builtin").glob("*.py")}
    assert {f"judges/builtin/{name}" for name in parts} <= set(found["code"])
    others = {"language/coreference.py", "text/kinds.py", "embed/static.py", "judges/grades.py"}
    assert others <= set(found["code"])


def test_metrics_state_one_digest_of_the_whole_manifest() -> None:
    digest = hashlib.sha256(identity.MANIFEST.read_bytes()).hexdigest()[:12]
    for metric in (PoSh(), DCScore()):
        told = metric.signature(metric.identities(Tools()))
        assert f"|judge:builtin@{digest}|" in told


BEFORE = '''
"""A module."""
from a import b

LIMIT = 0.5
"""A limit."""

def f(x: int) -> bool:
    """Whether."""
    return x * LIMIT > b(x)
'''


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("A module.", "The module.", True),
        ("A limit.", "The limit.", True),
        ("Whether.", "If.", True),
        ("x: int", "x: float", True),
        ("LIMIT = 0.5", "LIMIT = 0.5  # of one", True),
        ("LIMIT = 0.5", "LIMIT: float = 0.5", False),
        ("LIMIT = 0.5", "LIMIT = 0.6", False),
        ("x * LIMIT > b(x)", "x * LIMIT >= b(x)", False),
        ("x * LIMIT > b(x)", "x / LIMIT > b(x)", False),
        ("from a import b", "from c import b", False),
    ],
)
def test_words_about_the_code_are_no_other_code(old: str, new: str, same: bool) -> None:
    after = BEFORE.replace(old, new)
    assert after != BEFORE
    written = [identity.digest_of_code(ast.parse(text)) for text in (BEFORE, after)]
    assert (written[0] == written[1]) is same
