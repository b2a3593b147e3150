"""Docs do not drift: what they show runs, generated pages are fresh, links lead somewhere."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from types import ModuleType

import pytest
from _pytest.mark.structures import ParameterSet
from cyclopts import App, CycloptsError
from tools.pages import (
    HAND_WRITTEN,
    LANGUAGES,
    PAGES,
    ROOT,
    Block,
    Figures,
    blocks,
    commands,
    figures,
    inline_commands,
    long_prose_lines,
    name_of,
)

import beholder
from beholder.cli.main import app
from beholder.metrics import METRICS
from toy.cases import each_case
from toy.command import Cli, runner
from toy.world import make_world

_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
MODEL = re.compile(
    r"\b(openai|anthropic|gemini|decisions|systemone|hf|vllm|st|clip|spacy)\b[:(]|\bclipscore\b"
)
"""A command that names one of these asks a model that tests do not have."""
N_NOT_RUN = 23
"""Blocks with a comment that says what they need; a page that adds one says so here."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data, made once for all pages."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("BEHOLDER_CACHE", "off")
        make_world(folder, lambda line: app(line.split()))
    return folder


def _copy_own(source: str, target: str) -> None:
    """A file of one's own; pictures, of which there are hundreds, are only read."""
    if source.endswith((".jpg", ".png")) or Path(source).parent.name == "all":
        os.link(source, target)
    else:
        shutil.copy2(source, target)


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    world: Path,
    tmp_path: Path,
) -> Cli:
    """Runs commands in a copy of the sample data; what would serve pages returns at once."""
    shutil.copytree(
        world, tmp_path, dirs_exist_ok=True, copy_function=_copy_own
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEHOLDER_CACHE", str(tmp_path / "cache"))
    for vendor in ("OPENAI", "ANTHROPIC", "GEMINI", "TYPESAFE"):
        monkeypatch.setenv(f"{vendor}_API_KEY", "none")  # nobody is asked
    monkeypatch.setattr(
        "beholder.web.serve", lambda app, settings, listening: None
    )
    monkeypatch.setattr(
        "beholder.web.app.serve", lambda app, settings, listening: None
    )
    return runner(monkeypatch, capsys)


def parsed(words: list[str]) -> App:
    """The command of these words, if it is one and takes them all.

    Raises:
        CycloptsError: There is no such command or option, or an argument is missing or wrong.
    """
    app.parse_args(words, print_error=False, exit_on_error=False)
    command: App = app.parse_commands(words)[1][-1]
    return command


def tried(words: list[str], cli: Cli, exit_status: int = 0) -> str:
    """Run a command and return its output; one that asks a model is run up to its first question."""
    command = parsed(words)
    if words[0] == "mcp":
        return ""  # serves until its input ends
    asks = MODEL.search(" ".join(words)) is not None
    if asks:
        if "--dry-run" not in {
            n
            for part in command.assemble_argument_collection()
            for n in part.names
        }:
            return ""
        words = words if "--dry-run" in words else [*words, "--dry-run"]
    done = cli(*words)
    assert " would fail: " not in done.out + done.err, (
        f"beholder {shlex.join(words)}: {done.out}"
    )
    not_installed = asks and done.code == 2 and "pip install" in done.err
    assert done.code == exit_status or not_installed, (
        f"beholder {shlex.join(words)}: {done.err}{done.out}"
    )
    return done.out


def looked_up(words: list[str]) -> None:
    """Fail unless what another program is told of this repository is there."""
    match words:
        case ["make", *targets]:
            names = re.findall(
                r"^([a-z-]+):",
                (ROOT / "Makefile").read_text("utf-8"),
                re.MULTILINE,
            )
            assert {word for word in targets if "=" not in word} <= set(
                names
            ), words
        case ["pip", "install", *wanted]:
            project = tomllib.loads(
                (ROOT / "pyproject.toml").read_text("utf-8")
            )["project"]
            extras = re.findall(r"beholder\[([a-z,]+)\]", " ".join(wanted))
            extra_names = {
                extra for group in extras for extra in group.split(",")
            }
            assert extra_names <= set(project["optional-dependencies"]), words
        case ["man", "beholder"]:
            assert (ROOT / "docs/beholder.1").is_file()
        case ["python", "-m", module, *_]:
            assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), words
        case ["python", script, *_]:
            assert (ROOT / script).is_file(), words
        case _:
            pytest.fail(
                f"cannot be tried: {shlex.join(words)}; say above what it needs"
            )


