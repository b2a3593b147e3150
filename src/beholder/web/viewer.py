"""``beholder view``: pages over runs of every kind; reads them and changes nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from beholder.records import Item, ItemScore, Unit
from beholder.report.marking import CutText, marked_texts
from beholder.report.views import item_script
from beholder.run.store import Store
from beholder.run.subjects import ITEM, KINDS
from beholder.web.app import make_app
from beholder.web.comparing import Comparisons, shared_askers
from beholder.web.items import STATES, RunView
from beholder.web.lists import (
    OF_ITEMS,
    MatchedSubjects,
    Query,
    cell,
    group_counts,
    listing,
    pair,
    read_pairs,
    read_whole,
    spread,
    value_choices,
    verdict_counts,
    write_query,
)
from beholder.web.notes import Notes
from beholder.web.overview import overview
from beholder.web.pages import download, page, static_text
from beholder.web.pictures import RunPictures
from beholder.web.settings import Settings
from beholder.web.subject_pages import (
    SeenSubject,
    first_text,
    questions_of,
    subject_page,
)
from beholder.web.watching import SnapshotCache, Watcher

_MARKS = ("text", "marks")
_MOST_GROUPS = 200
"""Values of a group column that can be chosen; others are found by their words."""


class Viewer:
    """The pages of some runs.

    Args:
        folders: Run directories.
        media_root: Base folder of picture paths; None for the folder of each run's data,
            where that is still where it was.
        try_page: Answers requests for a page that scores pasted texts; None for no such page.

    Raises:
        RunError: A folder contains no run that can be read.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        media_root: Path | None = None,
        try_page: Callable[[Request], Awaitable[Response]] | None = None,
    ) -> None:
        self._try_page = try_page
        self.runs = [RunView(folder) for folder in folders]
        self.names = spread([folder.resolve().name for folder in folders])
        self._notes = [Notes(folder) for folder in folders]
        self.watcher = Watcher(self.runs)
        self._pictures = [RunPictures(view, media_root) for view in self.runs]
        self._cache = SnapshotCache()
        self._comparisons = Comparisons()

    def routes(self) -> list[BaseRoute]:
        """Return the routes of all pages."""
        run = "/runs/{run:int}"
        subject = run + "/{kind}/{position:int}"
        return [
            *(
                (Route("/try", self._try_page, methods=["GET", "POST"]),)
                if self._try_page
                else ()
            ),
            Route("/", self.start),
            Route("/compare", self.compare),
            Route("/compare/item", self.compare_item),
            Route("/static/item.js", item_js),
            Route(run, self.overview),
            Route(f"{run}/progress", self.progress),
            Route(f"{run}/items", self.items),
            Route(f"{run}/selection", self.selection),
            Route("/compare/selection", self.compare_selection),
            Route(f"{run}/thumbs/{{number:int}}", self.frame),
            Route(subject, self.subject),
            Route(f"{subject}/asked", self.questions),
            Route(f"{subject}/note", self.note, methods=["POST"]),
            Route(f"{subject}/pictures/{{number:int}}", self.picture),
        ]

    # Pages

    def start(self, request: Request) -> Response:
        """Show the list of runs."""
        runs = list(zip(self.names, self.runs, strict=True))
        return page(request, "runs.html.j2", {"runs": runs})

    def overview(self, request: Request) -> Response:
        """Show a run as a whole: means, distributions, failures, cost."""
        number, view = self._run(request)
        snapshot = view.snapshot
        context = self._of_run(number, view)
        if not snapshot.subjects:
            return page(request, "reading.html.j2", context)
        content = self._cache.get_or_make(
            "overview", [view], lambda: overview(view)
        )
        return page(request, "overview.html.j2", {**context, **content})

    def progress(self, request: Request) -> Response:
        """Send the progress of a run, the part of its page that the browser polls."""
        number, view = self._run(request)
        return page(request, "progress.html.j2", self._of_run(number, view))

    def items(self, request: Request) -> Response:
        """Show a page of the list of subjects."""
        # Plan: the list of the address and the page of it; columns that were chosen besides, some
        # of other runs or systems; a row per subject, read from the store; the form's choices.
        number, view = self._run(request)
        snapshot = view.snapshot
        context = self._of_run(number, view)
        if not snapshot.subjects:
            return page(request, "reading.html.j2", context)
        query = _query(request)
        chosen_columns = read_pairs("col", [query.get("col", "")])
        listed = listing(snapshot, query, self._notes[number])
        selection = listed.selection
        notes = self._notes[number].all(selection.kind)
        subjects = snapshot.subjects[selection.kind]
        finders = self._find_finders(number, selection)
        chosen = {name for name, _ in chosen_columns} & finders.keys()
        matched = {
            name: finders[name][1](listed.page_positions) for name in chosen
        }
        askers = snapshot.listed(selection.kind)
        columns = snapshot.asker(selection.kind, selection.asker)
        score_column = selection.asker, selection.value
        rows = []
        with view.store() as store:
            for position, subject in store.subjects(
                subjects.kind, listed.page_positions
            ):
                score, _ = cell(snapshot, score_column, position, subject, {})
                row = {
                    "position": position,
                    "id": subjects.ids[position],
                    "text": first_text(subject),
                    "picture": self._pictures[number].has(
                        selection.kind, position, subject
                    ),
                    "state": "",
                    "score": score,
                    "more": [
                        cell(snapshot, column, position, subject, matched)
                        for column in chosen_columns
                        if column != _MARKS
                    ],
                    "marks": None,
                    "note": notes.get(subjects.ids[position]),
                }
                if columns is not None:
                    row["state"] = STATES[columns.state[position]]
                if _MARKS in chosen_columns:
                    row["marks"] = _marked(
                        store, selection.asker, position, subject
                    )
                rows.append(row)
        further = {("text", name): name for name in ("marks", *OF_ITEMS)}
        if selection.kind != ITEM.name:
            further = {}
        for key, (label, _) in finders.items():
            further[key, "value"] = f"{label} · {selection.value}"
            further[key, "text"] = f"{label} · text"
        context |= {
            "listed": listed,
            "selection": selection,
            "rows": rows,
            "query": query,
            "subjects": subjects,
            "columns": columns,
            "by": value_choices(askers),
            "chosen_by": pair(selection.asker, selection.value),
            "verdicts": verdict_counts(columns) if columns else [],
            "groups": {
                name: group_counts(subjects, name)[:_MOST_GROUPS]
                for name in subjects.groups
            },
            "states": STATES,
            "chosen_columns": chosen_columns,
            "further": further,
            "tags": sorted(
                {tag for note in notes.values() for tag in note.tags}
            ),
        }
        return page(request, "list.html.j2", context)

    def selection(self, request: Request) -> Response:
        """Send the rows of all subjects of a list as a data file."""
        # The store yields subjects in the order of the data, the file has that of the list.
        number, view = self._run(request)
        listed = listing(view.snapshot, _query(request), self._notes[number])
        kind = view.snapshot.subjects[listed.selection.kind].kind
        with view.store() as store:
            positions = listed.positions.tolist()
            rows = {
                position: kind.to_row(subject)
                for position, subject in store.subjects(kind, positions)
            }
        return download(
            f"{self.names[number]}.jsonl",
            [rows[position] for position in positions],
        )

    def compare_selection(self, request: Request) -> Response:
        """Send the rows of the items that differ, with both values: a list of regressions."""
        a, b = self._two(request)
        query = {**request.query_params, "only": "1"}
        _, comparison = self._comparisons.page(
            self.runs[a], self.runs[b], query, whole=True
        )
        rows = [
            {name: cell for name, cell in row.items() if name != "at"}
            for row in comparison.get("rows", ())
        ]
        return download(f"{self.names[b]}-against-{self.names[a]}.jsonl", rows)

    async def note(self, request: Request) -> Response:
        """Save the tags and the note of a subject, and return to its page."""
        number, view, kind, position = self._subject(request)
        form = await request.form()
        tags = str(form.get("tags", ""))
        text = str(form.get("note", ""))
        name = view.snapshot.subjects[kind].ids[position]
        self._notes[number].write(kind, name, tags, text)
        back = write_query(dict(request.query_params))
        return RedirectResponse(
            f"/runs/{number}/{kind}/{position}?{back}", 303
        )

    def subject(self, request: Request) -> Response:
        """Show a subject with its outcomes."""
        number, view, kind, position = self._subject(request)
        snapshot = view.snapshot
        query = _query(request)
        listed = listing(
            snapshot, {**query, "kind": kind}, self._notes[number]
        )
        place, before, after = listed.neighbours(position)
        with view.store() as store:
            [(_, subject)] = store.subjects(
                snapshot.subjects[kind].kind, [position]
            )
            addresses = self._addresses(number, kind, position, subject)
            template, parts = subject_page(
                SeenSubject(view, store, kind, position, subject, addresses)
            )
        name = snapshot.subjects[kind].ids[position]
        context = {
            **self._of_run(number, view),
            **parts,
            "kind": kind,
            "position": position,
            "id": name,
            "place": place,
            "n_found": len(listed.positions),
            "before": before,
            "after": after,
            "rest": write_query({**query, "kind": kind}, page=None),
            "chosen": listed.selection.asker,
            "note": self._notes[number].all(kind).get(name),
        }
        return page(request, template, context)

    def questions(self, request: Request) -> Response:
        """Show the questions to judges about a subject, with all messages and answers."""
        number, view, kind, position = self._subject(request)
        words = request.query_params.get("q", "").strip()
        questions = questions_of(view, kind, position)
        matching = [
            question for question in questions if question.mentions(words)
        ]
        context = {
            **self._of_run(number, view),
            "kind": kind,
            "position": position,
            "id": view.snapshot.subjects[kind].ids[position],
            "words": words,
            "questions": matching,
            "n_questions": len(questions),
            "names": [columns.name for columns in view.snapshot.of_kind(kind)],
        }
        return page(request, "asked.html.j2", context)

    def picture(self, request: Request) -> Response:
        """Send a picture of a subject, reduced and encoded again."""
        number, view, kind, position = self._subject(request)
        with view.store() as store:
            [(_, subject)] = store.subjects(
                view.snapshot.subjects[kind].kind, [position]
            )
        which = request.path_params["number"]
        return self._pictures[number].response(
            request, kind, position, subject, which
        )

    def frame(self, request: Request) -> Response:
        """Send the thumbnail of a frame, which runs over narratives store."""
        number, _ = self._run(request)
        return self._pictures[number].frame(
            request, request.path_params["number"]
        )

    def compare(self, request: Request) -> Response:
        """Show two runs side by side: differences, and the items that differ most."""
        a, b = self._two(request)
        template, comparison = self._comparisons.page(
            self.runs[a], self.runs[b], request.query_params
        )
        columns = comparison.get("paired_value")
        if columns is not None:
            self._add_pictures(a, columns.columns.kind, comparison["rows"])
        context = {**comparison, "a": a, "b": b, "names": self.names}
        return page(request, template, context)

    def compare_item(self, request: Request) -> Response:
        """Show one item in two runs."""
        a, b = self._two(request)
        comparison = self._comparisons.item(
            self.runs[a], self.runs[b], request.query_params
        )
        pictures = self._addresses(
            a, ITEM.name, comparison["at_a"], comparison["sides"][0]["item"]
        )
        context = {
            **comparison,
            "a": a,
            "b": b,
            "names": self.names,
            "pictures": pictures,
        }
        return page(request, "compare_item.html.j2", context)

    # Parts

    def _add_pictures(
        self, number: int, kind: str, rows: Sequence[dict[str, Any]]
    ) -> None:
        """Add to each row of a comparison the address of its first picture, or an empty text."""
        view = self.runs[number]
        rows_by_position = {row["at"]: row for row in rows}
        with view.store() as store:
            for position, subject in store.subjects(
                view.snapshot.subjects[kind].kind, sorted(rows_by_position)
            ):
                has_picture = self._pictures[number].has(
                    kind, position, subject
                )
                rows_by_position[position]["picture"] = (
                    f"/runs/{number}/{kind}/{position}/pictures/0"
                    if has_picture
                    else ""
                )

    def _addresses(
        self,
        number: int,
        kind: str,
        position: int,
        subject: Any,
    ) -> list[str]:
        pictures = self._pictures[number]
        return [
            f"/runs/{number}/{kind}/{position}/pictures/{which}"
            for which, _ in enumerate(KINDS[kind].pictures(subject))
            if pictures.has(kind, position, subject, which)
        ]

    def _of_run(self, number: int, view: RunView) -> dict[str, object]:
        return {
            "number": number,
            "name": self.names[number],
            "view": view,
            "snapshot": view.snapshot,
            "log": view.snapshot.log,
            "several": len(self.runs) > 1,
            "others": self._other_runs(number),
        }

    def _find_finders(
        self,
        number: int,
        selection: Query,
    ) -> dict[str, tuple[str, Callable[[list[int]], MatchedSubjects]]]:
        """Return, per system and per other run, its label and the function that matches subjects.

        Keys begin with ``=`` for a system and ``@`` for a run, as columns of addresses name them.
        """
        view, comparisons = self.runs[number], self._comparisons
        finders: dict[
            str, tuple[str, Callable[[list[int]], MatchedSubjects]]
        ] = {}
        groups = view.snapshot.subjects[selection.kind].groups
        systems = groups["system"][0] if "system" in groups else ()
        if selection.kind == ITEM.name and len(systems) > 1:
            for system in systems[:_MOST_GROUPS]:
                of_system = partial(
                    comparisons.match_system, view, selection, system
                )
                finders[f"={system}"] = system, of_system
        for other_run in self._other_runs(number, selection.kind):
            of_run = partial(
                comparisons.match_run, view, self.runs[other_run], selection
            )
            finders[f"@{other_run}"] = self.names[other_run], of_run
        return finders

    def _other_runs(self, number: int, kind: str = "") -> list[int]:
        """Return the numbers of other runs that share an asker with values with this run."""
        snapshot = self.runs[number].snapshot
        return [
            n
            for n, view in enumerate(self.runs)
            if n != number
            and any(
                columns.kind == (kind or columns.kind)
                for columns, _ in shared_askers(snapshot, view.snapshot)
            )
        ]

    def _run(self, request: Request) -> tuple[int, RunView]:
        number = request.path_params["run"]
        if number >= len(self.runs):
            raise HTTPException(
                404,
                f"run {number} is missing; the viewer shows {len(self.runs)}",
            )
        return number, self.runs[number]

    def _subject(self, request: Request) -> tuple[int, RunView, str, int]:
        number, view = self._run(request)
        kind = request.path_params["kind"]
        position = request.path_params["position"]
        subjects = view.snapshot.subjects.get(kind)
        if subjects is None or position >= len(subjects.ids):
            raise HTTPException(
                404, f"{kind} {position} is missing in this run"
            )
        return number, view, kind, position

    def _two(self, request: Request) -> tuple[int, int]:
        numbers = []
        for name, default in (("a", "0"), ("b", "1")):
            text = request.query_params.get(name, default)
            number = read_whole(text)
            if number is None or number >= len(self.runs):
                n_runs = len(self.runs)
                raise HTTPException(
                    404,
                    f"run {text[:20]!r} is missing; the viewer shows {n_runs}",
                )
            numbers.append(number)
        return numbers[0], numbers[1]


def make_viewer(viewer: Viewer, settings: Settings) -> ASGIApp:
    """Return the application of a viewer; it reads its runs while it serves."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        viewer.watcher.start()
        try:
            yield
        finally:
            viewer.watcher.stop()

    return make_app(viewer.routes(), settings, lifespan)


async def item_js(_: Request) -> Response:
    """Send the script that draws an item; the static report contains the same."""
    item_page = (Path(__file__).parent / "scripts" / "one_item.js").read_text(
        encoding="utf-8"
    )
    return static_text(item_script(item_page), "text/javascript")


def _query(request: Request) -> dict[str, str]:
    """Return the query of an address; repeated columns and groups become one list."""
    query = dict(request.query_params)
    for name in ("col", "group"):
        if pairs := read_pairs(name, request.query_params.getlist(name)):
            query[name] = json.dumps(pairs, ensure_ascii=False)
    return query


def _marked(
    store: Store,
    asker: str,
    position: int,
    item: Item,
) -> tuple[CutText, Sequence[Unit]]:
    """Return the candidate cut at the units of a metric, and these units."""
    outcome = store.score(asker, position)
    units = outcome.units if isinstance(outcome, ItemScore) else ()
    return marked_texts(item, units)[0], units
