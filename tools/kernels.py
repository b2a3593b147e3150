"""The same verdicts and values under several BLAS kernels, each in a process of its own.

    python -m tools.kernels

OpenBLAS chooses its kernel by the processor; ``OPENBLAS_CORETYPE`` chooses another that the
processor can run. Under each, this judges the golden statements with the built-in judge, parses
their sentences and scores pairs of descriptions with ``accord`` and ``posh``. Verdicts, tags and
heads must be the same, probabilities of statements and values within
``TOLERANCE``. Exits with 1 if they are not, or if fewer than ``LEAST`` kernels can run. A numpy
without OpenBLAS has no kernels to choose: it says so.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from threadpoolctl import threadpool_info

TOLERANCE = 1e-5
LEAST = 3
KERNELS = {
    "x86_64": (
        "Prescott",
        "Nehalem",
        "Sandybridge",
        "Haswell",
        "Zen",
        "SkylakeX",
        "Cooperlake",
    ),
    "aarch64": (
        "ARMV8",
        "CORTEXA57",
        "NEOVERSEN1",
        "THUNDERX2T99",
        "NEOVERSEV1",
    ),
}
"""Kernels by machine; those that name one and the same are counted once."""
VERDICTS = (
    Path(__file__).parents[1] / "tests/judges/builtin/golden_verdicts.txt"
)
_TIME = 900


@dataclass(frozen=True, slots=True)
class Verdict:
    """A statement about a text, judged by hand.

    Attributes:
        rule: What it tests.
        text: The text.
        statement: The statement.
        true: Whether the text says so.
    """

    rule: str
    text: str
    statement: str
    true: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one kernel gives.

    Attributes:
        kernel: As the BLAS names it.
        decisions: By statement and text, whether the built-in judge takes the statement for true;
            by sentence, its tags, parts of speech, heads and relations.
        values: By statement and text, the probability of the statement; by name, those of metrics.
    """

    kernel: str
    decisions: Mapping[str, bool | str]
    values: Mapping[str, float]


def golden_verdicts() -> Iterator[Verdict]:
    """The verdicts of ``golden_verdicts.txt``."""
    rule = text = ""
    for line in VERDICTS.read_text(encoding="utf-8").splitlines():
        mark, rest = line[:1], line[1:].strip()
        if mark == "[":
            rule = rest.rstrip("]")
        elif mark == "=":
            text = rest
        elif mark in ("+", "-"):
            yield Verdict(rule, text, rest, mark == "+")


def kernel() -> str | None:
    """The kernel of numpy's OpenBLAS in this process, or None if numpy uses another BLAS."""
    import numpy as np  # noqa: F401  loads the library

    found = [
        pool
        for pool in threadpool_info()
        if pool["internal_api"] == "openblas"
    ]
    return str(found[0]["architecture"]) if found else None


def outcome() -> Outcome:
    """What the kernel of this process gives."""
    from beholder import PoSh
    from beholder.judges.builtin.claims import probabilities
    from beholder.judges.builtin.numbers import number
    from beholder.language.model import FOLDER
    from beholder.language.network import Network
    from beholder.metrics.accord import Accord

    rows = list(golden_verdicts())
    chances = {
        f"{row.statement} | {row.text}": probabilities(
            [row.statement], row.text
        )[0]
        for row in rows
    }
    texts = list(dict.fromkeys(row.text for row in rows))
    least = number("facts.both_true")
    decisions: dict[str, bool | str] = {
        name: chances[name] >= least for name in chances
    }
    network = Network(FOLDER)
    for sentence in (*texts, *(row.statement for row in rows)):
        words = sentence.replace(".", " .").replace(",", " ,").split()
        tagged = network.tag_words(words)
        decisions[sentence] = json.dumps(
            [
                tagged.tags,
                tagged.parts,
                tagged.heads.tolist(),
                tagged.relations,
            ]
        )
    values = dict(chances)
    # Each four texts make one description, compared with one that shares half of it.
    for start in range(0, len(texts) - 5, 4):
        candidate, reference = (
            " ".join(texts[start : start + 4]),
            " ".join(texts[start + 2 :][:4]),
        )
        for metric in (Accord(), PoSh()):
            scored = metric.score_text(candidate, reference)
            for name, value in scored.values.items():
                values[f"{metric.registered_name} {name} {start}"] = value
    return Outcome(kernel() or "", decisions, values)