def run_block(
    block: Block, page: Path, names: dict[str, object], cli: Cli
) -> None:
    """Run what can be run of a block and compare what it prints; look at the rest."""
    output = ""
    if block.language == "python":
        code = compile(
            "\n" * (block.line - 1) + block.code,
            str(page),
            "exec",
            dont_inherit=True,
        )
        if block.needs is None:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, names)  # the blocks of a page build on each other
            output = printed.getvalue()
    elif block.language == "sh":
        for words in commands(block.code):
            if words[0] == "beholder" and block.needs is None:
                output += tried(words[1:], cli, block.exits)
            elif words[0] == "beholder":
                parsed(words[1:])
            elif block.needs is None:
                looked_up(words)
    if (
        block.output is not None
        and block.needs is None
        and block.language in ("python", "sh")
    ):
        assert output.strip() == block.output.strip(), (
            f"the page shows another output:\n{output}"
        )


@each_case(
    "line",
    [
        "beholder score descriptions.jsonl --metrics vcs",
        "beholder scores descriptions.jsonl",
        "beholder score descriptions.jsonl -m vsc",
        "beholder score nowhere.jsonl -m vcs",
        "beholder judge-check openai:MODEL --answer answers.jsonl",
        "beholder score descriptions.jsonl -m posh --judge openia:MODEL",
        "make tests",
        "pip install 'beholder[webs]'",
        "curl example.org",
    ],
)
def test_a_command_that_would_fail_is_found(line: str, cli: Cli) -> None:
    with pytest.raises((CycloptsError, AssertionError, pytest.fail.Exception)):
        run_block(Block("sh", line, 1, None), ROOT / "README.md", {}, cli)


def test_what_needs_more_than_sample_data_is_still_held_against_the_command_line(
    cli: Cli,
) -> None:
    with pytest.raises(CycloptsError):
        run_block(
            Block("sh", "beholder score a --metrics b", 1, "a server"),
            ROOT / "README.md",
            {},
            cli,
        )


def with_examples() -> list[Path]:
    return [
        page
        for page in PAGES
        if any(b.language in {"python", "sh"} for b in blocks(page))
    ]


def page_with_examples(page: Path) -> ParameterSet:
    """Only the README's examples run with every change; those of all pages are parsed."""
    marks = () if page.name == "README.md" else pytest.mark.slow
    return pytest.param(page, id=name_of(page), marks=marks)


@pytest.mark.usefixtures("few_resamples", "own_operations")
@pytest.mark.parametrize(
    "page", [page_with_examples(page) for page in with_examples()]
)
def test_every_example_of_a_page_runs(
    page: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType(
        "example"
    )  # dataclasses look up the module of their class
    monkeypatch.setitem(sys.modules, "example", module)
    for block in blocks(page):
        try:
            run_block(block, page, vars(module), cli)
        except (CycloptsError, AssertionError) as error:
            pytest.fail(f"{name_of(page)}:{block.line}: {error}")


def check_figures(block: Figures, page: Path) -> None:
    """Fail unless a paragraph quotes the numbers that its comment computes, in their order."""
    computed = eval(block.code, {"beholder": beholder})
    remaining = iter(block.quoted)
    for number in computed:
        written = next(
            (quoted for quoted in remaining if float(quoted) == number), None
        )
        assert written is not None, (
            f"{name_of(page)}:{block.line}: {number} is computed and not quoted; quoted:"
            f" {', '.join(block.quoted)}"
        )


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=name_of(page)) for page in PAGES if figures(page)],
)
def test_quoted_figures_are_those_of_the_code(page: Path) -> None:
    for block in figures(page):
        check_figures(block, page)


@pytest.mark.parametrize(
    ("code", "output"),
    [("print(1 + 1)", "3"), ("print('a')", "a\nb"), ("pass", "a")],
)
def test_an_output_that_the_code_does_not_print_is_found(
    code: str, output: str, cli: Cli
) -> None:
    block = Block("python", code, 1, None, output)
    with pytest.raises(AssertionError, match="another output"):
        run_block(block, ROOT / "README.md", {}, cli)


def test_a_figure_that_the_code_does_not_give_is_found() -> None:
    page = ROOT / "README.md"
    check_figures(Figures("[0.5, 2]", ["0.50", "7", "2"], 1), page)
    for quoted in (["0.51", "2"], ["2", "0.5"], ["0.5"]):
        with pytest.raises(AssertionError, match="is computed and not quoted"):
            check_figures(Figures("[0.5, 2]", quoted, 1), page)


