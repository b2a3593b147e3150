"""Tables of what people choose to say and models do not, and the reverse; how far people agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from beholder import stats
from beholder.kinds.bidirectional.contents import Content, contents, stem
from beholder.kinds.bidirectional.pairs import (
    Cells,
    PairGroup,
    TextPair,
    by,
    grouped,
    mean_cells,
    sets,
)
from beholder.tables import SET_COLUMNS, Column, Table, estimate, interval_cells

ALL = "all"
MERGING = (
    "A person's and a model's unit are the same content when each was matched to the other,"
    " and so are units in the same words; people's units are merged through the models' units that"
    " equal both. No judge was asked again."
)
MAX_SUBJECTS = 200
_CATEGORY = Column("category", "Category", "text")


def consensus_by_image(found: Sequence[Content]) -> dict[str, list[float]]:
    """Per picture with several speakers: how many of them mention each content of people."""
    counts: dict[str, list[float]] = {}
    for content in found:
        if content.by_people and content.n_people > 1:
            counts.setdefault(content.image, []).append(float(len(content.people)))
    return counts


def consensus_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """How many speakers of a picture mention the same content, per category."""

    def cells(group: PairGroup) -> Iterator[Cells]:
        found = contents(group.pairs)
        speakers = {content.image: float(content.n_people) for content in found}
        for name in (ALL, *categories):
            counts = consensus_by_image([c for c in found if name in (ALL, c.category)])
            everything = [(image, n) for image, own in counts.items() for n in own]
            if counts:
                yield {
                    "category": name,
                    "n_images": len(counts),
                    "n": len(everything),
                    "speakers": float(np.mean([speakers[image] for image in counts])),
                    **estimate("consensus", [float(np.mean(own)) for own in counts.values()]),
                    **mean_cells("once", [(image, n == 1) for image, n in everything]),
                }

    return Table(
        "consensus",
        "Consensus of speakers",
        (
            *SET_COLUMNS,
            _CATEGORY,
            Column("n_images", "Pictures", "count"),
            Column("n", "Contents", "count"),
            Column("speakers", "Speakers per picture", "tenths"),
            Column("consensus", "Speakers per content", interval=True),
            Column("once", "Said by one only", "percent", interval=True),
        ),
        grouped(pairs, (sets,), cells),
        (
            "Mean over the contents of a picture, then over pictures with several speakers.",
            MERGING,
            "What no model says is merged across speakers by its words alone: a lower bound.",
        ),
    )


def selectivity_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """Share of what people say that no model mentions, and the reverse, per category."""
    columns = (
        Column("people_alone", "Of people's contents, no model mentions", "percent", True),
        Column("models_alone", "Of models' contents, no person mentions", "percent", True),
        Column("people_contents", "Contents of people", "tenths", interval=True),
        Column("model_contents", "Contents of models", "tenths", interval=True),
    )

    def cells(group: PairGroup) -> Iterator[Cells]:
        found = _images(group)
        for name in (ALL, *categories):
            own = [row for row in found if name in (ALL, row["category"])]
            if own:
                shown: Cells = {"category": name, "n": len(own)}
                for column in columns:
                    values = (row[column.key] for row in own)
                    shown |= estimate(
                        column.key, [float(value) for value in values if value is not None]
                    )
                yield shown

    return Table(
        "selectivity",
        "What one side says and the other does not",
        (*SET_COLUMNS, _CATEGORY, Column("n", "Pictures", "count"), *columns),
        grouped(pairs, (sets,), cells),
        (MERGING, "Means over pictures; all texts about a picture together."),
    )


def image_table(pairs: Sequence[TextPair]) -> Table:
    """The pictures, starting with those of which people say most that no model mentions."""
    return Table(
        "selectivity_images",
        "Pictures by what people say and models do not",
        (
            *SET_COLUMNS,
            Column("image", "Picture", "text"),
            _CATEGORY,
            Column("n_people", "People", "count"),
            Column("n_systems", "Systems", "count"),
            Column("people_contents", "Contents of people", "count"),
            Column("model_contents", "Contents of models", "count"),
            Column("both", "Both", "count"),
            Column("people_alone", "No model mentions", "percent"),
            Column("models_alone", "No person mentions", "percent"),
        ),
        grouped(pairs, (sets,), _images),
    )


def _images(group: PairGroup) -> list[Cells]:
    """Per picture, the share of people's contents that no model mentions, and the reverse."""
    pictures: dict[str, list[Content]] = {}
    for content in contents(group.pairs):
        pictures.setdefault(content.image, []).append(content)
    rows: list[Cells] = []
    for image, found in pictures.items():
        n_people = sum(bool(content.people) for content in found)
        n_models = sum(bool(content.systems) for content in found)
        both = sum(bool(content.people and content.systems) for content in found)
        rows.append(
            {
                "image": image,
                "category": found[0].category,
                "n_people": found[0].n_people,
                "n_systems": found[0].n_systems,
                "people_contents": n_people,
                "model_contents": n_models,
                "both": both,
                "people_alone": (n_people - both) / n_people if n_people else None,
                "models_alone": (n_models - both) / n_models if n_models else None,
            }
        )
    return sorted(rows, key=lambda row: -float(row["people_alone"] or 0.0))


