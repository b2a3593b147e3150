"""The six criteria of each captioner, computed from what is stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from beholder.backends.money import Price, load_prices, price_of
from beholder.base import files
from beholder.judges import AnswerFile
from beholder.judges.answers import Record
from beholder.kinds.choose.config import ChoiceOptions
from beholder.kinds.choose.engine import (
    RUNS,
    CaptionerChoice,
    CriterionMetric,
    caption_parts,
    score_part,
)
from beholder.lint.checking import check_all
from beholder.lint.choice import Choice as RuleChoice
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import LintSetting
from beholder.metrics import metric as metric_named
from beholder.records import Interval, Item
from beholder.run.store import Store
from beholder.run.store_file import FILE_NAME
from beholder.stats import mean_interval
from beholder.stats.choice import collection_cost, sd_of_run
from beholder.stats.shares import wilson_limits
from beholder.text.expected_language import other_language
from beholder.text.languages import ENGLISH, language_named, script_named
from beholder.text.tokenize import folded_words

UNCLEAN = ("ALT107", "ALT112", "ALT114", "ALT115", "ALT116")
"""Rules of lint: keywords, mark-up, frames and credits, refusals, what models write around."""

FEW_WORDS = 5
"""Words below which a text is too short to detect its language."""

WALLS = "seconds.json"
_CLOSE = {
    "nb": "nb/nn/da", "nn": "nb/nn/da", "no": "nb/nn/da", "da": "nb/nn/da",
    "hr": "hr/sr/bs", "sr": "hr/sr/bs", "bs": "hr/sr/bs",
    "id": "id/ms", "ms": "id/ms",
}  # fmt: skip
"""Languages that are one class, because short texts of them cannot be distinguished."""


@dataclass(frozen=True)
class Figure:
    """A value with its interval.

    Attributes:
        value: The value; None if it is not defined.
        low: Lower end of its interval.
        high: Upper end of its interval.
        n: Texts or pictures that it is computed over.
        n_failed: Texts or pictures that have no value.
        reason: Why there is no value or no interval.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    n_failed: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Captioner:
    """A captioner with its figures.

    Attributes:
        name: Its name.
        signature: Model, prompt and parameters; empty for texts that existed.
        n_failed: Drawn pictures without a text.
        figures: By criterion: right, complete, language, clean, answered, same, contradicts,
            sd_of_run, dollars (a picture), collection, hours, wall_hours, seconds, seconds_p95,
            prompt_tokens, answer_tokens.
        scores: By measure, the value of each picture.
        n_too_short: Texts too short to detect their language.
        cautions: What a reader must know.
    """

    name: str
    signature: str
    n_failed: int
    figures: Mapping[str, Figure]
    scores: Mapping[str, Mapping[str, float]]
    n_too_short: int = 0
    cautions: tuple[str, ...] = ()


@dataclass
class _Use:
    """What a captioner used, by picture; None where it is not known."""

    dollars: dict[str, float | None] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    prompt: list[int] = field(default_factory=list)
    answer: list[int] = field(default_factory=list)
    models: dict[str, set[str]] = field(
        default_factory=lambda: {run: set() for run in RUNS}
    )
    signature: str = ""


def build_captioners(
    choice: CaptionerChoice,
    texts: Mapping[str, Sequence[Item]],
    scored: Mapping[str, Sequence[Item]],
    measures: Mapping[str, CriterionMetric],
) -> list[Captioner]:
    """Return each captioner with its figures.

    Args:
        choice: The choice.
        texts: First and second texts.
        scored: The same as they were scored, by run.
        measures: What measures ``right`` and ``complete``.
    """
    scores = {
        run: _read_scores(choice, run, scored[run], measures) for run in RUNS
    }
    contradicted = _read_contradictions(choice, texts)
    captioners = []
    for name in choice.systems:
        first = [i for i in texts["first"] if i.group["system"] == name]
        second = [i for i in texts["second"] if i.group["system"] == name]
        use = _read_use(choice, name, first)
        values_by_measure = {
            m: values.get(name, {}) for m, values in scores["first"].items()
        }
        n = choice.setup.n_drawn
        figures = {
            criterion: mean_of(values_by_measure.get(criterion, {}), n)
            for criterion in ("right", "complete")
        }
        figures["answered"] = rate(len(first), n)
        figures["language"], n_short = _language(first, choice.options)
        figures["clean"] = rate(count_clean(first), len(first))
        changed = use.models["second"] and (
            use.models["first"] != use.models["second"]
        )
        reason = ""
        if changed:
            reason = "the model changed between the two runs"
        elif not second:
            reason = "no picture has two texts"
        again = scores["second"].get("right", {}).get(name, {})
        pairs = contradicted.get(name, [])
        figures |= _stability(
            first,
            second,
            (values_by_measure.get("right", {}), again),
            pairs,
            reason,
        )
        figures |= _costs(choice, use, name)
        caution = (f"{name}: {reason}; stable is not computed",) * bool(
            changed
        )
        captioners.append(
            Captioner(
                name, use.signature, n - len(first), figures, values_by_measure, n_short,
                caution,
            )
        )  # fmt: skip
    return captioners


