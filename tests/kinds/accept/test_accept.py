"""A proof from its freezing to its certificate: what counts, what is said, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.kinds.accept.certificate import certify, check, digest_of, verify
from beholder.kinds.accept.evidence import edits_of
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.text.edits import count_edits
from toy.command import Cli

Rows = Sequence[Mapping[str, Any]]
GRAVE, NONE, CANNOT = {"level": "grave"}, {"level": "none"}, {"cannot": True}


def write_rows(name: str, rows: Rows) -> None:
    lines = [json.dumps(row) + "\n" for row in rows]
    Path(name).write_text("".join(lines), encoding="utf-8")


def read_rows(name: str) -> list[dict[str, Any]]:
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def captions(n: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"t{place}",
            "candidate": f"A boat, number {place}.",
            "images": [f"photos/{place}.jpg"],
            "group": {
                "system": "m-1",
                "place": "harbour" if place % 4 else "lake",
                "series": f"s{place // 4}",
            },
        }
        for place in range(n)
    ]


def start(cli: Cli, n: int = 300, *options: str) -> None:
    write_rows("captions.jsonl", captions(n))
    done = cli(
        "accept", "start", "captions.jsonl", "-o", "proof", "--seed", "417",
        *(options or ("--at-most", "0.05", "--twice", "0")),
    )  # fmt: skip
    assert done.code == 0, done.err


def read_texts(
    cli: Cli,
    n: int,
    judgments: Mapping[int, Mapping[str, Any]] = {},
    *,
    annotators: int = 1,
    skip: Sequence[int] = (),
) -> None:
    """Let people finish the first n texts of the order, from 0, all but some."""
    if not Path("proof/people").exists():
        command = (
            "annotate", "reading", "proof/order.jsonl", "-o", "proof/people",
            "--annotators", str(annotators), "--prepare", "--adjudicator", "eve",
        )  # fmt: skip
        done = cli(*command)
        assert done.code == 0, done.err
    write_rows(
        "read.jsonl",
        [
            {
                "unit": row["id"],
                "annotator": f"annotator-{(place + step) % annotators + 1}",
                "judgment": {**judgments.get(place, NONE), "done": True},
            }
            for place, row in enumerate(read_rows("proof/order.jsonl")[:n])
            for step in range(min(annotators, row["meta"]["readers"]))
            if place not in skip
        ],
    )
    done = cli("annotate", "import", "proof/people", "read.jsonl")
    assert done.code == 0, done.err


def test_the_order_depends_on_the_seed_and_the_ids_alone(cli: Cli) -> None:
    start(cli, 50)
    ids = [row["id"] for row in read_rows("proof/order.jsonl")]
    assert ids == sorted(
        (f"t{n}" for n in range(50)),
        key=lambda name: sha256(f"417\n{name}".encode()).hexdigest(),
    )


def test_the_digest_is_printed_before_the_seed_is_named(cli: Cli) -> None:
    write_rows("captions.jsonl", captions(60))
    command = ("accept", "start", "captions.jsonl", "--at-most", "0.05", "-o")
    dry = cli(*command, "proof", "--dry-run")
    assert not Path("proof").exists()
    first = cli(*command, "proof")
    assert first.out == dry.out
    assert "name a seed" in first.err
    assert "60 texts; the claim is broken by 4 grave errors" in first.err
    assert not Path("proof/order.jsonl").exists()
    assert (
        "is not drawn yet; name a seed" in cli("accept", "check", "proof").err
    )
    assert cli(*command, "proof", "--seed", "3").out == first.out
    claim = json.loads(Path("proof/claim.json").read_text("utf-8"))
    assert (claim["seed"], claim["seed_after_digest"]) == (3, True)
    before = Path("proof/claim.json").read_bytes()
    assert cli(*command, "proof", "--seed", "3").code == 0
    assert Path("proof/claim.json").read_bytes() == before
    again = cli(*command, "proof", "--seed", "4")
    assert (again.code, "a seed is named once" in again.err) == (2, True)
    other = cli("accept", "start", "captions.jsonl", "--at-most", "0.1", "-o", "proof")  # fmt: skip
    assert (other.code, "contains another proof" in other.err) == (2, True)
    assert "nothing is read yet" in cli("accept", "check", "proof").err
    together = beholder.accept(
        "captions.jsonl", "second", at_most=0.05, seed=3
    )
    assert together["digest"] in first.out
    assert together["seed_after_digest"] is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--at-most", "0.001"), "is less than one: only reading (nearly) all shows it"),
        (("--at-most", "0.05", "--fixed", "--allow", "9"), "read all: then the rate is known, no statistics needed"),
        (("--at-most", "0.05", "--fixed", "--allow", "0"), "plan: read 39 texts and allow 0 grave errors"),
        (("--at-most", "0.05"), "1 of the texts are copies of others"),
        (("--at-most", "0.05"), "is a reader the author of texts or prompts?"),
    ],
)  # fmt: skip
def test_what_a_start_says(
    cli: Cli, options: tuple[str, ...], message: str
) -> None:
    rows = captions(100)
    rows[1]["candidate"] = rows[0]["candidate"]
    write_rows("captions.jsonl", rows)
    done = cli("accept", "start", "captions.jsonl", "-o", "proof", *options)
    assert message in done.err, done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--at-most", "2"), "expected a number between 0 and 1"),
        (("--at-most", "0.02", "--twice", "2"), "expected a number from 0 to 1"),
        (("--at-most", "0.02", "--fixed"), "name --allow, or --expect"),
        (("--at-most", "0.02", "--allow", "1"), "--allow belongs to --fixed"),
        (("--at-most", "0.02", "--claims", "0"), "--claims=0: expected a whole number from 1"),
        (("--at-most", "0.02", "--strata", "town"), "no row has a value of 'town'"),
        (("--at-most", "0.02", "--series", "series", "--expect", "0.0199"), "is too near"),
    ],
)  # fmt: skip
def test_a_start_that_is_refused(
    cli: Cli, options: tuple[str, ...], message: str
) -> None:
    write_rows("captions.jsonl", captions(9))
    done = cli("accept", "start", "captions.jsonl", "-o", "proof", *options)
    assert (done.code, message in done.err) == (2, True), done.err
    assert not Path("proof").exists()


def test_releases_of_a_captioner_have_proofs_of_their_own(cli: Cli) -> None:
    rows = captions(4)
    rows[2]["model"] = "m-2026-11"
    write_rows("captions.jsonl", rows)
    done = cli(
        "accept", "start", "captions.jsonl", "--at-most", "0.1", "-o", "p"
    )
    assert done.code == 2
    assert "texts of 2 captioners or releases" in done.err
    assert "start a proof for each, with --claims 2" in done.err


def test_reading_until_the_claim_is_shown(cli: Cli) -> None:
    # 300 texts, 5 %: 16 errors break the claim.
    start(cli)
    read_texts(cli, 20)
    done = cli("accept", "check", "proof")
    assert done.code == 3
    assert done.out.startswith("not yet: 20 read, 0 grave, at most ")
    more = int(done.out.rpartition("about ")[2].split()[0])
    read_texts(cli, 20 + more - 1)
    assert cli("accept", "check", "proof").code == 3
    read_texts(cli, 20 + more)
    done = cli("accept", "check", "proof", "--json")
    assert done.code == 0
    result = json.loads(done.out)
    assert result["result"]["after"] == 20 + more
    assert result["result"]["text"].startswith(f"accepted after {20 + more}")
    assert [look["n_read"] for look in result["looks"]] == [
        20,
        19 + more,
        20 + more,
    ]
    assert cli("accept", "check", "proof").code == 0
    assert len(read_rows("proof/looks.jsonl")) == 3  # nothing new was seen


def test_a_claim_that_is_wrong_is_refuted(cli: Cli) -> None:
    start(cli)
    read_texts(cli, 40, dict.fromkeys(range(0, 40, 3), GRAVE))
    done = cli("accept", "check", "proof")
    assert done.code == 1
    assert done.out.startswith("refuted: 40 read, 14 grave; more than 5 %")


def test_cannot_judge_counts_as_grave_and_is_shown_apart(cli: Cli) -> None:
    start(cli)
    read_texts(cli, 30, {2: CANNOT, 3: CANNOT, 7: GRAVE})
    done = cli("accept", "check", "proof")
    assert "30 read, 1 grave, 2 cannot be judged and count as grave" in done.out  # fmt: skip
    assert "2 of 30 texts cannot be judged; the bound counts them" in done.err
    assert check(Path("proof"))["result"]["n_errors"] == 3


def test_only_the_unbroken_beginning_counts(cli: Cli) -> None:
    start(cli)
    read_texts(cli, 30, skip=(12,))
    done = cli("accept", "check", "proof")
    assert done.out.startswith("not yet: 12 read")
    assert "17 texts are read but wait for earlier ones" in done.err


def test_two_readers_the_stricter_verdict_and_the_adjudicator(
    cli: Cli,
) -> None:
    start(cli, 300, "--at-most", "0.05", "--twice", "1")
    read_texts(cli, 10, annotators=2)
    study = AnnotationStudy.open(Path("proof/people"))
    assert [len(study.assigned(f"annotator-{n}")) for n in (1, 2)] == [300] * 2
    study.close()
    ids = [row["id"] for row in read_rows("proof/order.jsonl")]
    one_of_two = [
        {"unit": ids[3], "annotator": "annotator-2", "judgment": {**GRAVE, "done": True}},
        {"unit": ids[10], "annotator": "annotator-1", "judgment": {**NONE, "done": True}},
    ]  # fmt: skip
    write_rows("more.jsonl", one_of_two)
    assert cli("annotate", "import", "proof/people", "more.jsonl").code == 0
    result = check(Path("proof"))
    assert result["errors"]["grave"] == 1
    assert result["sample"] == {"n_read": 10, "n_waiting": 1, "n_unread": 290}
    double = result["double_reading"]
    assert (double["texts"], double["differ"]) == (10, 1)
    assert [row["texts"] for row in result["readers"]] == [10, 10, 0]
    write_rows(
        "third.jsonl",
        [{"unit": ids[3], "annotator": "eve", "judgment": {"level": "minor", "done": True}}],
    )  # fmt: skip
    assert cli("annotate", "import", "proof/people", "third.jsonl").code == 0
    result = check(Path("proof"))
    assert result["errors"] == {"grave": 0, "cannot": 0, "minor": 1, "none": 9}
    assert result["readers"][2]["role"] == "adjudicator"
    assert "annotator" not in json.dumps(result)  # people are codes
    assert "eve" not in json.dumps(result).replace("level", "")


def test_planted_errors_widen_the_bound(cli: Cli) -> None:
    start(cli)
    planted = [
        {
            "unit": f"planted-{n}",
            "row": {"candidate": f"A wrong boat {n}."},
            "judgment": GRAVE,
            "use": "attention",
        }
        for n in range(20)
    ]
    write_rows("planted.jsonl", planted)
    command = (
        "annotate", "reading", "proof/order.jsonl", "-o", "proof/people", "--prepare",
        "--gold", "planted.jsonl",
    )  # fmt: skip
    assert cli(*command).code == 0
    study = AnnotationStudy.open(Path("proof/people"))
    shares = study.assigned("annotator-1")
    # Nine texts in the order of the data, then a planted one, and so on.
    assert shares[:9] == list(range(9))
    assert shares[9] >= 300 > shares[10]
    study.close()
    write_rows(
        "gold.jsonl",
        [
            {
                "unit": f"planted-{n}",
                "annotator": "annotator-1",
                "judgment": {**GRAVE, "done": True},
            }
            for n in range(20)
        ],
    )
    assert cli("annotate", "import", "proof/people", "gold.jsonl").code == 0
    read_texts(cli, 100)
    result = check(Path("proof"))
    gold = result["gold"]
    assert (gold["found"], gold["planted"]) == (20, 20)
    assert gold["share_low"] == pytest.approx(0.8316, abs=5e-5)
    assert gold["bound"] > result["result"]["bound"] / 0.8316
    bad = [{**planted[0], "unit": "t1"}]
    write_rows("planted.jsonl", bad)
    done = cli(*command[:4], "second", "--prepare", "--gold", "planted.jsonl")
    assert (done.code, "have a unit of that id" in done.err) == (2, True)


def test_a_fixed_plan_that_was_looked_at_early(cli: Cli) -> None:
    fixed = ("--at-most", "0.05", "--twice", "0", "--fixed", "--allow", "0")
    start(cli, 300, *fixed)
    n = json.loads(Path("proof/claim.json").read_text("utf-8"))["n_planned"]
    read_texts(cli, n)
    result = check(Path("proof"))
    assert (result["result"]["verdict"], result["result"]["method"]) == (
        "accepted",
        "fixed",
    )
    Path("proof/looks.jsonl").unlink()
    write_rows(
        "proof/looks.jsonl",
        [{"date": "2026-11-01", "n_read": n - 1, "n_errors": 0}],
    )
    done = cli("accept", "check", "proof")
    assert done.code == 3
    assert "looked at before the end of the fixed plan" in done.err
    assert check(Path("proof"))["result"]["method"] == "sequence"


@pytest.mark.parametrize(
    "design",
    [("--fixed", "--strata", "place"), ("--series", "series", "--icc", "0.1")],
)
def test_designs_without_early_stop_show_nothing_before_their_end(
    cli: Cli, design: tuple[str, ...]
) -> None:
    options = ("--at-most", "0.1", "--twice", "0", "--allow", "1", *design)
    start(cli, 400, *options)
    claim = json.loads(Path("proof/claim.json").read_text("utf-8"))
    order = read_rows("proof/order.jsonl")
    if claim["method"] == "series":
        series = [row["group"]["series"] for row in order]
        assert series[::4] == list(dict.fromkeys(series))  # whole ones
    else:
        first = [row["group"]["place"] for row in order[: claim["n_planned"]]]
        n = claim["n_planned"]
        assert first.count("lake") in (n // 4, n // 4 + 1)
    read_texts(cli, 5, {1: GRAVE})
    done = cli("accept", "check", "proof")
    assert done.code == 3
    assert "this design has no early stop, so no result is shown" in done.out
    assert not Path("proof/looks.jsonl").exists()
    assert "grave" not in cli("accept", "check", "proof").out
    read_texts(cli, claim["n_planned"], {1: GRAVE})
    result = check(Path("proof"))["result"]
    assert (result["verdict"], result["n_errors"]) == ("accepted", 1)


def test_a_changed_text_is_refused_by_its_id(cli: Cli) -> None:
    start(cli, 40)
    rows = captions(40)
    rows[7]["candidate"] += " Really."
    write_rows("captions.jsonl", [*rows, {**rows[0], "id": "new"}])
    done = cli("accept", "check", "proof")
    assert done.code == 2
    assert "changed after freezing: 2 texts, such as 't7', 'new'" in done.err
    assert "start a new proof" in done.err


def test_a_study_of_another_task_is_refused(cli: Cli) -> None:
    start(cli, 20)
    assert (
        cli("annotate", "ratings", "captions.jsonl", "-o", "s", "--prepare")
    ).code == 0
    done = cli("accept", "check", "proof", "--study", "s")
    assert (done.code, "is a study of ratings" in done.err) == (2, True)
    done = cli("accept", "check", "nowhere")
    assert (done.code, "is not a proof" in done.err) == (2, True)


def _digits(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all numbers in a JSON value."""
    if isinstance(value, dict):
        return [p for k, v in value.items() for p in _digits(v, (*place, k))]
    if isinstance(value, list):
        return [
            p for n, v in enumerate(value) for p in _digits(v, (*place, n))
        ]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [place] if is_number else []


