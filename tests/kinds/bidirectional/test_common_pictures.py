"""Systems are compared on the pictures that all of them describe, with and without a length."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pixels

from beholder.kinds.bidirectional.pairs import TextPair, restrict_to_common
from beholder.kinds.bidirectional.study import study
from servers.faults import FaultServer, completion, probe_answer, serving
from toy.command import Cli, runner

N = 12
SHORT = {"terse": (1, 4, 7), "plain": (7,), "broad": ()}
"""Pictures of which a system writes fewer than 20 words, also when it is asked again."""
N_COMMON = 12 - 3
"""Pictures 1, 4 and 7 are those that some system describes too briefly."""


def pair(
    image: str, system: str, f1: float | None, dataset: str = ""
) -> TextPair:
    values = {} if f1 is None else {"har_f1": f1, "mar_f1": f1}
    failure = "refused" if f1 is None else None
    return TextPair(
        f"{image}/{system}",
        image,
        system,
        "a",
        ("b",),
        dataset,
        values=values,
        failure=failure,
    )


def test_the_best_system_is_the_best_on_the_common_pictures() -> None:
    # Over its own pictures a is better (1, 0 against 0.4, 0.4, 0.1), over both common ones b is.
    pairs = [pair("1", "a", 0.2), pair("2", "a", 0.0), pair("3", "a", 1.0)]
    pairs += [pair("1", "b", 0.4), pair("2", "b", 0.4)]
    comparison = study(pairs)
    scores = comparison.table("scores")
    assert scores is not None
    rows = [
        row
        for row in scores.rows
        if row["value"] == "f1" and row["direction"] == "har"
    ]
    # Two pictures show no difference: (0.2, 0) against (0.4, 0.4) has t = -3, df = 1, p = 0.2.
    assert [(row["system"], row["n"], row["best"]) for row in rows] == [
        ("a", 2, False),
        ("b", 2, False),
    ]
    assert [row["mean"] for row in rows] == pytest.approx([0.1, 0.4])
    assert (
        "only the 2 of 3 pictures that all systems describe; texts left out: a 1."
        in scores.notes
    )
    tests = comparison.table("tests")
    assert tests is not None
    assert {(row["n_a"], row["n_b"], row["best"]) for row in tests.rows} == {
        (2, 2, "b")
    }


def test_systems_without_a_common_picture_have_no_best_and_no_test() -> None:
    comparison = study([pair("1", "a", 0.2), pair("2", "b", 0.4)])
    scores = comparison.table("scores")
    assert scores is not None
    assert {row["best"] for row in scores.rows} == {False}
    assert any(
        "no picture is described by all systems" in note
        for note in scores.notes
    )
    assert comparison.table("tests") is None


def test_a_system_without_any_score_sets_nothing_aside() -> None:
    pairs = [pair("1", "a", None), pair("1", "b", 0.4)]
    assert restrict_to_common(pairs) == (pairs, ())


def test_a_picture_whose_text_failed_for_one_system_is_compared_for_none() -> (
    None
):
    # a failed on the hard picture 3. Over its own pictures a is better (.5 against (.4 + .6 + .1)
    # / 3 = .3667), over the two that both have scores of b is not worse: .5 and .5.
    pairs = [pair("1", "a", 0.5), pair("2", "a", 0.5), pair("3", "a", None)]
    pairs += [pair("1", "b", 0.4), pair("2", "b", 0.6), pair("3", "b", 0.1)]
    comparison = study(pairs)
    scores = comparison.table("scores")
    assert scores is not None
    rows = [
        row
        for row in scores.rows
        if row["value"] == "f1" and row["direction"] == "har"
    ]
    assert [
        (row["system"], row["n"], row["n_failed"], row["best"]) for row in rows
    ] == [
        ("a", 2, 1, False),
        ("b", 2, 0, False),
    ]
    assert [row["mean"] for row in rows] == pytest.approx([0.5, 0.5])
    # Failed as 0 over all three pictures: (.5 + .5 + 0) / 3 and (.4 + .6 + .1) / 3.
    assert [row["mean_failed_0"] for row in rows] == pytest.approx(
        [1 / 3, 1.1 / 3]
    )
    assert (
        "only the 2 of 3 pictures that have scores of all systems; texts that failed: a 1; scores"
        " set aside because another system's text failed: b 1."
    ) in scores.notes
    tests = comparison.table("tests")
    assert tests is not None
    assert {
        (row["n_a"], row["n_b"], row["n_pairs"]) for row in tests.rows
    } == {(2, 2, 2)}


def test_systems_whose_scores_share_no_picture_have_no_best_and_no_test() -> (
    None
):
    pairs = [
        pair("1", "a", 0.2),
        pair("2", "a", None),
        pair("1", "b", None),
        pair("2", "b", 0.4),
    ]
    comparison = study(pairs)
    scores = comparison.table("scores")
    assert scores is not None
    assert {row["best"] for row in scores.rows} == {False}
    assert any(
        "no picture has scores of all systems" in note for note in scores.notes
    )
    assert comparison.table("tests") is None


def test_each_data_set_is_restricted_apart() -> None:
    long = [
        pair(image, system, 0.5, "long") for image in "12" for system in "ab"
    ]
    short = [
        pair("1", "a", 0.5, "short"),
        pair("1", "b", 0.5, "short"),
        pair("2", "b", 0.5, "short"),
    ]
    pairs, notes = restrict_to_common([*long, *short])
    assert [p.id for p in pairs if p.dataset == "long"] == [
        "1/a",
        "1/b",
        "2/a",
        "2/b",
    ]
    assert [p.id for p in pairs if p.dataset == "short"] == ["1/a", "1/b"]
    assert notes == (
        "short: only the 1 of 2 pictures that all systems describe; texts left out: b 1.",
    )


class Captioner:
    """Writes 30 words about a picture, or 5 of those it describes too briefly."""

    def __init__(self) -> None:
        self.picture: dict[str, int] = {}
        self.n_asked = 0

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        if probed := probe_answer(body):
            return probed
        parts = body["messages"][-1]["content"]
        urls = [
            p["image_url"]["url"]
            for p in parts
            if not isinstance(p, str) and p["type"] == "image_url"
        ]
        i = self.picture.get(urls[0].partition(",")[2]) if urls else None
        if i is None:
            return completion("ready", model=body["model"])
        self.n_asked += 1
        brief = i in SHORT[body["model"]]
        text = (
            f"A dog {i} sits here."
            if brief
            else " ".join([f"A dog {i} sits on a mat."] * 5)
        )
        return completion(text, model=body["model"])


@pytest.fixture
def captioner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Captioner, str]]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "img").mkdir()
    planted = Captioner()
    rows = []
    for i in range(N):
        path = tmp_path / "img" / f"{i}.png"
        Pixels.new("RGB", (8, 8), (20 * i, 0, 0)).save(path)
        planted.picture[base64.b64encode(path.read_bytes()).decode()] = i
        rows.append(
            {
                "id": str(i),
                "images": [f"img/{i}.png"],
                "references": ["A dog sits on a mat."],
            }
        )
    (tmp_path / "people.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    with serving(FaultServer(planted)) as server:
        yield planted, server.url


@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize(
    ("words", "n_asked", "n"),
    [
        ((), N * 3, N),
        (("--words", "none"), N * 3, N),
        # Four captions are asked for once more, and belong to the data set "other length".
        (("--words", "20-200"), N * 3 + 4, N_COMMON),
    ],
)
def test_the_published_commands_compare_all_pictures_and_with_a_length_the_common_ones(
    captioner: tuple[Captioner, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    n_asked: int,
    n: int,
) -> None:
    planted, url = captioner
    cli: Cli = runner(monkeypatch, capsys)
    judges = [
        word for system in SHORT for word in ("--judge", f"openai:{system}")
    ]
    options = ["--base-url", url, "--cache", "off", "-o", "captions.jsonl"]
    captioned = cli("caption", "people.jsonl", *judges, *words, *options)
    assert captioned.code == 0, captioned.err
    assert planted.n_asked == n_asked
    length = "20 to 200 words" if n < N else "any length"
    assert f"captions of {length} in English" in captioned.err
    scored = cli(
        "score",
        "captions.jsonl",
        "-m",
        "dcscore(direction='both', verify='reference')",
        "-o",
        "run",
        "--no-report",
    )
    assert scored.code == 0, scored.err
    studied = cli("bidirectional", "run", "--json")
    assert studied.code == 0, studied.err
    tables = json.loads(studied.out)
    main = [row for row in tables["scores"] if row.get("dataset", "") == ""]
    assert {row["system"] for row in main} == set(SHORT)
    assert {row["n"] for row in main} == {n}
    lengths = [
        row
        for row in tables["lengths"]
        if row["dataset"] == "" and row["who"] != "people"
    ]
    assert {row["n"] for row in lengths} == {n}
    page = Path("run/bidirectional").rglob("*.html")
    note = f"only the {N_COMMON} of {N} pictures that all systems describe"
    assert any(note in file.read_text("utf-8") for file in page) == (n < N)
