"""Values from evidence: one pure function, which never falls as evidence for a unit rises."""

from __future__ import annotations

from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.numbers import Numbers


def value(evidence: Evidence, n: Numbers) -> float:
    """Score how far the target states a unit: 0 (nothing like it) to 1 (stated).

    What speaks for it (``coverage``, ``stated``, ``on_counterpart``, ``on_alike``, ``ends``) never
    lowers the value; what speaks against it never raises it.
    """
    if evidence.kind == "amount":
        return evidence.stated * evidence.name_likeness
    if evidence.kind == "entity":
        return _entity(evidence, n)
    score = (
        _attribute(evidence, n)
        if evidence.kind == "attribute"
        else _relation(evidence, n)
    )
    return min(score, n.contradicted) if evidence.exchanged else score


def contradicted(evidence: Evidence, n: Numbers) -> bool:
    """Return whether the target contradicts a unit; silence is no contradiction."""
    if evidence.exchanged:
        return True
    if evidence.kind == "entity":
        if not evidence.affirmed:  # "no people" against people
            return evidence.name_likeness >= n.same and not evidence.denied
        return (evidence.denied and evidence.name_likeness >= n.same) or (
            evidence.excluded and evidence.name_likeness < n.same
        )
    if evidence.kind == "amount":
        return evidence.excluded and evidence.name_likeness >= n.known
    if evidence.kind == "relation":
        return _reversed(evidence, n) or (
            evidence.denied and evidence.stated >= n.ends
        )
    if evidence.on_counterpart >= n.same:
        return evidence.denied and evidence.name_likeness >= n.known
    if evidence.name_likeness < n.same or evidence.on_alike >= n.same:
        return False  # another thing, or another of that name
    return evidence.excluded and evidence.affirmed


def says_otherwise(evidence: Evidence, n: Numbers) -> bool:
    """Return whether the target contradicts a unit of the very same thing, as a reader sees it.

    Among several things of a name it is not sure which is meant, and a text that describes other
    parts of a picture only seems to contradict.
    """
    sure_which = (
        evidence.lone or evidence.exchanged or evidence.kind == "relation"
    )
    return sure_which and contradicted(evidence, n)


def roles_exchanged(evidence: Evidence, n: Numbers) -> bool:
    """Return whether the target exchanges the ends of a unit, or its owner with another thing."""
    return contradicted(evidence, n) and (
        evidence.exchanged or _reversed(evidence, n)
    )


def sure(evidence: Evidence, score: float, n: Numbers) -> bool:
    """Return whether the verdict of ``score``, present or absent, is beyond doubt.

    Only what is sure is shown to people; values do not depend on it. Where a unit is there: it is
    said itself, and not only likely by what is said of other things. Where it is not: texts say in
    many ways where things are, how many, and how they are to each other, so that these are only
    known to be wrong where the target says otherwise; a quality may be said of a part, or of the
    whole, where its words are in the target at all; signs, acts and looks have many names; among
    several things of a name it is not sure which is meant.
    """
    if contradicted(evidence, n):
        return says_otherwise(evidence, n)
    return (
        _surely_there(evidence, n)
        if score >= n.present
        else _surely_absent(evidence, score, n)
    )


def _surely_there(evidence: Evidence, n: Numbers) -> bool:
    if evidence.kind == "amount" or not evidence.affirmed:
        return True
    if evidence.kind == "entity":
        return evidence.name_likeness >= n.same
    if evidence.kind == "relation":
        return evidence.stated >= n.sure_related
    return max(evidence.on_counterpart, evidence.on_alike) >= n.same


def _surely_absent(evidence: Evidence, score: float, n: Numbers) -> bool:
    if evidence.kind in ("amount", "relation") or not evidence.affirmed:
        return False
    if evidence.kind == "entity":
        return score < n.sure_named and not evidence.vague
    unsaid = (
        evidence.coverage < n.sure_said
        and evidence.on_counterpart < n.sure_named
    )
    return unsaid and not evidence.vague


def _entity(evidence: Evidence, n: Numbers) -> float:
    passing = n.passing * evidence.coverage  # named only in passing
    score = _mixed(
        evidence.coverage,
        max(evidence.name_likeness, passing),
        n.entity_anywhere,
    )
    if (
        evidence.name_likeness >= n.same
    ):  # what it is called decides, not the rest of its name
        score = max(
            score,
            min(evidence.name_likeness, n.narrower)
            if evidence.narrower
            else evidence.name_likeness,
        )
    if (
        not evidence.affirmed
    ):  # if the text mentions no people, "no people" is not said
        if evidence.denied and evidence.name_likeness >= n.same:
            return max(score, n.same)
        if evidence.name_likeness >= n.same:
            return min(1.0 - score, n.contradicted)
        return n.silent if evidence.counterpart else min(1.0 - score, n.silent)
    if evidence.denied and evidence.name_likeness >= n.same:
        return min(score, n.contradicted)
    return min(score, n.unpaired) if evidence.crowded else score


def _attribute(evidence: Evidence, n: Numbers) -> float:
    if not evidence.counterpart:
        return n.anywhere * evidence.coverage
    score = _mixed(evidence.coverage, evidence.stated, n.anywhere)
    if evidence.stated >= n.certain:
        score = max(score, evidence.stated)
    if contradicted(evidence, n):
        return min(score, n.contradicted)
    on_own = (
        evidence.name_likeness >= n.known and evidence.on_counterpart >= n.same
    )
    if (
        not on_own and not evidence.affirmed
    ):  # "not red" holds if nothing says red
        return 1.0 - n.anywhere * evidence.on_counterpart
    return max(score, evidence.on_alike)


def _relation(evidence: Evidence, n: Numbers) -> float:
    # Words that are anywhere in the text give a small base; the rest comes
    # from a relation of the target that says the same.
    near = n.relation_anywhere * evidence.coverage
    score = near + (1 - n.relation_anywhere) * evidence.stated
    if (
        evidence.stated >= n.certain
    ):  # "her coffee" says "has" without the word
        score = max(score, evidence.stated)
    if contradicted(evidence, n):
        return min(score, n.contradicted)
    if (
        evidence.affirmed
        and evidence.bare
        and evidence.ends >= n.same
        and evidence.between < n.related
    ):
        return max(
            score, n.present
        )  # texts seldom say where all things are to each other
    # The target relates the same two things by another verb, so the words
    # elsewhere are no sign of this one.
    if evidence.between >= n.related and evidence.stated < n.other_verb:
        return min(score, near)
    return score


def _mixed(coverage: float, stated: float, share: float) -> float:
    return share * coverage + (1 - share) * stated


def _reversed(evidence: Evidence, n: Numbers) -> bool:
    return evidence.turned >= n.ends > evidence.stated
