"""F1 of scene-graph facts: by base form (SPICE), by embedding (SoftSPICE), by stages (CAPTURE)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeAlias

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import products
from beholder.errors import ItemError
from beholder.language import SceneGraph, parse, scene_graph
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.metrics.base import f_beta
from beholder.metrics.classical.embedding import Part, PartsMetric, unit_range
from beholder.records import Item, ItemScore
from beholder.text.synonyms import are_synonyms


@dataclass(frozen=True, slots=True, eq=False)
class FactEvidence:
    """Facts of both sides.

    Attributes:
        candidate: Of the candidate.
        references: Of all references together.
        vectors: Unit vector per phrase; empty for a metric that embeds nothing.
    """

    candidate: Facts
    references: Facts
    vectors: Mapping[str, FloatArray]


@dataclass(frozen=True)
class FactMetric(Metric[FactEvidence]):
    """Base of the metrics over facts."""

    parser: str = param(
        "builtin", "English parser: builtin or spacy:NAME", tool="parser"
    )

    bounds = Bounds(characters=100_000, compares="facts")
    values = (
        ValueInfo("f1", "harmonic mean of both"),
        ValueInfo(
            "precision",
            "share of the candidate's facts that the references have",
        ),
        ValueInfo(
            "recall", "share of the references' facts that the candidate has"
        ),
    )

    async def gather(self, item: Item, tools: Tools) -> FactEvidence:
        """Parse all texts, and embed the phrases that are compared by meaning.

        Raises:
            ItemError: A side has no facts, or is not in Latin script.
        """
        candidate = facts((item.candidate,), self.parser)
        references = facts(item.references, self.parser)
        for name, side in (
            ("candidate", candidate),
            ("references", references),
        ):
            if not any(side.values()):
                raise ItemError(
                    f"no object was found in the {name}: there are no facts to compare"
                )
        # Too many facts are refused before anything is embedded.
        candidate_facts, reference_facts = (
            all_facts(candidate),
            all_facts(references),
        )
        self.bounds.check_pairs(
            len(candidate_facts), [len(reference_facts)], self.registered_name
        )
        vectors: Mapping[str, FloatArray] = {}
        if embedder := getattr(self, "embedder", None):
            phrases = sorted(
                {phrase(fact) for fact in candidate_facts | reference_facts}
            )
            rows = await tools.embed(embedder, phrases)
            vectors = dict(zip(phrases, rows, strict=True))
        return FactEvidence(candidate, references, vectors)

    def score_item(self, item: Item, evidence: FactEvidence) -> ItemScore:
        """Return the values of the metric by name."""
        pairs = zip(self.values, self.measure(evidence), strict=True)
        return ItemScore({info.name: value for info, value in pairs})

    @abstractmethod
    def measure(self, evidence: FactEvidence) -> tuple[float, float, float]:
        """Return F1, precision and recall."""


@dataclass(frozen=True)
class SoftFactMetric(FactMetric):
    """Base of the metrics that compare facts by meaning."""

    embedder: str = param("static", "text embedder", tool="embedder")


@dataclass(frozen=True)
class SPICE(FactMetric):
    """F1 of scene-graph facts in base form: objects, attributes, relations.

    The facts of all references together are one set. A fact counts when the other side has the
    same words in base form. As SPICE, but over the built-in English parser, so scores are not those
    of the Java program; no synonyms. English only. Range 0..1, higher is better.

    Source: after Anderson et al. 2016.
    """

    registered_name = "spice"

    def measure(self, evidence: FactEvidence) -> tuple[float, float, float]:
        """Return the shares of common facts."""
        candidate_facts = all_facts(evidence.candidate)
        reference_facts = all_facts(evidence.references)
        precision, recall = (
            len(candidate_facts & reference_facts) / len(side)
            for side in (candidate_facts, reference_facts)
        )
        return f_beta(precision, recall), precision, recall


@dataclass(frozen=True)
class SoftSPICE(SoftFactMetric):
    """Scene-graph facts compared by embedding.

    Each fact is written as a phrase and finds its most similar one on the other side; precision is
    the mean of the best cosines over the candidate's facts, recall over the references' facts, F1
    their harmonic mean. English only. Range 0..1, higher is better.

    Source: after Li et al. 2023 (FACTUAL, SoftSPICE).
    """

    registered_name = "softspice"

    def measure(self, evidence: FactEvidence) -> tuple[float, float, float]:
        """Return the means of best cosines."""
        candidate_facts = sorted(all_facts(evidence.candidate))
        reference_facts = sorted(all_facts(evidence.references))
        similar = _similarity(
            candidate_facts, reference_facts, evidence.vectors
        )
        # Rounding can pass 1 by the last digit.
        means = (float(np.mean(similar.max(axis=axis))) for axis in (1, 0))
        precision, recall = (min(1.0, mean) for mean in means)
        return f_beta(precision, recall), precision, recall


@dataclass(frozen=True)
class CAPTURE(SoftFactMetric):
    """Objects, attributes and relations matched in three stages: same, synonym, similar.

    Within each kind, facts are matched by base form, then word by word by WordNet synonyms; each
    fact that is left counts as much as its best cosine with a fact that is left on the other side.
    Precision and recall per kind, F1 of each, and their mean with weights 5, 5 and 2 for objects,
    attributes and relations; a kind that neither side has is left out. English only. Range 0..1,
    higher is better.

    Source: after Dong et al. 2024 (CAPTURE).
    """

    registered_name = "capture"
    values = (
        ValueInfo("capture", "weighted mean of the three F1"),
        ValueInfo("precision", "weighted mean of the three precisions"),
        ValueInfo("recall", "weighted mean of the three recalls"),
    )
    weights: ClassVar[Mapping[str, int]] = {
        "objects": 5,
        "attributes": 5,
        "relations": 2,
    }

    def measure(self, evidence: FactEvidence) -> tuple[float, float, float]:
        """Match each kind in stages and combine the kinds."""
        sums, total = np.zeros(3), 0
        for kind, weight in self.weights.items():
            candidate_facts = evidence.candidate[kind]
            reference_facts = evidence.references[kind]
            if candidate_facts or reference_facts:
                shares = _match_in_stages(
                    candidate_facts, reference_facts, evidence.vectors
                )
                sums += weight * np.array([f_beta(*shares), *shares])
                total += weight
        value, precision, recall = (sums / total).clip(0.0, 1.0).tolist()
        return value, precision, recall


def _match_in_stages(
    candidate_facts: Collection[Fact],
    reference_facts: Collection[Fact],
    vectors: Mapping[str, FloatArray],
) -> tuple[float, float]:
    """Return precision and recall of one kind; 0 when one side has none."""
    if not candidate_facts or not reference_facts:
        return 0.0, 0.0
    # First stage: equal facts. The sorted rest makes the next stage
    # independent of set order.
    unmatched_candidate = sorted(
        fact for fact in candidate_facts if fact not in reference_facts
    )
    unmatched_reference = sorted(
        fact for fact in reference_facts if fact not in candidate_facts
    )
    matched = len(candidate_facts) - len(unmatched_candidate)
    # Second stage: synonyms, each fact used once.
    for fact in tuple(unmatched_candidate):
        twin = next(
            (
                reference_fact
                for reference_fact in unmatched_reference
                if _are_synonymous(fact, reference_fact)
            ),
            None,
        )
        if twin is not None:
            unmatched_candidate.remove(fact)
            unmatched_reference.remove(twin)
            matched += 1
    # Third stage: what is still unmatched counts as much as its best cosine.
    soft_candidate = soft_reference = 0.0
    if unmatched_candidate and unmatched_reference:
        similar = _similarity(
            unmatched_candidate, unmatched_reference, vectors
        )
        soft_candidate, soft_reference = (
            float(similar.max(axis=axis).sum()) for axis in (1, 0)
        )
    return (
        min(1.0, (matched + soft_candidate) / len(candidate_facts)),
        min(1.0, (matched + soft_reference) / len(reference_facts)),
    )


def _are_synonymous(a: Fact, b: Fact) -> bool:
    return all(x == y or are_synonyms(x, y) for x, y in zip(a, b, strict=True))


def _similarity(
    candidate_facts: Sequence[Fact],
    reference_facts: Sequence[Fact],
    vectors: Mapping[str, FloatArray],
) -> FloatArray:
    a, b = (
        np.array([vectors[phrase(fact)] for fact in side])
        for side in (candidate_facts, reference_facts)
    )
    return unit_range(products(a, b))


@dataclass(frozen=True)
class SGEmbed(PartsMetric):
    """Parts of the scene graphs compared by embedding: the SGEmbed baseline.

    Objects, objects with an attribute, and subject-relation-object are each scored by their best
    cosine with a part of the other text. Precision and recall are means of these, F1 their harmonic
    mean. English only. Range 0..1, higher is better.

    Source: the PoSh paper (baseline SGEmbed), there with an 8B embedder.
    """

    parser: str = param(
        "builtin", "English parser: builtin or spacy:NAME", tool="parser"
    )

    registered_name = "sg_embed"
    bounds = Bounds(characters=100_000, compares="parts")

    def parts(self, text: str, tools: Tools) -> list[Part]:
        """Return the objects, attributes and relations of a text's scene graph."""
        text_graph = graph(text, self.parser)
        # Pronouns that stand for nothing named are no parts, nor what is said
        # of them.
        things = {e.index: e for e in text_graph.entities if e.kind == "thing"}
        names = {index: thing.name for index, thing in things.items()}
        parts = [
            Part("entity", e.name, tuple(m.span for m in e.mentions))
            for e in things.values()
        ]
        parts += [
            Part("attribute", f"{a.text} {names[a.entity]}", a.spans)
            for a in text_graph.attributes
            if a.entity in names
        ]
        parts += [
            Part(
                "relation",
                f"{names[r.subject]} {r.text} {names[r.object]}",
                r.spans,
            )
            for r in text_graph.relations
            if {r.subject, r.object} <= names.keys()
        ]
        return parts


