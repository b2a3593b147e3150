"""Conversion between two schemes of dependency trees: Universal Dependencies and ClearNLP.

The rules read Universal Dependencies (UD): prepositions attach to their noun, a copula attaches to
its predicate. spaCy's own packages use the ClearNLP scheme: the noun attaches to the preposition,
the predicate to the copula. ``to_ud`` turns the second into the first, so that any spaCy model can
be plugged in; ``to_clear`` is the way back, which the rule set ``reference`` needs because the
rules that it repeats were written for ClearNLP trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from beholder.records import Span

_RENAMED = {
    "dobj": "obj", "nsubjpass": "nsubj:pass", "csubjpass": "csubj:pass", "auxpass": "aux:pass",
    "poss": "nmod:poss", "relcl": "acl:relcl", "neg": "advmod", "prt": "compound:prt",
    "npadvmod": "obl:npmod", "quantmod": "advmod", "predet": "det:predet",
    "preconj": "cc:preconj", "intj": "discourse", "meta": "dep", "oprd": "xcomp",
    "acomp": "xcomp", "attr": "xcomp", "dative": "iobj",
}  # fmt: skip
CLEAR_ONLY = frozenset(
    {*_RENAMED, "prep", "pobj", "agent", "pcomp"} - {"meta"}
)
_PREDICATES = ("acomp", "attr", "oprd")
_BE = frozenset(
    [
        "be",
        "is",
        "are",
        "was",
        "were",
        "am",
        "been",
        "being",
        "'s",
        "'re",
        "'m",
    ]
)


@dataclass
class Node:
    """A word of a tree while the tree is being changed."""

    text: str
    pos: str
    dep: str
    head: int


def is_clear(deps: Sequence[str]) -> bool:
    """Return whether the relation names of a text are those of ClearNLP."""
    return not CLEAR_ONLY.isdisjoint(deps)


def to_ud(nodes: Sequence[Node]) -> list[Node]:
    """ClearNLP trees as UD trees."""
    return _change_trees(nodes, _make_ud)


def _change_trees(
    nodes: Sequence[Node], change: Callable[[list[Node]], None]
) -> list[Node]:
    """Copies of trees, each changed by itself: changing one takes time with the square of it."""
    changed_nodes: list[Node] = []
    for first, last in _trees(nodes):
        tree = [
            Node(
                text=n.text,
                pos=n.pos,
                dep=n.dep,
                head=n.head - first,
            )
            for n in nodes[first:last]
        ]
        change(tree)
        for node in tree:
            node.head += first
        changed_nodes += tree
    return changed_nodes


def _trees(nodes: Sequence[Node]) -> Iterator[Span]:
    """First and one-past-last word of the shortest stretches from which no head leads out."""
    # A stretch is closed if no head before its end points beyond it, and none after it points back.
    # A stretch is closed if no head in it points beyond its end and none after it points back.
    heads = [node.head for node in nodes]
    farthest = list(accumulate(heads, max))
    nearest = [*list(accumulate(heads[::-1], min))[::-1], len(heads)]
    first = 0
    for last in range(1, len(heads) + 1):
        if farthest[last - 1] < last <= nearest[last]:
            yield first, last
            first = last


def _make_ud(tree: list[Node]) -> None:
    _raise_predicates(tree)
    _turn_prepositions(tree)
    _flatten_conjuncts(tree)
    for node in tree:
        node.dep = _RENAMED.get(node.dep, node.dep)


def _below(tree: Sequence[Node], head: int, *deps: str) -> list[int]:
    below = (
        place
        for place, node in enumerate(tree)
        if node.head == head and place != head
    )
    return [place for place in below if tree[place].dep in deps]


def _raise_predicates(tree: list[Node]) -> None:
    """The predicate of a form of "be" takes the place of the verb, which becomes its copula."""
    children = _children(tree)
    for place, node in enumerate(tree):
        if node.text.lower() not in _BE or node.dep in ("aux", "auxpass"):
            continue
        below = children[place]
        predicates = [c for c in below if tree[c].dep in _PREDICATES]
        if any(tree[c].dep == "expl" for c in below):
            # "there is a cat": UD makes the cat the verb's subject.
            for c in predicates:
                tree[c].dep = "nsubj"
            continue
        # "Is on the mat": the noun of the preposition is the predicate.
        predicates = predicates or [
            c for c in below if tree[c].dep == "prep" and c > place
        ]
        for top in predicates[:1]:
            for c in below:
                tree[c].head = top
            tree[top].head = top if node.head == place else node.head
            tree[top].dep, node.head, node.dep = node.dep, top, "cop"
            children = _children(tree)


def _turn_prepositions(tree: list[Node]) -> None:
    """Prep -> pobj becomes noun -> case; the noun is nmod of a noun and obl of anything else."""
    children = _children(tree)
    for place, node in enumerate(tree):
        objects = [
            c for c in children[place] if tree[c].dep in ("pobj", "pcomp")
        ]
        if node.dep == "prep" and not objects:
            inner = [c for c in children[place] if tree[c].dep == "prep"]
            objects = [
                g for c in inner for g in children[c] if tree[g].dep == "pobj"
            ][:1]
        if not objects or node.pos == "VERB":
            continue
        noun = objects[0]
        governor = node.head
        clause = tree[noun].dep == "pcomp"
        if governor == place or node.dep not in ("prep", "agent", "dative"):
            # The preposition was lifted to a predicate or is the root.
            tree[noun].dep = node.dep
        else:
            of_noun = tree[governor].pos in ("NOUN", "PROPN", "PRON", "NUM")
            nominal = "obl:agent" if node.dep == "agent" else "obl"
            if of_noun:
                nominal = "nmod"
            verbal = "acl" if of_noun else "advcl"
            tree[noun].dep = verbal if clause else nominal
        tree[noun].head = noun if governor == place else governor
        for c in children[place]:
            if c != noun and tree[c].head == place:
                tree[c].head = noun
                if tree[c].dep in ("prep", "pcomp"):
                    tree[c].dep = "case"
        node.head = noun
        node.dep = "mark" if clause else "case"
        children = _children(tree)


def _flatten_conjuncts(tree: list[Node]) -> None:
    """A <- b <- c becomes a <- b, a <- c; each "and" attaches to the conjunct after it."""
    for place, node in enumerate(tree):
        visited = {place}
        while (
            node.dep == "conj"
            and tree[node.head].dep == "conj"
            and node.head not in visited
        ):
            visited.add(node.head)
            node.head = tree[node.head].head
    for place, node in enumerate(tree):
        if node.dep == "cc":
            later = (c for c in _below(tree, node.head, "conj") if c > place)
            node.head = next(later, node.head)


def _children(tree: Sequence[Node]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in tree]
    for place, node in enumerate(tree):
        if node.head != place:
            children[node.head].append(place)
    return children


_CLAUSAL = frozenset(
    {
        "nsubj",
        "nsubj:pass",
        "nsubj:outer",
        "csubj",
        "expl",
        "aux",
        "mark",
        "advcl",
        "obl",
        "punct",
    }
    | {"cc", "conj", "parataxis"}
)
"""Relations that belong to a whole clause and are attached to its copula."""
_CLEAR_NAMES = {
    "obj": "dobj", "iobj": "dative", "nsubj:pass": "nsubjpass", "aux:pass": "auxpass",
    "nmod:poss": "poss", "acl:relcl": "relcl", "compound:prt": "prt", "advmod:emph": "advmod",
    "obl:npmod": "npadvmod", "obl:unmarked": "npadvmod", "nmod:unmarked": "npadvmod",
    "obl:tmod": "npadvmod", "det:predet": "predet", "nsubj:outer": "nsubj", "fixed": "prep",
    "flat": "compound",
}  # fmt: skip


def to_clear(nodes: Sequence[Node]) -> list[Node]:
    """UD trees as ClearNLP trees: copulas and prepositions become heads again."""
    return _change_trees(nodes, _make_clear)


def _make_clear(tree: list[Node]) -> None:
    for node in tree:
        if node.text.lower() in _BE and node.pos == "VERB":
            node.pos = "AUX"
    _lower_prepositions(tree)
    _lower_predicates(tree)
    for node in tree:
        node.dep = _CLEAR_NAMES.get(node.dep, node.dep)


def _lower_prepositions(tree: list[Node]) -> None:
    for place, node in enumerate(tree):
        if node.dep != "case" or node.pos not in (
            "ADP",
            "SCONJ",
            "ADV",
            "ADJ",
            "VERB",
        ):
            continue
        noun = tree[node.head]
        if noun.dep.split(":")[0] not in (
            "nmod",
            "obl",
            "ROOT",
            "conj",
            "acl",
            "advcl",
        ):
            # A second preposition of the same noun stays below it.
            continue
        cops = _below(tree, node.head, "cop") if noun.dep != "pobj" else []
        node.pos = "ADP"
        # "is on the mat": the copula governs the preposition.
        if cops:
            _put_copula_on_top(tree, node.head, cops[0])
            node.head = cops[0]
            node.dep = "prep"
        elif noun.dep in ("ROOT", "conj"):
            continue
        else:
            node.head = noun.head
            node.dep = "agent" if noun.dep == "obl:agent" else "prep"
        noun.head, noun.dep = place, "pobj"


def _lower_predicates(tree: list[Node]) -> None:
    for place, node in enumerate(tree):
        if node.dep == "cop" and node.head != place:
            predicate = node.head
            _put_copula_on_top(tree, predicate, place)
            top = tree[predicate]
            top.head = place
            top.dep = "acomp" if top.pos == "ADJ" else "attr"


def _put_copula_on_top(tree: list[Node], predicate: int, copula: int) -> None:
    """The copula takes the head of its predicate, and its subjects, auxiliaries and adverbials."""
    top = tree[predicate]
    tree[copula].head = copula if top.head == predicate else top.head
    tree[copula].dep = top.dep
    tree[copula].pos = "AUX"
    for place, node in enumerate(tree):
        clausal = node.dep in _CLAUSAL and (
            node.dep != "conj" or node.pos == "VERB"
        )
        if (
            node.head == predicate
            and place not in (predicate, copula)
            and clausal
        ):
            node.head = copula
