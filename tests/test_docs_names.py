"""What docs name exists: sets, metrics, judges, embedders, coreference, make targets, files, names."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from tools.pages import PAGES, ROOT, blocks, commands, name_of

from beholder.backends import BACKENDS
from beholder.base.spec import parse_spec
from beholder.embed import EMBEDDERS
from beholder.embed.images import IMAGE_EMBEDDERS
from beholder.errors import ConfigError
from beholder.judges import JUDGES
from beholder.kinds.agreement.load import SETS
from beholder.kinds.ranking.rankers import ranker
from beholder.language.links import COREFERENCES
from beholder.metrics import METRICS, metric
from beholder.text import SPLITTERS

T = TypeVar("T")

SOURCE = ROOT / "src/beholder"
TARGETS = re.findall(
    r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
)
GROUPS = {
    f"beholder.{kind}"
    for kind in (
        "metrics",
        "embedders",
        "image_embedders",
        "splitters",
        "coreferences",
        "annotation_tasks",
    )
}
PLACEHOLDER = re.compile(r"[A-Z][A-Z_.]*")
"""What a reader fills in: ``METRIC``, ``METRIC.VALUE``, ``RUN...``."""
ENCODERS = {"minilm", "hf", "encoder"}
IN_CODE = [
    path
    for folder in ("src", "tests", "benchmarks", "training", "tools")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path != Path(__file__)
]


class Missing(AssertionError):
    """Something that is named and does not exist."""


def spans(text: str) -> list[str]:
    """Return the texts between single backticks, outside of blocks."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]


def lines_of(page: Path) -> Iterator[list[str]]:
    """Commands of a page as their words, from prose, tables and blocks."""
    for span in spans(page.read_text("utf-8")):
        if re.match(r"(beholder|make|python) \S", span):
            yield shlex.split(span)
        elif re.match(r"-[ms] \S", span):
            yield [
                "beholder",
                "rank" if span.startswith("-s") else "score",
                *shlex.split(span),
            ]
    for block in blocks(page):
        if block.language == "sh":
            yield from commands(block.code)


def check(there: bool, what: str) -> None:
    if not there:
        raise Missing(what)


def check_tool(kind: str, spec: str) -> None:
    """A judge, embedder or the like: its name is registered."""
    spec = spec.partition("=")[2] if re.match(r"[\w-]+=", spec) else spec
    if PLACEHOLDER.fullmatch(spec):
        return
    name = parse_spec(spec).name
    names = {
        "judge": {*JUDGES.names(), *BACKENDS.names(), "panel", "people"},
        "embedder": {*EMBEDDERS.names(), *IMAGE_EMBEDDERS.names()},
        "image_embedder": {*IMAGE_EMBEDDERS.names()},
        "image_text": {"clip"},
        "encoder": ENCODERS,
        "splitter": {*SPLITTERS.names()},
        "reader": {"rapidocr"},
        "coref": {"builtin", "none", *COREFERENCES.names()},
        "coreference": {"builtin", "none", *COREFERENCES.names()},
        "parser": {"builtin", "spacy"},
    }[kind]
    check(name in names or "/" in name, f"there is no {kind} {spec!r}")


def check_asker(asker_text: str, *, ranks: bool) -> None:
    """A metric (or ranker) can be made of the spec, and all tools that it names are there."""
    if asker_text.startswith("process:"):
        # The page has the file; tests/metrics/test_process_metric.py runs it.
        return
    match = re.fullmatch(
        r"([a-z_0-9/]+)(?:\.([a-z_0-9]+))?(\(.*\))?", asker_text
    )
    if PLACEHOLDER.fullmatch(asker_text) or match is None or "/" in match[1]:
        check(
            PLACEHOLDER.fullmatch(asker_text) is not None or "/" in asker_text,
            f"{asker_text!r} is no metric",
        )
        return
    name, value, options = match.groups()
    try:
        asker = (ranker if ranks else metric)(
            name + (options or ""), judge="openai:MODEL"
        )
        if value:
            metric(name + (options or ""), judge="openai:MODEL").value_named(
                value
            )
    except ConfigError as error:
        raise Missing(f"{asker_text!r}: {error}") from error
    for kind, spec in asker.tool_specs():
        check_tool(kind, spec)
    for kind in ("coref", "parser"):
        if hasattr(asker, kind):
            check_tool(kind, getattr(asker, kind))


def check_command(words: list[str]) -> None:
    """Sets, metrics, rankers, judges and embedders that a command of ours names."""
    options = {
        "--judge": "judge",
        "--captioner": "judge",
        "--writer": "judge",
        "--embedder": "embedder",
    }
    for option, argument in pairwise(words):
        if option in ("-m", "--metric", "-s", "--scorer"):
            check_asker(argument, ranks=words[1] == "rank")
        elif option in options and not argument.startswith("-"):
            check_tool(options[option], argument)
    if words[1] == "agree" and len(words) > 2 and not words[2].startswith("-"):
        is_known = words[2] in {*SETS, "long_sxs"} or re.search(
            r"[./]", words[2]
        )
        check(
            bool(is_known or PLACEHOLDER.fullmatch(words[2])),
            f"there is no set {words[2]!r}",
        )


