"""Signatures of objects leave out what changes no number, for every option of every tool."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from beholder.asking.params import UNSIGNED, params
from beholder.backends import BACKENDS
from beholder.backends.calls import Limits
from beholder.base.spec import Spec
from beholder.embed import EMBEDDERS
from beholder.embed.images import IMAGE_EMBEDDERS
from beholder.judges import JUDGES
from beholder.judges.llm import LLMJudge
from beholder.metrics import METRICS, metric
from beholder.text import SPLITTERS
from toy.cases import each_case

SIGNED = frozenset(
    {
        # of judges
        *("entail", "replicates", "samples", "scale", "temperature"),
        # of models: which one, with which numbers, and what it is sent
        *("base_url", "device", "dimensions", "dtype", "extra", "revision"),
        *("images", "thinking", "trust_remote_code", "top_logprobs"),
        "prompts",  # as a digest
        # of decision models: form and sizes of calls
        *("shape", "path", "pictures", "max_questions", "max_options"),
        *("max_levels", "max_images", "orders", "writer", "decide"),
    }
)
"""Options that change numbers, or the model that gives them."""


def options() -> Iterator[str]:
    """Names of the options of all tools that are part of this package."""
    for registry in (BACKENDS, JUDGES, EMBEDDERS, IMAGE_EMBEDDERS, SPLITTERS):
        for name in registry.builtin():
            parameters = inspect.signature(registry.get(name)).parameters
            first = next(iter(parameters), None)
            for option, parameter in parameters.items():
                # What is named behind the colon is no option; open options are those below.
                is_argument = option == first and (
                    parameter.kind is parameter.POSITIONAL_OR_KEYWORD
                    and parameter.default is parameter.empty
                )
                if (
                    not is_argument
                    and parameter.kind is not parameter.VAR_KEYWORD
                ):
                    yield option
    yield from (field.name for field in fields(Limits))
    yield from ("prompts", "scale", "temperature", "samples", "replicates")
    assert {"prompts", "scale"} <= inspect.signature(
        LLMJudge
    ).parameters.keys()


def test_every_option_is_known_to_change_numbers_or_not() -> None:
    names = set(options()) - {"model"}  # the name of a scripted model
    assert names - SIGNED - UNSIGNED == set(), "name each in one of both"
    assert not SIGNED & UNSIGNED
    assert names >= UNSIGNED


def signed(spec: Spec) -> str:
    return metric("posh", judge=str(spec)).signature()


@each_case("option", sorted(UNSIGNED - {"api_key", "facts"}))
@each_case("is_member", [False, True])
def test_what_changes_no_number_is_not_signed(
    option: str, is_member: bool
) -> None:
    value = "KEY" if option in ("key_env", "prices") else 3
    plain, changed = Spec("openai", "m"), Spec("openai", "m", {option: value})
    if is_member:
        plain, changed = (
            Spec("panel", None, {"members": [one, Spec("openai", "n")]})
            for one in (plain, changed)
        )
    assert signed(changed) == signed(plain)


@each_case("option", sorted(SIGNED))
def test_what_changes_numbers_is_signed(option: str) -> None:
    plain, changed = Spec("openai", "m"), Spec("openai", "m", {option: 3})
    assert signed(changed) != signed(plain)


def test_options_of_other_packages_stay() -> None:
    spec = Spec("pkg/judge", "m", {"timeout": 3})
    assert "timeout=3" in signed(spec)


def test_files_are_signed_by_their_content(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    table = "LAYER,P,R,F\n17,0.1,0.1,0.1\n"  # as one of baselines is
    first.write_text(table)
    second.write_text(table)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    for folder in ("one", "two"):
        (tmp_path / folder / "presence.txt").write_text("Is it there?")

    def signatures() -> list[tuple[str, str]]:
        paths = (str(first), str(second))
        judges = [
            [signed(Spec(name, path)) for path in paths]
            for name in ("replay", "scripted")
        ]
        tables = [
            [metric(name, **{option: path}).signature() for path in paths]
            for name, option in (("cider", "df"), ("bertscore", "baseline"))
        ]
        pairs = [(one, other) for one, other in judges + tables]
        folders = [
            signed(Spec("openai", "m", {"prompts": str(tmp_path / name)}))
            for name in ("one", "two")
        ]
        return [*pairs, (folders[0], folders[1])]

    before = signatures()
    for one, other in before:
        assert one == other
        assert str(tmp_path) not in one
    second.write_text(table.replace("0.1", "0.2"))
    (tmp_path / "two" / "presence.txt").write_text("Is it there at all?")
    for (one, _), (unchanged, changed) in zip(
        before, signatures(), strict=True
    ):
        assert unchanged == one
        assert changed != one


def test_every_text_of_a_metric_that_may_be_a_file_is_declared() -> None:
    for name in METRICS.builtin():
        for p in params(METRICS.get(name)):
            speaks_of_file = any(
                word in p.metadata["help"].lower()
                for word in ("path", "file", "table of")
            )
            is_declared = p.metadata["is_file"] or p.metadata["tool"]
            assert not speaks_of_file or is_declared, f"{name}: {p.name}"
