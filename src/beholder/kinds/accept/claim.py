"""The frozen claim: the collection, the rate, the plan, and the order in which texts are read."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import msgspec

from beholder.base import files
from beholder.data import read_items, to_row
from beholder.data.read import EVERY_ROW, good_rows
from beholder.errors import ConfigError, RunError
from beholder.kinds.accept.config import ClaimOptions, Method
from beholder.options import DataOptions
from beholder.records import Item
from beholder.run import manifest
from beholder.stats import acceptance

CLAIM, FROZEN, ORDER, LOOKS, PEOPLE = (
    "claim.json",
    "frozen.jsonl",
    "order.jsonl",
    "looks.jsonl",
    "people",
)
"""Files of a proof, and the folder of the readers' study."""

FORMAT = 1
USUAL_CHANCE = 0.8
"""Chance to pass that the number of allowed errors is chosen for."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``claim.json``.

    Attributes:
        format: Version of the file's format.
        data: The data file as it was named.
        map: Columns of its fields.
        n_texts: Texts of the collection.
        n_copies: Texts that repeat an earlier one of the collection.
        digest: SHA-256 of the claim, with definition and plan, and the texts.
        at_most: Claimed share of grave errors.
        alpha: Risk of this claim: that of the options divided by the number of claims.
        method: How it is shown.
        n_planned: Texts that a fixed plan reads; 0 for an early stop.
        allowed: Errors that a fixed plan allows.
        strata: Column of strata; may be empty.
        series: Column of series; may be empty.
        effect: Planned design effect of series, or factor on the rate for rounded strata; else 1.
        twice: Share of texts that two people read.
        definition: The definition of a grave error.
        captioner: Origin of the texts.
        reader_is_author: Answer to the question whether a reader made texts or prompts.
        frozen: Date on which the digest was printed.
        seed: Seed of the order; None until it is named.
        drawn: Date on which the seed was named.
        seed_after_digest: Whether the digest was printed by an earlier command than the order.
        order_digest: SHA-256 of the ordered ids.
    """

    format: int = FORMAT
    data: str
    map: Mapping[str, str] = {}
    n_texts: int
    n_copies: int
    digest: str
    at_most: float
    alpha: float
    method: Method
    n_planned: int = 0
    allowed: int = 0
    strata: str = ""
    series: str = ""
    effect: float = 1.0
    twice: float
    definition: str
    captioner: Mapping[str, Any]
    reader_is_author: str = "unknown"
    frozen: str
    seed: int | None = None
    drawn: str = ""
    seed_after_digest: bool = False
    order_digest: str = ""

    @property
    def n_breaking(self) -> int:
        """The smallest number of grave errors that breaks the claim."""
        return acceptance.breaking_count(self.at_most, self.n_texts)


@dataclass(frozen=True)
class Frozen:
    """A claim with its texts.

    Attributes:
        claim: The claim.
        items: The texts in the order of the data.
        ordered: The texts in the order of reading; empty before the seed is named.
    """

    claim: Claim
    items: Sequence[Item]
    ordered: Sequence[Item] = field(default=())


def read_texts(data: str, rows: DataOptions) -> list[Item]:
    """Read the texts of a collection.

    Raises:
        ConfigError: An id repeats, there is no text, or the texts have several origins.
        DataError: A row is not valid, or the file cannot be read.
    """
    items = list(good_rows(read_items(data, rows), rows, [], name=data))
    repeated = [
        name for name, n in Counter(item.id for item in items).items() if n > 1
    ]
    if repeated:
        raise ConfigError(
            f"{data}: the id {repeated[0]!r} repeats ({len(repeated)} ids do); each text needs an"
            " id of its own"
        )
    if not items:
        raise ConfigError(f"{data} has no text")
    return items


