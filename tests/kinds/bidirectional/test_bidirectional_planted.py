"""The whole way over a server with planted answers: sorted, sampled, captioned twice, studied.

Every number of the study's tables that is looked at is computed apart, from what was planted.
"""

from __future__ import annotations

import base64
import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pixels
from scipy import stats as sps

from beholder.cli.main import app
from servers.faults import FaultServer, completion, probe_answer, serving
from toy.without import PLOTS, without

pytestmark = pytest.mark.slow  # a whole study with planted rates

N = 36
FALSE = 500
"""Numbers from here on are not in the picture."""
VARIANT = 100
"""A unit plus this number is the same thing with another detail: near it, not the same."""
CATEGORIES = ("nature", "trade", "learning")
RATINGS = ("High", "Medium", "Low")
SYSTEMS = ("careful", "wordy")
_ROW = re.compile(r'<(statement|reference) id="(\d+)">(.*?)</\1>', re.DOTALL)
_NUMBER = re.compile(r"thing_(\d+)")
Units = tuple[int, ...]


def _text(units: Units) -> str:
    return " ".join(
        f"यहाँ thing_{unit} है." for unit in units
    )  # three words a unit


def _says_same(a: int, b: int, *, nearest: bool) -> bool:
    return a == b or (
        nearest and max(a, b) < FALSE and a % VARIANT == b % VARIANT
    )