def test_few_blocks_are_not_run() -> None:
    commands = [
        (name_of(page), b.line, b.needs)
        for page in PAGES
        for b in blocks(page)
        if b.needs
    ]
    assert len(commands) == N_NOT_RUN, commands


@each_case("page", PAGES)
def test_blocks_say_what_they_are(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert 2 * len(blocks(page)) == len(
        re.findall(r"^ *```", text, re.MULTILINE)
    ), "odd fences"


@each_case(
    "page",
    [*HAND_WRITTEN, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"],
)
def test_lines_of_prose_are_short(page: Path) -> None:
    assert long_prose_lines(page.read_text(encoding="utf-8")) == []


def test_a_long_line_is_found_in_prose_alone() -> None:
    words = "a " * 51
    lines = [
        f"{words}.",
        f"- {words}.",
        f"| {words} |",
        f"# {words}",
        f"<!-- {words} -->",
        f"[page]: {words}",
        f"See https://example.org/{'a' * 100}.",
        "```text",
        words,
        "```",
        "a" * 101,
        "a" * 100,
    ]
    assert long_prose_lines("\n".join(lines)) == [1, 2, 11]


@each_case("page", PAGES)
def test_commands_in_the_text_exist(page: Path) -> None:
    for line in inline_commands(page.read_text(encoding="utf-8")):
        words = shlex.split(line)[1:]
        command = parsed(words) if len(words) > 2 else find_app(words)
        assert command is not app or words[:1] in (
            ["--help"],
            ["--install-completion"],
        ), line


def find_app(words: list[str]) -> App:
    """The command that is only named, without what it needs."""
    return app.parse_commands([word for word in words if word != "--help"])[1][
        -1
    ]


def examples_of(command: App, name: str) -> Iterator[tuple[str, str]]:
    """Each command with the examples of its help."""
    if command.default_command is not None:
        for inline in inline_commands(
            cleandoc(command.default_command.__doc__ or "")
        ):
            yield name, inline
    for sub in command:
        if not sub.startswith("-"):
            yield from examples_of(command[sub], f"{name} {sub}".strip())


@pytest.mark.nightly  # parsed with every change, as those of the pages
@pytest.mark.slow
@pytest.mark.usefixtures("few_resamples")
@pytest.mark.parametrize("line", [line for _, line in examples_of(app, "")])
def test_examples_of_help_run(line: str, cli: Cli) -> None:
    tried(shlex.split(line)[1:], cli)


def test_examples_of_help_are_taken_and_stand_at_their_command() -> None:
    examples = list(examples_of(app, ""))
    assert len(examples) > 30
    for name, line in examples:
        words = shlex.split(line)[1:]
        assert " ".join(words).startswith(name)
        parsed(words)


@pytest.mark.parametrize("page", with_examples(), ids=name_of)
def test_commands_of_examples_are_taken(page: Path) -> None:
    for block in blocks(page):
        for words in commands(block.code) if block.language == "sh" else ():
            if words[0] == "beholder":
                parsed(words[1:])


@each_case("page", PAGES)
def test_links_lead_to_files(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), (
            f"{page.name} links to {target}"
        )


def load_generator(name: str) -> ModuleType:
    """Return the module of docs/ that writes generated pages."""
    spec = importlib.util.spec_from_file_location(
        name, ROOT / f"docs/{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_guide_to_judges_is_fresh() -> None:
    module = load_generator("make_judges_guide")
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), (
        "run `make docs`"
    )


def test_the_pages_of_metrics_are_fresh() -> None:
    module = load_generator("make_metrics_page")
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in (module.PAGE, *module.FOLDER.iterdir())
    }
    assert texts == module.pages(), "run `make docs`"


def test_each_metric_has_a_row_with_its_anchor_and_a_page() -> None:
    module = load_generator("make_metrics_page")
    table = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    anchors = re.findall(r'^\| <a id="(\w+)"></a>', table, re.MULTILINE)
    assert anchors == METRICS.builtin()
    for name in anchors:
        text = (ROOT / f"docs/metrics/{name}.md").read_text(encoding="utf-8")
        assert f"\n# {name}\n" in text
        assert "\n## Values\n" in text
    assert set(module.GUIDES) <= set(anchors)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs/notebooks").glob("*.ipynb")), ids=name_of
)
def test_notebooks_hold_no_results(path: Path) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs"), (
            "clear the outputs: `make site` makes them anew"
        )
        assert cell.get("execution_count") is None
