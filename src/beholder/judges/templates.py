"""Prompt templates: text files with a name, a version and a hash.

A file ``NAME.vN.txt`` has a section ``[system]``, a section ``[user]`` and others for what is
shown only sometimes; ``[threshold]`` is not shown, but says from which grade the answer is yes.
``$word`` stands for a value or for another section; untrusted texts are fenced by the renderer, so
no template can forget it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template as StringTemplate
from typing import Literal, TypeAlias

from beholder.backends import Image, Message
from beholder.errors import ConfigError
from beholder.judges.fences import RULE, Untrusted, fence, mark_of, rule
from beholder.releases import Release, writing

_FILE_NAME = re.compile(r"([a-z_]+)\.v(\d+)\.txt")
_SECTION = re.compile(r"^\[([a-z_]+)\]\n", re.MULTILINE)


@dataclass(frozen=True)
class Template:
    """One prompt.

    Attributes:
        name: The operation it serves.
        version: Version number; a prompt that asks something else is a new version.
        sections: Texts by section name; ``system`` and ``user`` are always there.
        digest: First 12 hex digits of the hash over the file and the rule about fenced text.
    """

    name: str
    version: int
    sections: Mapping[str, str]
    digest: str

    @property
    def threshold(self) -> float:
        """Grade from which its scale says yes, from the section ``threshold``.

        Raises:
            ConfigError: There is no such section, or it is no number.
        """
        told = self.sections.get("threshold", "")
        try:
            return float(told)
        except ValueError as error:
            raise ConfigError(
                f"the prompt {self.name}.v{self.version} needs a section [threshold] with the"
                f" grade from which its scale says yes, such as 2; it has {told!r}"
            ) from error

    def render(
        self,
        untrusted: Mapping[str, Untrusted],
        settings: Mapping[str, str] | None = None,
        *,
        parts: Mapping[str, str | None] | None = None,
        images: Sequence[Image] = (),
    ) -> tuple[Message, ...]:
        """The messages of one question.

        Args:
            untrusted: Texts under judgment by the name the template uses; each gets a fence.
            settings: Values of our own (a language, a number of words).
            parts: For each ``$word`` that stands for another section, the name of that section, or
                None to leave out the line.
            images: Pictures, shown before the text in this order.

        Raises:
            ConfigError: The template asks for a value that the operation does not give.
        """
        mark = mark_of(untrusted.values())
        values = {name: fence(name, text, mark) for name, text in untrusted.items()}
        values |= settings or {}
        user = self.sections["user"]
        for word, section in (parts or {}).items():
            if section is None:
                user = re.sub(rf"^\${word}\n", "", user, flags=re.MULTILINE)
            else:
                values[word] = self._fill(section, self.sections.get(section, ""), values)
        system = self._fill("system", self.sections["system"], values)
        return (
            Message("system", (f"{system}\n\n{rule(mark)}",)),
            Message("user", (*_labelled(images), self._fill("user", user, values))),
        )

    def _fill(self, section: str, text: str, values: Mapping[str, str]) -> str:
        try:
            return StringTemplate(text).substitute(values)
        except (KeyError, ValueError) as error:
            raise ConfigError(
                f"section [{section}] of the prompt {self.name}.v{self.version} cannot be filled"
                f" in: {error}; it may use {', '.join('$' + name for name in sorted(values))}"
            ) from error


def _labelled(images: Sequence[Image]) -> list[str | Image]:
    if len(images) < 2:
        return list(images)
    parts: list[str | Image] = []
    for number, image in enumerate(images, start=1):
        parts += [f"Picture {number}:\n", image]
    return parts


Scale: TypeAlias = Literal["mention", "certainty"]
"""What the grades of presence mean: how clearly a text mentions a thing, or how sure it is that it
does."""
_PRESENCE: Mapping[Scale, str] = {"mention": "presence", "certainty": "presence_certainty"}


class Templates:
    """The prompts of a judge: those of beholder, replaced by same-named ones of a folder.

    Args:
        folder: Folder with ``NAME.vN.txt`` files of your own, or None.
        scale: Which of the prompts about presence is used.

    Raises:
        ConfigError: The folder holds no prompt, or one for an operation that does not exist, or
            there is no such scale.
    """

    def __init__(self, folder: Path | None = None, scale: Scale = "mention") -> None:
        if scale not in _PRESENCE:
            listed = ", ".join(map(repr, _PRESENCE))
            raise ConfigError(f"scale={scale!r}: expected one of {listed}")
        found = dict(_shipped())
        own: dict[str, Template] = {}
        if folder is not None:
            own = _load(folder)
            if not own:
                raise ConfigError(f"{folder} holds no prompts; they are called NAME.vN.txt")
            unknown = sorted(set(own) - set(found))
            if unknown:
                raise ConfigError(
                    f"{folder}: no operation uses a prompt called {unknown[0]!r}; there are:"
                    f" {', '.join(sorted(found))}"
                )
            found |= own
        presence = found[_PRESENCE[scale]]
        others = {n: one for n, one in found.items() if n not in _PRESENCE.values()}
        self._templates = {**others, "presence": presence}
        self._own = {"presence" if one is presence else name for name, one in own.items()}
        self._files = {"presence": _PRESENCE[scale]}

    def __getitem__(self, name: str) -> Template:
        return self._templates[name]

    def names(self) -> list[str]:
        """Names of the operations that have a prompt."""
        return sorted(self._templates)

    def digest(self, operations: Collection[str]) -> str:
        """One hash over the prompts of some operations, for signatures.

        Empty if none of them has a prompt. Under ``releases.written_by`` it is the hash over all
        prompts, as that release stated it, if it put these operations as we do.
        """
        digests = {n: self._templates[n].digest for n in operations if n in self._templates}
        release = writing()
        if release is not None:
            before = self._of_release(release)
            if all(before.get(name) == digest for name, digest in digests.items()):
                digests = before
        whole = ",".join(f"{name}:{digest}" for name, digest in sorted(digests.items()))
        return hashlib.sha256(whole.encode("ascii")).hexdigest()[:8] if whole else ""

    def _of_release(self, release: Release) -> dict[str, str]:
        """Hash of every prompt as an earlier release had it, prompts of the folder included."""
        names = (set(release.prompts) - set(_PRESENCE.values())) | {"presence"}
        shipped = {name: release.prompts.get(self._files.get(name, name), "") for name in names}
        return {
            name: self._templates[name].digest if name in self._own else digest
            for name, digest in shipped.items()
        }


@cache
def _shipped() -> Mapping[str, Template]:
    return _load(Path(str(files("beholder.judges") / "prompts")))


def _load(folder: Path) -> dict[str, Template]:
    """The newest version of each prompt in a folder."""
    found: dict[str, Template] = {}
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder of prompts")
    for path in sorted(folder.iterdir()):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None:
            continue
        template = _parse(match[1], int(match[2]), path)
        if match[1] not in found or found[match[1]].version < template.version:
            found[match[1]] = template
    return found


def _parse(name: str, version: int, path: Path) -> Template:
    text = path.read_text("utf-8")
    pieces = _SECTION.split(text)
    sections = {title: body.strip() for title, body in zip(pieces[1::2], pieces[2::2], strict=True)}
    if not {"system", "user"} <= set(sections):
        raise ConfigError(f"{path}: a prompt needs a section [system] and a section [user]")
    digest = hashlib.sha256(f"{text}\0{RULE}".encode()).hexdigest()[:12]
    return Template(name, version, sections, digest)
