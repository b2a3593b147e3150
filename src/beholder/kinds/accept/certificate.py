"""The result of a proof: what ``check`` prints, the certificate, its page, and its verification."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from beholder._version import __version__
from beholder.base import files
from beholder.data.lines import read_records
from beholder.errors import RunError
from beholder.kinds.accept import evidence
from beholder.kinds.accept.claim import (
    LOOKS,
    PEOPLE,
    Claim,
    Frozen,
    open_proof,
    restore,
)
from beholder.kinds.accept.evidence import ClaimDecision, Readings
from beholder.report.pages import render_page

CERTIFICATE = "certificate.json"
FORMAT = 1
MANY_UNSURE = 0.05
"""Share of texts that cannot be judged above which a caution is printed."""

METHODS = {
    "sequence": "ratio martingale without replacement, valid at any time",
    "fixed": "exact hypergeometric limit of a fixed sample",
    "strata": "exact binomial limit of a proportional sample of strata",
    "series": "Korn-Graubard limit of whole series",
}
_DATED = ("date", "version", "digest")
_COPIED = ("looks", *_DATED)
"""Fields of a certificate that the data and the study do not determine."""


def percent(share: float) -> str:
    """Return a share as a percentage with at most two digits after the point."""
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + " %"


def describe(claim: Claim, decision: ClaimDecision, n_unsure: int) -> str:
    """Return the decision in a sentence."""
    n_grave = decision.n_errors - n_unsure
    found = f"{n_grave} grave"
    if n_unsure:
        found += f", {n_unsure} cannot be judged and count as grave"
    if decision.bound is None:
        return (
            f"not yet: {decision.n_read} of {claim.n_planned} texts read; this design has no early"
            " stop, so no result is shown before the end"
        )
    limit = f"at most {percent(decision.bound)}"
    if decision.verdict == "accepted":
        after = decision.after or decision.n_read
        return (
            f"accepted after {after} texts: {found}, {limit} of {claim.n_texts:,} texts have a"
            f" grave error (claim: {percent(claim.at_most)}, confidence"
            f" {percent(1 - claim.alpha)})"
        )
    if decision.verdict == "refuted":
        return (
            f"refuted: {decision.n_read} read, {found}; more than {percent(claim.at_most)} of"
            f" {claim.n_texts:,} texts have a grave error (confidence {percent(1 - claim.alpha)})"
        )
    sentence = f"not yet: {decision.n_read} read, {found}, {limit}"
    if claim.method != "sequence" and decision.n_read >= claim.n_planned:
        sentence = f"not shown: {decision.n_read} read, {found}, {limit}"
    if decision.more is not None:
        sentence += (
            f"; about {decision.more} more if no further error is found"
        )
    return sentence


def build(
    frozen: Frozen, readings: Readings, looks: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return everything that a proof shows, as JSON values; without date, version and digest.

    Args:
        frozen: The claim with its texts.
        readings: The study.
        looks: Looks at the result, oldest first.
    """
    claim = frozen.claim
    texts, n_waiting = evidence.read_beginning(frozen, readings)
    decision = evidence.decide(claim, texts, looks)
    is_open = decision.bound is None
    shown = [] if is_open else texts
    counts = evidence.level_counts(shown)
    result = {
        "format": FORMAT,
        "claim": {
            "text": f"At most {percent(claim.at_most)} of the {claim.n_texts:,} texts of this"
            " frozen collection have a grave error, with confidence"
            f" {percent(1 - claim.alpha)}.",
            "breaks_at": claim.n_breaking,
            **msgspec.to_builtins(claim),
        },
        "result": {
            "text": describe(claim, decision, counts["cannot"]),
            **asdict(decision),
        },
        "method": METHODS[decision.method],
        "errors": counts,
        "sample": {
            "n_read": len(texts),
            "n_waiting": n_waiting,
            "n_unread": claim.n_texts - len(texts),
        },
        "gold": evidence.gold_bound(claim, texts, looks, readings),
        "readers": evidence.readers_of(texts, readings),
        "double_reading": evidence.double_reading(shown),
        "edits": evidence.edits_of(shown),
        "edits_by_reader": {
            code: evidence.edits_of([t for t in shown if t.editor == code])
            for code in sorted({text.editor for text in shown})
        },
        "strata": evidence.strata_of(frozen, shown),
        "limits": limits_of(claim),
        "looks": looks,
    }
    plain: dict[str, Any] = json.loads(json.dumps(result))
    return plain


def limits_of(claim: Claim) -> list[str]:
    """Return the sentences on what a certificate does not say."""
    wider = percent(claim.at_most / 0.8)
    return [
        f"It is about these {claim.n_texts:,} texts as they were frozen, not about other texts of"
        " the same captioner.",
        "It is about the collection, not about any single text: unread texts may have grave"
        " errors.",
        "Readers miss errors: if readers miss one grave error in five, a bound of"
        f" {percent(claim.at_most)} is {wider}.",
    ]