def _change(
    value: Any, place: tuple[Any, ...], by: Callable[[Any], Any]
) -> None:
    for step in place[:-1]:
        value = value[step]
    value[place[-1]] = by(value[place[-1]])


def test_a_certificate_with_one_changed_number_is_refused(cli: Cli) -> None:
    start(cli, 300, "--at-most", "0.05", "--strata", "place")
    edit = {"level": "minor", "final": "A ship, number 3."}
    read_texts(cli, 70, {4: edit}, annotators=2)
    done = cli("accept", "certificate", "proof", "--html", "page.html")
    assert done.code == 0
    path, study = Path("proof/certificate.json"), Path("proof/people")
    command = ("accept", "verify", str(path), "captions.jsonl", str(study))
    assert cli(*command).code == 0
    page = Path("page.html").read_text("utf-8")
    assert "if readers miss one grave error in five, a bound of 5 % is 6.25 %" in page  # fmt: skip
    assert "<script" not in page
    text = path.read_text("utf-8")
    path.write_text(text.replace('"n_read": 70', '"n_read": 71', 1), "utf-8")
    done = cli(*command)
    assert done.code == 1
    assert "digest: is not that of the certificate" in done.err
    assert "71 in the certificate, 70 recomputed" in done.err
    # Also if the digest is made to fit: whatever data and study determine is recomputed.
    content = json.loads(text)
    free = {"looks", "format"}
    places = [p for p in _digits(content) if p[0] not in free]
    assert len(places) > 30
    for place in places[:: len(places) // 12]:
        changed = json.loads(text)
        _change(changed, place, lambda number: number + 1)
        changed["digest"] = digest_of(changed)
        path.write_text(json.dumps(changed), "utf-8")
        assert verify(path, "captions.jsonl", study), place
    path.write_text(text, "utf-8")
    again = certify(Path("proof"))
    assert again == content  # the same reading gives the same certificate


def test_edits_are_counted_in_words() -> None:
    for before, after, n in (
        ("a b c", "a b c", 0),
        ("a b c", "", 3),
        ("a cat sits on a mat", "a dog sat on the mat", 3),
        ("one two three", "two three four", 2),
    ):
        assert count_edits(before.split(), after.split()) == n
    assert edits_of([]) == {"texts": 0}


def test_a_claim_is_about_all_texts_of_its_file(cli: Cli) -> None:
    """Later commands read the file again, without options that leave rows of it out."""
    write_rows("captions.jsonl", [*captions(20), {"id": "no text"}])
    for option in ("--skip-bad-rows", "--limit 5", "--group-references"):
        refused = cli(
            "accept", "start", "captions.jsonl", "--at-most", "0.1", "-o", "p",
            *option.split(),
        )  # fmt: skip
        assert refused.code == 2
        name = option.split()[0]
        assert f"{name} is not used: a claim is about all texts" in refused.err
        assert not Path("p").exists()
