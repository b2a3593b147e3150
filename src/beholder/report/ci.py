"""Reports for services of continuous integration: SARIF 2.1.0 and JUnit.

Every text of others is escaped here, once: a caller passes texts as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from urllib.parse import quote
from xml.etree import ElementTree

from beholder._version import __version__
from beholder.base.visible import for_terminal, for_xml

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_text(
    tool: str,
    rules: Sequence[Mapping[str, object]],
    results: Sequence[Mapping[str, object]],
    **properties: object,
) -> str:
    """Return a SARIF log with one run.

    Args:
        tool: The command that made the results.
        rules: Descriptions of rules, in SARIF's form.
        results: Results of ``sarif_result``.
        properties: Further properties of the run, such as ``columnKind``.
    """
    driver = {"name": tool, "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, **properties, "results": results}
    log = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def sarif_result(
    rule: str,
    level: str,
    message: str,
    file: str,
    *,
    region: Mapping[str, int] | None = None,
    inside: str = "",
    **properties: object,
) -> dict[str, object]:
    """Return a result of SARIF.

    Args:
        rule: Id of its rule.
        level: ``error``, ``warning`` or ``note``.
        message: Any text.
        file: The file that it is about.
        region: Lines and columns of the file.
        inside: The part of the file, where lines do not name it: an item, a picture.
        properties: Further properties of the result.
    """
    physical: dict[str, object] = {"artifactLocation": {"uri": quote(file)}}
    if region is not None:
        physical["region"] = region
    location: dict[str, object] = {"physicalLocation": physical}
    # Services show the logical location where a line means nothing, such as
    # the item of a run.
    if inside:
        location["logicalLocations"] = [{"fullyQualifiedName": inside}]
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": for_terminal(message)},
        "locations": [location],
        **properties,
    }


def add_element(
    parent: ElementTree.Element,
    tag: str,
    lines: Sequence[str] = (),
    **attributes: str,
) -> ElementTree.Element:
    """Add an element to a JUnit report, without the characters that XML does not allow.

    Args:
        parent: The element that it is in.
        tag: Its name.
        lines: Its text; an end of a line within one becomes a blank.
        attributes: Its attributes.
    """
    # XML has no way to write control characters, so they are replaced.
    safe_attributes = {
        key: for_xml(value) for key, value in attributes.items()
    }
    element = ElementTree.SubElement(parent, tag, safe_attributes)
    element.text = "\n".join(map(for_xml, lines))
    return element


def junit_text(root: ElementTree.Element) -> str:
    """Return a JUnit report as a file contains it."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'
