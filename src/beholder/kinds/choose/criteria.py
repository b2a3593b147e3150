"""The six criteria of each captioner, computed from what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from beholder.base.grouping import group_by_key
from beholder.kinds.choose.config import ChoiceOptions
from beholder.kinds.choose.costs import cost_figures, read_use
from beholder.kinds.choose.engine import RUNS, CriterionMetric, score_part
from beholder.kinds.choose.figures import Figure, mean_of, rate
from beholder.kinds.choose.pictures import CaptionerChoice
from beholder.lint.checking import check_all
from beholder.lint.choice import Choice as RuleChoice
from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import LintSetting
from beholder.metrics import metric as metric_named
from beholder.records import Item
from beholder.run.store import Store
from beholder.stats.choice import sd_of_run
from beholder.text.expected_language import other_language
from beholder.text.languages import ENGLISH, language_named, script_named
from beholder.text.tokenize import folded_words

UNCLEAN = ("ALT107", "ALT112", "ALT114", "ALT115", "ALT116")
"""Rules of lint: keywords, mark-up, frames and credits, refusals, what models write around."""

FEW_WORDS = 5
"""Words below which a text is too short to detect its language."""


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
        use = read_use(choice, name)
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
        figures |= cost_figures(choice, use, name)
        cautions = list(use.cautions)
        if changed:
            cautions.append(f"{name}: {reason}; stable is not computed")
        if (why := figures["language"].reason) and first:
            cautions.append(
                f"{name}: language is not measured ({why}); its limit decides nothing"
            )
        captioners.append(
            Captioner(
                name, use.signature, n - len(first), figures, values_by_measure, n_short,
                tuple(cautions),
            )
        )  # fmt: skip
    return captioners


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
            sum(pairs), len(pairs), "accord compares English texts"
        ),
        "sd_of_run": no_sd,
    }


def stable_items(
    choice: CaptionerChoice, texts: Mapping[str, Sequence[Item]]
) -> list[Item]:
    """Return the pairs of texts of one captioner and picture, each way round, that differ."""
    if choice.options.language_name != ENGLISH:
        return []
    first = {_place(item): item for item in texts["first"]}
    pairs = []
    for item in texts["second"]:
        first_text = first.get(_place(item))
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
    """Return by captioner whether one text of a pair contradicts the other.

    Equal texts do not; a pair that was not scored, either way round, is left out.
    """
    if choice.options.language_name != ENGLISH:
        return {}
    first = {_place(item): item.candidate for item in texts["first"]}
    contradicted = {
        _place(item): False
        for item in texts["second"]
        if first.get(_place(item)) == item.candidate
    }
    if items := stable_items(choice, texts):
        part = score_part(choice, "stable", (metric_named("accord"),), items)
        with Store.read(part.folder) as store:
            stored_items = dict(store.items())
            for position, values in store.values("accord"):
                place = _place(stored_items[position])
                contradicted[place] = (
                    contradicted.get(place, False)
                    or values.get("contradicted_rate", 0.0) > 0
                )
    return group_by_key(
        (system, is_contradicted)
        for (system, _), is_contradicted in contradicted.items()
    )


def _place(item: Item) -> tuple[str, str]:
    return item.group["system"], item.meta["picture"]


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


def common_pictures(
    captioners: Iterable[Captioner], criterion: str
) -> list[str]:
    """Return the pictures for which all captioners have a value, sorted."""
    keys = [set(c.scores.get(criterion, {})) for c in captioners]
    return sorted(set.intersection(*keys)) if keys else []
