"""Elements of a page: which are pictures, links or hidden, their texts and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import unquote

from lxml import etree

from beholder.lint.wording import names, norm

_MOST_CONTEXT = 20_000
MOST_IDS = 100
"""Ids of an attribute, and pictures of an element, that are read at most."""
_UNSEEN = frozenset(names("unseen_elements"))
_INLINE = frozenset(names("inline_elements"))
"""Elements of HTML that end no word."""
IMAGE_ROLES = frozenset(names("image_roles"))
"""Roles by which an element is a picture."""
_NEAR = ("button", "p", "li", "td", "th")
_ACTIVE_ROLES = frozenset(("button", "link", "menuitem", "tab"))
_LAZY = re.compile(
    r"(?:data-|lazy|nitro-|load)(?:.*-)?\w*(?:src|srcset|set|lazy|lazyload|original|image|img|echo"
    r"|deferred|breeze|hi-?res|url)$"
)
"""Attributes with the address of a picture that a script loads later."""
_NOT_LAZY = re.compile(
    r"-(?:hover|placeholder|thumb\w*|blank|low\w*|lqip|preview|fallback|link|page|share)(?:-|$)"
)
"""Words in names of attributes that have the address of another picture, or of a page."""
_NO_ADDRESS = re.compile(r"[\s{}\[\]\"<>]")
_PICTURE_FILE = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?)(?:$|[?#])", re.I
)
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_FOCUSABLE = frozenset(("a", "area", "button", "input"))


def addresses_of(element: Any) -> list[str]:
    """Return the addresses that a picture may be loaded from, the most likely first."""
    # Lazy loading has the address in a data attribute, and a placeholder
    # in ``src``.
    addresses = list(_lazy_addresses(element))
    parent = element.getparent()
    choices: list[Any] = []
    if parent is not None and parent.tag == "picture":
        choices = list(islice(parent.iterchildren("source"), 20))
    for choice in choices:
        addresses += _lazy_addresses(choice)
    addresses += [
        element.get(key) for key in ("src", "data") if element.get(key)
    ]
    for holder in (element, *choices):
        addresses += _split_srcset(holder.get("srcset", ""))
    return addresses


def _lazy_addresses(element: Any) -> Iterator[str]:
    for key, value in element.items():
        if not _LAZY.match(key) or _NOT_LAZY.search(key):
            continue
        has_several = key.endswith("set") or ", " in value
        addresses = _split_srcset(value) if has_several else [value.strip()]
        for address in addresses:
            # Other data have such names, too.
            is_address = address and not _NO_ADDRESS.search(address)
            if is_address and ("src" in key or _PICTURE_FILE.search(address)):
                yield address


def _split_srcset(value: str) -> list[str]:
    """Return the addresses of a ``srcset``; an address may contain commas."""
    addresses: list[str] = []
    is_due = True
    for token in value.split():
        if is_due:
            addresses.append(token.rstrip(","))
        elif "," in token:
            # A width or density; the next address may follow its comma.
            token = token.partition(",")[2]
            if token:
                addresses.append(token.rstrip(","))
                is_due = token.endswith(",")
                continue
            is_due = True
            continue
        is_due = token.endswith(",")
    return list(filter(None, addresses[:20]))


def pictures_in(element: Any) -> Iterator[Any]:
    """Yield the first pictures of an element, or the element itself."""
    pictures = filter(is_picture_element, element.iter(etree.Element))
    yield from islice(pictures, MOST_IDS)


def neighbours_without_text(element: Any) -> Iterator[Any]:
    """Yield the elements before and behind an element, if no text is between."""
    before = element.getprevious()
    gap = before.tail if before is not None else ""
    while before is not None and not isinstance(before.tag, str):
        before = before.getprevious()
        gap = (gap or "") + ((before.tail or "") if before is not None else "")
    if before is not None and not (gap or "").strip():
        yield before
    behind, gap = element.getnext(), element.tail
    while behind is not None and not isinstance(behind.tag, str):
        gap = (gap or "") + (behind.tail or "")
        behind = behind.getnext()
    if behind is not None and not (gap or "").strip():
        yield behind


def title_of_drawing(element: Any) -> Any:
    """Return the ``title`` of a drawing or of a part of one; None without it."""
    if (
        element.tag != "svg"
        and next(element.iterancestors("svg"), None) is None
    ):
        return None
    return element.find("title")


def is_download_of(link: Any, text: str) -> bool:
    """Return whether a link downloads a file whose name is the text."""
    if link.get("download") is None or not norm(text):
        return False
    path = unquote(re.split(r"[?#]", link.get("href", ""))[0])
    file_names = (path.rpartition("/")[2], link.get("download"))
    return norm(text).casefold() in [
        norm(file_name).casefold() for file_name in file_names
    ]


def attribute_text(element: Any, key: str) -> str:
    """Return the value of an attribute with single blanks; empty if it is missing."""
    return norm(element.get(key, ""))


def listed_ids(element: Any, key: str) -> list[str]:
    """Return the first 100 ids that an attribute lists."""
    return element.get(key, "").split()[:MOST_IDS]  # type: ignore[no-any-return]


def find_named_targets(area_map: Any) -> set[str | None]:
    """Return the addresses to which the areas with a text lead."""
    return {
        area.get("href")
        for area in area_map.iter("area")
        if attribute_text(area, "alt")
    }


def is_picture_element(element: Any) -> bool:
    """Return whether an element shows a picture, by its tag, type or role."""
    kind = element.get("type", "").lower()
    match element.tag:
        case "img" | "svg" | "canvas" | "amp-img":
            return True
        case "image":  # browsers read it as img, except in drawings
            return next(element.iterancestors("svg"), None) is None
        case "area":
            return element.get("href") is not None
        case "input":
            return bool(kind == "image")
        case "object" | "embed":
            address = element.get("data") or element.get("src", "")
            return kind.startswith("image/") or bool(
                _PICTURE_FILE.search(address)
            )
    return element.get("role", "").strip().lower() in IMAGE_ROLES


def is_link(element: Any) -> bool:
    """Return whether an element is a link with an address."""
    return element.tag == "a" and element.get("href") is not None


def is_near(element: Any) -> bool:
    """Return whether the text of an element is read together with a picture inside it."""
    return (
        element.tag in _NEAR
        or element.get("role") == "button"
        or is_link(element)
    )


def is_active(element: Any) -> bool:
    """Return whether an element is a link, a button or another control."""
    return (
        is_link(element)
        or element.tag == "button"
        or element.get("role") in _ACTIVE_ROLES
    )


def may_have_no_role(element: Any) -> bool:
    """Return whether the roles ``none`` and ``presentation`` have an effect on an element."""
    focusable = (
        element.get("tabindex") is not None or element.tag in _FOCUSABLE
    )
    return not focusable and not any(
        key.startswith("aria-") and key != "aria-hidden"
        for key in element.attrib
    )


def is_hidden_element(element: Any) -> bool:
    """Return whether an element is hidden by an attribute or by its own style."""
    return (
        element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or _HIDING.search(element.get("style", "")) is not None
    )


def _is_at_most(element: Any, limit: int) -> bool:
    """Return whether an element states both sides, and neither is longer than so many pixels."""
    sides = (
        re.match(r"\d{1,6}", element.get(key, ""))
        for key in ("width", "height")
    )
    return all(side is not None and int(side[0]) <= limit for side in sides)


def is_pixel(element: Any) -> bool:
    """Return whether an image states a size of one pixel at most, as those that count visits."""
    return element.tag in ("img", "image") and _is_at_most(element, 1)


def is_emoji(element: Any, sources: tuple[str, ...]) -> bool:
    """Return whether a picture stands for an emoji, by its class, addresses or size."""
    about = " ".join((element.get("class", ""), *sources)).lower()
    return "emoji" in about or _is_at_most(element, 64)


def visible_text(root: Any) -> str:
    """Return the visible text of an element, without the texts of pictures."""
    # At the start of an element its text is read, at its end the text behind
    # it, which for the root is outside.
    parts: list[str] = []
    n = 0
    walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        if event == "start":
            if element is not root and (
                element.tag in _UNSEEN or is_hidden_element(element)
            ):
                walker.skip_subtree()
                continue
            piece = element.text or ""
        else:
            piece = (element.tail or "") if element is not root else ""
        gap = (
            ""
            if not isinstance(element.tag, str) or element.tag in _INLINE
            else " "
        )
        parts.append(gap + piece)
        n += len(piece)
        if n > _MOST_CONTEXT:
            break
    return norm("".join(parts))
