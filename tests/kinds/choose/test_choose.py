"""A choice from the pictures to the decision: what is asked, what is said, what is refused."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import beholder
from servers.faults import serving
from servers.seeing import Seeing
from toy.command import Cli

Rows = Sequence[Mapping[str, Any]]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """A captioner is asked again in each run, as one that changes is."""
    monkeypatch.setenv("BEHOLDER_CACHE", "off")


def write_rows(name: str, rows: Rows) -> None:
    lines = [json.dumps(row) + "\n" for row in rows]
    Path(name).write_text("".join(lines), encoding="utf-8")


def texts(n: int = 12, **further: Any) -> list[dict[str, Any]]:
    """Texts of three captioners with references; c is wrong."""
    return [
        {
            "id": f"p{place}/{system}",
            "image": f"photos/{place}.jpg",
            "candidate": text,
            "references": [f"A red boat with number {place} lies at a pier."],
            "group": {"system": system},
            **further,
        }
        for place in range(n)
        for system, text in (
            ("a", f"A red boat with number {place} lies at a pier."),
            ("b", f"A red boat with number {place} lies at a pier."),
            ("c", "A black cat sleeps on a green sofa."),
        )
    ]


def result(folder: str = "choice") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        Path(folder, "result.json").read_text("utf-8")
    )
    return content


def test_texts_that_exist(cli: Cli) -> None:
    costs = {"a": 0.004, "b": 0.0004, "c": 0.0001}
    rows = texts()
    for row in rows:
        row["dollars"] = costs[row["group"]["system"]]
    write_rows("systems.jsonl", rows)
    done = cli("choose", "systems.jsonl", "-o", "choice")
    assert done.code == 0, done.err
    assert done.out.startswith("b. ")
    assert "not separated in right by 12 pictures" in done.out
    assert "c is worse than " in done.out


def write_photos(n: int = 12, copies: int = 0) -> None:
    """Write n different pictures, and copies of the first."""
    Path("photos").mkdir()
    for place in range(n + copies):
        shade = place if place < n else 0
        picture = Image.new("RGB", (8, 8), (shade * 5, 90, 200 - shade * 7))
        picture.save(f"photos/p{place:03d}.png")


def models(server: Seeing, *further: str, n: int = 12) -> tuple[str, ...]:
    """Arguments of a choice of three models of a server."""
    return (
        "choose", "photos", "-o", "choice", "--base-url", server.url,
        "--captioner", "a=openai:a", "--captioner", "b=openai:b",
        "--captioner", "c=openai:c", "--judge", "openai:judge",
        "--n", str(n), "--repeat", "6", "--price", "a=2/8", "--price", "b=1/4",
        "--price", "c=0.1/0.4", *further,
    )  # fmt: skip


def test_captioners_from_the_pictures_to_the_decision(cli: Cli) -> None:
    write_photos()
    with serving(Seeing()) as server:
        done = cli(*models(server))
        assert done.code == 0, done.err
        counts = Counter(server.asked)
        # Nothing is asked twice, and a folder is read without any question.
        again = cli(*models(server))
        reread = cli("choose", "choice")
        assert server.asked == counts
    assert done.out == again.out == reread.out
    assert done.out.startswith("b. ")
    assert (counts["a"], counts["b"], counts["c"]) == (18, 18, 18)
    assert counts["criteria"] == 12
    # Three pairs of each picture in both orders.
    assert counts["compare"] == 72


def test_a_dry_run_sends_and_writes_nothing(cli: Cli) -> None:
    write_photos()
    with serving(Seeing()) as server:
        done = cli(*models(server, "--dry-run"))
        plain = json.loads(cli(*models(server, "--dry-run", "--json")).out)
        assert not server.bodies
    assert done.code == 0, done.err
    assert not Path("choice").exists()
    assert "12 pictures find a difference of 0." in done.out
    calls = {row["run"]: row["calls"] for row in plain["runs"]}
    assert (calls["first texts of a"], calls["second texts of c"]) == (12, 6)
    assert calls["criteria"] == 12
    assert calls["battles"] == 72
    # Prices of the judge are not known, those of the captioners are.
    assert plain["dollars"] is None
    assert all(
        row["dollars"] > 0
        for row in plain["runs"]
        if "texts of" in row["run"] and "scores" not in row["run"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--captioner", "a=openai:a"),
            "choose compares; to measure one captioner use caption and score",
        ),
        (
            ("--captioner", "openai:a", "--captioner", "openai:a"),
            "two captioners are called 'a'",
        ),
        (
            ("--captioner", "a=openai:a", "--captioner", "b=openai:b"),
            "name a judge that can see (--judge openai:MODEL), or give data with references",
        ),
        ((), "choose compares; name captioners with --captioner NAME=SPEC"),
        (("--limit", "right=2"), "--limit right=2: expected language, clean"),
        (("--price", "a=2"), "--price a=2: expected NAME=IN/OUT"),
        (("--repeat", "-1"), "--repeat -1: expected 0 or more"),
    ],
)
def test_what_is_refused(
    cli: Cli, arguments: tuple[str, ...], message: str
) -> None:
    write_photos(2)
    done = cli("choose", "photos", "-o", "choice", *arguments)
    assert done.code == 2
    assert message in done.err
    assert not Path("choice").exists()


def test_a_judge_that_cannot_see_is_refused_before_any_caption(
    cli: Cli,
) -> None:
    write_photos()
    with serving(Seeing(sees=False)) as server:
        done = cli(*models(server))
        assert not server.asked
    assert done.code == 2
    assert "the judge openai:judge cannot see" in done.err
    assert "give data with references" in done.err


def test_a_captioner_that_fails_is_not_ranked(cli: Cli) -> None:
    write_photos(copies=2)
    with serving(Seeing(failing="c")) as server:
        done = cli(*models(server, "--no-battles", n=13))
    content = result()
    assert done.code == 0, done.err
    assert "c failed on 12 of 12: not ranked" in content["decision"]["steps"]
    assert content["captioners"][2]["figures"]["right"]["value"] is None
    assert content["n_copies"] == 2
    assert "2 drawn pictures repeat the bytes of others" in done.err
    assert "not separated in right by 12 pictures" in done.out
    assert content["decision"]["chosen"] == "b"


def test_texts_in_another_language_are_out(cli: Cli) -> None:
    write_rows("systems.jsonl", texts())
    done = cli("choose", "systems.jsonl", "-o", "choice", "--language", "de")
    assert done.code == 1, done.err
    assert done.out.startswith("No captioner is left")
    steps = result()["decision"]["steps"]
    assert len(steps) == 3
    assert steps[0].startswith("a is out: language 0.000 (0.000 to 0.2")
    assert steps[0].endswith("is below 0.95")


def test_few_pictures_decide_nothing(cli: Cli) -> None:
    write_rows("systems.jsonl", texts(4))
    done = cli("choose", "systems.jsonl", "-o", "choice")
    assert done.code == 3, done.err
    assert done.out.startswith(
        "Not enough data: 4 pictures have a value of right from all of a, b and c, at least 5"
    )


def test_an_unknown_price_is_never_low(cli: Cli) -> None:
    rows = texts(8)
    for row in rows:
        if row["group"]["system"] == "a":
            row["dollars"] = 0.5
    write_rows("systems.jsonl", rows)
    done = cli("choose", "systems.jsonl", "-o", "choice")
    assert done.code == 3, done.err
    assert done.out.startswith("Not decided: a and b are left")
    assert "dollars: unknown for b" in result()["decision"]["steps"]
    assert "8 of 8 rows state no dollars" in done.out


def test_another_choice_in_the_folder_is_refused(cli: Cli) -> None:
    write_rows("systems.jsonl", texts(5))
    assert cli("choose", "systems.jsonl", "-o", "choice").code == 3
    done = cli("choose", "systems.jsonl", "-o", "choice", "--n", "4")
    assert done.code == 2
    assert "choice contains another choice (--n 150, now 4)" in done.err
    Path("choice/pictures.jsonl").write_text("")
    done = cli("choose", "choice")
    assert done.code == 2
    assert "changed since the first start" in done.err
    assert cli("choose", "elsewhere").code == 2


def test_a_captioner_that_changed_between_its_runs(cli: Cli) -> None:
    write_photos(6)
    with serving(Seeing(released_after=6)) as server:
        done = cli(*models(server, "--no-battles", n=6))
    assert done.code == 0, done.err
    figures = result()["captioners"][0]["figures"]
    for name in ("same", "contradicts", "sd_of_run"):
        assert figures[name]["value"] is None
        assert (
            figures[name]["reason"] == "the model changed between the two runs"
        )
    assert "stable is not computed" in done.err


def test_a_judge_that_prefers_a_seat_does_not_see_the_difference(
    cli: Cli,
) -> None:
    write_photos(6)
    with serving(Seeing(seat=True)) as server:
        assert cli(*models(server, n=6)).code == 0
    fought = result()["battles"]
    # The texts of a picture differ, so each pair is asked in both orders, and flips.
    assert (fought["n"], fought["n_flips"]) == (18, 18)
    assert "This judge does not see the difference." in fought["text"]
    assert fought["pairs"][0]["score"]["value"] == 0.5


def test_a_judge_is_checked_once_and_an_unfit_one_is_said(cli: Cli) -> None:
    write_photos(6)
    with serving(Seeing()) as server:
        planned = cli(*models(server, "--judge-check", "--dry-run"))
        assert "the check of the judge" in planned.err
        assert not Path("choice").exists()
        done = cli(*models(server, "--judge-check"))
        assert done.code in (0, 3), done.err
        written = Path("choice", "judge-check", "card.json").stat().st_mtime_ns
        cli(*models(server, "--judge-check"))
    checked = Path("choice", "judge-check", "card.json").stat().st_mtime_ns
    assert checked == written
    card = result()["judge_check"]
    # The server's judge gives no usable answer to questions that no step of a choice asks.
    assert (card["verdict"], card["auc"]) == ("unfit", None)
    assert card["n_failed"] == card["n"]
    # It is a caution: the choice is made all the same.
    assert "unfit by" in done.err
    assert "The judge</h2>" in Path("choice", "report.html").read_text("utf-8")


def test_people_rank_the_pictures(cli: Cli) -> None:
    rows = texts(40)
    for row in rows:
        row["candidate"] += f" {row['group']['system']}."
    write_rows("systems.jsonl", rows)
    assert cli("choose", "systems.jsonl", "-o", "choice").code == 3
    sets = [
        json.loads(line)
        for line in Path("choice/look.jsonl").read_text("utf-8").splitlines()
    ]
    # At most a third of the first half are of one pair, and here all are of one.
    assert len(sets) == 20
    # Texts are unnamed, and their order says nothing of whose they are.
    assert set(sets[0]) == {"id", "texts", "image"}
    assert len({row["texts"][0][-3:] for row in sets}) == 3
    assert sets[0]["image"].startswith("photos/")
    halves = Counter(row["half"] for row in result()["look"])
    assert halves == {"disagreement": 5, "random": 15}
    prepared = cli(
        "annotate", "ranking", "choice/look.jsonl", "-o", "choice/people",
        "--pictures", ".", "--annotators", "anna", "--prepare",
    )  # fmt: skip
    assert prepared.code == 0, prepared.err
    judgments = []
    for row in sets:
        # Anna likes b, then a, then c.
        order = sorted(
            range(3), key=lambda p: "bac".index(row["texts"][p][-2])
        )
        judgment = {"order": order, "done": True}
        judgments.append(
            {"unit": row["id"], "annotator": "anna", "judgment": judgment}
        )
    write_rows("ranked.jsonl", judgments)
    done = cli("annotate", "import", "choice/people", "ranked.jsonl")
    assert done.code == 0, done.err
    cli("choose", "choice")
    people = result()["people"]
    assert people["people"] == {"r1": 20}
    assert people["n_pictures"] == 15
    assert people["mean_rank"] == {"a": 2, "b": 1, "c": 3}
    assert set(people["leading"]) == {"a", "b"}
    # Wilson's interval of 15 of 15, by scipy 1.16.
    assert people["first_in_leading"]["low"] == pytest.approx(0.796116)
    page = Path("choice/report.html").read_text("utf-8")
    assert "anna" not in page + Path("choice/result.json").read_text("utf-8")


def test_hostile_texts_on_the_page(cli: Cli) -> None:
    rows = texts(6)
    for row in rows:
        row["candidate"] += f" <script>{row['group']['system']}</script>"
    write_rows("systems.jsonl", rows)
    cli("choose", "systems.jsonl", "-o", "choice")
    page = Path("choice/report.html").read_text("utf-8")
    assert "<script>" not in page
    assert "&lt;script&gt;a&lt;/script&gt;" in page


def test_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = texts(8, seconds=2)
    for row in rows:
        row["seconds"] += row["group"]["system"] == "a"
    write_rows("systems.jsonl", rows)
    content = beholder.choose("systems.jsonl", "choice", limits=["clean=0.2"])
    assert content["decision"]["chosen"] == "b"
    assert content["limits"]["clean"] == 0.2
    assert content["captioners"][0]["figures"]["seconds"]["value"] == 3
    assert beholder.choose("choice")["decision"] == content["decision"]


def without_times(value: Any) -> Any:
    """The result without seconds, hours and the address of the server."""
    times = {"seconds", "seconds_p95", "hours", "wall_hours", "next"}
    if isinstance(value, dict):
        return {
            key: without_times(row)
            for key, row in value.items()
            if key not in times
        }
    return [*map(without_times, value)] if isinstance(value, list) else value


def test_a_budget_of_all_runs_and_what_continues_after_it(cli: Cli) -> None:
    write_photos(6)
    with serving(Seeing()) as server:
        # A caption of a costs .00045 dollars and at most .05, a question to the judge at most .24.
        budget = ("--price", "judge=10/40", "--max-cost", "0.07")
        done = cli(*models(server, "--no-battles", *budget, n=6))
        assert done.code == 2
        assert "pass --max-cost 0.0" in done.err
        assert server.asked == {"a": 12, "b": 12, "c": 12}
        assert cli(*models(server, "--no-battles", n=6)).code == 0
        counts = dict(server.asked)
        Path("choice").rename("stopped")
    with serving(Seeing()) as server:
        assert cli(*models(server, "--no-battles", n=6)).code == 0
        assert dict(server.asked) == counts
    assert without_times(result("stopped")) == without_times(result())


def steady(name: str, n: int = 12, **further: Any) -> list[dict[str, Any]]:
    """Texts of one captioner that are equal to the references."""
    return [
        {
            **row,
            "group": {"system": name},
            "id": f"{row['id']}{name}",
            **further,
        }
        for row in texts(n)
        if row["group"]["system"] == "a"
    ]


def test_what_is_left_out_is_said(cli: Cli) -> None:
    """A row for each thing that the data have and the choice does not use."""
    write_photos(2)
    rows = [*steady("a"), *steady("b")]
    for name, data, options, message in (
        (
            "nojudge",
            rows,
            ("--battles",),
            "battles need a vision model as judge",
        ),
        (
            "klingon",
            rows,
            ("--language", "Klingon"),
            "'Klingon' is no language",
        ),
        ("nb", rows, ("--language", "nb"), "Danish count as Norwegian"),
        (
            "short",
            [{**row, "candidate": "A boat."} for row in rows],
            (),
            "a: 12 texts are too short to detect their language",
        ),
        (
            "bad",
            [*rows, {"candidate": 5}],
            ("--skip-bad-rows",),
            "1 invalid rows",
        ),
        ("few", rows, (), "the collection has 12 pictures to draw, 150 were"),
    ):
        write_rows(f"{name}.jsonl", data)
        done = cli("choose", f"{name}.jsonl", "-o", name, *options)
        assert message in done.err, (name, done.err)
    done = cli("choose", "few.jsonl", "-o", "priced", "--price", "a=1/2")
    assert done.code == 2
    assert "state the dollars of each text in its row" in done.err


def test_costs_of_captioners_of_one_model(cli: Cli) -> None:
    """Two settings of one model; a failure costs nothing and is no unknown price."""
    write_photos()
    with serving(Seeing(refuses_one=True)) as server:
        arguments = models(server, "--no-battles")
        place = arguments.index("b=openai:b")
        done = cli(
            *arguments[:place], "b=openai('a', temperature=0.5)", *arguments[place + 1 :]
        )  # fmt: skip
        assert done.code == 0, done.err
    # 185 tokens in with the picture, 10 out: 2 and 8 dollars a million of a, 1 and 4 of b.
    for row, dollars in zip(
        result()["captioners"], (0.00045, 0.000225), strict=False
    ):
        figures = row["figures"]
        assert row["n_failed"] == 1
        assert figures["dollars"]["value"] == pytest.approx(dollars * 11 / 12)
        assert figures["dollars"]["n"] == 12
        # A failure is no fast answer.
        assert figures["seconds"]["n"] == 11
        assert figures["answered"]["value"] == pytest.approx(11 / 12)
    assert "right is over the 11 of 12 pictures" in done.out
    assert "a and the judge are of one family" not in done.err


def test_the_plan_counts_and_the_command_that_captions_the_rest(
    cli: Cli,
) -> None:
    """Texts that differ are not counted as one question; the last command is a shell's."""
    Path("my photos").mkdir()
    for place in range(6):
        Image.new("RGB", (8, 8), (place, 90, 9)).save(f"my photos/{place}.png")
    with serving(Seeing()) as server:
        arguments = models(
            server, "--context", "It's a museum", "--temperature", "0.2", n=6
        )
        arguments = tuple(
            "my photos" if a == "photos" else a for a in arguments
        )
        plan = json.loads(cli(*arguments, "--dry-run", "--json").out)
        calls = {(r["run"], r["asker"][:4]): r["calls"] for r in plan["runs"]}
        # Each text is taken apart and verified, and its criteria are checked.
        assert calls["scores of first texts", "dcsc"] == 2 * 18
        assert calls["scores of first texts", "chec"] == 18
        assert calls["scores of second texts", "dcsc"] == 2 * 18
        assert cli(*arguments).code == 0
        assert server.asked["a"] == 12
        # A choice that is read keeps how its questions were asked, and takes other prices.
        done = cli(
            "choose", "choice", "--price", "a=0.1/0.1", "--price", "b=1/4"
        )
        assert done.out.startswith("a. ")
        command = shlex.split(result()["next"])
        assert command[:5] == [
            "beholder",
            "caption",
            "my photos",
            "--judge",
            "a=openai:a",
        ]
        assert command[-8:-2] == [
            "--context", "It's a museum", "--base-url", server.url, "--temperature", "0.2",
        ]  # fmt: skip
        # The same captioner: nothing of it is new to a cache of the same questions.
        assert cli(*command[1:]).code == 0
        assert server.asked["a"] == 18
    refused = cli("choose", "choice", "--n", "5")
    assert refused.code == 2
    assert "choice contains another choice (--n 6, now 5)" in refused.err


def test_answers_from_the_cache_keep_their_price(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEHOLDER_CACHE", "cache")
    write_photos(6)
    with serving(Seeing()) as server:
        first = cli(*models(server, "--no-battles", n=6))
        figures = result()["captioners"][0]["figures"]
        assert "from the cache" not in first.err
        Path("choice").rename("before")
        again = cli(*models(server, "--no-battles", n=6))
        assert server.asked["a"] == 12
    assert (
        result()["captioners"][0]["figures"]["dollars"] == figures["dollars"]
    )
    assert (
        "a: 6 of 6 answers are from the cache; their seconds are" in again.err
    )
