"""From evidence to a value: one pure function, that never falls with what speaks for a unit."""

from __future__ import annotations

from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.numbers import Numbers


def value(found: Evidence, n: Numbers) -> float:
    """How far the target says a unit, 0 (nothing like it) .. 1 (says so).

    What speaks for it (``coverage``, ``stated``, ``on_counterpart``, ``on_alike``, ``ends``) never
    lowers the value; what speaks against it never raises it.
    """
    if found.kind == "amount":
        return found.stated * found.named
    if found.kind == "entity":
        return _entity(found, n)
    made = (
        _attribute(found, n)
        if found.kind == "attribute"
        else _relation(found, n)
    )
    return min(made, n.contradicted) if found.exchanged else made


def contradicted(found: Evidence, n: Numbers) -> bool:
    """Whether the target says otherwise; that it is silent is no contradiction."""
    if found.exchanged:
        return True
    if found.kind == "entity":
        if not found.affirmed:  # "no people" against people
            return found.named >= n.same and not found.denied
        return (found.denied and found.named >= n.same) or (
            found.excluded and found.named < n.same
        )
    if found.kind == "amount":
        return found.excluded and found.named >= n.known
    if found.kind == "relation":
        return _reversed(found, n) or (found.denied and found.stated >= n.ends)
    if found.on_counterpart >= n.same:
        return found.denied and found.named >= n.known
    if found.named < n.same or found.on_alike >= n.same:
        return False  # another thing, or another of that name
    return found.excluded and found.affirmed


def says_otherwise(found: Evidence, n: Numbers) -> bool:
    """Whether the target contradicts a unit of the very same thing, so that people see it.

    Among several things of a name it is not sure which is meant, and a text that describes other
    parts of a picture only seems to contradict.
    """
    sure_which = found.lone or found.exchanged or found.kind == "relation"
    return sure_which and contradicted(found, n)


def roles_exchanged(found: Evidence, n: Numbers) -> bool:
    """Whether the target says the unit with its ends exchanged, or of the other of two things."""
    return contradicted(found, n) and (found.exchanged or _reversed(found, n))


def sure(found: Evidence, made: float, n: Numbers) -> bool:
    """Whether what the value (``made``) says, that a unit is there or is not, is beyond doubt.

    Only what is sure is shown to people; values do not depend on it. Where a unit is there: it is
    said itself, and not only likely by what is said of other things. Where it is not: texts say in
    many ways where things are, how many, and how they are to each other, so that these are only
    known to be wrong where the target says otherwise; a quality may be said of a part, or of the
    whole, where its words are in the target at all; signs, acts and looks have many names; among
    several things of a name it is not sure which is meant.
    """
    if contradicted(found, n):
        return says_otherwise(found, n)
    return (
        _surely_there(found, n)
        if made >= n.present
        else _surely_absent(found, made, n)
    )


def _surely_there(found: Evidence, n: Numbers) -> bool:
    if found.kind == "amount" or not found.affirmed:
        return True
    if found.kind == "entity":
        return found.named >= n.same
    if found.kind == "relation":
        return found.stated >= n.sure_related
    return max(found.on_counterpart, found.on_alike) >= n.same


def _surely_absent(found: Evidence, made: float, n: Numbers) -> bool:
    if found.kind in ("amount", "relation") or not found.affirmed:
        return False
    if found.kind == "entity":
        return made < n.sure_named and not found.vague
    unsaid = (
        found.coverage < n.sure_said and found.on_counterpart < n.sure_named
    )
    return unsaid and not found.vague


def _entity(found: Evidence, n: Numbers) -> float:
    passing = n.passing * found.coverage  # named only in passing
    made = _mixed(found.coverage, max(found.named, passing), n.entity_anywhere)
    if (
        found.named >= n.same
    ):  # what it is called decides, not the rest of its name
        made = max(
            made,
            min(found.named, n.narrower) if found.narrower else found.named,
        )
    if (
        not found.affirmed
    ):  # if the text mentions no people, "no people" is not said
        if found.denied and found.named >= n.same:
            return max(made, n.same)
        if found.named >= n.same:
            return min(1.0 - made, n.contradicted)
        return n.silent if found.counterpart else min(1.0 - made, n.silent)
    if found.denied and found.named >= n.same:
        return min(made, n.contradicted)
    return min(made, n.unpaired) if found.crowded else made


def _attribute(found: Evidence, n: Numbers) -> float:
    if not found.counterpart:
        return n.anywhere * found.coverage
    made = _mixed(found.coverage, found.stated, n.anywhere)
    if found.stated >= n.certain:
        made = max(made, found.stated)
    if contradicted(found, n):
        return min(made, n.contradicted)
    on_own = found.named >= n.known and found.on_counterpart >= n.same
    if (
        not on_own and not found.affirmed
    ):  # "not red" holds if nothing says red
        return 1.0 - n.anywhere * found.on_counterpart
    return max(made, found.on_alike)


def _relation(found: Evidence, n: Numbers) -> float:
    near = n.relation_anywhere * found.coverage
    made = near + (1 - n.relation_anywhere) * found.stated
    if found.stated >= n.certain:  # "her coffee" says "has" without the word
        made = max(made, found.stated)
    if contradicted(found, n):
        return min(made, n.contradicted)
    if (
        found.affirmed
        and found.bare
        and found.ends >= n.same
        and found.between < n.related
    ):
        return max(
            made, n.present
        )  # texts seldom say where all things are to each other
    if found.between >= n.related and found.stated < n.other_verb:
        return min(made, near)
    return made


def _mixed(coverage: float, stated: float, share: float) -> float:
    return share * coverage + (1 - share) * stated


def _reversed(found: Evidence, n: Numbers) -> bool:
    return found.turned >= n.ends > found.stated
