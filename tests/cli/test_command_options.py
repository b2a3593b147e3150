"""Which options there are, what help shows, and what the command line loads to say so."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
from cyclopts import App, Argument

from beholder.cli.main import app
from toy.command import Cli, runner

ROOT = Path(__file__).parents[2]

OPTIONS = {
    "demo": "--output -o",
    "score": (
        "--address --allow-failed --base-url --key-env --batch --cache --clean --concurrency --dry-run --embedder "
        "--engine --fail-under --frames --gate-on --gates --json --judge --label --labels --limit --map --margin --markdown "
        "--max-cost --not-worse-than --until --worse-than "
        "--media-root --metric "
        "--no-report --output --parts --group-references --prompts --references-from --replicates --require-all --samples --skip-bad-rows --temperature "
        "--workers -m -o"
    ),
    "report": "--figures --output -o",
    "compare": "--allow-different --json --label --labels --margin --markdown --output --tables -o",
    "agree": (
        "--base-url --key-env --cache --control --data --dry-run --embedder --expert --json --judge --judges --statistic "
        "--label --labels --limit --map --markdown --max-cost --media-root --metric --no-figures --output --published "
        "--resamples --subset --suite --tables --workers -m -o"
    ),
    "leaderboard": "--figure --json --label --labels",
    "rank": (
        "--engine --address --parts --ablate --allow-failed --base-url --key-env --cache --concurrency --dry-run --embedder "
        "--media-root --json --judge --language --max-cost --output --resamples --scorer "
        "--skip-bad-rows --threshold --workers -o -s"
    ),
    "review": (
        "--engine --address --parts --allow-failed --base-url --key-env --cache --concurrency --media-root --judge --language "
        "--max-cost --output --skip-bad-rows --temperature --words -o"
    ),
    "caption": (
        "--engine --address --parts --allow-failed --base-url --key-env --batch --cache --concurrency --context --dataset --dry-run "
        "--judge --language --limit --max-cost --media-root --output --prompts "
        "--skip-bad-rows --system-column --temperature --words -o"
    ),
    "classify": (
        "--engine --address --parts --allow-failed --base-url --key-env --batch --by --cache --categories --column "
        "--concurrency --dry-run --judge --limit --max-cost --media-root --output --prompts "
        "--skip-bad-rows --temperature -o"
    ),
    "translate": (
        "--engine --address --parts --allow-failed --base-url --key-env --batch --cache --column --concurrency --dry-run "
        "--from --judge --limit --max-cost --media-root --output --prompts --skip-bad-rows "
        "--temperature --to -o"
    ),
    "bidirectional": (
        "--category --cuts --dataset --human-rating --json --language --metric --output "
        "--random --rating --system -m -o"
    ),
    "steps": "--metric --output -m -o",
    "suite comparison": (
        "--base-url --key-env --batch --cache --concurrency --embedder --json --judge --limit --max-cost "
        "--media-root --metric --output --prompts --resamples --seed --skip-bad-rows --temperature "
        "--workers --writer -m -o"
    ),
    "suite authors": (
        "--author --base-url --key-env --batch --cache --concurrency --embedder --json --judge --limit "
        "--max-cost --media-root --metric --others --output --prompts --resamples --seed "
        "--skip-bad-rows --temperature --workers -m -o"
    ),
    "metrics": "",
    "show": "",
    "doctor": "--base-url --key-env --judge",
    "graph": "--coref --json --parser --rules --svg",
    "graph-check": "--coref --json --parser --rules",
    "plan": (
        "--against --difference --icc --json --judge-r --judged --kappa --labels --per-picture "
        "--power --r --sd --shares --systems --value --width -v"
    ),
    "judge-check": "--answers --base-url --key-env --replicates --temperature",
    "cache stats": "--cache",
    "cache export": "--cache --run",
    "cache prune": "--cache --days",
    "cache verify": "--cache",
    "narrate extract": (
        "--map --cover --days --embedder --media-root --jsd --like --method "
        "--output --replications --scale --seed "
        "--skip-bad-rows --skip-undated --source --spread-dates --target --topics --window --year -k -o"
    ),
    "narrate judge": (
        "--allow-failed --anchors --base-url --key-env --by --cache --captioner --map "
        "--concurrency --context --dry-run --media-root --json --judge --judges --max-cost "
        "--max-side --output --pictures --rule --share --skip-bad-rows --temperature "
        "--weight --year -K -o"
    ),
    "narrate transitions": (
        "--allow-failed --base-url --key-env --by --cache --captioner --map --concurrency "
        "--context --dry-run --embedder --human --media-root --jsd --json --judge --judges "
        "--max-cost --max-side --output --pictures --scale --skip-bad-rows --temperature "
        "--topics --year -K -o"
    ),
    "narrate compare": (
        "--allow-failed --anchors --base-url --key-env --by --cache --captioner --map "
        "--concurrency --context --dry-run --embedder --human --media-root --jsd --json "
        "--judge --judges --max-cost --max-side --output --pictures --rule --scale --share "
        "--skip-bad-rows --steps-by --temperature --topics --weight --year -K -o"
    ),
}
"""Options of each command in version 0.1, which scripts may use."""

COMMANDS = [name for name in app if not name.startswith("-")]
ROWS = "--limit --skip-bad-rows --media-root"
JUDGING = "--base-url --key-env --temperature --prompts --batch --samples"
WORK = "--workers --concurrency --cache --max-cost"
FINISH = "--allow-failed --json --dry-run"
RUNS = ("score", "rank", "review", "caption", "classify", "translate")
_ROW = re.compile(r"^│ +\*? *((?:--?[\w-]+ )+)")


HELP_IN_CHILDREN = """
import contextlib, io, json, os, sys
from beholder.cli.main import main
def show(arguments):
    sys.argv[1:] = arguments.split()
    status = 0
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main()
        except SystemExit as exit_:
            status = exit_.code or 0
    return [status, out.getvalue(), list(sys.modules)]
