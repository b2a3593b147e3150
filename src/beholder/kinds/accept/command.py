"""``beholder accept``: freeze a claim, read in order, decide, certify, and write what passed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from beholder.kinds.accept.config import ClaimOptions
from beholder.terminal.groups import (
    AsJson,
    Data,
    ItemDataGroup,
    OutFile,
)
from beholder.terminal.printing import (
    UNDECIDED,
    print_json,
    print_line,
    print_note,
    print_notes,
    report_problems,
)

if TYPE_CHECKING:
    from beholder.kinds.accept.claim import Claim

CODES = {"accepted": 0, "refuted": 1, "not shown": UNDECIDED}
"""Exit codes of results."""

app = App(
    name="accept",
    help="Show that at most a share of a collection's texts has a grave error, by reading a part.",
    help_format="markdown",
)

Study = Annotated[
    Path | None,
    Parameter(
        help="Study of the readers; by default the folder people of the proof."
    ),
]
MovedData = Annotated[
    str | None,
    Parameter(name="--data", help="The data file, if it has moved."),
]


@app.command
def start(
    data: Data,
    /,
    *,
    out: OutFile,
    options: Annotated[ClaimOptions, Parameter(name="*")],
    rows: ItemDataGroup = ItemDataGroup(),
    dry_run: bool = False,
) -> None:
    """Freeze the texts and the claim; with --seed, draw the order in which texts are read.

    Name the seed after the digest was printed, so that no one who made the texts could know which
    are read: run the command without --seed first.

    Example: `beholder accept start captions.jsonl --at-most 0.02 --seed 417 -o proof`

    Args:
        data: A data file with the texts.
        out: Folder of the proof.
        dry_run: Check the input and print digest and plan, without writing.
    """
    from beholder.kinds.accept.door import start_proof

    started = start_proof(data, out, options, rows, dry_run=dry_run)
    print_line(f"digest: {started.claim.digest}")
    print_notes(_describe_plan(started.claim))
    if dry_run:
        return
    if started.claim.seed is None:
        print_note("next: name a seed: the same command with --seed NUMBER")
        return
    media = rows.media_root or Path(data).parent
    where = (
        f" --media-root {media}"
        if any(i.images for i in started.items)
        else ""
    )
    print_note(
        f"next: beholder annotate reading {out}/order.jsonl -o {out}/people --instructions"
        f" {out}/definition.md{where}"
    )


def _describe_plan(claim: Claim) -> list[str]:
    """Return the plan and its cautions in sentences."""
    lines = [
        f"{claim.n_texts:,} texts; the claim is broken by {claim.n_breaking:,} grave errors"
    ]
    if claim.n_copies:
        lines.append(
            f"{claim.n_copies:,} of the texts are copies of others; each counts as a text"
        )
    if claim.n_breaking == 1:
        lines.append(
            f"{claim.at_most:g} of {claim.n_texts:,} texts is less than one: only reading (nearly)"
            " all shows it"
        )
    if claim.n_planned >= claim.n_texts:
        lines.append(
            "the plan needs as many texts as there are; read all: then the rate is known, no"
            " statistics needed"
        )
    elif claim.n_planned:
        lines.append(
            f"plan: read {claim.n_planned:,} texts and allow {claim.allowed} grave errors"
        )
    if claim.reader_is_author == "unknown":
        lines.append(
            "is a reader the author of texts or prompts? answer with --reader-is-author yes or no;"
            " the certificate prints the answer"
        )
    return lines


@app.command
def check(
    proof: Path,
    /,
    *,
    study: Study = None,
    data: MovedData = None,
    as_json: AsJson = False,
) -> int:
    """Print the present result; exit code 0 accepted, 1 refuted, 3 not shown yet.

    You may look as often as you like; each look is logged. A look before the end of a fixed plan
    leaves only the method that is valid at any time.

    Example: `beholder accept check proofs/first`

    Args:
        proof: Folder of the proof.
    """
    from beholder.kinds.accept.certificate import cautions_of
    from beholder.kinds.accept.certificate import check as check_proof

    result = check_proof(proof, study=study, data=data)
    if as_json:
        print_json(result)
    else:
        print_line(result["result"]["text"])
    print_notes(f"caution: {caution}" for caution in cautions_of(result))
    return CODES[result["result"]["verdict"]]


@app.command
def certificate(
    proof: Path,
    /,
    *,
    out: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    html: Path | None = None,
    study: Study = None,
    data: MovedData = None,
    as_json: AsJson = False,
) -> int:
    """Write the certificate; exit codes are those of check.

    Example: `beholder accept certificate proofs/first --html proof.html`

    Args:
        proof: Folder of the proof.
        out: JSON file; by default certificate.json in the proof.
        html: HTML page of the certificate.
    """
    from beholder.kinds.accept.certificate import (
        CERTIFICATE,
        cautions_of,
        certify,
        write_certificate,
    )

    content = certify(proof, study=study, data=data)
    path = out or proof / CERTIFICATE
    write_certificate(content, path, html)
    if as_json:
        print_json(content)
    else:
        print_line(content["result"]["text"])
    print_notes(f"caution: {caution}" for caution in cautions_of(content))
    print_note(f"certificate: {path}")
    if html is not None:
        print_note(f"page: {html}")
    return CODES[content["result"]["verdict"]]


@app.command
def verify(
    certificate: Path,
    data: Data,
    study: Path,
    /,
) -> int:
    """Recompute every figure of a certificate; exit code 1 if one differs.

    Example: `beholder accept verify proof.json captions.jsonl proofs/first/people`

    Args:
        certificate: JSON file of the certificate.
        data: The data file with the frozen texts.
        study: Study of the readers.
    """
    from beholder.kinds.accept.certificate import verify as find_differences

    differences = find_differences(certificate, data, study)
    if not differences:
        print_line("verified: every figure is as recomputed")
    return report_problems(differences)


@app.command
def write(
    proof: Path,
    source: Path,
    /,
    *,
    out: OutFile,
    marks: Annotated[bool, Parameter(negative="")] = False,
    xmp: Annotated[bool, Parameter(negative="")] = False,
    media_root: Path | None = None,
    study: Study = None,
    data: MovedData = None,
) -> None:
    """Write accepted and edited texts into copies of files, with marks of review.

    A text with a grave error that no one edited, or that could not be judged, is never written.
    Picture files are never changed.

    Example: `beholder accept write proofs/first captions.jsonl -o reviewed.jsonl`

    Args:
        proof: Folder of the proof.
        source: Data file, HTML page, IIIF or Web Annotation file, or a folder of them.
        out: File or folder to write; the source is never changed.
        marks: Write marks into HTML pages, too.
        xmp: Write an XMP file beside each picture of the folder.
        media_root: Folder of the pictures that the texts name; by default that of the data.
    """
    from beholder.kinds.accept.certificate import certify, find_readings
    from beholder.kinds.accept.claim import open_proof
    from beholder.kinds.accept.marks import MarkWriter, find_marks

    content = certify(proof, study=study, data=data)
    if content["result"]["verdict"] != "accepted":
        print_note(
            "caution: the collection is not accepted, so texts that no one read are unreviewed;"
            " pages do not get them"
        )
    frozen = open_proof(proof, data)
    writer = MarkWriter(
        find_marks(frozen, find_readings(proof, study), content),
        media_root or Path(data or frozen.claim.data).parent,
        marks,
        xmp,
    )
    for name, n in writer.write(source, out).most_common():
        print_line(f"{name}: {n:,}")
    print_note(f"written: {out}")
