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
    *(
        "he",
        "him",
        "his",
        "himself",
        "she",
        "her",
        "hers",
        "herself",
        "it",
        "its",
        "itself",
    ),
    *("they", "them", "their", "theirs", "themselves"),
    *("who", "whom", "this", "that", "these", "those"),
)
CONTAINING = (
    *("have", "has", "had", "having", "hold", "holds", "holding"),
    *("contain", "contains", "contained", "containing"),
    *("wear", "wears", "wore", "wearing"),
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
        self.mentions = [
            [m.text.lower() for m in e.mentions] for e in graph.entities
        ]
        self.head = [texts[0] for texts in self.mentions]
        self.entities = range(len(self.head))
        relations = {
            (r.subject, r.text.lower(), r.object): r.sentence
            for r in graph.relations[::-1]
        }
        written = [
            (r.subject, r.text.lower(), r.object) for r in graph.relations
        ]
        self.relations = list(dict.fromkeys(written))
        self.by_sentence = sorted(self.relations, key=relations.__getitem__)
        self.attributes: list[dict[str, int]] = [{} for _ in self.entities]
        for a in sorted(
            graph.attributes, key=lambda a: a.text
        ):  # "B" before "a"
            self.attributes[a.entity].setdefault(a.text.lower(), a.sentence)
        self.parents: list[set[int]] = [set() for _ in self.entities]
        for subject, text, target in self.relations:
            if text == "part of":
                self.parents[subject].add(target)
            if text in CONTAINING:
                self.parents[target].add(subject)
        self.special: dict[int, str] = {}
        for e in self.entities:
            before = (
                graph.text[: graph.entities[e].mentions[0].span[0]]
                .rstrip()
                .lower()
            )
            if self.head[e] in ("us", "our", "we"):
                self.special[e] = "the viewer"
            elif self.head[e] in ("left", "right") and before.endswith("our"):
                self.special[e] = f"our {self.head[e]}"
        self.name: dict[int, str] = {}
        self.score: dict[int, float] = {}
        self.rewrites = 0

    def outcome(self) -> Outcome:
        questions = 2 * len(self.special)
        for nested in (False, True):
            special_names = {
                e: (name, 5.0) for e, name in self.special.items()
            }
            for e in self.entities:
                if e in self.special or bool(self.parents[e]) is not nested:
                    continue
                candidates = self.candidates(e)
                graded = [
                    self.grade(Question("entity", text)) for text in candidates
                ]
                questions += len(candidates)
                rounded = [round(value) for value in graded]
                best = rounded.index(max(rounded))  # the first of the highest
                special_names[e] = candidates[best], graded[best]
            for (
                e,
                (
                    name,
                    score,
                ),
            ) in (
                special_names.items()
            ):  # a pass sees the passes before it only
                self.name[e], self.score[e] = name, score
        scores = [
            self.score[e] for e in self.entities if e not in self.special
        ]
        rest = [
            (self.score[e], Question("attribute", text, self.name[e]))
            for e in self.entities
            if e not in self.special
            for text in self.attributes[e]
        ]
        rest += [
            (
                min(self.score[s], self.score[o]),
                Question("relation", text, self.name[s], self.name[o]),
            )
            for s, text, o in self.relations
            if not {s, o} <= self.special.keys()
        ]
        for holder, question in rest:
            is_holder = holder >= self.threshold
            questions += is_holder
            scores.append(self.grade(question) if is_holder else 1.0)
        return Outcome(scores, questions, self.rewrites)

    def candidates(self, e: int) -> list[str]:
        head = self.head[e]
        alike = (
            {i for i in self.entities if self.head[i] == head}
            - {e}
            - self.special.keys()
        )
        there = [
            p
            for p in sorted(self.parents[e])
            if self.score.get(p, 0.0) >= self.threshold
        ]
        frames = [(head, alike)] if not alike or not there else []
        frames += [
            (
                f"{head} of {self.name[p]}",
                {i for i in alike if p in self.parents[i]},
            )
            for p in there
        ]
        kinds: list[list[str]] = [[], [], [], [], []]
        for frame, rivals in frames:
            kind_texts = {text for texts in kinds for text in texts}
            own_texts = [
                [t for t in texts if t not in kind_texts]
                for texts in self.of_frame(e, frame, rivals)
            ]
            if rivals and not any(own_texts):
                own_texts += [
                    self.as_subject(e, rivals),
                    self.as_object(e, frame, rivals),
                ]
            for kind, texts in enumerate(own_texts):
                kinds[kind] += texts
        for text in (
            t for kind in (1, 3, 4) for t in dict.fromkeys(kinds[kind])
        ):
            self.rewrites += 1
            self.rewrite(text)
        return list(dict.fromkeys(t for texts in kinds for t in texts)) or [
            frames[0][0]
        ]

    def of_frame(
        self, e: int, frame: str, rivals: set[int]
    ) -> list[list[str]]:
        by_sentence = sorted(
            self.attributes[e], key=self.attributes[e].__getitem__
        )
        rival_mentions = {text for i in rivals for text in self.mentions[i]}
        return [
            [] if rivals else [frame],
            [
                f"{text} {frame}"
                for text in by_sentence
                if all(text not in self.attributes[i] for i in rivals)
            ],
            [
                text + frame[len(self.head[e]) :]
                for text in self.mentions[e]
                if text not in PRONOUNS
                and text not in rival_mentions
                and text != self.head[e]
            ],
        ]

    def as_subject(self, e: int, rivals: set[int]) -> list[str]:
        return [
            f"{self.head[e]} {text} {self.called(o)}"
            for s, text, o in self.by_sentence
            if s == e
            and self.tells(text, o)
            and not any((i, text, o) in self.relations for i in rivals)
        ]

    def as_object(self, e: int, frame: str, rivals: set[int]) -> list[str]:
        return [
            f'{frame} with relation "{self.called(s)} {text} {self.head[e]}"'
            for s, text, o in self.by_sentence
            if o == e
            and self.tells(text, s)
            and not any((s, text, i) in self.relations for i in rivals)
        ]

    def tells(self, text: str, end: int) -> bool:
        return text != "part of" and self.score.get(end, 5.0) >= self.threshold

    def called(self, e: int) -> str:
        stated = self.attributes[e]
        earliest = [
            text for text in stated if stated[text] == min(stated.values())
        ][:1]
        return self.name.get(e) or " ".join([*earliest, self.head[e]])