@dataclass
class Plan:
    """Units that people and each system mention of each picture, in free and short captions."""

    human: dict[int, Units] = field(default_factory=dict)
    model: dict[tuple[str, str, int], Units] = field(default_factory=dict)
    pictures: dict[str, int] = field(default_factory=dict)
    request_counts: Counter[str] = field(default_factory=Counter)
    prompts: list[str] = field(default_factory=list)

    def category(self, i: int) -> list[dict[str, str]]:
        answers = [{"name": CATEGORIES[i % 3], "rating": RATINGS[i // 3 % 3]}]
        second = {"name": CATEGORIES[(i + 1) % 3], "rating": "Low"}
        return [*answers, second] if i % 8 == 0 else answers

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        if probed := probe_answer(body):
            return probed
        answer = self._says(body)
        text = (
            answer
            if isinstance(answer, str)
            else json.dumps(answer, ensure_ascii=False)
        )
        return completion(text, model=body["model"])

    def _says(self, body: dict[str, Any]) -> object:
        parts = body["messages"][-1]["content"]
        parts = (
            [{"type": "text", "text": parts}]
            if isinstance(parts, str)
            else parts
        )
        text = "".join(part.get("text", "") for part in parts)
        images = [
            part["image_url"]["url"]
            for part in parts
            if part["type"] == "image_url"
        ]
        schema = json.dumps(body.get("response_format", {}))
        if "word: ready" in text or "Which colour" in text:  # what it can do
            return "ready"
        picture = (
            self.pictures[images[0].partition(",")[2]] if images else None
        )
        if "categories" in schema:
            self.request_counts["classify"] += 1
            assert picture is not None
            return {"categories": self.category(picture)}
        if not schema.strip("{}"):
            assert picture is not None
            return self._caption(body["model"], picture, text)
        if "in Hindi" not in text:
            self.request_counts["language not told"] += 1
        if "statements" in schema:
            self.request_counts["decompose"] += 1
            text_under_test = text.split("<text>\n")[1].split("\n</text>")[0]
            self.prompts.append(text_under_test)
            sentences = [
                sentence.strip()
                for sentence in text_under_test.split(".")
                if sentence.strip()
            ]
            return {
                "statements": [
                    {"text": s, "subject": "x", "relevant": True}
                    for s in sentences
                ]
            }
        rows = [
            (kind, int(i), int(_NUMBER.findall(row_text)[0]))
            for kind, i, row_text in _ROW.findall(text)
        ]
        claims = [
            (i, number) for kind, i, number in rows if kind == "statement"
        ]
        if "matches" in schema:
            nearest = "comes nearest" in text
            self.request_counts["nearest" if nearest else "match"] += 1
            references = [
                (i, number) for kind, i, number in rows if kind == "reference"
            ]
            return {
                "matches": [
                    {
                        "id": i,
                        "reference": matched(
                            number, [n for _, n in references], nearest=nearest
                        ),
                    }
                    for i, number in claims
                ]
            }
        self.request_counts["verify"] += 1
        trusted = text.partition("<reference>\n")[2].partition("</reference>")[
            0
        ]
        trusted_units = set(map(int, _NUMBER.findall(trusted)))
        return {
            "rows": [
                {"id": i, "supported": n < FALSE or n in trusted_units}
                for i, n in claims
            ]
        }

    def _caption(self, system: str, picture: int, text: str) -> str:
        if "Write it once more" in text:
            self.request_counts["again"] += 1
            return _text(self.model[system, "short", picture])
        self.request_counts["caption"] += 1
        return _text(self.model[system, "free", picture])


def matched(
    number: int, candidates: Sequence[int], *, nearest: bool
) -> int | None:
    """Return the index of the first candidate that says the same, or of a near one if allowed."""
    exact = [
        i for i, candidate in enumerate(candidates) if candidate == number
    ]
    near_candidates = [
        i
        for i, candidate in enumerate(candidates)
        if _says_same(number, candidate, nearest=nearest)
    ]
    return next(iter(exact or near_candidates), None)


def plan(folder: Path) -> Plan:
    rng = np.random.default_rng(20)
    planted = Plan()
    (folder / "img").mkdir()
    for i in range(N):
        path = folder / "img" / f"{i:02d}.png"
        Pixels.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8)).save(path)
        planted.pictures[base64.b64encode(path.read_bytes()).decode()] = i
        things = [int(n) for n in rng.permutation(VARIANT)]
        n_false = int(rng.integers(0, 3))
        human = [
            n + (FALSE if k < n_false else 0) for k, n in enumerate(things[:8])
        ]
        planted.human[i] = tuple(human)
        for system in SYSTEMS:
            wordy = system == "wordy"
            shared_units = [
                n
                for n in human
                if n < FALSE and rng.random() > (0.5 if wordy else 0.3)
            ]
            worded_units = [
                n + VARIANT if rng.random() < 0.3 else n for n in shared_units
            ]
            wrong_units = [
                FALSE + 400 + k
                for k in range(int(rng.integers(0, 5 if wordy else 2)))
            ]
            extra = [200 + n for n in things[8 : 8 + int(rng.integers(9, 12))]]
            free = [
                int(n)
                for n in rng.permutation([*worded_units, *wrong_units, *extra])
            ]
            planted.model[system, "free", i] = tuple(free)
            # wordy keeps to no length on every third picture
            length = 11 if wordy and i % 3 == 0 else 7
            planted.model[system, "short", i] = tuple(free[:length])
    return planted


@dataclass(frozen=True)
class CommandOutputs:
    """The plan, and the folder with all files that the commands wrote."""

    plan: Plan
    folder: Path
    sample: Mapping[int, str]
    """Set of each picture that was drawn."""

    def table(self, study: str, name: str) -> list[dict[str, str]]:
        path = self.folder / study / "tables" / f"{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def texts(
        self, system: str, dataset: str, category: str | None = "random"
    ) -> list[int]:
        """The pictures of a system in a data set, of the random set or another.

        Short captions are compared on the pictures for which every system kept to the length; those
        of another length are all of one system.
        """
        pictures = [
            i for i, name in self.sample.items() if category in (None, name)
        ]
        if dataset == "free":
            return pictures
        if dataset == "short":
            return [
                i
                for i in pictures
                if all(self.fits(author, i) for author in SYSTEMS)
            ]
        return [i for i in pictures if not self.fits(system, i)]

    def fits(self, system: str, i: int) -> bool:
        return 16 <= 3 * len(self.plan.model[system, "short", i]) <= 24

    def value(
        self,
        system: str,
        dataset: str,
        i: int,
        direction: str,
        name: str,
        *,
        nearest: bool,
    ) -> float:
        length = "free" if dataset == "free" else "short"
        human, model = self.plan.human[i], self.plan.model[system, length, i]
        units, targets = (
            (model, human) if direction == "har" else (human, model)
        )
        return measured(units, targets, nearest=nearest)[name]