def differences(first: Outcome, second: Outcome) -> list[str]:
    """What two kernels do not agree on, a line each; empty if they agree."""
    lines = []
    for name in sorted(first.decisions.keys() | second.decisions.keys()):
        ours, theirs = first.decisions.get(name), second.decisions.get(name)
        if ours != theirs:
            lines.append(
                f"{name!r}: {ours} ({first.kernel}), {theirs} ({second.kernel})"
            )
    for name in sorted(first.values.keys() | second.values.keys()):
        a, b = (
            side.values.get(name, float("nan")) for side in (first, second)
        )
        if not abs(a - b) <= TOLERANCE:
            lines.append(
                f"{name!r}: {a!r} ({first.kernel}), {b!r} ({second.kernel})"
            )
    return lines


def largest(first: Outcome, second: Outcome) -> float:
    """The largest difference of two values."""
    shared = first.values.keys() & second.values.keys()
    return max(
        (abs(first.values[name] - second.values[name]) for name in shared),
        default=0.0,
    )


def run(asked: Sequence[str]) -> tuple[dict[str, Outcome], dict[str, str]]:
    """What each kernel gives, by the name it was asked for by; and why others give nothing."""
    found: dict[str, Outcome] = {}
    left: dict[str, str] = {}
    for name in asked:
        environment = os.environ | {
            "OPENBLAS_CORETYPE": name,
            "OPENBLAS_NUM_THREADS": "1",
        }
        probe = _child("--kernel", environment)
        seen = next(
            (other for other, one in found.items() if one.kernel == probe),
            None,
        )
        if probe is None:
            left[name] = "does not run on this processor"
        elif seen is not None:
            left[name] = f"numpy takes {probe}, the same as for {seen}"
        elif (answer := _child("--outcome", environment)) is None:
            left[name] = "does not run on this processor"
        else:
            found[name] = Outcome(**json.loads(answer))
    return found, left


def _child(argument: str, environment: Mapping[str, str]) -> str | None:
    """What a process of this module prints; None if it was killed, as by an unknown instruction.

    Raises:
        CalledProcessError: It failed otherwise.
    """
    command = [sys.executable, "-m", "tools.kernels", argument]
    root = Path(__file__).parents[1]
    done = subprocess.run(
        command,
        env=environment,
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_TIME,
    )
    if done.returncode < 0:
        return None
    done.check_returncode()
    return done.stdout.strip()


def main(arguments: Sequence[str]) -> int:
    """Print a table of kernels; 0 if all agree."""
    if list(arguments) == ["--kernel"]:
        print(kernel() or "")
        return 0
    if list(arguments) == ["--outcome"]:
        print(json.dumps(asdict(outcome())))
        return 0
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine(), platform.machine()
    )
    if kernel() is None or machine not in KERNELS:
        print(
            f"This numpy on {machine} has no OpenBLAS with kernels to choose: nothing to compare."
        )
        return 0
    found, left = run(arguments or KERNELS[machine])
    first = next(iter(found.values()), None)
    wrong: list[str] = []
    print(
        f"{'kernel':<14}{'runs as':<14}{'decisions':>10}{'values':>8}  largest difference"
    )
    for name, one in found.items():
        counts = f"{len(one.decisions):>10}{len(one.values):>8}"
        print(
            f"{name:<14}{one.kernel:<14}{counts}  {largest(first or one, one):.1e}"
        )
        wrong += differences(first or one, one)
    for name, why in left.items():
        print(f"{name:<14}{why}")
    for line in wrong:
        print(line)
    if len(found) < LEAST:
        print(
            f"{len(found)} kernels ran; at least {LEAST} are needed to compare."
        )
        return 1
    print(f"{len(wrong)} differences." if wrong else "All kernels agree.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
