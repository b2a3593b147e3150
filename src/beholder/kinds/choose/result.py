"""The result of a choice: ``result.json``, its sentences and its page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from beholder._version import __version__
from beholder.base import files
from beholder.base.spec import canonical_spec
from beholder.kinds.choose import look
from beholder.kinds.choose.config import ChoiceOptions, family_of
from beholder.kinds.choose.criteria import (
    Captioner,
    close_languages,
    common_pictures,
    mean_of,
)
from beholder.kinds.choose.decision import (
    MANY_FAILED,
    RULE,
    RuleDecision,
    decide,
)
from beholder.kinds.choose.engine import CaptionerChoice, CriterionMetric
from beholder.records import Item
from beholder.report.pages import render_page
from beholder.stats import pictures_for_difference
from beholder.text.languages import language_code

RESULT, PAGE = "result.json", "report.html"
FORMAT = 1
CRITERIA = ("right", "complete", "language", "clean", "answered")
"""Criteria that are shares from 0 to 1, in the order of the page."""


def over_common(
    captioners: Sequence[Captioner], n: int
) -> tuple[list[Captioner], dict[str, int]]:
    """Return the captioners with ``right`` and ``complete`` over common pictures, and their counts.

    Common are the pictures for which every captioner has a value, without those that failed on too
    many to be ranked.
    """
    counts = {}
    new = list(captioners)
    for criterion in ("right", "complete"):
        ranked = [
            c
            for c in captioners
            if c.n_failed <= MANY_FAILED * n and c.scores.get(criterion)
        ]
        keys = common_pictures(ranked, criterion)
        counts[criterion] = len(keys)
        for place, captioner in enumerate(new):
            values_by_picture = captioner.scores.get(criterion, {})
            values = {
                key: values_by_picture[key]
                for key in keys
                if key in values_by_picture
            }
            figure = mean_of(values, n)
            new[place] = replace(
                captioner, figures={**captioner.figures, criterion: figure}
            )
    return new, counts


def build_result(
    choice: CaptionerChoice,
    captioners: Sequence[Captioner],
    measures: Mapping[str, CriterionMetric],
    texts: Sequence[Item],
    battles: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], RuleDecision]:
    """Return the result as JSON values, and the decision in it."""
    n = choice.setup.n_drawn
    captioners, counts = over_common(captioners, n)
    decision = decide(captioners, choice.options, n)
    looks = look.choose_looks(choice, captioners, texts)
    look.write_looks(choice, looks)
    options = asdict(choice.options)
    result = {
        "format": FORMAT,
        "version": __version__,
        "data": choice.setup.data,
        "n_collection": choice.setup.n_all,
        "n_pictures": n,
        "n_copies": choice.setup.n_copies,
        "digest": choice.setup.digest,
        "seed": choice.options.seed,
        "options": options,
        "limits": choice.options.limits,
        "rule": rule_of(choice.options),
        "size": size_sentence(n, len(captioners)),
        "measures": {
            name: {"metric": m.metric.name, "value": m.value}
            for name, m in measures.items()
        },
        "common": {
            name: {"n": k, "lost": 1 - k / n} for name, k in counts.items()
        },
        "captioners": [_plain(choice, c) for c in captioners],
        "decision": {
            "chosen": decision.chosen,
            "exit": decision.code,
            "text": decision.text,
            "steps": decision.steps,
        },
        "clusters": {
            r.criterion: {
                "n": r.n,
                "clusters": r.clusters,
                "differences": r.differences,
            }
            for r in decision.rankings
        },
        "cautions": [*decision.cautions, *_cautions(choice, captioners)],
        "battles": battles,
        "people": look.read_people(choice, captioners),
        "look": looks,
        "next": next_command(choice, decision),
    }
    plain: dict[str, Any] = json.loads(json.dumps(result, ensure_ascii=False))
    return plain, decision


def rule_of(options: ChoiceOptions) -> list[str]:
    """Return the steps of the decision rule in sentences."""
    second = "complete" if options.main == "right" else "right"
    return [step.format(main=options.main, other=second) for step in RULE]


def size_sentence(n: int, n_systems: int) -> str:
    """Return what the drawn pictures can find, for an assumed spread."""
    for delta in range(1, 51):
        if pictures_for_difference(
            delta / 100, 0.2, 0.5, systems=n_systems
        ) <= n:  # fmt: skip
            return (
                f"{n} pictures find a difference of {delta / 100:.2f} with 80 % (sd .2, r .5"
                " assumed)"
            )
    return f"{n} pictures find no difference below .5 with 80 % (sd .2, r .5 assumed)"


def _plain(choice: CaptionerChoice, captioner: Captioner) -> dict[str, Any]:
    figures = {name: asdict(f) for name, f in captioner.figures.items()}
    return {
        "name": captioner.name,
        "spec": choice.options.captioners.get(captioner.name),
        "signature": captioner.signature,
        "n_failed": captioner.n_failed,
        "n_too_short": captioner.n_too_short,
        "figures": figures,
    }


def _cautions(
    choice: CaptionerChoice, captioners: Sequence[Captioner]
) -> Iterator[str]:
    options = choice.options
    specs = options.captioners
    if choice.judge is not None:
        judge = canonical_spec(choice.judge)
        for name, text in specs.items():
            spec = canonical_spec(text)
            if family_of(spec) == family_of(judge):
                yield (
                    f"{name} and the judge are of one family ({family_of(spec)}): judges may prefer"
                    " their own texts; look at its rank by people"
                )
    code = language_code(options.language) or ""
    if akin := close_languages(code):
        yield f"language: {akin} count as one, because short texts of them look alike"
    for captioner in captioners:
        if captioner.n_too_short:
            yield (
                f"{captioner.name}: {captioner.n_too_short} texts are too short to detect their"
                " language"
            )
    if choice.setup.n_copies:
        yield (
            f"{choice.setup.n_copies} drawn pictures repeat the bytes of others and count once"
        )
    if choice.setup.n_drawn < options.n:
        yield (
            f"the collection has {choice.setup.n_drawn} pictures to draw, {options.n} were asked"
            " for"
        )
    if specs and choice.work.cache is not None:
        yield (
            "seconds of answers from the cache are those of the day on which they were made; use"
            " --cache off to measure them now"
        )


def next_command(
    choice: CaptionerChoice, decision: RuleDecision
) -> str | None:
    """Return the command that captions the whole collection."""
    options, name = choice.options, decision.chosen
    if name is None or name not in options.captioners:
        return None
    words = "" if options.words == "none" else f" --words {options.words}"
    return (
        f"beholder caption {choice.setup.data} --judge '{name}={options.captioners[name]}'"
        f" --language {options.language}{words} -o captions.jsonl"
    )


def describe_figure(figure: Mapping[str, Any], digits: int = 3) -> str:
    """Return a value with its interval and n, or the reason why it has none."""
    if figure["value"] is None:
        return str(figure["reason"] or "unknown")
    text = f"{figure['value']:.{digits}f}"
    if figure["low"] is not None:
        text += f" ({figure['low']:.{digits}f} to {figure['high']:.{digits}f})"
    failed = f", {figure['n_failed']} without" if figure["n_failed"] else ""
    return f"{text}, n {figure['n']}{failed}"


def write_result(choice: CaptionerChoice, result: Mapping[str, Any]) -> None:
    """Write ``result.json``, and the page that is drawn from it alone."""
    files.write_text(
        choice.folder / RESULT,
        json.dumps(result, indent=2, ensure_ascii=False) + "\n",
    )
    page = render_page(
        "choose.html.j2",
        ("page.css",),
        result=result,
        criteria=CRITERIA,
        show=describe_figure,
    )
    files.write_text(choice.folder / PAGE, page)
