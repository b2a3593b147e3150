"""PoSh as its public code asks: every candidate of every entity, with rewrites; nothing is saved.

Written from a description of that code's behaviour and not from ours; it shares no line with
``beholder.metrics.posh``. Names are made by rule, as there, in place of a rewriting judge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from beholder.judges.operations import Question
from beholder.language.graph import SceneGraph

PRONOUNS = (
    *("he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs"),
    *("who", "whom", "whose", "which", "that", "this", "these", "those", "one", "ones"),
)
CONTAINING = (
    *("have", "has", "had", "having", "hold", "holds", "held", "holding"),
    *("contain", "contains", "contained", "containing"),
    *("wear", "wears", "wore", "worn", "wearing"),
)


@dataclass(frozen=True)
class Outcome:
    """What one direction came to.

    Attributes:
        scores: Of all components: entities, attributes by entity, relations.
        questions: Questions that were asked.
        rewrites: Requests for a noun phrase.
    """

    scores: list[float]
    questions: int
    rewrites: int

    @property
    def mean(self) -> float:
        """The coarse score: mean / 5, and 1 for nothing."""
        return sum(self.scores) / len(self.scores) / 5 if self.scores else 1.0


def published(
    graph: SceneGraph,
    grade: Callable[[Question], float],
    threshold: float,
    rewrite: Callable[[str], object] = str,
) -> Outcome:
    """One direction, exhaustively; ``rewrite`` hears each text that would be written anew."""
    return _Direction(graph, grade, threshold, rewrite).outcome()


class _Direction:
    def __init__(
        self,
        graph: SceneGraph,
        grade: Callable[[Question], float],
        threshold: float,
        rewrite: Callable[[str], object],
    ) -> None:
        self.grade, self.threshold, self.rewrite = grade, threshold, rewrite
        self.mentions = [[m.text.lower() for m in e.mentions] for e in graph.entities]
        self.head = [texts[0] for texts in self.mentions]
        self.entities = range(len(self.head))
        self.relations = [(r.subject, r.text.lower(), r.object) for r in graph.relations]
        self.attributes: list[dict[str, int]] = [{} for _ in self.entities]
        for a in graph.attributes:
            self.attributes[a.entity].setdefault(a.text.lower(), a.sentence)
        self.parents: list[list[int]] = [[] for _ in self.entities]
        for subject, text, other in self.relations:
            if text == "part of" and other not in self.parents[subject]:
                self.parents[subject].append(other)
            if text in CONTAINING and subject not in self.parents[other]:
                self.parents[other].append(subject)
        starts = [e.mentions[0].span[0] for e in graph.entities]
        self.special = {
            e
            for e in self.entities
            if self.head[e] in ("us", "our", "we")
            or (
                self.head[e] in ("left", "right")
                and graph.text[: starts[e]].rstrip().lower().endswith("our")
            )
        }
        self.name = {e: self.head[e] for e in self.special}
        self.score = dict.fromkeys(self.special, 5.0)
        self.rewrites = 0

    def outcome(self) -> Outcome:
        questions = 2 * len(self.special)
        for nested in (False, True):
            found = {}
            for e in self.entities:
                if e in self.special or bool(self.parents[e]) is not nested:
                    continue
                candidates = self.candidates(e)
                graded = [self.grade(Question("entity", text)) for text in candidates]
                questions += len(candidates)
                rounded = [round(value) for value in graded]
                best = rounded.index(max(rounded))  # the first of the highest
                found[e] = candidates[best], graded[best]
            for e, (name, score) in found.items():  # a pass sees the passes before it only
                self.name[e], self.score[e] = name, score
        scores = [self.score[e] for e in self.entities if e not in self.special]
        rest = [
            (self.score[e], Question("attribute", text, self.name[e]))
            for e in self.entities
            if e not in self.special
            for text in sorted(self.attributes[e])
        ]
        rest += [
            (
                min(self.score[s], self.score[o]),
                Question("relation", text, self.name[s], self.name[o]),
            )
            for s, text, o in self.relations
        ]
        for holder, question in rest:
            asked = holder >= self.threshold
            questions += asked
            scores.append(self.grade(question) if asked else 1.0)
        return Outcome(scores, questions, self.rewrites)

    def candidates(self, e: int) -> list[str]:
        head = self.head[e]
        alike = {i for i in self.entities if self.head[i] == head} - {e}
        there = [p for p in self.parents[e] if self.score.get(p, 0.0) >= self.threshold]
        frames = [
            (f"{head} of {self.name[p]}", {i for i in alike if p in self.parents[i]}) for p in there
        ]
        if not alike or not there:
            frames.append((head, alike))
        found = [text for frame, rivals in frames for text in self.of_frame(e, frame, rivals)]
        return list(dict.fromkeys(found)) or [frames[0][0]]

    def of_frame(self, e: int, frame: str, rivals: set[int]) -> list[str]:
        found = [] if rivals else [frame]
        for text in sorted(self.attributes[e], key=lambda t: (self.attributes[e][t], t)):
            if all(text not in self.attributes[i] for i in rivals):
                found.append(f"{text} {frame}")
                self.rewrites += 1
                self.rewrite(found[-1])
        theirs = {text for i in rivals for text in self.mentions[i]}
        for text in self.mentions[e]:
            if text not in PRONOUNS and text not in theirs and text != self.head[e]:
                found.append(text + frame[len(self.head[e]) :])
        if not found:
            found = self.as_subject(e, rivals) + self.as_object(e, frame, rivals)
            self.rewrites += len(found)
            for text in found:
                self.rewrite(text)
        return found

    def as_subject(self, e: int, rivals: set[int]) -> list[str]:
        return [
            f"{self.head[e]} {text} {self.called(o)}"
            for s, text, o in self.relations
            if s == e
            and self.tells(text, o)
            and not any((i, text, o) in self.relations for i in rivals)
        ]

    def as_object(self, e: int, frame: str, rivals: set[int]) -> list[str]:
        return [
            f'{frame} with relation "{self.called(s)} {text} {self.head[e]}"'
            for s, text, o in self.relations
            if o == e
            and s != e
            and self.tells(text, s)
            and not any((s, text, i) in self.relations for i in rivals)
        ]

    def tells(self, text: str, end: int) -> bool:
        return text != "part of" and self.score.get(end, 5.0) >= self.threshold

    def called(self, e: int) -> str:
        return self.name.get(e) or " ".join([*sorted(self.attributes[e])[:1], self.head[e]])