def origin_of(items: Sequence[Item], data: str) -> dict[str, Any]:
    """Return the captioner of the texts: system, release, settings, and the run that made them.

    Raises:
        ConfigError: The texts have several captioners, or releases of one.
    """
    origins: dict[str, dict[str, Any]] = {}
    for item in items:
        settings = item.meta.get("caption")
        origin = {
            "system": item.group.get("system", ""),
            "model": str(item.meta.get("model", "")),
            "settings": settings if isinstance(settings, Mapping) else {},
        }
        origins[json.dumps(origin, sort_keys=True, default=str)] = origin
    if len(origins) > 1:
        names = "; ".join(sorted(origins)[:3])
        raise ConfigError(
            f"{data}: texts of {len(origins)} captioners or releases ({names}); a claim is about"
            " one: divide the file and start a proof for each, with --claims"
            f" {len(origins)}"
        )
    (origin,) = origins.values()
    run = Path(f"{data}.run")
    if manifest.is_run(run):
        log = manifest.read_log(run)
        origin["run"] = run.name
        origin["signatures"] = [
            signature
            for asker in log.metrics
            for signature in [getattr(asker, "signature", "")]
            if signature
        ]
    return origin


DATED = ("frozen", "seed", "drawn", "seed_after_digest", "order_digest")
"""Fields of a claim that neither the texts nor the options of a start determine."""
_UNSIGNED = ("data", "map", "digest", *DATED)
"""Fields of a claim that its digest does not contain."""


def digest_of(items: Sequence[Item], claim: Claim) -> str:
    """Return the SHA-256 of the claim, with definition and plan, and the texts."""
    texts = [[item.id, item.candidate, list(item.images)] for item in items]
    fields = msgspec.to_builtins(claim)
    frozen = {k: v for k, v in fields.items() if k not in _UNSIGNED}
    return files.json_digest([frozen, texts])


def group_of(item: Item, column: str) -> str:
    """Return the value of a group column, or of another field; empty if the row has none."""
    return str(item.group.get(column, item.meta.get(column, "")))


def order_texts(items: Sequence[Item], claim: Claim) -> list[Item]:
    """Return the texts in the order of reading: by SHA-256 of the seed and the id.

    Whole series stay together, and a proportional sample of strata comes first.
    """

    def chance(name: str) -> str:
        return sha256(f"{claim.seed}\n{name}".encode()).hexdigest()

    ordered = sorted(items, key=lambda item: chance(item.id))
    if claim.method == "series":

        def series_chance(item: Item) -> tuple[str, str]:
            name = group_of(item, claim.series)
            return chance(f"series {name}"), name

        ordered.sort(key=series_chance)
    elif claim.method == "strata":
        sizes = stratum_sizes(items, claim.strata)
        left = stratum_plan(sizes, claim.n_planned)
        sample: list[Item] = []
        rest: list[Item] = []
        for item in ordered:
            name = group_of(item, claim.strata)
            (sample if left[name] > 0 else rest).append(item)
            left[name] -= 1
        ordered = sample + rest
    return ordered


def stratum_sizes(items: Sequence[Item], column: str) -> Counter[str]:
    """Return the number of texts of each stratum."""
    return Counter(group_of(item, column) for item in items)


def stratum_plan(sizes: Mapping[str, int], n_read: int) -> dict[str, int]:
    """Return how many texts of each stratum are read: in proportion, rounded."""
    total = sum(sizes.values())
    return {
        name: min(size, max(1, round(n_read * size / total)))
        for name, size in sizes.items()
    }


