"""The scene graph of a question, for questions that name no place in a source text."""

from __future__ import annotations

from dataclasses import replace

from beholder.judges.operations import Question
from beholder.language import parse, scene_graph
from beholder.language.graph import (
    Attribute,
    Entity,
    Mention,
    Relation,
    SceneGraph,
)
from beholder.language.lemmas import lemma


def question_graph(question: Question) -> SceneGraph:
    """Return the graph of the things that a question asks for, made from its phrases."""
    if question.kind == "entity":
        return _noun_phrase(question.text)
    subject = _noun_phrase(question.subject)
    first = subject.entities[0].index
    if question.kind == "attribute":
        value = question.text.lower()
        added = Attribute(first, question.text, value, (), 0, rule="question")
        return SceneGraph(
            question.text,
            subject.entities,
            (*subject.attributes, added),
            subject.relations,
        )
    object_phrase = _noun_phrase(question.object)
    # Both phrases were parsed alone, so the entities of the second are
    # renumbered behind those of the first.
    shift = len(subject.entities)
    entities = [
        *subject.entities,
        *(_moved(entity, shift) for entity in object_phrase.entities),
    ]
    attributes = [
        *subject.attributes,
        *(
            replace(a, entity=a.entity + shift, rule="", doubt=0.0)
            for a in object_phrase.attributes
        ),
    ]
    words = question.text.lower().split()
    base = [lemma(words[0], "VERB", "VBZ"), *words[1:]] if words else []
    verb = bool(base) and _is_verb(question)
    # "Held by" exchanges doer and object, as the parser would have marked in a
    # sentence.
    passive = verb and bool(words) and words[-1] == "by"
    relation = Relation(
        first,
        shift + object_phrase.entities[0].index,
        question.text,
        " ".join(base if verb else words),
        (),
        0,
        "verb" if verb else "preposition",
        passive,
    )
    return SceneGraph(
        question.text, tuple(entities), tuple(attributes), (relation,)
    )


def _is_verb(question: Question) -> bool:
    document = parse(f"The thing {question.text} the other thing.")
    return any(word.pos == "VERB" for word in document)


def _noun_phrase(phrase: str) -> SceneGraph:
    graph = scene_graph(parse(f"the {phrase}."), coref="none")
    if graph.entities:
        return graph
    name = phrase.lower().strip() or "thing"
    entity = Entity(
        0, name, name.split()[-1], (Mention(phrase, (0, len(phrase)), 0),)
    )
    return SceneGraph(phrase, (entity,), (), ())


def _moved(entity: Entity, by: int) -> Entity:
    member_of = None if entity.member_of is None else entity.member_of + by
    return replace(
        entity, index=entity.index + by, member_of=member_of, doubt=0.0
    )