def measured(
    units: Units, targets: Units, *, nearest: bool
) -> dict[str, float]:
    """Values of one direction by the default rule, from the numbers themselves."""
    right = [n < FALSE or n in targets for n in units]
    match = [matched(n, targets, nearest=nearest) for n in units]
    shared = Counter(m for m in match if m is not None)
    covered = sum(
        1 / shared[m]
        for r, m in zip(right, match, strict=True)
        if r and m is not None
    )
    added = sum(r and m is None for r, m in zip(right, match, strict=True))
    precision, recall = (
        sum(right) / len(units),
        (covered + added) / (len(targets) + added),
    )
    both = precision + recall
    return {
        "f1": 2 * precision * recall / both if both else 0.0,
        "hallucination_rate": 1 - precision,
        "omission_rate": (len(targets) - len(shared)) / len(targets),
        "n_wrong": len(units) - sum(right),
        "n_units": len(units),
        "n_left_out": len(targets) - len(shared),
        "n_targets": len(targets),
    }


@pytest.fixture(scope="module")
def outputs(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CommandOutputs]:
    folder = tmp_path_factory.mktemp("planted")
    planted = plan(folder)
    rows = [
        {
            "id": str(i),
            "images": [f"img/{i:02d}.png"],
            "references": [f"<noise> {_text(planted.human[i])} </noise>"],
            "group": {"language": "Hindi"},
        }
        for i in range(N)
    ]
    (folder / "people.jsonl").write_text(
        "".join(json.dumps(r) + "\n" for r in rows)
    )
    (folder / "categories.json").write_text(
        json.dumps(dict.fromkeys(CATEGORIES, "x"))
    )
    with (
        pytest.MonkeyPatch.context() as patch,
        serving(FaultServer(planted.reply)) as server,
    ):
        patch.chdir(folder)
        without(patch, "matplotlib", *PLOTS)  # no test here looks at a figure
        patch.setenv("OPENAI_API_KEY", "k")

        def run(*words: str, expected: int = 0) -> None:
            address = (
                ()
                if words[0] in ("sample", "bidirectional")
                else ("--base-url", server.url)
            )
            assert (app([*words, *address]) or 0) == expected, words

        judges = [
            word
            for system in SYSTEMS
            for word in ("--judge", f"openai:{system}")
        ]
        caption = (
            "caption",
            "study.jsonl",
            *judges,
            "--language",
            "Hindi",
            "--cache",
            "off",
        )
        run("classify", "people.jsonl", "--categories", "categories.json", "--judge", "openai:m",
            "-o", "sorted.jsonl")  # fmt: skip
        run("sample", "sorted.jsonl", "--n", "10", "--per-category", "3", "--rated", "Medium",
            "-o", "study.jsonl")  # fmt: skip
        run(*caption, "--dataset", "free", "-o", "free.jsonl")
        run(
            *caption,
            "--words",
            "16-24",
            "--dataset",
            "short",
            "-o",
            "short.jsonl",
        )
        both = [
            Path(name).read_text("utf-8")
            for name in ("free.jsonl", "short.jsonl")
        ]
        lines = [
            json.loads(line) for text in both for line in text.splitlines()
        ]
        for number, line in enumerate(lines):
            line["id"] = f"{number}"
        Path("both.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines)
        )
        strict = "dcscore(judge='openai:m', direction='both')"
        near_metric = (
            "dcscore(judge='openai:m', direction='both', match='nearest')"
        )
        run("score", "both.jsonl", "-m", strict, "-m", near_metric, "-m", "token_f1", "-m", "bleu",
            "-o", "run", "--no-report", expected=1)  # fmt: skip
        run("bidirectional", "run", "-m", strict, "-o", "strict")
        run("bidirectional", "run", "-m", near_metric, "-o", "nearest")
        study_rows = [
            json.loads(line)
            for line in Path("study.jsonl").read_text("utf-8").splitlines()
        ]
        yield CommandOutputs(
            planted,
            folder,
            {int(r["id"]): r["group"]["category"] for r in study_rows},
        )