def plan_of(
    items: Sequence[Item], options: ClaimOptions, alpha: float
) -> dict[str, Any]:
    """Return the fields of a claim that a fixed plan sets; none for an early stop."""
    if options.method == "sequence":
        return {}
    # The exact plan counts the texts of the collection; the limits of the two other designs are
    # binomial, so their plans are.
    n_texts = len(items) if options.method == "fixed" else None
    allowed = options.allow
    if allowed is None:
        assert options.expect is not None
        allowed = choose_allowed(options, n_texts, alpha)
    needed = acceptance.texts_to_read(
        options.at_most, allowed, n_texts, alpha=alpha
    )
    effect = 1.0
    if options.method == "series":
        sizes = list(stratum_sizes(items, options.series).values())
        effect = acceptance.series_effect(sizes, options.icc)
        needed = math.ceil(needed * effect)
    elif options.method == "strata":
        strata = stratum_sizes(items, options.strata)
        planned = needed
        # A smaller rate allows for rounding: a few texts more are read until it is met.
        while planned < len(items):
            read = stratum_plan(strata, planned)
            effect = acceptance.rounding_factor(
                list(strata.values()), list(read.values())
            )
            wanted = acceptance.texts_to_read(
                options.at_most * effect, allowed, alpha=alpha
            )
            if sum(read.values()) >= wanted:
                break
            planned += 1
        needed = sum(stratum_plan(strata, planned).values())
    return {
        "n_planned": min(needed, len(items)),
        "allowed": allowed,
        "effect": effect,
    }


def choose_allowed(
    options: ClaimOptions, n_texts: int | None, alpha: float
) -> int:
    """Return the fewest allowed errors with which the expected rate passes with a chance of .8."""
    assert options.expect is not None
    for allowed in range(200):
        needed = acceptance.texts_to_read(
            options.at_most, allowed, n_texts, alpha=alpha
        )
        chance = acceptance.chance_to_pass(
            needed, allowed, options.expect, n_texts
        )
        if chance >= USUAL_CHANCE:
            return allowed
    raise ConfigError(
        f"--expect {options.expect:g} is too near to --at-most {options.at_most:g}: no plan of up"
        " to 200 errors passes with a chance of .8"
    )


def build_claim(
    data: str, options: ClaimOptions, rows: DataOptions, today: str
) -> Frozen:
    """Return the claim about a data file, not yet drawn.

    Raises:
        ConfigError: An option is wrong, or the texts have several captioners.
        DataError: The data cannot be read.
    """
    rows.check_only(
        ("map", "media_root"),
        f"a claim is about all texts of {data}; name a file of the texts that it is about",
    )
    items = read_texts(data, rows)
    definition = (
        package_files("beholder.kinds.accept")
        .joinpath("definition.md")
        .read_text(encoding="utf-8")
    )
    if options.definition is not None:
        definition = options.definition.read_text(encoding="utf-8")
    alpha = options.alpha / options.claims
    for column in filter(None, (options.strata, options.series)):
        if not any(group_of(item, column) for item in items):
            raise ConfigError(f"{data}: no row has a value of {column!r}")
    claim = Claim(
        data=data,
        map=dict(rows.map),
        n_texts=len(items),
        n_copies=len(items) - len({item.candidate for item in items}),
        digest="",
        at_most=options.at_most,
        alpha=alpha,
        method=options.method,
        strata=options.strata,
        series=options.series,
        twice=options.twice,
        definition=definition,
        captioner=origin_of(items, data),
        reader_is_author=options.reader_is_author,
        frozen=today,
        **plan_of(items, options, alpha),
    )
    digest = digest_of(items, claim)
    return Frozen(msgspec.structs.replace(claim, digest=digest), items)


def draw(frozen: Frozen, seed: int, today: str, *, later: bool) -> Frozen:
    """Return a claim with its order, drawn with a seed.

    Args:
        frozen: The claim.
        seed: The seed.
        today: Date of today.
        later: Whether the digest was printed before.
    """
    claim = msgspec.structs.replace(
        frozen.claim, seed=seed, drawn=today, seed_after_digest=later
    )
    ordered = order_texts(frozen.items, claim)
    digest = files.json_digest([item.id for item in ordered])
    claim = msgspec.structs.replace(claim, order_digest=digest)
    return Frozen(claim, frozen.items, ordered)


