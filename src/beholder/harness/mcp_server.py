"""The tools of ``beholder mcp``: checks and scores for assistants, by the Model Context Protocol.

What arrives is untrusted: texts are bounded as those of the viewer's page, metrics are chosen by
name, the judge is that of the command line, and files are read below one folder only.
"""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from beholder._version import __version__
from beholder.aio import run_sync
from beholder.asking.asker import ValueInfo
from beholder.errors import BeholderError, ConfigError, ItemError
from beholder.judges import Budget
from beholder.judges.operations import Verify
from beholder.kinds.scores.limits import MAX_TEXT, MOST_WAITING, check_pasted
from beholder.lint import lint
from beholder.lint.context import vocabulary
from beholder.lint.rules import LintSetting
from beholder.media import file_below
from beholder.metrics import METRICS, Metric, Tools, metric
from beholder.options import default_tools
from beholder.records import Item, ItemScore, Unit
from beholder.report.markdown import run_tables
from beholder.report.study_tables import as_text
from beholder.report.tones import in_words, notable
from beholder.run import SCORES, manifest

MOST_TEXTS = 200
"""Texts of one check, and statements about one picture."""

MOST_MARKS = 200
"""Marks of one answer; the number of the others is in it."""

MOST_RUNS = 50
"""Runs that a list names."""

P = ParamSpec("P")
R = TypeVar("R")

Texts = Annotated[list[str], Field(min_length=1, max_length=MOST_TEXTS)]


