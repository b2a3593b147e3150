"""The pages of a study: what annotators judge, and what its maker sees of them."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from beholder.errors import ItemError
from beholder.judges.operations.rating import BREAK_KINDS
from beholder.kinds.annotation.assignment import order_of
from beholder.kinds.annotation.exchange import EXPORTS, exported
from beholder.kinds.annotation.records import DONE, Act, AnnotationUnit
from beholder.kinds.annotation.standing import agreement_of
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks.marks import MARK_KINDS, SEVERITIES
from beholder.kinds.annotation.tasks.pairs import LEVELS, QUESTIONS
from beholder.kinds.annotation.tasks.ratings import HIGHEST, LOWEST
from beholder.text.tokenize import words
from beholder.web.pages import page
from beholder.web.pictures import SmallPictures
from beholder.web.settings import OWNER, Settings

PAGE_KEY = "x-page-key"
"""Header in which an act says which page sent it."""

_RATINGS = tuple(range(LOWEST, HIGHEST + 1))


def study_settings(
    study: AnnotationStudy, host: str, port: int, names: Sequence[str] = ()
) -> Settings:
    """Who may come: the maker and the annotators, each by a link of their own."""
    known: dict[str, str] = {}

    def who(token: str) -> str | None:
        if token not in known:
            name = study.annotator_of(token)
            if name is None:
                return None
            known[token] = name
        return known[token]

    return Settings(
        host=host,
        port=port,
        token=study.token,
        names=tuple(names),
        people=who,
        secret=bytes.fromhex(study.secret),
    )


def study_routes(study: AnnotationStudy) -> list[Route | Mount]:
    """The pages of a study."""
    own = _Pages(study)
    return [
        Route("/", own.start),
        Route("/instructions", own.instructions),
        Route("/units/{place:int}", own.unit),
        Route("/units/{place:int}/acts", own.act, methods=["POST"]),
        Route("/units/{place:int}/pictures/{number:int}", own.picture),
        Route("/export/{form}", own.export),
        Mount("/annotate", StaticFiles(directory=Path(__file__).parent / "static")),
    ]


@dataclass(frozen=True)
class _Shown:
    """A text as an annotator sees it, and its place in the unit."""

    place: int
    text: str

    @property
    def pieces(self) -> list[tuple[str, int | None, int | None]]:
        """Words with their ranges, and what stands between them."""
        found: list[tuple[str, int | None, int | None]] = []
        at = 0
        for start, end in words(self.text):
            if start > at:
                found.append((self.text[at:start], None, None))
            found.append((self.text[start:end], start, end))
            at = end
        if at < len(self.text):
            found.append((self.text[at:], None, None))
        return found


class _Pages:
    """What a request gets. Endpoints that are no coroutines run beside the loop of the server."""

    def __init__(self, study: AnnotationStudy) -> None:
        self.study = study
        self._pictures = None if study.media is None else SmallPictures(study.media)
        self._shares: dict[str, list[int]] = {}

    def start(self, request: Request) -> Response:
        """How far an annotator is, with the way on; for the maker, how far all are."""
        if request.state.who == OWNER:
            return self._overview(request)
        who = request.state.who
        assigned, done = self.study.assigned(who), self.study.done(who)
        next_place = next((n for n, at in enumerate(assigned, start=1) if at not in done), None)
        facts = {"n": len(assigned), "n_done": len(done), "next_place": next_place, "who": who}
        return page(request, "annotate/start.html.j2", self._about() | facts)

    def instructions(self, request: Request) -> Response:
        """What the task asks for."""
        return page(request, "annotate/instructions.html.j2", self._about())

    def unit(self, request: Request) -> Response:
        """What is judged at once."""
        who, place, unit, position = self._asked(request)
        state = self.study.state(who, position)
        order = list(range(len(unit.texts)))
        if self.study.task.name == "pairs":
            order[:2] = order_of(2, self.study.seed, who, unit.id)
        elif self.study.task.shuffles:
            order = order_of(len(unit.texts), self.study.seed, who, unit.id)
        return page(
            request,
            "annotate/unit.html.j2",
            self._about()
            | {
                "place": place,
                "n": len(self._shares[who]),
                "state": state,
                "prefill": unit.prefill,
                "key": self._key(who, position),
                "who": who,
                "done": bool(state.get(DONE)),
                "texts": [_Shown(at, unit.texts[at]) for at in order],
                "pictures": unit.pictures,
                "ratings": _RATINGS,
                "break_kinds": BREAK_KINDS,
                "mark_kinds": MARK_KINDS,
                "severities": SEVERITIES,
                "questions": QUESTIONS,
                "levels": _levels(order),
            },
        )

    async def act(self, request: Request) -> Response:
        """Keep an act, and tell how the judgment stands."""
        return await run_in_threadpool(self._keep, request, _act(await request.body()))

    def _keep(self, request: Request, act: Act) -> Response:
        who, place = request.state.who, request.path_params["place"]
        share = [] if who == OWNER else self._share(who, place)
        position = share[place - 1] if 1 <= place <= len(share) else None
        sent_by = request.headers.get(PAGE_KEY, "").encode()
        if position is None or not hmac.compare_digest(
            sent_by, self._key(who, position).encode()
        ):  # somebody else has signed in since the page was opened
            error = "the page from which this was sent belongs to somebody else, or to another unit"
            return JSONResponse({"error": error, "who": who}, 412)
        try:
            saved = self.study.save(who, position, act)
        except ItemError as error:
            state = self.study.state(who, position)
            return JSONResponse({"error": str(error), "state": state}, 422)
        told = {"last": saved.last, "state": dict(saved.state)}
        return JSONResponse(told, 200 if saved.accepted else 409)

    def picture(self, request: Request) -> Response:
        """A picture of a unit, made smaller."""
        _, _, unit, _ = self._asked(request)
        number = request.path_params["number"]
        image = unit.pictures[number].image if number < len(unit.pictures) else None
        if image is None or self._pictures is None:
            raise HTTPException(404, "there is no such picture")
        try:
            return self._pictures.response(request, image, 1200)
        except ItemError as error:
            raise HTTPException(404, f"the picture cannot be shown: {error}") from error

    def export(self, request: Request) -> Response:
        """The judgments as a file."""
        _owner(request)
        form = request.path_params["form"]
        if form not in EXPORTS:
            raise HTTPException(404, f"expected one of {', '.join(EXPORTS)}")
        ending = "json" if form == "label-studio" else "jsonl"
        name = f'attachment; filename="{self.study.task.name}-{form}.{ending}"'
        return Response(
            exported(self.study, form),
            media_type="application/json",
            headers={"content-disposition": name},
        )

    def _overview(self, request: Request) -> Response:
        study = self.study
        judged = study.judged()
        tokens = study.annotators()
        links = {name: f"{request.base_url}?token={token}" for name, token in tokens.items()}
        return page(
            request,
            "annotate/overview.html.j2",
            self._about()
            | {
                "progress": study.progress(),
                "links": links,
                "agreement": agreement_of(study.task, judged, tuple(tokens)),
                "n_units": study.n_units(),
                "n_judged": len(judged),
                "n_seen_twice": study.n_seen_twice,
                "exports": EXPORTS,
            },
        )

    def _about(self) -> dict[str, Any]:
        task = self.study.task
        return {"task": task.name, "title": task.title}

    def _asked(self, request: Request) -> tuple[str, int, AnnotationUnit, int]:
        """Annotator, place, unit and its position.

        Raises:
            HTTPException: Nobody's unit is asked for.
        """
        who, place = request.state.who, request.path_params["place"]
        if who == OWNER:
            raise HTTPException(403, "only annotators judge; open a personal link to try it")
        assigned = self._share(who, place)
        if not 1 <= place <= len(assigned):
            raise HTTPException(404, f"your share has {len(assigned)} parts")
        return who, place, self.study.unit(assigned[place - 1]), assigned[place - 1]

    def _share(self, who: str, place: int) -> list[int]:
        assigned = self._shares.get(who, [])
        if place > len(assigned):  # nobody asked yet, or an import added to the share
            assigned = self._shares[who] = self.study.assigned(who)
        return assigned

    def _key(self, who: str, position: int) -> str:
        """What a page shows that it is of this unit and for this annotator."""
        told = f"{self.study.id} {who} {position}".encode()
        return hmac.new(self.study.secret.encode(), told, hashlib.sha256).hexdigest()[:24]


def _levels(order: Sequence[int]) -> list[tuple[int, str]]:
    """The five points of a pair as they are shown: the value of each, of the first text as #1."""
    last = len(LEVELS) - 1
    flipped = list(order[:2]) == [1, 0]
    return [(last - n if flipped else n, words) for n, words in enumerate(LEVELS)]


def _owner(request: Request) -> None:
    if request.state.who != OWNER:
        raise HTTPException(403, "only who made the study sees this")


def _act(body: bytes) -> Act:
    """An act as a page sends it.

    Raises:
        HTTPException: It is none.
    """
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "an act is JSON") from error
    if not isinstance(told, Mapping):
        raise HTTPException(400, "an act is an object")
    client, number, part = told.get("client"), told.get("number"), told.get("part")
    named = part is None or (isinstance(part, str) and len(part) <= 64)
    if not isinstance(client, str) or not isinstance(number, int) or not named:
        raise HTTPException(400, "an act has a client, a number, a part and a value")
    return Act(client, number, part, told.get("value"))
