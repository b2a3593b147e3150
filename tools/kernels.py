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
    """Yield the verdicts of ``golden_verdicts.txt``."""
    rule = text = ""
    for line in VERDICTS.read_text(encoding="utf-8").splitlines():
        mark, statement = line[:1], line[1:].strip()
        if mark == "[":
            rule = statement.rstrip("]")
        elif mark == "=":
            text = statement
        elif mark in ("+", "-"):
            yield Verdict(rule, text, statement, mark == "+")


def kernel() -> str | None:
    """Return the kernel of numpy's OpenBLAS in this process, or None if numpy uses another BLAS."""
    import numpy as np  # noqa: F401  loads the library

    pools = [
        pool
        for pool in threadpool_info()
        if pool["internal_api"] == "openblas"
    ]
    return str(pools[0]["architecture"]) if pools else None


def compute_outcome() -> Outcome:
    """Compute the values and decisions under the kernel of this process."""
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


def list_differences(first: Outcome, second: Outcome) -> list[str]:
    """Return the differences of two kernels, a line each; empty if they agree."""
    lines = []
    for name in sorted(first.decisions.keys() | second.decisions.keys()):
        first_decision, second_decision = (
            first.decisions.get(name),
            second.decisions.get(name),
        )
        if first_decision != second_decision:
            lines.append(
                f"{name!r}: {first_decision} ({first.kernel}), {second_decision} ({second.kernel})"
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
    """Return the largest difference of two values."""
    shared_names = first.values.keys() & second.values.keys()
    return max(
        (
            abs(first.values[name] - second.values[name])
            for name in shared_names
        ),
        default=0.0,
    )


def run(
    kernels: Sequence[str],
) -> tuple[dict[str, Outcome], dict[str, str]]:
    """Return the outcome of each kernel, by the requested name, and the reasons of failures."""
    outcomes: dict[str, Outcome] = {}
    reasons: dict[str, str] = {}
    for name in kernels:
        environment = os.environ | {
            "OPENBLAS_CORETYPE": name,
            "OPENBLAS_NUM_THREADS": "1",
        }
        probe = _child("--kernel", environment)
        same_kernel = next(
            (
                name_before
                for name_before, outcome in outcomes.items()
                if outcome.kernel == probe
            ),
            None,
        )
        if probe is None:
            reasons[name] = "does not run on this processor"
        elif same_kernel is not None:
            reasons[name] = (
                f"numpy takes {probe}, the same as for {same_kernel}"
            )
        elif (answer := _child("--outcome", environment)) is None:
            reasons[name] = "does not run on this processor"
        else:
            outcomes[name] = Outcome(**json.loads(answer))
    return outcomes, reasons


def _child(argument: str, environment: Mapping[str, str]) -> str | None:
    """Return the output of a process of this module; None if it was killed (bad instruction).

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
        print(json.dumps(asdict(compute_outcome())))
        return 0
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine(), platform.machine()
    )
    if kernel() is None or machine not in KERNELS:
        print(
            f"This numpy on {machine} has no OpenBLAS with kernels to choose: nothing to compare."
        )
        return 0
    outcomes, reasons = run(arguments or KERNELS[machine])
    first = next(iter(outcomes.values()), None)
    wrong: list[str] = []
    print(
        f"{'kernel':<14}{'runs as':<14}{'decisions':>10}{'values':>8}  largest difference"
    )
    for name, result in outcomes.items():
        counts = f"{len(result.decisions):>10}{len(result.values):>8}"
        print(
            f"{name:<14}{result.kernel:<14}{counts}  {largest(first or result, result):.1e}"
        )
        wrong += list_differences(first or result, result)
    for name, why in reasons.items():
        print(f"{name:<14}{why}")
    for line in wrong:
        print(line)
    if len(outcomes) < LEAST:
        print(
            f"{len(outcomes)} kernels ran; at least {LEAST} are needed to compare."
        )
        return 1
    print(f"{len(wrong)} differences." if wrong else "All kernels agree.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