Fact: TypeAlias = tuple[str, ...]
"""(object), (object, attribute) or (subject, predicate, object), in base form."""


Facts: TypeAlias = Mapping[str, set[Fact]]
"""The facts of a text: its ``objects``, their ``attributes`` and ``relations``."""


def all_facts(facts: Facts) -> set[Fact]:
    """Return the facts of all kinds."""
    return set().union(*facts.values())


@lru_cache(
    maxsize=1 << 12
)  # a reference is met once per candidate, from every metric
def graph(text: str, parser: str) -> SceneGraph:
    """Return the scene graph of an English text.

    Raises:
        ItemError: The text is not in Latin script, or a sentence is nested too deeply to walk.
        ConfigError: No such parser.
    """
    try:
        return scene_graph(parse(text, parser))
    except RecursionError as error:
        raise ItemError(
            "a sentence is nested too deeply for a scene graph; is the text one long list?"
        ) from error


def facts(texts: tuple[str, ...], parser: str) -> Facts:
    """Return the facts of several texts together.

    Denied facts and facts about the picture itself are left out; a pronoun that stands
    for nothing named is no object.

    Args:
        texts: Texts about one source.
        parser: See ``beholder.language.parse``.
    """
    objects: set[Fact] = set()
    attributes: set[Fact] = set()
    relations: set[Fact] = set()
    for text in texts:
        text_graph = graph(text, parser)
        names = {
            e.index: e.name.casefold()
            for e in text_graph.entities
            if e.kind == "thing" and e.polarity
        }
        # Facts about pronouns or denied things have no name here, and are left out.
        objects |= {(name,) for name in names.values()}
        attributes |= {
            (names[a.entity], a.value.casefold())
            for a in text_graph.attributes
            if a.polarity and a.entity in names
        }
        relations |= {
            (names[r.subject], r.predicate.casefold(), names[r.object])
            for r in text_graph.relations
            if r.polarity and {r.subject, r.object} <= names.keys()
        }
    return {
        "objects": objects,
        "attributes": attributes,
        "relations": relations,
    }


def phrase(fact: Fact) -> str:
    """Return a fact as words: ``red car``, ``man hold cup``."""
    return " ".join(reversed(fact)) if len(fact) == 2 else " ".join(fact)