calls = json.loads(sys.argv[1])
show("metrics --help")
for arguments in calls:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as pipe:
            json.dump(show(arguments), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        print(pipe.read())
    os.waitpid(child, 0)
"""
"""Prints what commands show and load, each in a process of its own.

These processes are copies of one that has shown the help of one small command: to import the
command line takes longest.
"""


@dataclass(frozen=True)
class HelpPage:
    """What a call for help exits with, prints and loads."""

    status: int
    text: str
    modules: set[str]


@pytest.fixture(scope="session")
def pages() -> dict[str, HelpPage]:
    """The help of every command, by its arguments; made once."""
    names = dict.fromkeys([*COMMANDS, *OPTIONS])
    calls = ["--help", "--version", *(f"{name} --help" for name in names)]
    done = subprocess.run(
        [sys.executable, "-c", HELP_IN_CHILDREN, json.dumps(calls)],
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    )
    options_by_page = {}
    for call, line in zip(calls, done.stdout.splitlines(), strict=True):
        status, text, modules = json.loads(line)
        options_by_page[call] = HelpPage(status, text, set(modules))
    return options_by_page


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    monkeypatch.setenv("COLUMNS", "200")
    return runner(monkeypatch, capsys)


def options_in_help(help_text: str) -> set[str]:
    """The options that a help page lists."""
    rows = (_ROW.match(line) for line in help_text.splitlines())
    return {name for row in rows if row for name in row[1].split()}


def test_no_option_is_lost(pages: dict[str, HelpPage]) -> None:
    lost = {}
    for command, options in OPTIONS.items():
        page = pages[f"{command} --help"]
        if missing := set(options.split()) - options_in_help(page.text):
            lost[command] = missing
        assert f"Example: beholder {command}" in page.text
    assert lost == {}


def test_runs_share_their_groups_of_options(
    pages: dict[str, HelpPage],
) -> None:
    shared = set(f"{ROWS} {JUDGING} {WORK} {FINISH}".split())
    lost = {
        command: missing
        for command in RUNS
        if (
            missing := shared
            - options_in_help(pages[f"{command} --help"].text)
        )
    }
    assert lost == {}


@pytest.mark.parametrize(
    "command",
    [*RUNS, "narrate judge", "narrate transitions", "narrate compare"],
)
def test_groups_of_options_reach_the_command(command: str) -> None:
    required = {
        "review": "--judge j",
        "caption": "-o o",
        "classify": "-o o --categories c",
        "translate": "-o o --from a --to b",
    }
    options = "--limit 3 --base-url u --key-env KEY --cache c --max-cost 1.5 --json --dry-run"
    _, bound, _ = app.parse_args(
        f"{command} data {required.get(command, '')} {options}"
    )
    run = bound.arguments["run"]
    assert (run.rows.limit, run.rows.skip_bad_rows) == (3, False)
    assert (run.judging.base_url, run.judging.key_env) == ("u", "KEY")
    assert (run.work.cache, run.work.max_cost, run.work.workers) == (
        "c",
        1.5,
        None,
    )
    assert (
        run.finish.as_json,
        run.finish.dry_run,
        run.finish.allow_failed,
    ) == (True, True, 0)
    assert run.work.to_options().cache == Path("c/answers.sqlite")


def test_no_option_has_an_opposite_and_nothing_internal_is_shown(
    pages: dict[str, HelpPage],
) -> None:
    shown_options = options_in_help(pages["score --help"].text)
    assert shown_options == set(f"{OPTIONS['score']}".split())


def test_help_names_what_is_taken_where_nothing_is_said(
    pages: dict[str, HelpPage],
) -> None:
    text = " ".join(pages["score --help"].text.replace("│", " ").split())
    assert "by default one that fits the data; repeatable." in text
    assert "still count as success. [default: 0]" in text
    assert "[default: ]" not in text
    assert "[default: False]" not in text
    assert (
        "[choices: fixed, reference] [default: fixed]"
        in pages["graph --help"].text
    )


WORK_MODULES = [
    "asyncio",
    "httpx2",
    "jinja2",
    "matplotlib",
    "numpy",
    "PIL",
    "pyarrow",
    "sacrebleu",
    "scipy",
    "spacy",
    "sqlite3",
    "ssl",
    "tokenizers",
]
"""Of the work and slow to import; ``python -X importtime -m beholder --help`` tells the rest."""


def test_help_and_version_wait_for_no_module_of_the_work(
    pages: dict[str, HelpPage],
) -> None:
    modules = {f"beholder.cli.{name.replace('-', '_')}" for name in COMMANDS}
    wrong: list[tuple[object, ...]] = []
    for arguments, page in pages.items():
        assert "cyclopts" in page.modules
        slow = page.modules & set(WORK_MODULES)
        if page.status or slow:
            wrong.append((arguments, page.status, slow))
        other_modules = modules & page.modules
        if arguments != "--help" and len(other_modules) > 3:
            wrong.append((arguments, "imports other commands", other_modules))
    assert wrong == []


def test_the_list_of_commands_says_what_each_is_for(cli: Cli) -> None:
    for arguments in (["--help"], ["-h"], []):
        output = cli(*arguments).out
        assert "Score a data set; run the same command again" in output
        assert "Sequences of pictures: extract storylines" in output
        assert "The answers of judges that all runs share." in output


def test_completion_of_a_shell_knows_commands_that_are_not_imported_yet(
    tmp_path: Path,
) -> None:
    command = ("--install-completion", "--shell", "bash")
    subprocess.run(
        [sys.executable, "-m", "beholder", *command],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    (script,) = (path for path in tmp_path.rglob("beholder") if path.is_file())
    words = ("graph-check", "--fail-under", "--spread-dates", "--annotators")
    for word in (*words, "--skip-bad-rows"):
        assert word in script.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scoer"], 'Did you mean "score"?'),
        (["score"], "DATA requires an argument: A .jsonl, .csv"),
        (
            ["annotate", "ratings", "d.csv"],
            "--output requires an argument: Folder of the study.",
        ),
        (["score", "d.jsonl", "--metrc", "vcs"], "Did you mean --metric?"),
        (["score", "--dry-rnu"], "there is no option --dry-rnu"),
        (
            ["score", "d.jsonl", "--limit", "many"],
            'unable to convert "many" into int',
        ),
        (
            ["score", "d.jsonl", "--limit", "0"],
            "limit=0: expected a whole number from 1",
        ),
        (
            ["score", "d.jsonl", "--max-cost", "-1"],
            "max_cost=-1.0: expected a number from 0",
        ),
        (["judge-check", "openai:m", "--replicates", "1"], "--replicates"),
        (
            ["bidirectional", "run", "--cuts", "half"],
            "expected two numbers, such as 0.5,0.8",
        ),
        (["cache", "stats", "--cache", "off"], "the cache is off"),
    ],
)
def test_wrong_usage_is_one_line_and_exits_2(
    cli: Cli, arguments: list[str], message: str
) -> None:
    done = cli(*arguments)
    assert done.code == 2
    assert done.err.startswith("beholder: ")
    assert done.err.count("\n") == 1
    assert message in done.err


def _examples() -> list[str]:
    """Every command line of the pages: a line of code that begins with the program's name."""
    pages = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    blocks = (
        block
        for page in pages
        for block in re.findall(
            r"^```(?:bash|sh|console)?\n(.*?)^```",
            page.read_text("utf-8"),
            re.M | re.S,
        )
    )
    joined = (block.replace("\\\n", " ") for block in blocks)
    return [
        line
        for block in joined
        for line in block.splitlines()
        if line.startswith("beholder ")
    ]


@pytest.mark.parametrize("line", _examples())
def test_commands_of_the_pages_can_be_given(line: str) -> None:
    arguments = shlex.split(line, comments=True)[1:]
    command, bound, _ = app.parse_args(arguments)
    assert command.__module__.startswith(
        ("beholder.cli.", "beholder.kinds.", "beholder.lint.")
    )
    assert bound.signature


def _options(inside: App = app) -> Iterator[list[Argument]]:
    """The arguments of every command."""
    for name in inside:
        if not name.startswith("-"):
            if inside[name].default_command is not None:
                arguments = inside[name].assemble_argument_collection(
                    parse_docstring=True
                )
                yield [
                    argument
                    for argument in arguments
                    if argument.parse and argument.show
                ]
            yield from _options(inside[name])


@pytest.fixture(scope="module")
def options() -> list[list[Argument]]:
    return list(_options())


def test_no_panel_has_more_than_twelve_options(
    options: list[list[Argument]],
) -> None:
    for arguments in options:
        panels = Counter(
            str(argument.parameter.group)
            for argument in arguments
            if argument.name.startswith("-")
        )
        assert max(panels.values(), default=0) <= 12, arguments


def test_the_help_of_an_option_is_one_short_sentence(
    options: list[list[Argument]],
) -> None:
    for argument in chain.from_iterable(options):
        assert re.fullmatch(
            r"(?:(?!\.\s)[\s\S]){3,100}(?<=\.)",
            argument.parameter.help or "",
        ), argument.name