def rate(n_hits: int, n: int, reason: str = "") -> Figure:
    """Return a share with Wilson's interval."""
    if not n:
        return Figure(reason=reason or "there is no text")
    limits = wilson_limits(n_hits, n)
    return Figure(n_hits / n, limits.low, limits.high, n)


def mean_of(values: Mapping[str, float], n: int) -> Figure:
    """Return the mean of the values of pictures, with a bootstrap interval; ``n`` were drawn."""
    if not values:
        return Figure(n_failed=n, reason="not measured")
    estimate = mean_interval([values[key] for key in sorted(values)])
    return _figure(
        estimate.mean,
        estimate.interval,
        len(values),
        n - len(values),
        estimate.reason or "",
    )


def _figure(
    value: float,
    interval: Interval | None,
    n: int,
    n_failed: int = 0,
    reason: str = "",
) -> Figure:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Figure(value, low, high, n, n_failed, reason)


def count_clean(items: Sequence[Item]) -> int:
    """Return the texts without refusal, wrapper, mark-up or list of keywords."""
    occurrences = [
        Occurrence(file="", raw=item.candidate, language=item.language)
        for item in items
    ]
    rules = RuleChoice(select=frozenset(UNCLEAN))
    checks = check_all(occurrences, LintSetting(), rules, 1)
    return sum(not check.hits for check in checks)


def _language(
    items: Sequence[Item], options: ChoiceOptions
) -> tuple[Figure, int]:
    expected = language_named(options.language)
    if expected is None:
        reason = f"{options.language!r} is no language that the detector knows"
        return Figure(reason=reason), 0
    long_enough = [
        item
        for item in items
        if len(folded_words(item.candidate)) >= FEW_WORDS
    ]
    script = script_named(options.language)
    n_right = sum(
        other_language(item.candidate, expected, script) is None
        for item in long_enough
    )
    n_short = len(items) - len(long_enough)
    reason = f"all texts have fewer than {FEW_WORDS} words"
    figure = rate(n_right, len(long_enough), reason)
    return replace(figure, n_failed=n_short), n_short


def close_languages(code: str) -> str:
    """Return the languages that count as the named one; empty if it stands alone."""
    return _CLOSE.get(code.partition("-")[0], "")


def _stability(
    first: Sequence[Item],
    second: Sequence[Item],
    right: tuple[Mapping[str, float], Mapping[str, float]],
    pairs: Sequence[bool],
    reason: str,
) -> dict[str, Figure]:
    names = ("same", "contradicts", "sd_of_run")
    if reason:
        return {name: Figure(reason=reason) for name in names}
    texts = {item.meta["picture"]: item.candidate for item in first}
    both = [
        texts[item.meta["picture"]] == item.candidate
        for item in second
        if item.meta["picture"] in texts
    ]
    shared = sorted(right[0].keys() & right[1].keys())
    no_sd = Figure(reason="no picture has two values of right")
    if shared:
        first_values = [right[0][key] for key in shared]
        second_values = [right[1][key] for key in shared]
        sd = sd_of_run(first_values, second_values)
        no_sd = Figure(sd, n=len(shared))
    return {
        "same": rate(sum(both), len(both)),
        "contradicts": rate(
            sum(pairs), len(pairs), "accord compares English texts only"
        ),
        "sd_of_run": no_sd,
    }