def cautions_of(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a reader of the result should know."""
    claim, sample = result["claim"], result["sample"]
    n_unsure = result["errors"]["cannot"]
    if n_unsure > MANY_UNSURE * sample["n_read"]:
        yield (
            f"{n_unsure} of {sample['n_read']} texts cannot be judged; the bound counts them as"
            " grave"
        )
    if sample["n_waiting"]:
        yield (
            f"{sample['n_waiting']} texts are read but wait for earlier ones of the order: only"
            " its unbroken beginning counts"
        )
    if claim["method"] == "fixed" and result["result"]["method"] == "sequence":
        yield (
            "the result was looked at before the end of the fixed plan, so only the method that is"
            " valid at any time counts"
        )


def check(
    folder: Path, *, study: Path | None = None, data: str | None = None
) -> dict[str, Any]:
    """Return the present result of a proof, and log that it was looked at.

    Args:
        folder: The proof.
        study: The readers' study; by default the folder ``people`` of the proof.
        data: The data file, if it has moved.

    Raises:
        RunError: There is no proof or no study, or the texts changed.
    """
    frozen = open_proof(folder, data)
    readings = find_readings(folder, study)
    path = folder / LOOKS
    looks = list(read_records(path, dict)) if path.is_file() else []
    result = build(frozen, readings, looks)
    n_read = result["sample"]["n_read"]
    # A design without early stop shows nothing before its end, so there is nothing to log.
    is_new = not looks or looks[-1]["n_read"] != n_read
    if n_read and is_new and result["result"]["bound"] is not None:
        n_errors = result["result"]["n_errors"]
        look = {"date": today(), "n_read": n_read, "n_errors": n_errors}
        files.write_jsonl(path, [*looks, look])
        result = build(frozen, readings, [*looks, look])
    return result


def find_readings(folder: Path, study: Path | None) -> Readings:
    """Read the study of a proof; by default the folder ``people``.

    Raises:
        RunError: There is none yet, or it is a study of another task.
    """
    place = study or folder / PEOPLE
    if study is None and not place.is_dir():
        raise RunError(
            f"{folder}: nothing is read yet; read with 'beholder annotate reading"
            f" {folder}/order.jsonl -o {place}', or name the study with --study"
        )
    return evidence.load_readings(place)


def today() -> str:
    """Return the date of today, in the form of ISO 8601."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()


def certify(
    folder: Path, *, study: Path | None = None, data: str | None = None
) -> dict[str, Any]:
    """Return the certificate of a proof; arguments and errors as ``check``."""
    result = check(folder, study=study, data=data)
    # A certificate keeps its date and digest, which marks name, until something else changes.
    if (folder / CERTIFICATE).is_file():
        written: dict[str, Any] = files.read_json(
            folder / CERTIFICATE,
            form=FORMAT,
            kind="certificate",
            missing_message=f"{folder / CERTIFICATE} is gone",
        )
        same = {k: v for k, v in written.items() if k not in _DATED}
        if same == result and digest_of(written) == written["digest"]:
            return written
    certificate = {**result, "version": __version__, "date": today()}
    return {**certificate, "digest": digest_of(certificate)}


def digest_of(certificate: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all fields of a certificate but its digest."""
    return files.json_digest(
        {k: v for k, v in certificate.items() if k != "digest"}
    )


def verify(path: Path, data: str, study: Path) -> list[str]:
    """Recompute a certificate; return a line per field that differs.

    Args:
        path: The certificate.
        data: The data file with the frozen texts.
        study: The readers' study.

    Raises:
        RunError: The certificate or the study cannot be read, or the texts are others.
        DataError: The data cannot be read.
    """
    content = files.read_json(
        path,
        form=FORMAT,
        kind="certificate",
        missing_message=f"{path}: there is no such certificate",
    )
    differences = []
    if digest_of(content) != content.get("digest"):
        differences.append("digest: is not that of the certificate")
    # A field may have been removed or have another type, so everything is recomputed from the
    # claim alone and compared as text.
    claim = files.as_record(content.get("claim"), Claim, path, "ask its maker")
    try:
        frozen = restore(claim, data, path.parent)
    except RunError as error:
        return [*differences, f"claim: {error}"]
    readings = evidence.load_readings(study)
    expected = build(frozen, readings, content.get("looks", []))
    copied = {name: content.get(name) for name in _COPIED}
    differences += _compare(content, {**expected, **copied}, "")
    return differences


def _compare(seen: Any, expected: Any, place: str) -> Iterator[str]:
    """Yield the places at which two JSON values differ."""
    if isinstance(seen, dict) and isinstance(expected, dict):
        for key in sorted({*seen, *expected}):
            yield from _compare(
                seen.get(key), expected.get(key), f"{place}.{key}".lstrip(".")
            )
    elif isinstance(seen, float) and isinstance(expected, float):
        # The last digits of special functions differ between builds of scipy.
        if abs(seen - expected) > 1e-9:
            yield f"{place}: {seen} in the certificate, {expected} recomputed"
    elif seen != expected:
        yield f"{place}: {seen!r} in the certificate, {expected!r} recomputed"


def write_certificate(
    certificate: Mapping[str, Any], path: Path, page: Path | None
) -> None:
    """Write a certificate and, if a file is named, the page that is drawn from it alone."""
    files.write_text(
        path, json.dumps(certificate, indent=2, ensure_ascii=False) + "\n"
    )
    if page is not None:
        files.write_text(
            page,
            render_page(
                "accept.html.j2",
                ("page.css",),
                certificate=certificate,
                cautions=list(cautions_of(certificate)),
                percent=percent,
            ),
        )
