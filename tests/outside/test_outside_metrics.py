"""The package of docs/start/package.md: its files are those of the page, and its commands run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.pages import ROOT, blocks, commands

from beholder.base import registry
from beholder.errors import ConfigError
from beholder.judges.templates import Templates
from beholder.metrics import METRICS, Tools, metric
from toy.command import Cli

PACKAGE = Path(__file__).parent / "seen-colours"
PAGE = ROOT / "docs/start/package.md"
_FILE = re.compile(
    r"^`(?P<name>[\w./]+)`[^\n]*:\n\n(?:<!-- needs:[^\n]*\n)?```\w+\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
QUOTED = {
    match["name"]: match["text"]
    for match in _FILE.finditer(PAGE.read_text("utf-8"))
}

pytestmark = pytest.mark.usefixtures("own_operations")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the package and the metadata that an installer makes of its pyproject.toml."""
    site = tmp_path / "site"
    shutil.copytree(PACKAGE / "seen_colours", site / "seen_colours")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    info = site / f"seen_colours-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (
            f"[{group}]",
            *(f"{name} = {value}" for name, value in points.items()),
        )
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(site))
    yield site
    for name in [
        name for name in METRICS._classes if name.startswith("seen-colours/")
    ]:
        del METRICS._classes[name]
    for name in [
        module
        for module in sys.modules
        if module.partition(".")[0] == "seen_colours"
    ]:
        del sys.modules[name]
    registry.find_origin.cache_clear()


@pytest.fixture
def cli(
    site: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Cli:
    monkeypatch.setenv("OPENAI_API_KEY", "none")  # nobody is asked
    (tmp_path / "texts.jsonl").write_text(QUOTED["texts.jsonl"])
    (tmp_path / "rules.jsonl").write_text(
        json.dumps({"contains": "", "answer": {"grade": 4}})
    )
    return cli


def mean(folder: str, value: str) -> list[float]:
    summary = json.loads(Path(folder, "run.json").read_text("utf-8"))[
        "summary"
    ]
    return [result["values"][value]["mean"] for result in summary]


def test_the_page_quotes_the_files() -> None:
    files = {
        str(path.relative_to(PACKAGE)): path.read_text("utf-8")
        for path in (*PACKAGE.glob("*.*"), *PACKAGE.glob("seen_colours/*.py"))
    }
    assert files.pop("seen_colours/__init__.py") == ""
    assert {
        name: text for name, text in QUOTED.items() if name != "texts.jsonl"
    } == files


def test_its_own_tests_pass(site: Path, tmp_path: Path) -> None:
    shutil.copy2(PACKAGE / "test_seen_colours.py", tmp_path)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            str(tmp_path),
        ],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(site), *sys.path]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def test_the_commands_of_the_page_give_what_it_says(cli: Cli) -> None:
    outputs = {}
    for block in blocks(PAGE):
        for words in commands(block.code) if block.language == "sh" else ():
            if words[0] == "beholder":
                done = cli(*words[1:])
                assert done.code == 0, f"{shlex.join(words)}: {done.err}"
                outputs[shlex.join(words[1:])] = done.out
    assert "seen-colours/vivid" in outputs["metrics"]
    assert mean("runs/colours", "colours") == [1.5, 0.5]
    assert mean("runs/supported", "precision") == [0.75]
    command = "score texts.jsonl -m seen-colours/vivid --judge openai:MODEL"
    assert "about 2 judge calls" in outputs[f"{command} --dry-run"]
    assert "about 6 judge calls" in outputs[f"{command} --samples 3 --dry-run"]


def test_a_panel_merges_the_answers(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "low.jsonl").write_text(
        json.dumps({"contains": "", "answer": {"grade": 1}})
    )
    judges = "panel(scripted:rules.jsonl, scripted:low.jsonl)"
    done = cli(
        "score",
        "texts.jsonl",
        "-m",
        "seen-colours/vivid",
        "--judge",
        judges,
        "-o",
        "run",
    )
    assert done.code == 0, done.err
    assert mean("run", "vividness") == [
        0.375
    ]  # (4 + 1) / 2 is 2.5, 1.5 of 4 steps above 1


def test_a_folder_replaces_its_prompt_and_the_signature_says_so(
    cli: Cli, tmp_path: Path
) -> None:
    prompt_folder = tmp_path / "prompts"
    prompt_folder.mkdir()
    (prompt_folder / "seen_colours_vividness.v2.txt").write_text(
        "[system]\nS\n[user]\nRate: $text\n"
    )
    (tmp_path / "rules.jsonl").write_text(
        json.dumps({"contains": "Rate:", "answer": '{"grade":5}'})
    )
    spec = (
        "seen-colours/vivid(judge=scripted('rules.jsonl', prompts='prompts'))"
    )
    assert cli("score", "texts.jsonl", "-m", spec, "-o", "run").code == 0
    assert mean("run", "vividness") == [1.0]
    own_prompt, shipped = (
        text.identities(Tools())["judge"]
        for text in (
            metric(spec),
            metric("seen-colours/vivid(judge='scripted:rules.jsonl')"),
        )
    )
    assert (
        own_prompt.partition("prompts@")[0] == shipped.partition("prompts@")[0]
    )
    assert own_prompt != shipped


def test_what_a_metric_needs_is_among_what_it_asks(site: Path) -> None:
    assert metric("seen-colours/supported").operations_asked == ("verify",)


def test_the_prompt_is_shown(cli: Cli) -> None:
    page = cli("show", "seen_colours_vividness").out
    assert "[system]\nYou judge descriptions of pictures." in page
    assert "seen_colours_vividness" in cli("show", "seen-colours/vivid").out


def test_what_show_prints_is_a_file_of_a_prompt(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/verify.v2.txt").write_text(cli("show", "verify").out)
    prompt = Templates(tmp_path / "prompts")["verify"]
    assert (prompt.version, prompt.sections) == (
        2,
        Templates()["verify"].sections,
    )


def test_the_builtin_judge_is_refused(cli: Cli) -> None:
    done = cli(
        "score",
        "texts.jsonl",
        "-m",
        "seen-colours/vivid",
        "--judge",
        "builtin",
    )
    assert done.code == 2
    assert (
        "the judge builtin has no operation 'seen_colours_vividness'"
        in done.err
    )


@pytest.mark.parametrize(
    "wrong", ["colours", "seen_colours/colours", "seen-colours/colors"]
)
def test_a_wrong_prefix_gets_the_right_name(site: Path, wrong: str) -> None:
    with pytest.raises(
        ConfigError, match="did you mean 'seen-colours/colours'"
    ):
        metric(wrong)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (None, "ModuleNotFoundError: No module"),
        ("", "AttributeError"),
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        (
            "from dataclasses import dataclass\nfrom beholder.metrics import Metric\n"
            "@dataclass\nclass Vivid(Metric[int]):\n    pass\n",
            "TypeError: cannot inherit non-frozen",
        ),
    ],
)
def test_a_broken_entry_point_is_named_and_the_others_are_listed(
    site: Path, cli: Cli, code: str | None, error: str
) -> None:
    (site / "seen_colours/vivid.py").unlink()
    if code is not None:
        (site / "seen_colours/vivid.py").write_text(code)
    listed = cli("metrics")
    assert listed.code == 0
    assert "Number of different" in listed.out
    place = rf"'seen-colours/vivid' cannot be loaded from 'seen_colours.vivid:Vivid': {error}"
    with pytest.raises(ConfigError, match=place):
        metric("seen-colours/vivid")