def stable_items(
    choice: CaptionerChoice, texts: Mapping[str, Sequence[Item]]
) -> list[Item]:
    """Return the pairs of texts of one captioner and picture, each way round, that differ."""
    if choice.options.language_name != ENGLISH:
        return []
    first = {
        (item.group["system"], item.meta["picture"]): item
        for item in texts["first"]
    }
    pairs = []
    for item in texts["second"]:
        first_text = first.get((item.group["system"], item.meta["picture"]))
        if first_text is None or first_text.candidate == item.candidate:
            continue
        for text, reference in ((item, first_text), (first_text, item)):
            # Only the words are compared.
            pair = replace(text, images=(), references=(reference.candidate,))
            pairs.append(pair)
    return pairs


def _read_contradictions(
    choice: CaptionerChoice, texts: Mapping[str, Sequence[Item]]
) -> dict[str, list[bool]]:
    """Return by captioner whether one text of a pair contradicts the other."""
    items = stable_items(choice, texts)
    contradiction_by_place: dict[tuple[str, str], bool] = {}
    if choice.options.language_name == ENGLISH:
        first = {
            (i.group["system"], i.meta["picture"]) for i in texts["first"]
        }
        for item in texts["second"]:
            place = (item.group["system"], item.meta["picture"])
            if place in first:
                contradiction_by_place[place] = False
    if items:
        part = score_part(choice, "stable", (metric_named("accord"),), items)
        with Store.read(part.folder) as store:
            stored_items = dict(store.items())
            for position, values in store.values("accord"):
                item = stored_items[position]
                place = (item.group["system"], item.meta["picture"])
                contradiction_by_place[place] |= (
                    values.get("contradicted_rate", 0.0) > 0
                )
    by_system: dict[str, list[bool]] = {}
    for (system, _), is_contradicted in contradiction_by_place.items():
        by_system.setdefault(system, []).append(is_contradicted)
    return by_system


def _read_scores(
    choice: CaptionerChoice,
    run: str,
    items: Sequence[Item],
    measures: Mapping[str, CriterionMetric],
) -> dict[str, dict[str, dict[str, float]]]:
    """Return values by measure, captioner and picture."""
    names = measures if run == "first" else ["right"]
    scores: dict[str, dict[str, dict[str, float]]] = {n: {} for n in names}
    if not items:
        return scores
    used = [measures[name] for name in names]
    part = score_part(choice, run, [m.metric for m in used], items)
    with Store.read(part.folder) as store:
        stored_items = dict(store.items())
        for name, measure in zip(names, used, strict=True):
            for position, values in store.values(measure.metric.name):
                if measure.value in values:
                    item = stored_items[position]
                    by_picture = scores[name].setdefault(
                        item.group["system"], {}
                    )
                    by_picture[item.meta["picture"]] = values[measure.value]
    return scores


def _read_use(
    choice: CaptionerChoice, name: str, first: Sequence[Item]
) -> _Use:
    """Return dollars, seconds and tokens of a captioner; of texts that existed from their rows."""
    use = _Use()
    if not choice.options.captioner:
        for item in first:
            dollars, seconds = (
                item.meta.get(key) for key in ("dollars", "seconds")
            )
            key = item.meta["picture"]
            use.dollars[key] = _amount(dollars)
            if (amount := _amount(seconds)) is not None:
                use.seconds[key] = amount
        return use
    price = choice.options.prices.get(name)
    for part in caption_parts(choice):
        if name not in part.config.systems:
            continue
        run = part.config.out.parent.name
        asker = part.config.systems[name].name
        with (
            Store.read(part.folder) as store,
            closing(AnswerFile(part.folder / FILE_NAME)) as answers,
        ):
            if run == "first":
                use.signature = next(iter(store.signatures(asker)), "")
            details = dict(store.details(asker))
            details |= {p: f.detail for p, f in store.failures(asker)}
            ids = {position: item.id for position, item in store.items()}
            records = list(answers.records())
            use.models[run] |= {_served(record) for record in records}
            if run != "first":
                continue
            by_key = {record.key: record for record in records}
            # Calls without an answer were paid, too; no picture is named with them.
            lost = answers.cost() - sum(r.cost or 0.0 for r in records)
            for position, detail in details.items():
                rows = detail.get("questions", ())
                answers_used = [
                    by_key[r["key"]] for r in rows if r["key"] in by_key
                ]
                key = ids[position]
                costs = [_dollars(record, price) for record in answers_used]
                use.dollars[key] = None
                if answers_used and None not in costs:
                    dollars = sum(c or 0.0 for c in costs)
                    use.dollars[key] = dollars + max(0.0, lost) / len(details)
                use.seconds[key] = sum(r.answer.seconds for r in answers_used)
                use.prompt.append(
                    sum(r.answer.usage.prompt for r in answers_used)
                )
                use.answer.append(
                    sum(r.answer.usage.completion for r in answers_used)
                )
    return use