def check_words(words: list[str]) -> None:
    """Check the names of this repository in a shell command."""
    match words:
        case ["beholder", _, *_]:
            check_command(words)
        case ["make", *targets]:
            for target in targets:
                check(
                    "=" in target or target in TARGETS,
                    f"there is no target {target!r}",
                )
        case ["python", "-m", module, *_] if module.startswith("benchmarks."):
            check(
                (ROOT / f"{module.replace('.', '/')}.py").is_file(),
                f"no module {module}",
            )
        case ["python", script, *_] if script.endswith(".py"):
            check((ROOT / script).is_file(), f"there is no {script}")


def check_span(span: str) -> None:
    """A file, a Python name or a metric with options that stands in the text."""
    if "NAME" in span:
        return
    if re.fullmatch(
        r"(tests|src|benchmarks|training|tools|docs|requirements)/[\w./-]*",
        span,
    ):
        check(
            (ROOT / span).exists() or (SOURCE / span).exists(),
            f"there is no file {span}",
        )
    elif re.fullmatch(r"[\w/-]+/[\w-]+\.py", span):
        found_files = (
            folder.glob(f"**/{span}")
            for folder in (SOURCE, ROOT / "tests/outside")
        )
        check(any(map(any, found_files)), f"there is no file {span}")
    elif re.match(r"beholder\.[\w.]+(\(|$)", span):
        check_name(span.partition("(")[0])
    elif (
        match := re.fullmatch(
            r"(coref|parser|splitter)=['\"]([^'\"]+)['\"]", span
        )
    ) is not None:
        check_tool(match[1], match[2])
    elif (match := re.fullmatch(r"([a-z_0-9]+)\(.*=.*\)", span)) and match[
        1
    ] in METRICS.names():
        check_asker(span, ranks=False)


def check_name(dotted: str) -> None:
    """A module, class or function of the package."""
    if dotted in GROUPS:
        return
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            target = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            check(hasattr(target, part), f"there is no {dotted}")
            target = getattr(target, part)
        return


def missing_in(page: Path) -> Iterator[str]:
    """Lines and spans of a page that name what does not exist, with the reason."""
    for words in lines_of(page):
        try:
            check_words(words)
        except Missing as error:
            yield f"{name_of(page)}: {shlex.join(words)}: {error}"
    for span in spans(page.read_text("utf-8")):
        try:
            check_span(span)
        except Missing as error:
            yield f"{name_of(page)}: `{span}`: {error}"


def test_what_pages_name_exists() -> None:
    assert [missing for page in PAGES for missing in missing_in(page)] == []


def test_make_targets_that_code_names_exist() -> None:
    names = {
        (name_of(path), target)
        for path in IN_CODE
        for target in re.findall(
            r"(?:`make |make (?=test-))([a-z]+(?:-[a-z]+)*)",
            path.read_text("utf-8"),
        )
    }
    assert {pair for pair in names if pair[1] not in TARGETS} == set()
    assert len(names) > 5


def is_missing(check: Callable[[T], None], names: T) -> bool:
    """Return whether a check finds that something does not exist."""
    try:
        check(names)
    except Missing:
        return True
    return False


def test_a_line_that_names_what_does_not_exist_is_found() -> None:
    lines = [
        "beholder agree docent -m length",
        "beholder score DATA -m vsc",
        "beholder score DATA -m 'vcs(lcd=1)'",
        "beholder score DATA -m bleu.blue",
        "beholder score DATA -m \"posh(coref='maverick')\"",
        "beholder score DATA -m \"posh(parser='stanza:en')\"",
        "beholder score DATA -m posh --judge openia:M",
        "beholder caption DATA --judge one=openia:M",
        "beholder rank DATA -s \"perplexity(jugde='hf:NAME')\"",
        "beholder narrate compare S --embedder clp:NAME",
        "make test-trl",
        "python benchmarks/nothing.py",
        "python -m benchmarks.nothing",
    ]
    assert [
        line
        for line in lines
        if not is_missing(check_words, shlex.split(line))
    ] == []


def test_a_span_that_names_what_does_not_exist_is_found() -> None:
    spans = [
        "tests/test_nothing.py",
        "metrics/nothing.py",
        "beholder.nothing",
        "beholder.metrics.Nothing",
        "vcs(lcd=1)",
        "coref='maverick'",
    ]
    assert [span for span in spans if not is_missing(check_span, span)] == []


def test_both_first_pages_offer_the_same_starts() -> None:
    """A newcomer reads README.md or docs/index.md; neither may lack a page."""

    def starts(page: Path) -> list[tuple[str, str]]:
        text = page.read_text("utf-8").partition("| you have | page |")[2]
        rows = re.findall(
            r"^\| (.+) \| \[.+\]\((.+)\) \|$", text.partition("\n\n")[0], re.M
        )
        return [(have, link.removeprefix("docs/")) for have, link in rows]

    assert starts(ROOT / "README.md") == starts(ROOT / "docs" / "index.md")
    assert len(starts(ROOT / "README.md")) > 10
