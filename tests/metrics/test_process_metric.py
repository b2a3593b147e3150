"""A program as a metric: the page's example, what programs do wrong, and what the signature states."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from tools.pages import ROOT

from beholder import score
from beholder.backends.child_process import MAX_ANSWER_BYTES, read_program
from beholder.errors import ConfigError, RunError
from beholder.metrics import METRICS, Tools, metric
from beholder.records import Item, ItemFailure, ItemScore
from beholder.rewards import reward
from toy.command import Cli

PAGE = ROOT / "docs/start/process.md"
FILES = dict(
    re.findall(
        r"^`([\w.]+)`:\n\n(?:<!--[^\n]*\n)?```\w+\n(.*?)^```$",
        PAGE.read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)
ITEMS = [Item(name, f"A {name} dog.", ("A dog.",)) for name in "abcde"]


def make_program(folder: Path, body: str, settings: str = "") -> Path:
    """A program that runs ``body`` for each ``row``, with one value, x, from 0 to 1."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    (folder / "x.py").write_text(
        "import json, os, sys, threading\n"
        "def give(row, **answer): print(json.dumps({'id': row['id'], **answer}), flush=True)\n"
        f"for line in sys.stdin:\n    row = json.loads(line)\n{lines}\n"
    )
    (folder / "lock.txt").write_text("nothing\n")
    command = json.dumps([sys.executable, "x.py"])
    (folder / "x.toml").write_text(
        f'about = "x"\ncommand = {command}\ninputs = ["candidate"]\nlock = "lock.txt"\n{settings}\n'
        '[values.x]\nhelp = "x"\nlow = 0\nhigh = 1\nbetter = "lower"\n'
    )
    return folder / "x.toml"


def outcomes(file: Path, items: list[Item] = ITEMS) -> list[object]:
    """The value of each scored row, or the message of its failure."""
    return [
        outcome.values
        if isinstance(outcome, ItemScore)
        else outcome.message.partition("x.toml: ")[2]
        for outcome in metric(f"process:{file}").score(items)
    ]


def test_the_example_of_the_page_works_in_an_empty_folder(
    cli: Cli, tmp_path: Path
) -> None:
    assert sorted(FILES) == ["chrf.py", "chrf.toml", "texts.jsonl"]
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    # In place of the page's `python -m venv`, which needs an index: our own environment.
    python = tmp_path / "env/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    (tmp_path / "lock.txt").write_text("sacrebleu\n")
    lines = re.findall(r"^beholder (score .*)$", PAGE.read_text(), re.M)
    assert len(lines) == 2
    for line in lines:
        done = cli(*shlex.split(line))
        assert done.code == 0, done.err + done.out
    sacrebleu = pytest.importorskip("sacrebleu")
    rows = map(json.loads, FILES["texts.jsonl"].rstrip().split("\n"))
    expected = [
        sacrebleu.metrics.CHRF(word_order=2)
        .sentence_score(row["candidate"], row["references"])
        .score
        for row in rows
    ]
    assert "2 reused" in done.err + done.out
    assert f"chrf_pp  {sum(expected) / 2:.1f}" in done.out


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("give(row, error='too long \\x1b[2J')", "too long ␛[2J"),
        ("give(row, values={'x': 2})", "x is 2, which is outside 0 to 1"),
        ("give(row, values={'y': 1})", "the program gave ['y'], expected ['x']"),
        ("give(row, values={})", "the program gave [], expected ['x']"),
        ("print('loading', flush=True)", "the program answered 'loading' (not JSON"),
        ("print('NaN', flush=True)", "the program answered 'NaN' (not JSON"),
        ("give({'id': 7}, values={'x': 1})", "(expected the id 1)"),
        ("give(row)", "(expected values or an error)"),
        ("give(row, values={'x': True})", "Expected `float | null`"),
        ("give(row, values={'x': 1}, more=1)", "unknown field `more`"),
        (f"print('a' * {MAX_ANSWER_BYTES + 9}, flush=True)", "answered with more than 1,048,576 bytes"),
        ("sys.exit('no GPU')", "the program ended (exit status 1); it wrote: no GPU"),
        ("os.kill(os.getpid(), 9)", "the program ended (exit status -9)"),
        ("sys.stderr.write('e' * 9000); sys.exit(3)", f"status 3); it wrote: {'e' * 2000}\n"),
    ],
)  # fmt: skip
def test_what_a_program_does_wrong_is_said_of_the_row(
    body: str, expected: str, tmp_path: Path
) -> None:
    (outcome,) = outcomes(make_program(tmp_path, body), ITEMS[:1])
    assert expected in str(outcome)


