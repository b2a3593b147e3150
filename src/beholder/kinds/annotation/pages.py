"""The pages of a study: units for annotators, progress and exports for its owner."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.resources import files
from itertools import chain, pairwise
from pathlib import Path

from jinja2 import ChoiceLoader, FileSystemLoader
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from beholder.errors import ItemError
from beholder.kinds.annotation.agreement import (
    agreement_of,
    answers_shown,
    competence,
    find_disputed,
)
from beholder.kinds.annotation.assignment import order_of
from beholder.kinds.annotation.exchange import EXPORTS, export_rows
from beholder.kinds.annotation.records import (
    Act,
    AnnotationUnit,
    State,
    read_as,
)
from beholder.kinds.annotation.shown import (
    INSTRUCTION_PICTURES,
    Instructions,
    iiif_service,
    is_film,
)
from beholder.kinds.annotation.study import AnnotationStudy, describe_counts
from beholder.text.tokenize import words
from beholder.web.guard import Buckets
from beholder.web.pages import TEMPLATE, download, page
from beholder.web.pictures import SmallPictures
from beholder.web.settings import JOIN, OWNER, Settings

PAGE_KEY = "x-page-key"
"""Header in which an act names the page that sent it."""

PARTICIPANT = ("PROLIFIC_PID", "participant", "workerId")
"""Parameters of a join link that name the participant."""

PLACES_AT_ONCE, PLACES_PER_SECOND = 5, 1 / 60
"""New places that one address may take: whoever has the link can make up ids."""

_MAX_PART = 64
_USUAL_RATE = 25.0
"""Frames per second of a film if the data do not say it."""


def study_settings(
    study: AnnotationStudy, host: str, port: int, names: Sequence[str] = ()
) -> Settings:
    """Return the settings of a study's server: owner and annotators have personal links.

    Args:
        study: The study.
        host: Address to listen at.
        port: Port to listen at.
        names: Further names by which browsers may call the server.
    """
    # Each request asks for the name of its token; names of tokens never change, so they are read
    # from the database once. Unknown tokens are not stored: anybody can send any number of them.
    names_by_token: dict[str, str] = {}
    server = study.design.iiif or ""
    new_places = Buckets(PLACES_PER_SECOND, PLACES_AT_ONCE, time.monotonic)

    def invited(
        query: Mapping[str, str], address: str, token: str
    ) -> str | None:
        # Compared as bytes, because `compare_digest` takes texts of ASCII alone.
        key = query.get(JOIN, "").encode()
        join = (study.join or "").encode()
        if not join or not hmac.compare_digest(key, join):
            return None
        ids = [query[name] for name in PARTICIPANT if name in query]
        return study.claim(
            ids[0] if ids else "", token, lambda: new_places.take(address)
        )

    def who(token: str) -> str | None:
        if token not in names_by_token and (name := study.annotator_of(token)):
            names_by_token[token] = name
        return names_by_token.get(token)

    return Settings(
        host=host,
        port=port,
        token=study.token,
        names=tuple(names),
        people=who,
        invited=invited,
        pictures_from=server and f"{server.rstrip('/')}/",
        secret=bytes.fromhex(study.secret),
    )


def join_link(study: AnnotationStudy, base: str) -> str | None:
    """Return the link for all participants with Prolific's placeholders.

    None if annotators are invited by name.
    """
    # Prolific replaces {{%NAME%}} in the address; other services send `participant` or `workerId`.
    names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    ids = "&".join(f"{name}={{{{%{name}%}}}}" for name in names)
    return None if study.join is None else f"{base}?{JOIN}={study.join}&{ids}"


def study_routes(study: AnnotationStudy) -> list[Route | Mount]:
    """Return the routes of a study's pages; scripts of its task are at ``/task``."""
    pages = _Pages(study)
    routes: list[Route | Mount] = [
        Route("/", pages.start),
        Route("/units/{place:int}", pages.unit),
        Route("/units/{place:int}/acts", pages.act, methods=["POST"]),
        Route("/units/{place:int}/pictures/{number:int}", pages.picture),
        Route(
            f"{INSTRUCTION_PICTURES}/{{number:int}}", pages.instruction_picture
        ),
        Route("/export/{form}", pages.export),
        Mount(
            "/annotate",
            StaticFiles(directory=Path(__file__).parent / "static"),
        ),
    ]
    if study.task.scripts:
        folder = Path(str(files(study.task.package))) / "static"
        routes.append(Mount("/task", StaticFiles(directory=folder)))
    return routes


