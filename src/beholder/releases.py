"""Earlier releases whose unfinished runs can be continued, and how they wrote signatures.

Signatures of 0.1.0 name that version and one hash over all prompts. Within ``written_by``, our
signatures are written as that release wrote them; where they equal the stored ones, what is asked
means the same and the run continues.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from beholder._version import __version__


@dataclass(frozen=True)
class Release:
    """An earlier release, or the state of it at a commit.

    Attributes:
        version: Its version.
        prompts: Hash of each prompt it shipped, by the file's name without version.
        same: Registered names of what it asks and measures as we do.
        same_by_model: Likewise, where the judge is a model and not ``builtin``.
    """

    version: str
    prompts: Mapping[str, str]
    same: frozenset[str]
    same_by_model: frozenset[str] = frozenset()


_ANSWERS = frozenset(
    {
        "caption",
        "caption_frame",
        "classify",
        "people",
        "rate_steps",
        "rate_storyline",
        "response",
        "review",
        "translate",
        "vary",
    }
)
"""These keep what a judge or people said; nothing is computed from it but means and lengths."""

_BY_MODEL = frozenset(
    {
        "clair",
        "dcscore",
        "direct_assessment",
        "fleur",
        "llava_critic",
        "perplexity",
        "prometheus",
    }
)
"""A model grades, and what is computed from its grades is as it was."""

_AT_996DC83 = Release(
    "0.1.0",
    {
        "assess": "cca36512af54",
        "caption": "f60f8a6902f7",
        "caption_again": "4d8843db8b86",
        "classify": "cfbd6a036b81",
        "contradict": "35ea058f63cd",
        "decompose": "b5eb546170ce",
        "grade": "540cf3095552",
        "match": "838859654f18",
        "match_nearest": "6b63fae092e5",
        "presence": "6c0702648546",
        "presence_certainty": "bb970e263d85",
        "rank": "825c917c6b78",
        "rate_sequence": "80e55a495dc7",
        "rate_transition": "cc1a6be2b5fa",
        "review": "9875a310080a",
        "rewrite": "67cb9f90108d",
        "translate": "69a8bf828ef8",
        "vary": "d156b4a24a82",
        "verify": "ceb194b0b704",
    },
    # tests/test_values.py compares these with the recorded values of both versions
    _ANSWERS | {"bleu", "chrf", "cider", "cider_d", "length", "rouge", "ter"},
    _BY_MODEL,
)

EARLIER: tuple[Release, ...] = (_AT_996DC83,)
"""Releases whose runs may be continued, the newest first."""

_writing: ContextVar[Release | None] = ContextVar("release", default=None)


@contextmanager
def written_by(release: Release) -> Iterator[None]:
    """Signatures made within are those of an earlier release, where the meaning is the same."""
    token = _writing.set(release)
    try:
        yield
    finally:
        _writing.reset(token)


def writing() -> Release | None:
    """The release whose signatures are being written; None for this one."""
    return _writing.get()


def version_of(name: str, *, by_model: bool) -> str:
    """The version that the signature of a registered name states.

    Args:
        name: Registered name of what is asked or measured.
        by_model: Whether a judge that is a model has a part in it.
    """
    release = writing()
    if release is None:
        return __version__
    same = name in release.same or (by_model and name in release.same_by_model)
    return release.version if same else __version__
