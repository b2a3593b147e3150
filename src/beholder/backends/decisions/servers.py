"""Known servers of decision models: their form, limits, and how they take pictures.

What is documented of a server is a default here; every value is an option of the backend, since
limits change and some are second hand. Read on 2026-11-28 from the vendors' documentation, their
clients, or (marked "second hand") from others' measurements.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from beholder.backends.decisions.forms import PictureForm, Shape
from beholder.backends.decisions.questions import QuestionLimits


@dataclass(frozen=True, slots=True)
class DecisionServer:
    """Form, limits and headers of a known server.

    Attributes:
        shape: Form of requests and answers.
        path: Where questions go, if not where the form says; ``{}`` stands for the model.
        limits: How much one call may ask.
        pictures: How it takes pictures.
        max_images: Pictures of one call.
        key_header: Header of the key; ``authorization`` is a bearer's.
        headers: Headers of every request.
        counts_once: Whether the state is known to count once a call, as far as its usage does not
            say otherwise.
    """

    shape: Shape
    path: str = ""
    limits: QuestionLimits = field(default_factory=QuestionLimits)
    pictures: PictureForm = "none"
    max_images: int = 8
    key_header: str = "authorization"
    headers: tuple[tuple[str, str], ...] = ()
    counts_once: bool = False


_OPENAI = DecisionServer(
    shape="openai",
    # Above 272,000 tokens each costs twice as much.
    limits=QuestionLimits(max_questions=400, max_options=255, window=272_000),
    pictures="parts",
    max_images=128,  # second hand
)
_TYPESAFE = DecisionServer(
    shape="systemone",
    # The most questions are undocumented; 400 were answered (second hand).
    limits=QuestionLimits(max_questions=400, max_options=255, window=32_000),
    pictures="assets",
    # The vendor's client no longer sends it; it may have become needless.
    headers=(("typesafe-danger-zone-images", "true"),),
    counts_once=True,  # second hand
)
_OWN: dict[str, DecisionServer] = {
    "decisions": DecisionServer(shape="openai", pictures="parts"),
    "systemone": DecisionServer(shape="systemone", pictures="images"),
}
_KNOWN: dict[str, DecisionServer] = {
    "api.openai.com": _OPENAI,
    "openai.azure.com": replace(_OPENAI, key_header="api-key"),
    "api.typesafe.ai": _TYPESAFE,
    "generativelanguage.googleapis.com": DecisionServer(
        shape="gemini",
        limits=QuestionLimits(
            max_questions=1000, max_options=255, window=262_144
        ),
        pictures="parts",
        key_header="x-goog-api-key",
        counts_once=True,  # second hand; its usage may be absent
    ),
    "openrouter.ai": DecisionServer(
        shape="systemone",
        limits=QuestionLimits(max_options=255),
        path="/decisions",
        pictures="array",
        max_images=4,
    ),
    "api.perplexity.ai": DecisionServer(
        shape="systemone",
        limits=QuestionLimits(
            max_questions=128, max_options=255, window=262_144
        ),
        path="/decisions",
        pictures="array",
    ),
    "api.cloudflare.com": DecisionServer(
        shape="systemone",
        limits=QuestionLimits(max_options=255, window=65_536),
        path="/{}",
        pictures="images",
        max_images=4,
    ),
    "api.parallel.ai": DecisionServer(
        shape="systemone",
        limits=QuestionLimits(max_questions=100),
        path="/decisions",
        key_header="x-api-key",
    ),
    "api.upstage.ai": DecisionServer(
        shape="systemone",
        limits=QuestionLimits(max_options=255, window=262_144),
    ),
}
_FIREWORKS = {
    "decisions": DecisionServer(
        shape="openai",
        limits=QuestionLimits(max_options=208, window=262_144),
    ),
    "systemone": DecisionServer(
        shape="systemone",
        limits=QuestionLimits(max_options=255, window=262_144),
    ),
}


def server_at(base_url: str, kind: str) -> DecisionServer:
    """Return form, limits and headers of the server at an address.

    Args:
        base_url: The address.
        kind: ``decisions`` or ``systemone``: the form, where the address does not decide it.
    """
    host = (urlsplit(base_url).hostname or "").lower()
    if host == "api.fireworks.ai":
        return _FIREWORKS[kind]
    for name, server in _KNOWN.items():
        if host == name or host.endswith(f".{name}"):
            return server
    return _OWN[kind]