def _served(record: Record) -> str:
    return f"{record.model} {record.answer.fingerprint or ''}".strip()


def _dollars(record: Record, price: Price | None) -> float | None:
    """Return the cost of an answer at the list price; an answer from the cache has no cost here."""
    price = price or price_of(record.model, load_prices())
    if price is not None:
        return price.cost(record.answer.usage, record.answer.price_factor)
    # The cost of a recalled answer is 0 in this run, which is no price.
    return record.cost or None


def _amount(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= float(value) < float("inf"):  # type: ignore[arg-type]
        return None
    return float(value)  # type: ignore[arg-type]


def _costs(choice: CaptionerChoice, use: _Use, name: str) -> dict[str, Figure]:
    unknown = Figure(
        n_failed=sum(v is None for v in use.dollars.values()),
        reason=f"the price is unknown; name it with --price {name}=IN/OUT",
    )
    figures = {"dollars": unknown, "collection": unknown}
    costs = [v for v in use.dollars.values() if v is not None]
    if costs and len(costs) == len(use.dollars):
        for key, size in (("dollars", 1), ("collection", choice.setup.n_all)):
            estimate = collection_cost(costs, size)
            figures[key] = _figure(
                estimate.mean, estimate.interval, estimate.n
            )
    for key, tokens in (
        ("prompt_tokens", use.prompt), ("answer_tokens", use.answer),
    ):  # fmt: skip
        if tokens:
            figures[key] = Figure(fmean(tokens), n=len(tokens))
    seconds = list(use.seconds.values())
    names = ("seconds", "seconds_p95", "hours", "wall_hours")
    figures |= {key: Figure(reason="no time is known") for key in names}
    if seconds:
        n, size = len(seconds), choice.setup.n_all
        figures["seconds"] = Figure(median(seconds), n=n)
        p95 = float(np.quantile(seconds, 0.95))
        figures["seconds_p95"] = Figure(p95, n=n)
        at_once = choice.work.concurrency or 1
        hours = size * fmean(seconds) / at_once / 3600
        figures["hours"] = Figure(hours, n=n)
        wall, n_timed = read_walls(choice.folder).get(name, (0.0, 0))
        if n_timed:
            figures["wall_hours"] = Figure(
                size * wall / n_timed / 3600, n=int(n_timed)
            )
    return figures


def read_walls(folder: Path) -> dict[str, tuple[float, float]]:
    """Return the seconds on the clock and the pictures of them, by captioner."""
    path = folder / WALLS
    if not path.is_file():
        return {}
    content = files.read_json(
        path, form=1, kind="file of seconds", missing_message=""
    )
    return {name: (pair[0], pair[1]) for name, pair in content["by"].items()}


def add_wall(folder: Path, name: str, seconds: float, n: int) -> None:
    """Add the seconds on the clock in which a captioner made texts; without a text none are."""
    if n:
        walls = read_walls(folder)
        before = walls.get(name, (0.0, 0))
        walls[name] = (before[0] + seconds, before[1] + n)
        content: dict[str, Any] = {"format": 1, "by": walls}
        files.write_text(folder / WALLS, json.dumps(content, indent=2))


def common_pictures(
    captioners: Iterable[Captioner], criterion: str
) -> list[str]:
    """Return the pictures for which all captioners have a value, sorted."""
    keys = [set(c.scores.get(criterion, {})) for c in captioners]
    return sorted(set.intersection(*keys)) if keys else []
