"""What a person says of a unit beside another text, and what the judge does: small pairs of texts.

``match``: the text says so; ``unstated``: it does not tell; ``contradicted``: it says otherwise.
"""

from __future__ import annotations

from beholder.judges.builtin.findings import find
from beholder.judges.builtin.numbers import PRESENT
from beholder.judges.builtin.reading import analysed
from toy.cases import each_case

CASES = [
    # things
    ("A dog sleeps.", "A dog sleeps.", "dog", "match"),
    ("A dog sleeps.", "A cat sleeps.", "dog", "unstated"),
    ("A sofa.", "A couch.", "sofa", "match"),
    ("An animal sleeps.", "A dog sleeps.", "animal", "match"),
    # "no"
    ("There are no people.", "A quiet street at night.", "people", "unstated"),
    ("There are no people.", "People walk on the street.", "people", "contradicted"),
    ("People walk on the street.", "There are no people on the street.", "people", "contradicted"),
    ("There are no dogs.", "There are no dogs and no cats.", "dog", "match"),
    # what things are like
    ("A red cup.", "A red cup on a table.", "red", "match"),
    ("A red cup.", "A blue cup on a table.", "red", "contradicted"),
    ("A red cup.", "A cup on a table.", "red", "unstated"),
    ("A red cup.", "A blue cup beside a red plate.", "red", "contradicted"),
    ("A red cup.", "A cup beside a red plate.", "red", "unstated"),
    ("A crimson cup.", "The cup on the table is red.", "crimson", "match"),
    ("The cup is not red.", "The cup is red.", "red", "contradicted"),
    ("The cup is red.", "The cup is not red.", "red", "contradicted"),
    ("The cup is not red.", "The cup is not red.", "red", "match"),
    ("A wooden bench.", "A bench made of wood.", "wooden", "match"),
    ("A smiling man.", "A man smiles.", "smiling", "match"),
    ("A large red car.", "A small red car.", "large", "contradicted"),
    ("A large red car.", "A small red car.", "red", "match"),
    ("A car on the left.", "A car on the right.", "on the left", "contradicted"),
    # how many
    ("Two dogs run.", "Two dogs run on grass.", "two", "match"),
    ("Two dogs run.", "Three dogs run on grass.", "two", "contradicted"),
    ("Two dogs run.", "A dog runs on grass.", "two", "unstated"),
    ("Several dogs run.", "Four dogs run on grass.", "several", "match"),
    # relations
    ("A man holds a cup.", "A man holds a cup.", "holds", "match"),
    ("A man holds a cup.", "A cup is held by a man.", "holds", "match"),
    ("A cup is on a table.", "A table has a cup on it.", "on", "match"),
    ("A dog is to the left of a cat.", "A cat is to the right of a dog.", "to the left of", "match"),
    ("A dog is to the left of a cat.", "A dog is to the right of a cat.", "to the left of",
     "contradicted"),
    ("A dog chases a cat.", "A cat chases a dog.", "chases", "contradicted"),
    ("A lamp is above a desk.", "A desk is above a lamp.", "above", "contradicted"),
    ("A lamp is above a desk.", "A lamp is next to a desk.", "above", "unstated"),
    ("A man holds a cup.", "A man breaks a cup.", "holds", "unstated"),
    ("A man holds a cup.", "A man stands near a table with a cup.", "holds", "unstated"),
    ("A man wears a hat.", "A man in a hat.", "wears", "match"),
    ("A man holds a cup.", "A man does not hold a cup.", "holds", "contradicted"),
    ("The car is located behind a wall.", "The car is situated behind a wall.", "located behind",
     "match"),
    ("A woman pets a dog.", "A man pets a dog. A woman watches.", "pets", "unstated"),
    # what is said of a wrong thing in words that the target has is no further mistake
    ("A red bird sits on a fence.", "A red cat sits on a fence.", "red", "excused"),
    ("A red bird sits on a fence.", "A red cat sits on a fence.", "sits on", "excused"),
    ("A red bird sits on a fence.", "A gray cat sits on a fence.", "red", "unstated"),
    # rules alone do not see that lists share what is said of them
    ("The rims are chrome.", "The car has chrome grill and rims.", "chrome", "unstated"),
    ("The cup is red.", "The cup and the red plate are on a table.", "red", "unstated"),
]  # fmt: skip


@each_case(("source", "target", "unit", "expected"), CASES)
def test_a_person_says_so(
    source: str, target: str, unit: str, expected: str
) -> None:
    text = analysed(source)
    findings = find(text, analysed(target))
    unit_findings = [
        f for u, f in zip(text.units, findings, strict=True) if u.text == unit
    ]
    assert unit_findings, [u.text for u in text.units]
    verdicts = {
        "excused"
        if f.excused
        else "match"
        if f.grade >= PRESENT
        else "contradicted"
        if f.contradiction
        else "unstated"
        for f in unit_findings
    }
    assert verdicts == {expected}


@each_case(
    ("text", "reference", "expected"),
    [
        ("A man with a hat.", "A man with a scarf.", True),
        ("A man with a hat.", "A man near a scarf.", True),
        ("A man with a hat.", "A man with a hat.", False),
    ],
)
@each_case("entail", [True, False])
def test_a_relation_of_a_wrong_thing_is_excused(
    text: str, reference: str, expected: bool, entail: bool
) -> None:
    source = analysed(text)
    findings = find(source, analysed(reference), entail=entail)
    (relation,) = (
        f
        for f, u in zip(findings, source.units, strict=True)
        if u.kind == "relation"
    )
    assert relation.excused is expected
