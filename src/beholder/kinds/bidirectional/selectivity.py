"""What people choose to say and models do not, and the reverse; how far people agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from beholder import stats
from beholder.kinds.bidirectional.contents import Content, contents, stem
from beholder.kinds.bidirectional.pairs import TextPair, by_image, strata
from beholder.tables import (
    SET_COLUMNS,
    Column,
    Table,
    estimate,
    interval_cells,
)

ALL = "all"
MERGING = (
    "A person's and a model's unit are the same content when each was matched to the other,"
    " and so are units in the same words; people's units are merged through the models' units that"
    " equal both. No judge was asked anew."
)
MAX_SUBJECTS = 200
_CATEGORY = Column("category", "Category", "text")


def consensus_by_image(found: Sequence[Content]) -> dict[str, list[float]]:
    """Per picture of several speakers, for each content of people how many of them mention it."""
    counts: dict[str, list[float]] = {}
    for content in found:
        if content.by_people and content.n_people > 1:
            counts.setdefault(content.image, []).append(float(len(content.people)))
    return counts


def consensus_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """How many speakers of a picture mention the same content, per category."""
    rows = []
    for place, some in strata(pairs):
        found = contents(some)
        for name in (ALL, *categories):
            own = [c for c in found if name in (ALL, c.category)]
            counts = consensus_by_image(own)
            if not counts:
                continue
            everything = [count for image in counts.values() for count in image]
            images = [image for image, own in counts.items() for _ in own]
            rows.append(
                {
                    **place,
                    "category": name,
                    "n_images": len(counts),
                    "n": len(everything),
                    "speakers": _mean([float(_speakers(own, image)) for image in counts]),
                    **estimate("consensus", [float(np.mean(image)) for image in counts.values()]),
                    **estimate("once", [float(n == 1) for n in everything], images),
                }
            )
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
        tuple(rows),
        (
            "Mean over the contents of a picture, then over pictures with several speakers.",
            MERGING,
            "What no model says is merged across speakers by its words alone: a lower bound.",
        ),
    )


def _speakers(found: Sequence[Content], image: str) -> int:
    return next(content.n_people for content in found if content.image == image)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def selectivity_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """Share of what people say that no model mentions, and the reverse, per category."""
    rows: list[dict[str, Any]] = []
    for place, some in strata(pairs):
        found = image_rows(some)
        for name in (ALL, *categories):
            own = [row for row in found if name in (ALL, row["category"])]
            if own:
                rows.append({**place, "category": name, **_shares(own)})
    return Table(
        "selectivity",
        "What one side says and the other does not",
        (
            *SET_COLUMNS,
            _CATEGORY,
            Column("n", "Pictures", "count"),
            Column("people_alone", "Of people's contents, no model mentions", "percent", True),
            Column("models_alone", "Of models' contents, no person mentions", "percent", True),
            Column("people_contents", "Contents of people", "tenths", interval=True),
            Column("model_contents", "Contents of models", "tenths", interval=True),
        ),
        tuple(rows),
        (MERGING, "Means over pictures; all texts about a picture together."),
    )


def _shares(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"n": len(rows)}
    for key in ("people_alone", "models_alone", "people_contents", "model_contents"):
        found |= estimate(key, [float(row[key]) for row in rows if row[key] is not None])
    return found


def image_rows(pairs: Sequence[TextPair]) -> list[dict[str, Any]]:
    """Per picture how much of what people say no model mentions, and the reverse; worst first."""
    groups: dict[str, list[Content]] = {}
    for content in contents(pairs):
        groups.setdefault(content.image, []).append(content)
    rows = []
    for image, found in groups.items():
        people = [c for c in found if c.people]
        models = [c for c in found if c.systems]
        rows.append(
            {
                "image": image,
                "category": found[0].category,
                "n_people": found[0].n_people,
                "n_systems": found[0].n_systems,
                "people_contents": len(people),
                "model_contents": len(models),
                "both": sum(bool(c.systems) for c in people),
                "people_alone": _share([not c.systems for c in people]),
                "models_alone": _share([not c.people for c in models]),
            }
        )
    return sorted(rows, key=lambda row: -(row["people_alone"] or 0.0))


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def image_table(pairs: Sequence[TextPair]) -> Table:
    """The pictures, those first where people say most that no model mentions."""
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
        tuple({**place, **row} for place, some in strata(pairs) for row in image_rows(some)),
    )


def content_table(pairs: Sequence[TextPair]) -> Table:
    """The contents that one side alone mentions, ranked by how much of that side does."""
    rows = []
    for place, some in strata(pairs):
        alone = [c for c in contents(some) if not (c.people and c.systems)]
        for content in sorted(alone, key=lambda c: (-c.weight, not c.supported)):
            rows.append(
                {
                    **place,
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
            )
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
        tuple(rows),
        (
            "Ranked by the difference of the shares of both sides, each with half a text added for"
            " and half against, so that one of one ranks below five of five.",
        ),
    )


def subject_table(pairs: Sequence[TextPair]) -> Table:
    """What units are about: in how many pictures people mention it, and models."""
    rows = []
    for place, some in strata(pairs):
        people, models, n_images = _mentions(some)
        if not n_images:
            continue
        gaps = {name: (people.get(name, {}), models.get(name, {})) for name in {**people, **models}}
        ranked = sorted(
            gaps, key=lambda name: (-abs(_total(gaps[name][0]) - _total(gaps[name][1])), name)
        )
        for name in ranked[:MAX_SUBJECTS]:
            rows.append({**place, "subject": name, **_subject(*gaps[name], n_images)})
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
        tuple(rows),
        (
            "Share of the texts about a picture with a unit about the subject, averaged over all"
            f" pictures. Subjects are the judge's identifiers as written; the {MAX_SUBJECTS} with"
            " the widest gaps are shown, so some gaps are wide by chance: trust the intervals.",
        ),
    )


def _mentions(
    pairs: Sequence[TextPair],
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]], int]:
    """Per subject and picture the share of people's texts and of systems that mention it."""
    people: dict[str, dict[str, float]] = {}
    models: dict[str, dict[str, float]] = {}
    n_images = 0
    for image, own in by_image(pairs).items():
        voices: dict[str, set[str]] = {}
        systems: dict[str, set[str]] = {}
        for pair in own:
            for voice, text in enumerate(pair.references):
                facts = [fact for fact in pair.human_facts if fact.voice == voice]
                if facts:
                    voices.setdefault(text, {stem(f.subject) for f in facts} - {""})
            if pair.model_facts:
                found = {stem(fact.subject) for fact in pair.model_facts} - {""}
                systems[pair.system] = systems.get(pair.system, set()) | found
        if not (voices and systems):
            continue
        n_images += 1
        for shares, texts in ((people, voices), (models, systems)):
            for subjects in texts.values():
                for subject in subjects:
                    at = shares.setdefault(subject, {})
                    at[image] = at.get(image, 0.0) + 1 / len(texts)
    return people, models, n_images


def _total(shares: dict[str, float]) -> float:
    return sum(shares.values())


def _subject(people: dict[str, float], models: dict[str, float], n_images: int) -> dict[str, Any]:
    images = list(people | models)
    gaps = [people.get(image, 0.0) - models.get(image, 0.0) for image in images]
    gaps += [0.0] * (n_images - len(images))  # pictures where nobody mentions it
    found = stats.mean_interval(gaps)
    return {
        "n": len(images),
        "n_images": n_images,
        "people": _total(people) / n_images,
        "models": _total(models) / n_images,
        "gap": found.mean,
        **interval_cells("gap", found.interval),
    }