def content_table(pairs: Sequence[TextPair]) -> Table:
    """The contents that one side alone mentions, ranked by the share of that side."""
    return Table(
        "selectivity_contents",
        "Contents that one side alone mentions",
        (
            *SET_COLUMNS,
            Column("side", "Said by", "text"),
            Column("text", "Content", "text"),
            Column("subject", "About", "text"),
            Column("image", "Picture", "text"),
            _CATEGORY,
            Column("people", "People", "count"),
            Column("n_people", "of", "count"),
            Column("systems", "Systems", "count"),
            Column("n_systems", "of", "count"),
            Column("supported", "Supported", "mark"),
        ),
        grouped(pairs, (sets,), _alone),
        (
            "Ranked by the difference of the shares of both sides, each with half a text added for"
            " and half against, so that one of one ranks below five of five.",
        ),
    )


def _alone(group: PairGroup) -> Iterator[Cells]:
    alone = [c for c in contents(group.pairs) if not (c.people and c.systems)]
    for content in sorted(alone, key=lambda c: (-c.weight, not c.supported)):
        yield {
            "side": "people" if content.people else "models",
            "image": content.image,
            "category": content.category,
            "text": content.text,
            "subject": content.subject,
            "people": len(content.people),
            "n_people": content.n_people,
            "systems": len(content.systems),
            "n_systems": content.n_systems,
            "supported": content.supported,
        }


def subject_table(pairs: Sequence[TextPair]) -> Table:
    """What units are about: in how many pictures people mention it, and models."""
    return Table(
        "selectivity_subjects",
        "What people mention and models do not, by subject",
        (
            *SET_COLUMNS,
            Column("subject", "Subject", "text"),
            Column("n", "Pictures with it", "count"),
            Column("n_images", "Pictures", "count"),
            Column("people", "People", "percent", scale=(0.0, 1.0)),
            Column("models", "Models", "percent", scale=(0.0, 1.0)),
            Column("gap", "People − models", "signed", interval=True),
        ),
        grouped(pairs, (sets,), _subjects),
        (
            "Share of the texts about a picture with a unit about the subject, averaged over all"
            f" pictures. Subjects are the judge's identifiers as written; the {MAX_SUBJECTS} with"
            " the widest gaps are shown, so some gaps are wide by chance: trust the intervals.",
        ),
    )


def _subjects(group: PairGroup) -> Iterator[Cells]:
    people, models, n_images = _mentions(group)
    totals = {
        name: tuple(sum(side.get(name, {}).values()) for side in (people, models))
        for name in {**people, **models}
    }
    ranked = sorted(totals, key=lambda name: (-abs(totals[name][0] - totals[name][1]), name))
    for name in ranked[:MAX_SUBJECTS]:
        ours, theirs = people.get(name, {}), models.get(name, {})
        images = list(ours | theirs)
        gaps = [ours.get(image, 0.0) - theirs.get(image, 0.0) for image in images]
        gaps += [0.0] * (n_images - len(images))  # pictures if no one mentions it
        found = stats.mean_interval(gaps)
        yield {
            "subject": name,
            "n": len(images),
            "n_images": n_images,
            "people": totals[name][0] / n_images,
            "models": totals[name][1] / n_images,
            "gap": found.mean,
            **interval_cells("gap", found.interval),
        }


def _mentions(
    group: PairGroup,
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]], int]:
    """Per subject and picture the share of people's texts and of systems that mention it."""
    people: dict[str, dict[str, float]] = {}
    models: dict[str, dict[str, float]] = {}
    n_images = 0
    for picture in by("image")(group):
        image = picture.pairs[0].image
        voices: dict[str, set[str]] = {}
        systems: dict[str, set[str]] = {}
        for pair in picture.pairs:
            for voice, text in enumerate(pair.references):
                facts = [fact for fact in pair.human_facts if fact.voice == voice]
                if facts:
                    voices.setdefault(text, {stem(fact.subject) for fact in facts} - {""})
            if pair.model_facts:
                found = {stem(fact.subject) for fact in pair.model_facts} - {""}
                systems[pair.system] = systems.get(pair.system, set()) | found
        if voices and systems:
            n_images += 1
            for shares, texts in ((people, voices), (models, systems)):
                for subjects in texts.values():
                    for subject in subjects:
                        at = shares.setdefault(subject, {})
                        at[image] = at.get(image, 0.0) + 1 / len(texts)
    return people, models, n_images