def n_readers(item: Item, claim: Claim) -> int:
    """Return how many people read a text: two of the share ``twice``, by hash, else one."""
    name = f"{claim.seed}\ntwice\n{item.id}"
    chance = int(sha256(name.encode()).hexdigest()[:12], 16) / 16**12
    return 2 if chance < claim.twice else 1


def write_proof(frozen: Frozen, folder: Path) -> None:
    """Write the folder of a proof: texts, order and definition, the claim last."""
    files.make_folder(folder)
    files.write_jsonl(folder / FROZEN, map(to_row, frozen.items))
    files.write_text(folder / "definition.md", frozen.claim.definition)
    if frozen.ordered:
        rows = [
            _with_readers(to_row(item), n_readers(item, frozen.claim))
            for item in frozen.ordered
        ]
        files.write_jsonl(folder / ORDER, rows)
    text = json.dumps(msgspec.to_builtins(frozen.claim), indent=2)
    files.write_text(folder / CLAIM, text + "\n")


def _with_readers(row: dict[str, Any], n: int) -> dict[str, Any]:
    return {**row, "meta": {**row.get("meta", {}), "readers": n}}


def read_claim(folder: Path) -> Claim:
    """Read the claim of a proof.

    Raises:
        RunError: The folder contains no proof, or its claim is damaged.
    """
    missing = f"{folder} is not a proof; make one with 'beholder accept start DATA -o {folder}'"
    content = files.read_json(
        folder / CLAIM, form=FORMAT, kind="claim", missing_message=missing
    )
    return files.as_record(content, Claim, folder / CLAIM)


def check_texts(claim: Claim, items: Sequence[Item], folder: Path) -> None:
    """Check that texts are those that were frozen.

    Raises:
        RunError: A text changed, went or came; names the ids.
    """
    if digest_of(items, claim) == claim.digest:
        return
    changed: list[str] = []
    if (folder / FROZEN).is_file():
        before = {
            item.id: item
            for item in read_texts(str(folder / FROZEN), EVERY_ROW)
        }
        now = {item.id: item for item in items}
        changed = [
            name
            for name in {**before, **now}
            if name not in before
            or name not in now
            or before[name].candidate != now[name].candidate
            or before[name].images != now[name].images
        ]
    if not changed:
        raise RunError(
            f"{claim.data} and the claim are not what was frozen (digest {claim.digest[:12]}):"
            " one of them changed"
        )
    ids = ", ".join(map(repr, changed[:5]))
    raise RunError(
        f"{claim.data} changed after freezing: {len(changed)} texts, such as {ids}; start a new"
        " proof of the present texts in another folder"
    )


def open_proof(folder: Path, data: str | None = None) -> Frozen:
    """Return the claim of a proof with its texts, which must be those that were frozen.

    Args:
        folder: The proof.
        data: The data file, if it has moved.

    Raises:
        RunError: The folder contains no proof, no seed is named yet, or the texts changed.
        DataError: The data cannot be read.
    """
    claim = read_claim(folder)
    if claim.seed is None:
        raise RunError(
            f"{folder}: the order is not drawn yet; name a seed:"
            f" 'beholder accept start {claim.data} --at-most {claim.at_most:g} --seed NUMBER -o"
            f" {folder}'"
        )
    return restore(claim, data or claim.data, folder)


def restore(claim: Claim, data: str, folder: Path) -> Frozen:
    """Return a claim with its texts and their order, recomputed.

    Raises:
        RunError: The texts or the order are others than those that were frozen.
        DataError: The data cannot be read.
    """
    items = read_texts(data, DataOptions(map=claim.map))
    check_texts(claim, items, folder)
    ordered = order_texts(items, claim)
    order_digest = files.json_digest([item.id for item in ordered])
    if order_digest != claim.order_digest:
        raise RunError(
            f"{folder}: the order is not that of the seed {claim.seed}; start a new proof"
        )
    return Frozen(claim, items, ordered)
