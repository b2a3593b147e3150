"""A page that scores a pasted text at once, as the item of a run would be shown; keeps nothing."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beholder.base.optional import missing_message
from beholder.errors import BeholderError, ConfigError
from beholder.kinds.scores.engine import ScoreConfig, run_scores
from beholder.kinds.scores.limits import MOST_WAITING, check_pasted
from beholder.metrics import METRICS, Metric, Tools, metric
from beholder.options import WorkOptions
from beholder.records import Item
from beholder.report.steps import step_pictures
from beholder.run import manifest
from beholder.run.answers import spent
from beholder.run.session import Quiet
from beholder.web.items import RunView
from beholder.web.pages import page
from beholder.web.subject_pages import Drawing, SeenSubject, subject_page

MOST_SECONDS = 60.0
"""Seconds for the metrics of a post; the one that is at work then is finished, no other begins."""


class TryPage:
    """Scores pasted texts one after the other.

    Metrics are chosen by name, and judges among those of the command line: a form must not name
    another server or another key.

    Args:
        judges: Specs of judges that the page offers.
        work: The cache of answers, and what all posts together may spend; None for no cache and
            no limit.
    """

    def __init__(
        self, judges: Sequence[str], work: WorkOptions | None = None
    ) -> None:
        self._judges = tuple(judges)
        self._work = work or WorkOptions()
        self._spent = 0.0
        self._turn = asyncio.Lock()
        self._n_waiting = 0
        self._unusable = _reasons_unusable(
            {"judge": judges[0]} if judges else {}
        )

    async def page(self, request: Request) -> Response:
        """Return the form, with the result of the texts that were sent."""
        context: dict[str, Any] = {
            "layout": "try.html.j2",
            "given": {},
            "chosen": ["accord", "vcs"],
            "judges": self._judges,
            "metrics": [
                name for name in METRICS.names() if name not in self._unusable
            ],
            "unusable": self._unusable,
            "scored": (),
            "problems": (),
            "cautions": (),
        }
        if request.method != "POST":
            return page(request, "try.html.j2", context)
        form = await request.form()
        fields = {k: v for k, v in form.items() if isinstance(v, str)}
        chosen = [str(name) for name in form.getlist("metric")]
        context |= {"given": fields, "chosen": chosen}
        if self._n_waiting >= MOST_WAITING:
            context["problems"] = [
                "too many texts wait to be scored; send it again in a moment"
            ]
            return page(request, "try.html.j2", context, status=503)
        self._n_waiting += 1
        try:
            # Waiting here takes none of the threads that make the other pages.
            async with self._turn:
                if await request.is_disconnected():
                    return Response(status_code=400)
                template, parts = await run_in_threadpool(
                    self._score, fields, chosen
                )
        except BeholderError as error:
            template, parts = "try.html.j2", {"problems": [str(error)]}
        finally:
            self._n_waiting -= 1
        status = 200 if "scored" in parts else 400
        return page(request, template, {**context, **parts}, status=status)

    def _score(
        self, fields: Mapping[str, str], chosen: Sequence[str]
    ) -> Drawing:
        # The form may come from anywhere: judges and metrics are checked against those offered, and
        # the size of the texts is bounded before any work. The run lives in a temporary folder.
        text = fields.get("text", "").strip()
        if not text:
            raise ConfigError("text: expected a text, got none")
        judge = fields.get("judge", "")
        unknown = [name for name in chosen if name not in METRICS.names()]
        if not chosen or unknown or (judge and judge not in self._judges):
            raise ConfigError(
                "choose a metric, and a judge that the page offers"
            )
        references = fields.get("references", "").replace("\r", "")
        paragraphs = map(str.strip, re.split(r"\n\s*\n", references))
        item = Item("pasted", text, tuple(filter(None, paragraphs)))
        check_pasted(item, "this page")
        metrics_by_name, problems = _build_metrics(
            chosen, {"judge": judge} if judge else {}
        )
        if not metrics_by_name:
            return "try.html.j2", {"problems": problems}
        with TemporaryDirectory(prefix="beholder-try-") as folder:
            out = Path(folder) / "run"
            try:
                n_scored = self._run_metrics(
                    tuple(metrics_by_name.values()), out, item
                )
            finally:
                self._spent += spent(out)
            late_names = list(metrics_by_name)[n_scored:]
            for name in late_names:
                del metrics_by_name[name]
                problems.append(
                    f"{name}: not scored, as the time of a post ({MOST_SECONDS:.0f} s) was over:"
                    " choose fewer metrics, or a shorter text"
                )
            view = RunView(out)
            view.refresh()
            with view.store() as store:
                template, parts = subject_page(
                    SeenSubject(view, store, "item", 0, item, ())
                )
                missing_note = missing_message(
                    "matplotlib",
                    extra="plots",
                    purpose="drawing the steps of VCS",
                )
                steps = {} if missing_note else step_pictures(store, 0)
            results = manifest.results(manifest.read_log(out))
        return template, {
            **parts,
            "steps": steps,
            "lacking": "vcs" in metrics_by_name and missing_note,
            "scored": list(metrics_by_name),
            "chosen_metric": next(iter(metrics_by_name)),
            "problems": problems,
            "cautions": [
                (name, caution)
                for name, result in results.items()
                for caution in result.cautions
            ],
        }

    def _run_metrics(
        self, metrics: Sequence[Metric[Any]], out: Path, item: Item
    ) -> int:
        """Score an item by metrics until the time of a post is over; return how many are done."""
        # One run that gets a metric more each time, since all metrics of a run begin together.
        end = time.monotonic() + MOST_SECONDS
        for n_metrics in range(1, len(metrics) + 1):
            if n_metrics > 1 and time.monotonic() > end:
                return n_metrics - 1
            config = ScoreConfig(
                "pasted",
                tuple(metrics[:n_metrics]),
                out,
                work=self._remaining_work(),
            )
            run_scores(config, Quiet(), [item])
        return len(metrics)

    def _remaining_work(self) -> WorkOptions:
        """Return the options with what earlier posts left of the limit on cost."""
        limit = self._work.max_cost
        if limit is None:
            return self._work
        return replace(self._work, max_cost=max(0.0, limit - self._spent))


def _reasons_unusable(tools: Mapping[str, object]) -> dict[str, str]:
    """Return the reasons why metrics cannot score a text and references alone, by name."""
    # Each metric is asked whether it could score a text with one reference, as the form gives it.
    words = "A dog runs on a beach."
    reasons = {}
    for name in METRICS.names():
        try:
            metric(name, **tools).check_item(Item("pasted", words, (words,)))
        except (BeholderError, ImportError) as error:
            reasons[name] = str(error)
    return reasons


def _build_metrics(
    names: Sequence[str], tools: Mapping[str, object]
) -> tuple[dict[str, Metric[Any]], list[str]]:
    """Return the metrics by name, and messages about those that cannot be used."""
    built, problems = {}, []
    for name in names:
        try:
            new_metric = metric(name, **tools)
            new_metric.identities(Tools())
            built[name] = new_metric
        except BeholderError as error:
            problems.append(f"{name}: {error}")
    return built, problems