def test_a_program_that_does_not_answer_is_not_waited_for(
    tmp_path: Path,
) -> None:
    # A program that has not even started when the time is over gets the same message.
    body = "threading.Event().wait()"
    file = make_program(tmp_path, body, "timeout = 0.1")
    (outcome,) = outcomes(file, ITEMS[:1])
    assert "the program gave no answer in 0.1 seconds" in str(outcome)


def test_a_value_that_is_not_defined_is_left_out(tmp_path: Path) -> None:
    file = make_program(tmp_path, "give(row, values={'x': None})")
    assert outcomes(file, ITEMS[:1]) == [{}]


def test_a_program_that_ended_is_started_again(tmp_path: Path) -> None:
    body = (
        "if ' b ' in row['candidate']: sys.exit('broken')\n"
        "give(row, values={'x': 0.5})"
    )
    file = make_program(tmp_path, body)
    first, second, *others = metric(f"process:{file}").score(ITEMS)
    assert isinstance(second, ItemFailure)
    assert second.transient
    assert "The next row starts it again" in second.message
    for outcome in (first, *others):
        assert isinstance(outcome, ItemScore)
        assert outcome.values == {"x": 0.5}


def test_a_program_that_ends_with_every_row_stops_the_run(
    tmp_path: Path,
) -> None:
    file = make_program(tmp_path, "sys.exit('no torch')")
    with pytest.raises(RunError, match=r"no torch\nThis happened 3 times"):
        outcomes(file)


def test_keys_stay_here_and_no_shell_reads_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("HF_TOKEN", "t")
    monkeypatch.setenv("PLAIN", "p")
    body = "give(row, error=repr([os.environ.get(n) for n in ('OPENAI_API_KEY', 'HF_TOKEN', 'PLAIN')] + sys.argv))"
    file = make_program(tmp_path, body, 'keep_env = ["HF_TOKEN"]')
    text = file.read_text().replace('"x.py"]', '"x.py", "$(touch shell); *"]')
    file.write_text(text)
    (said,) = outcomes(file, ITEMS[:1])
    assert said == "[None, 't', 'p', 'x.py', '$(touch shell); *']"
    assert not (tmp_path / "shell").exists()


