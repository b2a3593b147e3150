"""What the order of words says where a parse does not, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.judges.builtin.nearby import ATTACHED, LOOSE, SENTENCE, Nearby
from beholder.judges.builtin.reading import analysed


def nearby(source: str, target: str) -> Nearby:
    """With things alike that have one head."""
    first, second = analysed(source), analysed(target)
    alike = np.array(
        [[a.head == b.head for b in second.graph.entities] for a in first.graph.entities], np.bool_
    )
    return Nearby(first, second, alike.reshape(len(first.graph.entities), -1))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("A red cup.", "A red cup.", ATTACHED),
        ("A red cup.", "The cup is clearly red.", ATTACHED),
        ("A red cup.", "A blue cup.", 0.0),
        ("A red cup.", "A red plate and a cup.", 0.0),  # said of the plate
        ("A red cup.", "A cup. A red plate.", 0.0),
        ("A red cup.", "The cup is not red.", 0.0),  # denied
        ("A red plate.", "The red cup and plate.", ATTACHED),  # a list shares it
        ("A red plate.", "The red cup and the plate.", 0.0),
        ("A red fence.", "A fence of red mesh.", ATTACHED),
    ],
)
def test_an_attribute_beside_its_thing(source: str, target: str, expected: float) -> None:
    found = nearby(source, target)
    (unit,) = [u for u in analysed(source).units if u.kind == "attribute"]
    assert found.attribute(unit) == expected


@pytest.mark.parametrize(
    ("source", "target", "stated", "expected"),
    [
        ("A man kicks a ball.", "A man kicks a ball.", False, SENTENCE),
        ("A ball is kicked by a man.", "A man kicks a ball.", False, SENTENCE),
        ("A man kicks a ball.", "A ball kicks a man.", False, 0.0),
        ("A man kicks a ball.", "A man sleeps. A ball kicks.", False, LOOSE),
        ("A man kicks a ball.", "A man sleeps. A ball kicks.", True, 0.0),
        ("A man kicks a ball.", "A man sees a ball.", False, 0.0),
        ("A cup is on a table.", "A cup sits on a table.", False, SENTENCE),
        ("A cup is under a table.", "A cup on a table.", False, 0.0),
        ("A cup is on a table.", "A table with a cup on it.", False, SENTENCE),  # they belong
        ("A cup is on a table.", "A cup. A table.", False, 0.0),
        ("A cup is on the left of a table.", "A cup on the left is by a table.", False, SENTENCE),
        ("A cup is on the left of a table.", "A cup on the right is by a table.", False, 0.0),
        ("The lid of the box.", "A lid. A box.", False, LOOSE),  # of nothing else
        ("The lid of the box.", "The lid of a jar. A box.", False, 0.0),
    ],
)
def test_a_relation_by_words_in_order(
    source: str, target: str, stated: bool, expected: float
) -> None:
    found = nearby(source, target)
    (_, unit, predicate), *_ = analysed(source).relations
    assert found.relation(unit, predicate, stated) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("A woman pets a dog.", "A man pets a dog. A woman waits.", True),
        ("A woman pets a dog.", "A man pets a dog. A woman pets a dog.", False),
        ("A woman pets a dog.", "A woman waits. A dog is petted by a man.", True),
        ("A dog is petted by a woman.", "A man pets a dog. A woman waits.", True),
        ("A dog is petted by a woman.", "A woman pets a dog.", False),
        ("A woman pets a dog.", "A man pets a cat. A woman waits.", False),
        ("A woman pets a dog.", "A man sees a dog. A woman waits.", False),
        ("A cup is on a table.", "A plate is on a table.", False),  # no verb
    ],
)
def test_what_another_thing_does(source: str, target: str, expected: bool) -> None:
    found = nearby(source, target)
    (_, unit, predicate), *_ = analysed(source).relations
    assert found.of_another(unit, predicate) is expected


@pytest.mark.parametrize(
    ("source", "target", "against", "expected"),
    [
        # with its thing and two words of context
        ("Here is a red cup.", "There is a red cup.", False, True),
        ("Here is a red cup.", "There is a red cup.", True, True),
        ("A red cup.", "The red cup.", False, False),  # no context
        # a run of five words is no chance, unless the text says otherwise
        ("The old man in a very dark red coat.", "A boy in a very dark red coat.", False, True),
        ("The cup is red.", "The plate is red.", False, False),
        # however far into the text
        (
            "A long road runs beside a wide river in the low sun. Here is a red cup.",
            "A boy walks to a small shop behind the old church. There is a red cup.",
            False,
            True,
        ),
    ],
)
def test_what_is_quoted(source: str, target: str, against: bool, expected: bool) -> None:
    found = nearby(source, target)
    unit = next(u for u in analysed(source).units if u.kind == "attribute" and "red" in u.text)
    assert found.quoted(unit, against) is expected
