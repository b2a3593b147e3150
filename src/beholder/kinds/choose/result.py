"""The result of a choice: ``result.json``, its sentences and its page."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from beholder._version import __version__
from beholder.base import files
from beholder.base.spec import canonical_spec
from beholder.kinds.choose import look
from beholder.kinds.choose.battles import MOST_SYSTEMS
from beholder.kinds.choose.config import ChoiceOptions, family_of
from beholder.kinds.choose.criteria import (
    Captioner,
    common_pictures,
)
from beholder.kinds.choose.decision import (
    MANY_FAILED,
    RULE,
    RuleDecision,
    decide,
    join_names,
)
from beholder.kinds.choose.engine import CriterionMetric
from beholder.kinds.choose.figures import mean_of
from beholder.kinds.choose.judge_card import read_card
from beholder.kinds.choose.pictures import CaptionerChoice
from beholder.records import Item
from beholder.report.pages import render_page, thumb_styles
from beholder.run.inputs import root_of
from beholder.run.thumbs import FOLDER as THUMBS
from beholder.run.thumbs import thumb, write_thumbs
from beholder.stats import pictures_for_difference
from beholder.text.expected_language import akin_languages

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
    card = read_card(choice.folder)
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
        "cautions": [
            *decision.cautions,
            *_judging_cautions(choice, captioners),
            *_data_cautions(choice, captioners),
        ],
        "judge_check": None if card is None else msgspec.to_builtins(card),
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


def _judging_cautions(
    choice: CaptionerChoice, captioners: Sequence[Captioner]
) -> Iterator[str]:
    options = choice.options
    specs = options.captioners
    card = read_card(choice.folder)
    if card is not None and card.verdict != "fit":
        yield f"{card}: do not decide by it alone"
    if choice.judge is not None:
        judge = canonical_spec(choice.judge)
        for name, text in specs.items():
            spec = canonical_spec(text)
            if family_of(spec) == family_of(judge):
                yield (
                    f"{name} and the judge are of one family ({family_of(spec)}): judges may prefer"
                    " their own texts; look at its rank by people"
                )
    if options.battles and choice.judge is None:
        yield "battles need a vision model as judge: none were fought"
    elif len(captioners) > MOST_SYSTEMS and (
        options.battles or (choice.judge and options.battles is None)
    ):
        yield f"battles are of up to {MOST_SYSTEMS} captioners: none were fought"


def _data_cautions(
    choice: CaptionerChoice, captioners: Sequence[Captioner]
) -> Iterator[str]:
    options = choice.options
    if akin := akin_languages(options.language_name):
        yield (
            f"language: {join_names(akin)} count as {options.language_name}, because short texts of"
            " them look alike"
        )
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
    if choice.setup.n_unused:
        yield (
            f"{choice.setup.n_unused} texts of the data are not used: captioners write new ones, or"
            " a captioner has more than two texts of a picture"
        )
    if choice.setup.n_bad_rows:
        yield f"{choice.setup.n_bad_rows} invalid rows were skipped"


def next_command(
    choice: CaptionerChoice, decision: RuleDecision
) -> str | None:
    """Return the command that captions the whole collection in the same way."""
    options, name, setup = choice.options, decision.chosen, choice.setup
    if name is None or name not in options.captioners:
        return None
    arguments = [
        *("beholder", "caption", setup.data),
        *("--judge", f"{name}={options.captioners[name]}"),
        *("--language", options.language),
    ]
    if options.words != "none":
        arguments += ["--words", options.words]
    if options.context:
        arguments += ["--context", options.context]
    if Path(setup.root) != root_of(setup.data):
        arguments += ["--media-root", setup.root]
    for flag, value in setup.asking.items():
        arguments += [flag, value]
    return shlex.join([*arguments, "-o", "captions.jsonl"])


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
    """Write ``result.json``, and the page of it."""
    files.write_text(
        choice.folder / RESULT,
        json.dumps(result, indent=2, ensure_ascii=False) + "\n",
    )
    # The page shows small pictures of the texts that differ most; a picture may be unreadable.
    looks = [row for row in result["look"] if row["half"] == "disagreement"]
    pictures = [(row["id"], row["image"] or None) for row in looks]
    # Thumbnails are named by their place, and other texts may differ most now.
    shutil.rmtree(choice.folder / THUMBS, ignore_errors=True)
    write_thumbs(choice.folder, Path(choice.setup.root), pictures, 480)
    visible = [
        place
        for place in range(len(looks))
        if thumb(choice.folder, place).is_file()
    ]
    page = render_page(
        "choose.html.j2",
        ("page.css", "plain_page.css"),
        extra=thumb_styles(choice.folder, visible),
        result=result,
        looks=looks,
        visible=visible,
        criteria=CRITERIA,
        show=describe_figure,
    )
    files.write_text(choice.folder / PAGE, page)