def test_the_signature_states_every_file_by_digest(tmp_path: Path) -> None:
    body = "give(row, values={'x': 1})"
    file = make_program(tmp_path, body, 'files = ["weights"]')
    (tmp_path / "weights").write_bytes(b"1")
    signatures = [metric(f"process:{file}").signature()]
    for name in ("x.toml", "lock.txt", "x.py", "weights"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(f"{text}\n# changed\n")
        signatures.append(metric(f"process:{file}").signature())
    assert len(set(signatures)) == 5
    built = metric(f"process:{file}")
    (outcome,) = built.score(ITEMS[:1])
    assert isinstance(outcome, ItemScore)
    assert outcome.signature == built.signature() == signatures[-1]
    assert str(tmp_path) not in outcome.signature
    assert built == metric(built.name) == metric(f"process(file='{file}')")
    assert built.values[0].higher_is_better is False


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('about = "x"\n', "", "about"),
        ('better = "lower"', 'better = "up"', "up"),
        ("low = 0", "low = 1", "'x' has low=1, which is not below high=1"),
        ("low = 0", "low = nan", "not below"),
        ('["candidate"]', '["references"]', "inputs must have 'candidate'"),
        ('["candidate"]', '["candidate", "meta"]', "meta"),
        ("[values.x]", "[values.X]", "needs a name"),
        ("[values.x]", "[value.x]", "value"),
        ('"lock.txt"', '"locked.txt"', "locked.txt cannot be read"),
        ('about = "x"\n', 'about = "x"\ntimeout = 0\n', "timeout"),
        ('about = "x"\n', f'about = "x"\n# {"x" * 70_000}\n', "more than 65,536"),
        ('about = "x"\n', "about = \n", "line 1"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_valid_is_refused(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    file = make_program(tmp_path, "pass")
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(ConfigError, match=re.escape(message)):
        read_program(file)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("process", "name the TOML file"),
        ("process:none.toml", "none.toml cannot be read: No such file"),
        ("process('a', file='b', x=1)", "name the TOML file"),
        ("process(a, b)", "not a literal"),
    ],
)
def test_a_spec_without_a_file_is_refused(spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        metric(spec)


def test_a_program_that_does_not_exist_is_refused_before_any_work(
    tmp_path: Path,
) -> None:
    file = make_program(tmp_path, "pass")
    text = file.read_text().replace(sys.executable, "env/bin/none")
    file.write_text(text)
    with pytest.raises(ConfigError, match="no program 'env/bin/none'"):
        metric(f"process:{file}").identities(Tools())


def test_what_takes_metrics_by_name_can_start_none() -> None:
    assert "process" not in METRICS.names()


def test_inputs_are_those_of_the_file_and_missing_ones_fail(
    tmp_path: Path,
) -> None:
    file = make_program(tmp_path, "give(row, error=repr(sorted(row)))")
    assert outcomes(file, ITEMS[:1]) == ["['candidate', 'id']"]
    text = file.read_text().replace('["candidate"]', '["candidate", "images"]')
    file.write_text(text)
    built = metric(f"process:{file}")
    assert built.looks
    (outcome,) = built.score(ITEMS[:1])
    assert isinstance(outcome, ItemFailure)
    assert "process needs images" in outcome.message
    (outcome,) = built.score([Item("a", "A dog.", images=("no.png",))])
    assert isinstance(outcome, ItemFailure)
    assert "no.png" in outcome.message


@pytest.mark.slow  # starts worker processes
def test_each_worker_starts_a_child_where_the_file_says_so(
    tmp_path: Path,
) -> None:
    body = "open(f'{os.getppid()}.parent', 'w').close(); give(row, values={'x': 0.5})"
    items = [Item(str(n), f"A dog {n}.", ("A dog.",)) for n in range(64)]
    for settings in ("per_worker = true", ""):
        file = make_program(tmp_path, body, settings)
        run = score(
            items,
            [f"process:{file}"],
            out=tmp_path / f"runs{len(settings)}",
            workers=2,
        )
        (result,) = run.summary.values()
        assert result.values["x"].n == 64
        # A quick worker may take all rows, so who started the children counts, not how many.
        parents = {int(path.stem) for path in tmp_path.glob("*.parent")}
        if settings:
            assert parents
            assert os.getpid() not in parents
        else:
            assert parents == {os.getpid()}
        for path in tmp_path.glob("*.parent"):
            path.unlink()


def test_show_explains_a_program_by_its_file(cli: Cli, tmp_path: Path) -> None:
    file = make_program(tmp_path, "give(row, x=0.5)")
    file.write_text(
        file.read_text()
        + '[values.edits]\nhelp = "edits"\nlow = 0\nhigh = inf\nbetter = "lower"\n'
    )
    done = cli("show", "process:x.toml")
    assert done.code == 0, done.err
    lines = [
        [cell.strip() for cell in re.split("[│|]| {2,}", line) if cell.strip()]
        for line in done.out.split("\n")
    ]
    assert ["Each item needs: candidate."] in lines
    assert ["x", "x", "0 to 1", "low"] in lines
    assert ["edits", "edits", "0 or more", "low"] in lines
    assert "process:x.toml" in done.out
    done = cli("show", "process:none.toml")
    assert done.code == 2
    assert "none.toml" in done.err
    # Less is better and there is no most: nothing is the worst of it.
    with pytest.raises(ConfigError, match=r"edits has no worst value"):
        reward(f"process:{file}", value="edits")
