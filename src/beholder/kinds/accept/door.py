"""``beholder.accept``: start a proof in Python, or resume it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from beholder.data.read import EVERY_ROW
from beholder.errors import RunError
from beholder.kinds.accept.certificate import check, today
from beholder.kinds.accept.claim import (
    CLAIM,
    DATED,
    Frozen,
    build_claim,
    draw,
    read_claim,
    write_proof,
)
from beholder.kinds.accept.config import ClaimOptions
from beholder.options import DataOptions


def accept(
    data: str | Path, out: str | Path, *, at_most: float, **options: Any
) -> dict[str, Any]:
    """Freeze a claim about the texts of a data file, or return the present result of its proof.

    Args:
        data: A data file with the texts.
        out: Folder of the proof.
        at_most: Claimed share of texts with a grave error.
        options: Fields of ``ClaimOptions``, such as ``seed``.

    Returns:
        The claim before anything is read, then what ``beholder accept check --json`` prints.

    Raises:
        ConfigError: An option is wrong, or the texts have several captioners.
        DataError: The data cannot be read.
        RunError: The folder contains another proof, or the texts changed.
    """
    folder = Path(out)
    frozen = start_proof(
        str(data), folder, ClaimOptions(at_most=at_most, **options)
    )
    if (folder / "people").is_dir():
        return check(folder, data=str(data))
    claim: dict[str, Any] = msgspec.to_builtins(frozen.claim)
    return claim


def start_proof(
    data: str,
    out: Path,
    options: ClaimOptions,
    rows: DataOptions = EVERY_ROW,
    *,
    dry_run: bool = False,
) -> Frozen:
    """Freeze a claim, and draw its order if a seed is named; resume a proof that is begun.

    Raises:
        ConfigError: An option is wrong, or the texts have several captioners.
        DataError: The data cannot be read.
        RunError: The folder contains another proof.
    """
    frozen = build_claim(data, options, rows, today())
    is_begun = (out / CLAIM).is_file()
    before = read_claim(out) if is_begun else frozen.claim
    # What the first start froze must be what the options ask for now.
    fields = {name: getattr(before, name) for name in DATED}
    if msgspec.structs.replace(frozen.claim, **fields) != before:
        raise RunError(
            f"{out} contains another proof (other texts, claim or plan); choose another folder with"
            " -o, or repeat the first command"
        )
    frozen = Frozen(before, frozen.items)
    seed = before.seed if options.seed is None else options.seed
    if before.seed is not None and seed != before.seed:
        raise RunError(
            f"{out}: the order is drawn with the seed {before.seed}; a seed is named once"
        )
    if seed is not None:
        later, day = is_begun, today()
        if before.seed is not None:
            later, day = before.seed_after_digest, before.drawn
        frozen = draw(frozen, seed, day, later=later)
    if not dry_run:
        write_proof(frozen, out)
    return frozen