def numbers(row: Mapping[str, str], *names: str) -> list[float]:
    return [float(row[name]) for name in names]


def test_the_sample_is_what_the_design_says(outputs: CommandOutputs) -> None:
    assert Counter(outputs.sample.values()) == {"random": 10} | dict.fromkeys(
        CATEGORIES, 3
    )
    for i, name in outputs.sample.items():
        if name != "random":
            (only,) = outputs.plan.category(i)
            assert only["name"] == name
            assert only["rating"] in ("High", "Medium")


def test_prompts_name_the_language_and_leave_out_marks_of_speech(
    outputs: CommandOutputs,
) -> None:
    counts = outputs.plan.request_counts
    assert counts["language not told"] == 0
    assert not [text for text in outputs.plan.prompts if "noise" in text]
    n = len(outputs.sample)
    assert (counts["classify"], counts["caption"], counts["again"]) == (
        N,
        4 * n,
        2 * n,
    )
    # a person's text once; M captions, in both data sets; equal texts are asked for once
    texts = {outputs.plan.human[i] for i in outputs.sample} | {
        outputs.plan.model[system, length, i]
        for system in SYSTEMS
        for length in ("free", "short")
        for i in outputs.sample
    }
    assert counts["decompose"] == len(texts)
    pairs = {
        (outputs.plan.human[i], outputs.plan.model[system, length, i])
        for system in SYSTEMS
        for length in ("free", "short")
        for i in outputs.sample
    }
    assert counts["match"] == counts["nearest"] == 2 * len(pairs)


def test_an_english_embedder_refuses_every_row(
    outputs: CommandOutputs,
) -> None:
    log = json.loads((outputs.folder / "run" / "run.json").read_text("utf-8"))
    (token_f1,) = [
        entry for entry in log["summary"] if entry["metric"] == "token_f1"
    ]
    assert (token_f1["n_scored"], token_f1["n_failed"]) == (
        0,
        4 * len(outputs.sample),
    )
    (reason,) = token_f1["failures"]
    assert reason.startswith("embedder static reads English, but the row says")


@pytest.mark.parametrize("study", ["strict", "nearest"])
def test_scores_and_rates_of_every_data_set_are_those_planted(
    outputs: CommandOutputs, study: str
) -> None:
    is_near = study == "nearest"
    n_checked = 0
    scores = {
        (row["direction"], row["dataset"], row["system"]): row
        for row in outputs.table(study, "scores")
        if row["value"] == "f1"
    }
    for row in outputs.table(study, "rates"):
        place = (row["direction"], row["dataset"], row["system"])
        pictures = outputs.texts(row["system"], row["dataset"])
        cells: dict[str, list[float]] = defaultdict(list)
        for i in pictures:
            model = outputs.plan.model[
                row["system"],
                "free" if row["dataset"] == "free" else "short",
                i,
            ]
            pair = (model, outputs.plan.human[i])
            values = measured(
                *(pair if row["direction"] == "har" else pair[::-1]),
                nearest=is_near,
            )
            for name, value in values.items():
                cells[name].append(value)
        assert int(row["n"]) == len(pictures) > 0
        expected = [
            np.mean(cells["hallucination_rate"]), np.mean(cells["omission_rate"]),
            sum(cells["n_wrong"]) / sum(cells["n_units"]),
            sum(cells["n_left_out"]) / sum(cells["n_targets"]),
        ]  # fmt: skip
        columns = (
            "hallucination",
            "omission",
            "hallucination_pooled",
            "omission_pooled",
        )
        assert numbers(row, *columns) == pytest.approx(expected)
        f1 = cells["f1"]
        quartiles = np.quantile(f1, (0.25, 0.5, 0.75))
        assert numbers(
            scores[place], "mean", "sd", "q1", "median", "q3"
        ) == pytest.approx([np.mean(f1), np.std(f1, ddof=1), *quartiles])
        n_checked += 9
    assert (
        n_checked == 9 * 2 * 5
    )  # careful: free and short; wordy: these and other length