@dataclass(frozen=True)
class _ShownText:
    """A text as an annotator sees it.

    Attributes:
        place: Its place in the unit.
        text: The text.
    """

    place: int
    text: str

    @property
    def pieces(self) -> list[tuple[str, int | None, int | None]]:
        """The text cut into (piece, start, end); pieces between words have no range.

        Annotators mark whole words, so only these have ranges of characters.
        """
        ranges = set(words(self.text))
        borders = sorted({0, len(self.text), *chain.from_iterable(ranges)})
        return [
            (
                self.text[start:end],
                *((start, end) if (start, end) in ranges else (None, None)),
            )
            for start, end in pairwise(borders)
        ]


class _Pages:
    """Endpoints of a study's pages.

    Endpoints that are not coroutines run in threads of the server, so that a slow database holds
    up only the request that waits for it.
    """

    def __init__(self, study: AnnotationStudy) -> None:
        self.study = study
        self._pictures = (
            None if study.media is None else SmallPictures(study.media)
        )
        # Positions by annotator, as last read: every request of a unit needs them.
        self._shares: dict[str, list[int]] = {}
        self._instructions = Instructions.from_markdown(
            study.design.instructions or ""
        )
        # Templates of the task's package come first: it may replace any of ours.
        folder = Path(str(files(study.task.package))) / "templates"
        assert TEMPLATE.loader is not None
        loaders = [FileSystemLoader(folder), TEMPLATE.loader]
        self._templates = TEMPLATE.overlay(loader=ChoiceLoader(loaders))

    def start(self, request: Request) -> Response:
        """Show an annotator the progress and a link to the next unit, the owner an overview."""
        who = request.state.who
        if who == OWNER:
            return self._overview(request)
        third = who == self.study.design.adjudicator
        if third:
            # Units may have become disputed since the adjudicator was here.
            self.study.admit(who, find_disputed(self.study))
        assigned, done = self.study.assigned(who), self.study.done(who)
        next_place = next(
            (
                number
                for number, position in enumerate(assigned, start=1)
                if position not in done
            ),
            None,
        )
        facts = {
            "n": len(assigned),
            "n_done": len(done),
            "n_training": self._n_training(assigned),
            "next_place": next_place,
            "who": who,
            "third": third,
            "code": None if third or next_place else self.study.code(who),
            "link": None
            if third or self.study.join is None
            else self._link(request, self.study.annotators()[who]),
            "prolific": self.study.design.completion_code and self.study.join,
        }
        return self._page(request, "start", facts)

    def _link(self, request: Request, token: str) -> str:
        """Return a personal link at the address by which the browser reached the server."""
        return f"{request.base_url}?token={token}"

    def unit(self, request: Request) -> Response:
        """Show a unit to judge; redirect to the first training unit that is not finished."""
        who, place, unit, position = self._find_unit(request)
        task, state = self.study.task, self.study.state(who, position)
        share, done = self._shares[who], self.study.done(who)
        n_training = self._n_training(share)
        # Training comes before all other units, in its order, also for who types an address.
        for first, unit_position in enumerate(share[:n_training], start=1):
            if unit_position not in done and place > first:
                return RedirectResponse(f"/units/{first}", 303)
        # Only the first n texts are shuffled; a reference keeps its place after them.
        n = task.n_shuffled(unit)
        order = [
            *order_of(n, self.study.design.seed, who, unit.id),
            *range(n, len(unit.texts)),
        ]
        context = {
            "place": place,
            "n": len(share),
            "n_training": n_training,
            "left": len(share) - len(done),
            "state": state,
            "prefill": unit.prefill,
            "complete": task.missing(unit, unit.prefill) is None,
            "key": self._key(who, position),
            "who": who,
            "done": position in done,
            "shown": answers_shown(self.study, who, position, state),
            "texts": [
                _ShownText(place_in_unit, unit.texts[place_in_unit])
                for place_in_unit in order
            ],
            "pictures": unit.pictures,
            "fps": unit.fps or _USUAL_RATE,
            "film": is_film,
            "service": lambda name: iiif_service(name, self.study.design.iiif),
        }
        return self._page(
            request, "unit", {**task.context(unit, order), **context}
        )

    async def act(self, request: Request) -> Response:
        """Save an act; answer with the judgment as JSON, or with why it was not saved."""
        # A coroutine because the body is awaited; the database is used from a thread.
        return await run_in_threadpool(
            self._save, request, _parse_act(await request.body())
        )

    def _save(self, request: Request, act: Act) -> Response:
        """Save an act; return the judgment, or why it was not saved.

        The status is 200 if the act is saved, 409 if acts before it are missing, 412 if the page
        belongs to someone else, 422 if the act is not valid.
        """
        who = request.state.who
        position = self._position(request)
        sent_by = request.headers.get(PAGE_KEY, "").encode()
        if position is None or not hmac.compare_digest(
            sent_by, self._key(who, position).encode()
        ):
            # Someone else has signed in since the page was opened.
            error = "the page that sent this belongs to another annotator or another unit"
            return JSONResponse({"error": error, "who": who}, 412)

        def other_answers(state: State) -> list[dict[str, object]]:
            if who == self.study.design.adjudicator:
                # Sees the others' answers before deciding, so they lock nothing.
                return []
            return answers_shown(self.study, who, position, state)

        state = self.study.state(who, position)
        try:
            # An act that is sent again has a number that is saved already: it may pass.
            if other_answers(state) and act.number > self.study.last(
                who, act.client
            ):
                raise ItemError(
                    "the right answer was shown, so this one can no longer be changed"
                )
            saved = self.study.save(who, position, act)
        except ItemError as error:
            return JSONResponse({"error": str(error), "state": state}, 422)
        answer = {"last": saved.last, "state": saved.state}
        if answers := other_answers(saved.state):
            answer["shown"] = answers
        return JSONResponse(answer, 200 if saved.accepted else 409)

    def picture(self, request: Request) -> Response:
        """Send a small copy of a unit's picture, or its film."""
        _, _, unit, _ = self._find_unit(request)
        return self._picture(
            request, [unit_picture.image for unit_picture in unit.pictures]
        )

    def instruction_picture(self, request: Request) -> Response:
        """Send a picture of the owner's instructions."""
        return self._picture(request, self._instructions.pictures)

    def _picture(
        self, request: Request, names: Sequence[str | None]
    ) -> Response:
        """Send a picture by its number among names.

        Raises:
            HTTPException: There is no such picture, or it cannot be shown (404).
        """
        number = request.path_params["number"]
        image = names[number] if number < len(names) else None
        if image is None or self._pictures is None:
            raise HTTPException(404, "there is no such picture")
        side = 3600 if "large" in request.query_params else 1200
        try:
            if not is_film(image):
                return self._pictures.response(request, image, side)
            # A film is sent as it is; `FileResponse` answers the ranges that players ask for.
            film = self._pictures.file(image)
            if not film.is_file():
                raise ItemError(f"{image}: there is no such file")
            return FileResponse(
                film, headers={"cache-control": "private, max-age=300"}
            )
        except ItemError as error:
            raise HTTPException(
                404, f"the picture cannot be shown: {error}"
            ) from error

    def export(self, request: Request) -> Response:
        """Send the judgments as a JSONL file; only the owner may have it."""
        if request.state.who != OWNER:
            raise HTTPException(
                403, "only the owner of the study may open this page"
            )
        form = request.path_params["form"]
        if form not in EXPORTS:
            raise HTTPException(404, f"expected one of {', '.join(EXPORTS)}")
        name = f"{self.study.task.name}-{form}.jsonl"
        return download(name, export_rows(self.study, form))

    def _overview(self, request: Request) -> Response:
        """Show the owner progress, links and agreement; with ``?live`` without agreement."""
        study = self.study
        third = study.design.adjudicator
        if third is not None:
            study.admit(third, find_disputed(study))
        judged, tokens, progress = (
            study.judged(),
            study.annotators(),
            study.progress(),
        )
        live = (
            "live" in request.query_params
        )  # progress alone: agreement takes longer
        context = {
            "live": live,
            "now": f"{datetime.now(UTC):%H:%M}",
            "progress": progress,
            "n_done": sum(row.done for row in progress),
            "n_assigned": sum(row.assigned for row in progress),
            "links": {
                name: self._link(request, token)
                for name, token in tokens.items()
            },
            "join": join_link(study, str(request.base_url)),
            "codes": {
                name: study.code(name) for name in tokens if name != third
            },
            "third": third,
            "agreement": []
            if live
            else [
                *agreement_of(study.task, judged, tuple(tokens)),
                *competence(
                    study.task, judged, study.judged(gold=True), tuple(tokens)
                ),
            ],
            **self._unit_counts,
            "n_judged": len(judged),
            "n_seen_twice": study.design.n_seen_twice,
            "n_short_of_readers": study.design.n_short_of_readers,
            "unshown": describe_counts(study.design.unshown),
            "exports": EXPORTS,
        }
        return self._page(request, "overview", context)

    @cached_property
    def _unit_counts(self) -> Mapping[str, object]:
        """Return the numbers of units without and with a known answer, the former also in words.

        The units of a study never change, so they are read once.
        """
        study = self.study
        all_units = map(study.unit, study.positions().values())
        units, n_known = [], 0
        for unit in all_units:
            if unit.gold is None:
                units.append(unit)
            else:
                n_known += 1
        return {
            "n_units": len(units),
            "n_known": n_known,
            "units_in_words": study.task.describe_units(units),
        }

    def _page(
        self, request: Request, name: str, context: Mapping[str, object]
    ) -> Response:
        context = {
            **context,
            "task": self.study.task,
            "instructions": self._instructions.html,
        }
        return page(
            request,
            f"annotate/{name}.html.j2",
            context,
            templates=self._templates,
        )

    def _find_unit(
        self, request: Request
    ) -> tuple[str, int, AnnotationUnit, int]:
        """Return annotator, place, unit and position of the address of a unit.

        Raises:
            HTTPException: The owner asks (403), or the unit is not in the annotator's share (404).
        """
        who, place = request.state.who, request.path_params["place"]
        if who == OWNER:
            raise HTTPException(
                403, "only annotators judge; open a personal link to try it"
            )
        position = self._position(request)
        if position is None:
            n = len(self._shares[who])
            raise HTTPException(404, f"your share has {n} units")
        return who, place, self.study.unit(position), position

    def _position(self, request: Request) -> int | None:
        """Return the position of an address's unit; None if it is not in the annotator's share."""
        who, place = request.state.who, request.path_params["place"]
        if who == OWNER:
            return None
        # The share is not read yet, or an import or a dispute made it longer since.
        if place > len(self._shares.get(who, ())):
            self._shares[who] = self.study.assigned(who)
        share = self._shares[who]
        return share[place - 1] if 1 <= place <= len(share) else None

    def _n_training(self, share: Sequence[int]) -> int:
        golds = [self.study.unit(position).gold for position in share]
        return sum(
            gold is not None and gold.use == "training" for gold in golds
        )

    def _key(self, who: str, position: int) -> str:
        """Return the key by which a page proves that it is for this unit and annotator.

        Annotators who share a computer could otherwise save acts under each other's names: the
        cookie changes for all tabs, the key of an open page does not.
        """
        page_of = f"{self.study.id} {who} {position}".encode()
        return hmac.new(
            self.study.secret.encode(), page_of, hashlib.sha256
        ).hexdigest()[:24]


def _parse_act(body: bytes) -> Act:
    """Parse the act that a page sent.

    Raises:
        HTTPException: The body is not an act (400).
    """
    try:
        act = read_as(json.loads(body), Act, "act")
    except (
        ValueError,
        RecursionError,
    ) as error:  # brackets in brackets exhaust the stack
        raise HTTPException(400, "an act is JSON") from error
    except ItemError as error:
        raise HTTPException(400, str(error)) from error
    if len(act.part or "") > _MAX_PART:
        raise HTTPException(
            400, f"the name of a part has at most {_MAX_PART} characters"
        )
    return act
