"""Whole studies with planted answers, every number computed apart by numpy and scipy."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image as Pixels
from scipy import stats as sps

from beholder.backends import (
    BACKENDS,
    Answer,
    Backend,
    Capabilities,
    Request,
    Sample,
    Usage,
)
from beholder.errors import ConfigError
from beholder.kinds.narratives.between_judges import side_by_side
from beholder.kinds.narratives.config import (
    CollectionOptions,
    HybridOptions,
    NarrateConfig,
    Part,
    Voting,
)
from beholder.kinds.narratives.engine import plan_narratives, run_narratives
from beholder.kinds.narratives.page import write_study
from beholder.run.session import Quiet
from toy.command import runner

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("few_resamples"),
]  # whole studies

SOURCES = {"human": 6, "maps": 14, "random": 13}
EXAMPLES = {"human-0": 8, "random-0": 3}
KINDS = ("place", "time", "theme", "people")
K = 3
_ENTRY = re.compile(r'<(shot|example) id="(\d+)">place: (F\d+)')


def _rng(*key: object) -> np.random.Generator:
    return np.random.default_rng(
        list(hashlib.sha256(repr(key).encode()).digest())
    )


def planted_score(
    model: str, by: str, with_examples: bool, source: str, name: str, seat: int
) -> int:
    """Return the planted score of a narrative: its source, itself and its seat have a part in it."""
    base = (
        {"human": 7.5, "maps": 6.0, "random": 4.5}[source]
        - 1.5 * (model == "mild")
        + 0.4 * with_examples
    )
    own_part = _rng(name, "own").normal(scale=1.2)
    noise = _rng(model, by, with_examples, name, seat).normal(
        scale=1.6 if by == "captions" else 0.7
    )
    return int(np.clip(round(base + own_part + noise), 1, 10))


def planted_step(
    source: str, name: str, at: int, seat: int
) -> tuple[int, tuple[str, ...]]:
    """Return the planted rating of a step and what breaks in it."""
    rng = _rng("step", name, at, seat)
    low = {"human": 5, "maps": 5, "random": 3}[source]
    rate = {"human": 0.1, "maps": 0.2, "random": 0.5}[source]
    return int(low + rng.integers(0, 4)), tuple(
        k for k in KINDS if rng.random() < rate
    )


@dataclass
class Plan:
    """The narratives of a test, by the places that a judge reads, and what it was asked."""

    names: dict[tuple[str, ...], tuple[str, str]] = field(default_factory=dict)
    steps: dict[tuple[str, ...], tuple[str, str, int]] = field(
        default_factory=dict
    )
    shown: list[list[tuple[str, str]]] = field(default_factory=list)
    n_images: set[tuple[int, int]] = field(default_factory=set)


PLAN = Plan()


class Planted(Backend):
    """``planted:MODEL``: says what is planted for the pictures it is shown."""

    def __init__(self, model: str) -> None:
        self.name = f"planted:{model}"
        self._model = model

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Capabilities:
        return Capabilities(self._model, 0, "schema", True)

    async def chat(self, request: Request) -> Answer:
        text = json.dumps(self._answer(request))
        return Answer(
            (Sample(text, "stop"),), self._model, None, Usage(100, 10), 2.0
        )

    def _answer(self, request: Request) -> dict[str, Any]:
        entries = _ENTRY.findall(
            "\n".join(message.text for message in request.messages)
        )
        places = tuple(place for kind, _, place in entries if kind == "shot")
        examples = [
            (number, place)
            for kind, number, place in entries
            if kind == "example"
        ]
        by = "sight" if request.images else "captions"
        assert request.schema is not None
        if "breaks" in request.schema["properties"]:
            name, source, at = PLAN.steps[places]
            score, breaks = planted_step(source, name, at, request.replicate)
            return {"reason": "r", "score": score, "breaks": breaks}
        name, source = PLAN.names[places]
        if examples:
            PLAN.shown.append(examples)
        if request.images:
            PLAN.n_images.add(
                (len(request.images), len(places) + len(examples))
            )
        with_examples = bool(examples)
        score = planted_score(
            self._model, by, with_examples, source, name, request.replicate
        )
        return {"reason": "r", "score": score}


if "planted" not in BACKENDS.names():
    BACKENDS.register("planted")(Planted)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """33 narratives over 60 pictures that have captions, and their plan."""
    (tmp_path / "img").mkdir()
    with (tmp_path / "index.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "file", "place", "caption"])
        for i in range(60):
            Pixels.new("RGB", (24, 16), (4 * i, 9, 9)).save(
                tmp_path / "img" / f"{i}.png"
            )
            rows.writerow(
                [f"p{i:02d}", f"img/{i}.png", f"F{i:03d}", f"Picture {i}."]
            )
    lines = []
    PLAN.names, PLAN.steps, PLAN.shown, PLAN.n_images = {}, {}, [], set()
    for source, n in SOURCES.items():
        for number in range(n):
            name = f"{source}-{number}"
            chosen = sorted(
                _rng(name).choice(60, size=4 + number % 3, replace=False)
            )
            places = tuple(f"F{i:03d}" for i in chosen)
            assert PLAN.names.setdefault(places, (name, source)) == (
                name,
                source,
            )
            for at, step in enumerate(pairwise(places)):
                PLAN.steps.setdefault(step, (name, source, at))
            frames = [f"p{i:02d}" for i in chosen]
            lines.append(
                json.dumps({"id": name, "source": source, "frames": frames})
            )
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    return tmp_path


def _run(
    folder: Path, out: str, parts: tuple[Part, ...], **options: Any
) -> dict[str, Any]:
    config = NarrateConfig(
        str(folder / "s.jsonl"), folder / out, parts,
        collection=CollectionOptions(str(folder / "index.csv")), **options,
    )  # fmt: skip
    run_narratives(config, Quiet())
    study: dict[str, Any] = json.loads(
        (config.out / "study.json").read_text("utf-8")
    )
    return study


def _table(
    model: str, by: str, with_examples: bool, without: tuple[str, ...] = ()
) -> dict[str, np.ndarray]:
    """Planted votes, (n, K) per source."""
    return {
        source: np.array(
            [
                [
                    planted_score(
                        model, by, with_examples, source, f"{source}-{i}", k
                    )
                    for k in range(K)
                ]
                for i in range(n)
                if f"{source}-{i}" not in without
            ]
        )
        for source, n in SOURCES.items()
    }


def _icc(table: np.ndarray) -> tuple[float, float]:
    """ICC(2,1) and ICC(2,k) by mean squares (Shrout and Fleiss 1979)."""
    n, k = table.shape
    grand = table.mean()
    rows = k * ((table.mean(axis=1) - grand) ** 2).sum() / (n - 1)
    columns = n * ((table.mean(axis=0) - grand) ** 2).sum() / (k - 1)
    rest = (
        table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + grand
    )
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    single = (rows - error) / (
        rows + (k - 1) * error + k * (columns - error) / n
    )
    return single, (rows - error) / (rows + (columns - error) / n)


def _holm(p: list[float]) -> list[float]:
    order, adjusted, largest = np.argsort(p), [0.0] * len(p), 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[at]))
        adjusted[at] = largest
    return adjusted


def _word(value: float) -> str:
    return (
        "poor"
        if value < 0.5
        else "moderate"
        if value < 0.75
        else "good"
        if value < 0.9
        else "excellent"
    )


def _row(rows: list[dict[str, Any]], **cells: Any) -> dict[str, Any]:
    (match,) = [
        row
        for row in rows
        if all(row[name] == value for name, value in cells.items())
    ]
    return match


def _assert_scores(
    study: dict[str, Any], method: str, planted: dict[str, np.ndarray]
) -> None:
    """Tables 1, 3 and 4 of one way of rating."""
    for source, table in planted.items():
        row = _row(study["tables"]["scores"], method=method, source=source)
        means = table.mean(axis=1)
        assert row["n"] == len(table)
        assert row["n_votes"] == table.size
        assert row["mean"] == pytest.approx(means.mean())
        assert row["sd"] == pytest.approx(means.std(ddof=1))
        assert row["within_sd"] == pytest.approx(
            table.std(axis=1, ddof=1).mean()
        )
        assert row["within_sd_population"] == pytest.approx(
            table.std(axis=1).mean()
        )
        assert row["within_range"] == pytest.approx(
            np.ptp(table, axis=1).mean()
        )
    every = np.concatenate(list(planted.values()))
    single, average = _icc(every)
    reliability = _row(study["tables"]["reliability"], method=method)
    assert reliability["icc_single"]["value"] == pytest.approx(single)
    assert reliability["icc_average"]["value"] == pytest.approx(average)
    assert reliability["icc_single"]["verdict"] == _word(single)
    assert reliability["icc_average"]["verdict"] == _word(average)
    low, high = reliability["icc_single"]["interval"]
    assert low < single < high
    assert reliability["icc_single"]["verdicts"] == [_word(low), _word(high)]
    variances = every.var(axis=0, ddof=1).sum() / every.sum(axis=1).var(ddof=1)
    assert reliability["alpha"]["value"] == pytest.approx(
        K / (K - 1) * (1 - variances)
    )
    r = [
        np.corrcoef(every[:, i], every[:, j])[0, 1]
        for i, j in combinations(range(K), 2)
    ]
    assert list(reliability["pairwise_r"].values()) == pytest.approx(r)
    rows = [
        row
        for row in study["tables"]["comparisons"]
        if row["method"] == method
    ]
    _assert_compared(
        rows, {source: table.mean(axis=1) for source, table in planted.items()}
    )


def _assert_compared(
    rows: list[dict[str, Any]], groups: dict[str, np.ndarray]
) -> None:
    welch = []
    for row, (a, b) in zip(rows, combinations(groups, 2), strict=True):
        assert (row["a"], row["b"]) == (a, b)
        x, y = groups[a], groups[b]
        student, unequal = (
            sps.ttest_ind(x, y),
            sps.ttest_ind(x, y, equal_var=False),
        )
        welch.append(float(unequal.pvalue))
        assert row["difference"] == pytest.approx(x.mean() - y.mean())
        assert (row["t_student"], row["p_student"]) == pytest.approx(
            tuple(student)
        )
        assert (row["t_welch"], row["p_welch"]) == pytest.approx(
            tuple(unequal)
        )
        spread = np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
        assert row["d_unweighted"] == pytest.approx(
            (x.mean() - y.mean()) / spread
        )
        df = len(x) + len(y) - 2
        pooled = np.sqrt(
            ((len(x) - 1) * x.var(ddof=1) + (len(y) - 1) * y.var(ddof=1)) / df
        )
        assert row["d_pooled"] == pytest.approx((x.mean() - y.mean()) / pooled)
        assert row["g"] == pytest.approx(
            row["d_pooled"] * (1 - 3 / (4 * df - 1)), rel=2e-3
        )
        # Values that agree to twelve digits are ties: sums in another order differ in the last.
        u = sps.mannwhitneyu(x.round(12), y.round(12), method="asymptotic")
        assert row["superiority"] == pytest.approx(
            u.statistic / (len(x) * len(y))
        )
    assert [row["p_welch_holm"] for row in rows] == pytest.approx(_holm(welch))


def test_two_judges_with_and_without_examples(folder: Path) -> None:
    study = _run(
        folder, "two", ("captions", "sight"), judge=("planted:stern", "planted:mild"),
        voting=Voting(K, examples=EXAMPLES),
    )  # fmt: skip
    example_names = tuple(EXAMPLES)
    assert len(study["narratives"]) == 31
    assert not {narrative["id"] for narrative in study["narratives"]} & set(
        example_names
    )
    planted = {
        (by, with_examples, model): _table(
            model, by, with_examples, example_names
        )
        for by in ("captions", "sight")
        for with_examples in (False, True)
        for model in ("stern", "mild")
    }
    names_by_way = {
        key: f"{key[0]}{' with examples' if key[1] else ''} [planted:{key[2]}]"
        for key in planted
    }
    assert set(study["tables"]["methods"]) == set(names_by_way.values())
    for key, table in planted.items():
        _assert_scores(study, names_by_way[key], table)

    # what was shown: both narratives whole and in order, ids 1 and 2; pictures of both beside
    expected = [
        (str(number), place)
        for number, name in enumerate(EXAMPLES, start=1)
        for places, (narrative, _) in PLAN.names.items()
        if narrative == name
        for place in places
    ]
    assert len(PLAN.shown) == 2 * 2 * 31 * K  # ways, models, narratives, votes
    assert all(texts == expected for texts in PLAN.shown)
    assert all(n == entries for n, entries in PLAN.n_images)
    assert (
        max(n for n, _ in PLAN.n_images) > 6
    )  # 6 of a narrative at most, and the examples

    # Table 7
    assert study["examples"]["shown"] == [
        {"id": "human-0", "source": "human", "rating": 8, "n_pictures": 4},
        {"id": "random-0", "source": "random", "rating": 3, "n_pictures": 4},
    ]
    for (by, with_examples, model), name in names_by_way.items():
        if with_examples:
            continue
        for source in SOURCES:
            row = _row(study["examples"]["rows"], way=name, source=source)
            ratings_without, ratings_with = (
                planted[by, t, model][source].mean(axis=1)
                for t in (False, True)
            )
            assert row["without"]["mean"] == pytest.approx(
                ratings_without.mean()
            )
            assert row["with"]["sd"] == pytest.approx(ratings_with.std(ddof=1))
            assert row["with"]["sd_population"] == pytest.approx(
                ratings_with.std()
            )
            assert row["sd_difference"] == pytest.approx(
                ratings_with.std(ddof=1) - ratings_without.std(ddof=1)
            )
            both = [
                np.concatenate(list(planted[by, t, model].values()))
                for t in (False, True)
            ]
            iccs = [
                row["icc_single"][which]["value"]
                for which in ("without", "with")
            ]
            assert iccs == pytest.approx([_icc(table)[0] for table in both])

    # Table 6, and the agreement of different models
    assert [row["by"] for row in study["models"]] == [
        "captions", "captions with examples", "sight", "sight with examples",
    ]  # fmt: skip
    for model_row in study["models"]:
        by, with_examples = (
            model_row["by"].split(" ")[0],
            "examples" in model_row["by"],
        )
        tables = [
            planted[by, with_examples, model] for model in ("stern", "mild")
        ]
        stern, mild = (
            np.concatenate(list(t.values())).mean(axis=1) for t in tables
        )
        assert (model_row["n"], model_row["n_left_out"]) == (31, 0)
        single, average = _icc(np.c_[stern, mild])
        assert model_row["icc_single"]["value"] == pytest.approx(single)
        assert model_row["icc_average"]["value"] == pytest.approx(average)
        (pair,) = model_row["pairs"]
        r = sps.pearsonr(stern, mild)
        assert (pair["r"], pair["p"]) == pytest.approx((r.statistic, r.pvalue))
        assert pair["rho"] == pytest.approx(
            sps.spearmanr(stern, mild).statistic
        )
        assert pair["difference"] == pytest.approx((mild - stern).mean())
        assert pair["difference"] < -1  # mild is planted 1.5 below
        ranks = np.c_[sps.rankdata(stern), sps.rankdata(mild)]
        chi2 = sps.friedmanchisquare(
            *ranks
        ).statistic  # W = chi2 / (k (n - 1))
        assert model_row["kendall_w"]["value"] == pytest.approx(
            chi2 / (2 * 30)
        )
        for model, of in zip(("stern", "mild"), tables, strict=True):
            means = {source: t.mean() for source, t in of.items()}
            order = sorted(means, key=lambda source: -means[source])
            for source in SOURCES:
                row = _row(
                    model_row["sources"],
                    model=f"planted:{model}",
                    source=source,
                )
                assert row["mean"] == pytest.approx(means[source])
                assert row["sd"] == pytest.approx(
                    of[source].mean(axis=1).std(ddof=1)
                )
                assert row["rank"] == order.index(source) + 1

    # what each judge cost: 2 seconds an answer
    for (_, _, model), name in names_by_way.items():
        assert study["cost"]["stages"][name]["calls"] == 31 * K
        assert study["cost"]["stages"][name]["seconds"] == pytest.approx(
            2.0 * 31 * K
        )
        assert study["judges"][name].startswith(f"planted:{model}")
    assert study["cost"]["judges"] == K * 2 * 2
    assert study["cost"]["seconds"]["by_sight"] == pytest.approx(2.0)
    page = write_study(folder / "two").read_text("utf-8")
    for words in (
        "Judges side by side, sight with examples",
        "With and without examples",
        "rated 8",
    ):
        assert words in page


def test_steps_between_sources_and_what_breaks(folder: Path) -> None:
    study = _run(
        folder, "steps", ("transitions",), judge="planted:stern",
        voting=Voting(K, 0.7),
    )  # fmt: skip
    means: dict[str, list[float]] = {source: [] for source in SOURCES}
    counts = {source: dict.fromkeys(KINDS, 0) for source in SOURCES}
    shares: dict[tuple[str, str], list[float]] = {}
    n_steps = dict.fromkeys(SOURCES, 0)
    for places, (_, source) in PLAN.names.items():
        ratings = [
            [planted_step(PLAN.steps[step][1], PLAN.steps[step][0], PLAN.steps[step][2], k)
             for k in range(K)]
            for step in pairwise(places)
        ]  # fmt: skip
        means[source].append(
            float(
                np.mean([np.mean([s for s, _ in votes]) for votes in ratings])
            )
        )
        n_steps[source] += len(ratings)
        for kind in KINDS:
            broken = [
                sum(kind in b for _, b in votes) >= 2 for votes in ratings
            ]  # two of three
            counts[source][kind] += sum(broken)
            shares.setdefault((kind, source), []).append(
                float(np.mean(broken))
            )
    for source in SOURCES:
        row = _row(study["steps"]["sources"], source=source)
        assert row["mean"] == pytest.approx(np.mean(means[source]))
        assert row["sd"] == pytest.approx(np.std(means[source], ddof=1))
        assert row["n_steps"] == n_steps[source]
        tally = _row(study["steps"]["breaks"]["sources"], source=source)
        assert tally["counts"] == counts[source]
        assert (tally["n"], tally["n_not_told"]) == (n_steps[source], 0)
        expected_shares = {
            kind: n / n_steps[source] for kind, n in counts[source].items()
        }
        assert tally["shares"] == pytest.approx(expected_shares)
    assert counts["random"]["place"] > counts["human"]["place"]
    _assert_compared(
        study["steps"]["comparisons"],
        {s: np.array(m) for s, m in means.items()},
    )
    rows = study["steps"]["breaks"]["comparisons"]
    assert len(rows) == len(KINDS) * 3
    for row in rows:
        a, b = (shares[row["kind"], row[side]] for side in ("a", "b"))
        assert row["difference"] == pytest.approx(np.mean(a) - np.mean(b))
        assert (row["n_a"], row["n_b"]) == (
            SOURCES[row["a"]],
            SOURCES[row["b"]],
        )
        if row["p"] is not None:
            u = sps.mannwhitneyu(a, b)
            assert row["p"] == pytest.approx(
                u.pvalue, rel=0.25
            )  # exact or normal, as n allows
    p_values = [row["p"] for row in rows if row["p"] is not None]
    adjusted = [row["p_holm"] for row in rows if row["p"] is not None]
    assert adjusted == pytest.approx(_holm(p_values))
    page = write_study(folder / "steps").read_text("utf-8")
    assert "each narrative counts once" in page
    assert "What breaks" in page


def test_hybrid_with_sight_beside_is_held_against_what_it_did_not_look_at(
    folder: Path,
) -> None:
    study = _run(
        folder, "hybrid", ("captions", "sight", "hybrid"), judge="planted:stern",
        voting=Voting(K), hybrid=HybridOptions(share=0.4, rule="top"),
    )  # fmt: skip
    words, looks = (
        np.concatenate(list(_table("stern", by, False).values()))
        for by in ("captions", "sight")
    )
    seen_rows = sorted(
        np.argsort(-words.mean(axis=1), kind="stable")[:14]
    )  # 0.4 of 33, rounded up
    assert study["hybrid"]["seen"] == seen_rows
    x, y = words[seen_rows].mean(axis=1), looks[seen_rows].mean(axis=1)
    fit = sps.linregress(x, y)
    assert (
        study["hybrid"]["slope"],
        study["hybrid"]["intercept"],
    ) == pytest.approx(fit[:2])
    left_out = []
    for position in range(len(seen_rows)):
        rest = np.delete(np.arange(len(seen_rows)), position)
        fold = sps.linregress(x[rest], y[rest])
        left_out.append(
            (fold.intercept + fold.slope * x[position], y[rest].mean())
        )
    predicted, flat = np.array(left_out).T
    looked, held_out, hidden = study["hybrid"]["checks"]
    assert held_out["error"] == pytest.approx(
        np.sqrt(((predicted - y) ** 2).mean())
    )
    assert held_out["error_of_mean"] == pytest.approx(
        np.sqrt(((flat - y) ** 2).mean())
    )
    assert held_out["r"] == pytest.approx(np.corrcoef(predicted, y)[0, 1])
    unseen = [at for at in range(33) if at not in seen_rows]
    guess = fit.intercept + fit.slope * words[unseen].mean(axis=1)
    truth = looks[unseen].mean(axis=1)
    assert hidden["n"] == 19
    assert hidden["error"] == pytest.approx(
        np.sqrt(((guess - truth) ** 2).mean())
    )
    assert hidden["r"] == pytest.approx(np.corrcoef(guess, truth)[0, 1])
    assert (hidden["sd"], hidden["sd_sight"]) == pytest.approx(
        (guess.std(ddof=1), truth.std(ddof=1))
    )
    assert looked["n"] == 14
    gains = (flat - y) ** 2 - (predicted - y) ** 2
    assert held_out["gain"] == pytest.approx(gains.mean())
    assert held_out["gain_low"] < held_out["gain"] < held_out["gain_high"]
    trusted = fit.slope > 0 and held_out["gain_low"] > 0
    assert study["hybrid"]["trusted"] == trusted
    rated = [narrative["hybrid"] for narrative in study["narratives"]]
    assert sum(votes is not None for votes in rated) == (33 if trusted else 14)
    assert any(
        note.startswith("hybrid:") for note in study["tables"]["cautions"]
    )
    assert "against sight, narratives" in write_study(
        folder / "hybrid"
    ).read_text("utf-8")


def test_two_runs_of_different_judges_stand_side_by_side(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for model in ("stern", "mild"):
        parts: tuple[Part, ...] = (
            ("sight", "transitions") if model == "stern" else ("sight",)
        )
        _run(folder, model, parts, judge=f"planted:{model}", voting=Voting(K))
    content = json.loads(
        msgspec.json.encode(side_by_side(folder / "stern", folder / "mild"))
    )
    assert content["runs"] == ["stern", "mild"]
    (sight,) = content["models"]  # only one run rated steps
    stern, mild = (
        np.concatenate(list(_table(model, "sight", False).values())).mean(
            axis=1
        )
        for model in ("stern", "mild")
    )
    assert (sight["by"], sight["n"]) == ("sight", 33)
    assert sight["icc_single"]["value"] == pytest.approx(
        _icc(np.c_[stern, mild])[0]
    )
    assert sight["pairs"][0]["difference"] == pytest.approx(
        (mild - stern).mean()
    )
    assert [judge.partition("(")[0] for judge in content["judges"]["sight"]] == [
        "planted:stern", "planted:mild",
    ]  # fmt: skip
    calls = {
        (row["run"], row["stage"]): row["calls"] for row in content["cost"]
    }
    assert calls["mild", "sight"] == 33 * K
    assert ("stern", "transitions") in calls

    cli = runner(monkeypatch, capsys, "compare")
    monkeypatch.setenv("COLUMNS", "200")
    done = cli(str(folder / "stern"), str(folder / "mild"))
    assert done.code == 0, done.err
    assert "Over 33 narratives that all 2 judges rated" in done.out
    printed = json.loads(
        cli(str(folder / "stern"), str(folder / "mild"), "--json").out
    )
    assert printed == content  # they share no asker: no paired differences
    self_content = json.loads(
        cli(str(folder / "stern"), str(folder / "stern"), "--json").out
    )
    assert {row["value"] for row in self_content["differences"]} == {
        "rating",
        "lowest",
    }
    assert [row["by"] for row in self_content["models"]] == ["sight", "steps"]
    assert self_content["models"][0]["icc_single"]["value"] == pytest.approx(
        1.0
    )

    lines = (folder / "s.jsonl").read_text("utf-8").splitlines()
    turned = json.loads(lines[0])
    turned["frames"] = turned["frames"][::-1]
    PLAN.names[tuple(f"F{name[1:]:0>3}" for name in turned["frames"])] = (
        "human-0",
        "human",
    )
    (folder / "s.jsonl").write_text(
        "\n".join([json.dumps(turned), *lines[1:]])
    )
    _run(folder, "turned", ("sight",), judge="planted:mild", voting=Voting(K))
    with pytest.raises(
        ConfigError,
        match="'human-0' shows other pictures in turned than in stern",
    ):
        side_by_side(folder / "stern", folder / "turned")


def test_a_plan_counts_the_questions_of_all_judges_and_conditions(
    folder: Path,
) -> None:
    config = NarrateConfig(
        str(folder / "s.jsonl"), folder / "plan", ("captions",), ("planted:stern", "planted:mild"),
        collection=CollectionOptions(str(folder / "index.csv")),
        voting=Voting(K, examples=EXAMPLES),
    )  # fmt: skip
    planned = plan_narratives(config)
    assert planned.n_items == 31
    questions = [
        asker.judge for asker in planned.askers if asker.judge is not None
    ]
    assert sum(tally.n_calls for tally in questions) == 2 * 2 * 31 * K


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        (
            ("hybrid",),
            {"judge": ("planted:a", "planted:b")},
            "hybrid takes one judge, got 2",
        ),
        (
            ("transitions",),
            {"judge": ("planted:a", "planted:b")},
            "transitions takes one judge",
        ),
        (
            ("captions",),
            {"judge": ("planted:a", "planted:a")},
            "one is named twice",
        ),
        (
            ("captions",),
            {"voting": {"x": 5}},
            "example 'x': .* has no sequence of that id",
        ),
        (
            ("captions",),
            {"voting": {"x": 11}},
            "example x=11: expected a whole number from 1",
        ),
    ],
)
def test_what_cannot_be_compared_says_why(
    folder: Path,
    parts: tuple[Part, ...],
    options: dict[str, Any],
    message: str,
) -> None:
    usual = {"judge": "planted:a", **options}
    with pytest.raises(ConfigError, match=message):
        _run(
            folder,
            "wrong",
            parts,
            **{**usual, "voting": Voting(examples=options.get("voting", {}))},
        )