@pytest.mark.parametrize("study", ["strict", "nearest"])
def test_rates_by_category_are_those_planted(
    outputs: CommandOutputs, study: str
) -> None:
    rows = [
        r
        for r in outputs.table(study, "category_rates")
        if r["system"] != "all" and r["n"] != "0"
    ]
    assert {r["category"] for r in rows} == {"random", *CATEGORIES}
    for row in rows:
        where = (row["system"], row["dataset"])
        pictures = outputs.texts(*where, category=row["category"])
        for column in ("hallucination", "omission"):
            values = [
                outputs.value(
                    *where,
                    i,
                    row["direction"],
                    f"{column}_rate",
                    nearest=study == "nearest",
                )
                for i in pictures
            ]
            assert float(row[column]) == pytest.approx(np.mean(values))
        assert int(row["n"]) == len(pictures)


def test_categories_are_tested_against_the_random_set_as_scipy_does(
    outputs: CommandOutputs,
) -> None:
    rows = [row for row in outputs.table("strict", "categories") if row["t"]]
    assert (
        len(rows) >= 2 * 3 * 2
    )  # both directions, three categories, both systems (free)
    for row in rows:
        where = (row["system"], row["dataset"])
        values, random = (
            [
                outputs.value(*where, i, row["direction"], "f1", nearest=False)
                for i in outputs.texts(*where, category=name)
            ]
            for name in (row["category"], "random")
        )
        welch = sps.ttest_ind(values, random, equal_var=False)
        assert numbers(row, "mean", "difference", "t", "p") == pytest.approx(
            [
                np.mean(values),
                np.mean(values) - np.mean(random),
                welch.statistic,
                welch.pvalue,
            ]
        )


@pytest.mark.parametrize("study", ["strict", "nearest"])
def test_short_captions_are_compared_with_free_ones_of_the_same_pictures(
    outputs: CommandOutputs, study: str
) -> None:
    rows = [
        r
        for r in outputs.table(study, "datasets")
        if (r["from"], r["to"]) == ("free", "short")
    ]
    assert len(rows) == 2 * 3 * len(SYSTEMS)
    for row in rows:
        pictures = outputs.texts(row["system"], "short")
        before, after = (
            np.array(
                [
                    outputs.value(
                        row["system"], name, i, row["direction"], row["value"],
                        nearest=study == "nearest",
                    )
                    for i in pictures
                ]
            )
            for name in ("free", "short")
        )  # fmt: skip
        assert int(row["n"]) == len(pictures)
        assert numbers(row, "before", "after", "change") == pytest.approx(
            [before.mean(), after.mean(), (after - before).mean()]
        )


def test_the_nearest_match_finds_more_than_the_strict_one(
    outputs: CommandOutputs,
) -> None:
    def omission(study: str) -> float:
        return float(
            np.mean(
                [
                    float(row["omission"])
                    for row in outputs.table(study, "rates")
                ]
            )
        )

    assert omission("nearest") < omission("strict") - 0.05


def test_lengths_count_words_without_marks_per_data_set(
    outputs: CommandOutputs,
) -> None:
    rows = {
        (r["dataset"], r["who"]): r for r in outputs.table("strict", "lengths")
    }
    for (dataset, who), row in rows.items():
        if who == "people":
            assert float(row["words"]) == 24.0
            continue
        length = "free" if dataset == "free" else "short"
        words = [
            3 * len(outputs.plan.model[who, length, i])
            for i in outputs.texts(who, dataset)
        ]
        assert float(row["words"]) == pytest.approx(np.mean(words))
        if dataset == "short":
            assert max(words) <= 24
    assert ("short, other length", "wordy") in rows
    assert ("short, other length", "careful") not in rows