class ServedTools:
    """The tools, which work one after the other.

    Args:
        folder: Folder below which files may be read.
        judge: Spec of the judge; None for the built-in one.
        max_cost: US dollars that all questions together may cost; None for no limit.

    Raises:
        ConfigError: The folder does not exist, or the judge is wrong.
    """

    def __init__(
        self,
        folder: Path,
        judge: str | None = None,
        max_cost: float | None = None,
    ) -> None:
        if not folder.is_dir():
            raise ConfigError(
                f"{folder} is not a folder; name the one whose pictures and runs may be read"
            )
        self._folder = folder.resolve()
        self._judge = judge
        self._tools = Tools(budget=Budget(max_cost), folder=self._folder)
        self._turn = threading.Lock()
        self._places = threading.BoundedSemaphore(1 + MOST_WAITING)
        # A wrong spec is an error of the command, not of the first question.
        self._tools.judge(judge or "builtin")

    def lint_texts(
        self,
        texts: Texts,
        profile: Literal["web", "museum", "social", "documents"] = "web",
    ) -> list[dict[str, Any]]:
        """Check alternative texts of pictures by rules, without a model.

        Returns the findings: the number of the text from 1, rule, severity, message, span.
        """
        _check_length(texts)
        with TemporaryDirectory(prefix="beholder-mcp-") as folder:
            file = Path(folder) / "texts.jsonl"
            rows = (json.dumps({"text": text}) + "\n" for text in texts)
            file.write_text("".join(rows), "utf-8")
            setting = LintSetting(profile, terms=vocabulary(()))
            report = lint([file], setting, columns={"text": "text"})
        if report.bad:
            raise report.bad[0]
        return [
            {
                "text": finding.line,
                "rule": finding.rule,
                "severity": finding.severity,
                "message": finding.message,
                "span": finding.span,
            }
            for finding in report.findings
        ]

    def score_text(
        self, text: str, references: Texts, metric: str = "accord"
    ) -> dict[str, Any]:
        """Score a description against trusted descriptions of the same thing.

        Returns the values with their meaning and range (null is an end without bound), what is
        wrong or missing in words, and the signature that a citation of the values needs.
        """
        chosen, score = self._score(text, references, metric)
        infos = {info.name: info for info in chosen.values}
        return {
            "values": {
                name: {
                    "score": value,
                    "meaning": infos[name].help,
                    "range": _range(infos[name]),
                    "higher_is_better": infos[name].higher_is_better,
                }
                for name, value in score.values.items()
            },
            "findings": in_words(score.units),
            "signature": score.signature,
        }

    def explain_marks(
        self, text: str, references: Texts, metric: str = "accord"
    ) -> dict[str, Any]:
        """List the parts of a description and its references with their verdicts.

        A span counts characters of the text that the part is in: the description (candidate), or
        the reference of that number from 0. What to look at first comes first.
        """
        _, score = self._score(text, references, metric)
        first = notable(score.units)
        # By identity: equal parts may be at several places.
        known = set(map(id, first))
        rest = [unit for unit in score.units if id(unit) not in known]
        units = [*first, *rest]
        return {
            "marks": [_mark(unit) for unit in units[:MOST_MARKS]],
            "n_notable": len(first),
            "n_not_listed": max(0, len(units) - MOST_MARKS),
        }

    def look_at_run(self, run: str = "") -> str:
        """Return means, intervals, failures and worst items of a run of scores, as tables.

        Without a name, lists the runs in the folder and in its folder "runs".
        """
        if not run:
            return self._list_runs()
        folder = file_below(self._folder, run)
        manifest.read_log(folder)
        manifest.check_kind(folder, SCORES)
        return as_text(run_tables(folder))

    def ask_judge(self, picture: str, statements: Texts) -> dict[str, Any]:
        """Ask the judge whether each statement is true of a picture, named by its path."""
        _check_length(statements)
        judge = self._tools.judge(self._judge or "builtin")
        judge.check_can(Verify)
        if not judge.sees:
            raise ConfigError(
                f"the judge {judge.identity} takes no pictures; start this server with a judge that"
                " does: beholder mcp FOLDER --judge openai:MODEL"
            )
        file = file_below(self._folder, picture)
        images = run_sync(self._tools.pictures.read([str(file)]))
        verdicts = run_sync(judge.ask(Verify(statements, images)))
        return {
            "judge": judge.identity,
            "supported": [
                {"statement": statement, "supported": verdict}
                for statement, verdict in zip(
                    statements, verdicts, strict=True
                )
            ],
        }

    def server(self) -> MCPServer[Any]:
        """Return a server with these tools."""
        server: MCPServer[Any] = MCPServer(
            "beholder",
            version=__version__,
            instructions="Checks descriptions of pictures, scores them against trusted ones, and"
            f" reads runs. Files are named relative to one folder. {MAX_TEXT:,} characters a"
            " call at most.",
            log_level="WARNING",
        )
        for tool in (
            self.lint_texts,
            self.score_text,
            self.explain_marks,
            self.look_at_run,
            self.ask_judge,
        ):
            server.tool()(self._in_turn(tool))
        return server

    def _in_turn(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return a tool that waits for its turn, and whose errors are messages."""

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not self._places.acquire(blocking=False):
                raise ToolError(
                    f"{MOST_WAITING} calls wait already; call again in a moment"
                )
            try:
                with self._turn:
                    return function(*args, **kwargs)
            except BeholderError as error:
                raise ToolError(str(error)) from error
            finally:
                self._places.release()

        return call

    def _score(
        self, text: str, references: Sequence[str], name: str
    ) -> tuple[Metric[Any], ItemScore]:
        # A name and no spec: a spec could name another server or another file.
        if name not in METRICS.names():
            raise ConfigError(
                f"metric {name!r}: expected a name without parameters:"
                f" {', '.join(METRICS.names())}"
            )
        check_pasted(Item("sent", text, tuple(references)), "this server")
        chosen = metric(name, **default_tools(None, self._judge))
        return chosen, chosen.score_text(text, references, tools=self._tools)

    def _list_runs(self) -> str:
        folders = sorted(
            file.parent.relative_to(self._folder).as_posix()
            for pattern in ("*/run.json", "runs/*/run.json")
            for file in self._folder.glob(pattern)
        )
        if not folders:
            return "There is no run in the folder and in its folder runs."
        omitted = len(folders) - MOST_RUNS
        more = f"\nand {omitted:,} more" if omitted > 0 else ""
        return "\n".join(folders[:MOST_RUNS]) + more


def _check_length(texts: Sequence[str]) -> None:
    n = sum(map(len, texts))
    if n > MAX_TEXT:
        raise ItemError(
            f"the texts have {n:,} characters; this server takes up to {MAX_TEXT:,} a call, so"
            " send them in parts"
        )


def _range(info: ValueInfo) -> list[float | None]:
    """Return both ends of a value; None for an end without bound."""
    return [
        None if abs(end) >= manifest.NO_BOUND else end
        for end in (info.low, info.high)
    ]


def _mark(unit: Unit) -> dict[str, Any]:
    return {
        "verdict": unit.verdict,
        "kind": unit.kind,
        "text": unit.text,
        "side": unit.side,
        "reference": unit.reference_index,
        "spans": [list(span) for span in unit.spans],
        "score": unit.score,
    }
