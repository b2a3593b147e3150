"""The GitHub action, the pre-commit hook and the container, as far as a machine can be imitated."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from beholder.cli.main import app
from beholder.web.settings import Settings

ROOT = Path(__file__).parents[1]
GOOD = '<img src="boat.png" alt="A red boat on the sand">'
BAD = '<img src="boat.png">'


def steps_by_name() -> dict[str, dict[str, Any]]:
    """Return the steps of the action by name."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    return {step["name"]: step for step in action["runs"]["steps"]}


def run_check(folder: Path, **inputs: str) -> tuple[str, Path]:
    """Run the step "Check" in a folder as a runner does; return its status and its results."""
    step = steps_by_name()["Check"]
    # Each variable stands for an input of the same name.
    names = {
        variable: re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)
        for variable, value in step["env"].items()
    }
    variables = {
        variable: inputs.get(match[1].replace("-", "_"), "")
        for variable, match in names.items()
        if match is not None
    }
    assert variables.keys() == step["env"].keys()
    temporary = folder / "temp"
    temporary.mkdir()
    scripts = Path(sys.executable).parent
    environment = {
        **os.environ,
        **variables,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(temporary),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    subprocess.run(
        [
            "bash",
            "--noprofile",
            "--norc",
            "-e",
            "-o",
            "pipefail",
            "-c",
            step["run"],
        ],
        cwd=folder,
        env=environment,
        check=True,
    )
    output = (folder / "output").read_text("utf-8")
    return output.strip().removeprefix("status="), temporary / "beholder"


@pytest.mark.parametrize(
    ("page", "options", "status", "rules"),
    [
        (GOOD, "", "0", []),
        (BAD, "", "1", ["ALT001"]),
        (BAD, "--fail-on=never", "0", ["ALT001"]),
        (BAD, "--ignore=ALT001\n\n--profile=museum", "0", []),
    ],
)
def test_action_lints_reports_and_gives_the_status(
    tmp_path: Path, page: str, options: str, status: str, rules: list[str]
) -> None:
    (tmp_path / "a page.html").write_text(page, "utf-8")
    seen, results = run_check(
        tmp_path, lint="a page.html\n", lint_options=options
    )
    assert seen == status
    sarif = json.loads((results / "sarif/lint.sarif").read_text("utf-8"))
    found_rules = [row["ruleId"] for row in sarif["runs"][0]["results"]]
    assert found_rules == rules
    assert "1 picture in 1 file" in (tmp_path / "summary.md").read_text()


def test_action_scores_and_keeps_the_failed_gate(tmp_path: Path) -> None:
    row = {"candidate": "A boat.", "references": ["A red boat on the sand."]}
    (tmp_path / "data.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    status, results = run_check(
        tmp_path,
        score="data.jsonl",
        score_options="--metric=chrf\n--fail-under=chrf=0.99\n--gate-on=mean\n"
        "--cache=off",
    )
    assert status == "1"
    sarif = json.loads((results / "sarif/score.sarif").read_text("utf-8"))
    assert sarif["runs"][0]["results"]
    assert "chrf" in (tmp_path / "summary.md").read_text("utf-8")


def test_no_input_of_the_action_is_pasted_into_a_script() -> None:
    for step in steps_by_name().values():
        assert "${{" not in step.get("run", "")


def test_hook_checks_the_files_that_a_commit_changes(tmp_path: Path) -> None:
    [hook] = yaml.safe_load(
        (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    )
    names = ["page.html", "notes.md", "slides.pptx", "picture.png", "code.py"]
    assert [name for name in names if re.search(hook["files"], name)] == names[
        :3
    ]
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", *hook["entry"].split(), str(page)]
    for content, status in ((GOOD, 0), (BAD, 1)):
        page.write_text(content, "utf-8")
        result = subprocess.run(command, capture_output=True, check=False)
        assert result.returncode == status


def container_lines() -> list[tuple[str, str]]:
    """Return each instruction of the container file with its words."""
    text = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip()]
    return [
        (instruction, words)
        for instruction, _, words in (line.partition(" ") for line in lines)
        if not instruction.startswith("#")
    ]


def test_container_copies_what_is_there_and_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    sources = [
        source
        for instruction, words in container_lines()
        if instruction == "COPY" and "--from=" not in words
        for source in words.split()[:-1]
    ]
    assert len(sources) > 5
    for source in sources:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignored
    # What building the package reads is among them.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = [project["project"]["readme"], *wheel["shared-data"]]
    assert {*needed, "LICENSE", "NOTICE", "src"} <= {*sources}
    words = " ".join(words for _, words in container_lines())
    assert {*re.findall(r"--extra (\w+)", words)} <= extras.keys()


def test_container_serves_the_page_of_texts_as_a_user_with_a_token() -> None:
    instructions = container_lines()
    starts = [i for i, (name, _) in enumerate(instructions) if name == "FROM"]
    last_stage = instructions[starts[-1] :]
    by_name = dict(last_stage)
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", by_name["USER"])
    # Only the finished environment comes from the stage that builds.
    copied = [words for name, words in last_stage if name == "COPY"]
    assert copied == ["--from=build /opt/beholder /opt/beholder"]
    assert json.loads(by_name["ENTRYPOINT"]) == ["beholder"]
    words = json.loads(by_name["CMD"])
    command, bound, _ = app.parse_args(
        words, print_error=False, exit_on_error=False
    )
    assert command.__name__ == "view"
    assert bound.kwargs["trying"]
    server = bound.kwargs["server"]
    assert str(server.port) == by_name["EXPOSE"]
    settings = Settings(host=server.host, token=server.token)
    assert not settings.open_to_all
    assert settings.may_be_called(f"localhost:{server.port}")
