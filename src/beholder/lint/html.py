"""Pictures of HTML pages: their accessible names, links, captions and surroundings.

libxml2 builds the tree, with its network access and entities off; style sheets and scripts are not
evaluated. A second, linear scan of the source gives lines and columns.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from beholder.errors import DataError
from beholder.lint.occurrence import Occurrence, Structural, join_address
from beholder.lint.wording import listed, names, norm

MOST_TAGS = 2_000_000
"""Start and end tags of the largest page that is read."""

_MOST_CONTEXT = 20_000
_MOST_IDS = 100
_TAG = re.compile(r"<!--|<([a-zA-Z][^\s/>]*)")
_LONG_TAG = re.compile(r"<[a-zA-Z](?:[^<>\s]*+\s++){10000}")
_RAW = frozenset(names("raw_elements"))
_UNSEEN = frozenset(names("unseen_elements"))
_INLINE = frozenset(names("inline_elements"))
"""Elements of HTML that end no word."""
_IMAGE_ROLES = frozenset(names("image_roles"))
_NEAR = ("button", "p", "li", "td", "th")
_ACTIVE_ROLES = frozenset(("button", "link", "menuitem", "tab"))
_LAZY = ("data-src", "data-lazy-src", "data-original")
_PICTURE_FILE = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?)(?:$|[?#])", re.I
)
_COMPLEX = re.compile(r"\b(?:chart|map|graph|diagram)\b", re.I)
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_DISABLED = re.compile(r"<!--\s*beholder-lint-disable-next-line\s+([\w ,]+)")
_WITHOUT_ALT = ("svg", "object", "canvas", "div", "span")
_FOCUSABLE = frozenset(("a", "area", "button", "input"))


def pictures(source: str, name: str) -> Iterator[Occurrence]:
    """Pictures of a page, in order.

    Args:
        source: The page, or a part of one.
        name: The file as findings name it.

    Raises:
        DataError: The page has too many tags, or is nested too deeply.
    """
    if source.count("<") > MOST_TAGS:
        raise DataError(name, f"has over {MOST_TAGS:,} tags; divide it")
    if _LONG_TAG.search(
        source
    ):  # libxml2 compares each attribute with all others
        raise DataError(name, "has a tag of over 10,000 words; shorten it")
    if source.strip():
        yield from _Page(source, name).pictures()


class _Page:
    """A page that is being read."""

    def __init__(self, source: str, name: str) -> None:
        self.name = name
        self.whole = bool(re.search(r"<html\b", source, re.I))
        parser = lxml_html.HTMLParser(
            encoding="utf-8", huge_tree=True, no_network=True
        )
        data = source.replace("\0", "\ufffd").encode("utf-8", "replace")
        try:
            self.root = lxml_html.document_fromstring(
                data, parser=parser, ensure_head_body=False
            )
        except (etree.ParserError, etree.XMLSyntaxError):
            self.root = lxml_html.Element("html")
        if any("depth" in one.message for one in parser.error_log):
            raise DataError(name, "is nested too deeply to be read")
        self.ids: dict[str, Any] = {}
        self.id_counts: Counter[str] = Counter()
        self.disabled = {
            number: frozenset(re.findall(r"\w+", found[1]))
            for number, line in enumerate(source.split("\n"), 2)
            if (found := _DISABLED.search(line))
        }
        self.maps: set[str] = set()
        self.base = name
        counts: Counter[str] = Counter()
        for one in self.root.iter(etree.Element):
            counts[one.tag] += 1
            if known := one.get("id"):
                self.ids.setdefault(known, one)
                self.id_counts[known] += 1
            self.maps.add(one.get("usemap", "").lstrip("#"))
            if one.tag == "base":
                # As in browsers, a base that is not valid has no effect.
                address = join_address(name, one.get("href", ""))
                self.base = address or self.base
        # Where the tree has other elements than the source has tags, lines are those of the tree.
        self.places = {
            tag: places
            for tag, places in _places(source).items()
            if len(places) == counts[tag]
        }
        self.text = lru_cache(maxsize=256)(_visible)
        # Each is computed once for all pictures of an element: a scan of the element for each of
        # its pictures would take quadratic time.
        self.pictures_of_link = cache(self._find_pictures_of_link)
        self.caption_of_figure = cache(self._find_caption_of_figure)
        self.named_targets = cache(_find_named_targets)

    def pictures(self) -> Iterator[Occurrence]:
        nth: Counter[str] = Counter()
        before: tuple[str, ...] = ()
        for one in self.root.iter(etree.Element):
            number, nth[one.tag] = nth[one.tag], nth[one.tag] + 1
            is_picture = _is_picture(one)
            if not one.get("alt") and not is_picture:
                continue
            above = list(one.iterancestors())
            tags = {parent.tag for parent in above}
            if "template" in tags or (one.tag == "svg" and "svg" in tags):
                continue
            line, column = one.sourceline, None
            if one.tag in self.places:
                line, column = self.places[one.tag][number]
            occurrence = Occurrence(
                file=self.name,
                line=line,
                column=column,
                element=one.tag,
                ignore=self.disabled.get(line, frozenset()),
            )
            is_hidden = any(map(_hidden, (one, *above)))
            if not is_picture:
                if not is_hidden:
                    yield _without_effect(one, occurrence)
                continue
            is_used = any(
                parent.tag == "map" and parent.get("name") in self.maps
                for parent in above
            )
            if _is_pixel(one) or (one.tag == "area" and not is_used):
                continue
            sources = self._sources(one)
            if "noscript" in tags and set(sources) & set(before):
                continue
            before = sources
            if sources:
                occurrence.picture, occurrence.pictures = (
                    sources[0],
                    sources[1:],
                )
            occurrence.emoji = _is_emoji(one, sources)
            is_marked = self._set_text(occurrence, one, above, is_hidden)
            if is_marked or not is_hidden:
                yield occurrence

    def _set_text(
        self, found: Occurrence, one: Any, above: list[Any], is_hidden: bool
    ) -> bool:
        """Set text, context and findings; return whether attributes contradict or lead nowhere."""
        raw, found.text_from = self._name(one)
        role = _attribute(one, "role").lower()
        is_marked = role in ("none", "presentation")
        none = is_marked and not _counts_as_none(one)
        empty = one.get("alt") == "" and not role and not norm(raw or "")
        found.decorative = (is_marked and not none) or empty
        found.raw = None if found.decorative else raw
        found.title = one.get("title", "")
        self._set_context(found, one, above)
        marks = list(self._marks(one, found.decorative or none))
        if is_hidden:
            found.declared = True
            # Readers never meet a hidden picture, so only contradicting marks are reported.
            structural = [hit for hit in marks if hit[0] == "ALT004"]
        else:
            structural = [*marks, *self._names(one, found, role, above)]
        found.structural = tuple(structural)
        return bool(marks)

    def _marks(self, one: Any, none: bool) -> Iterator[Structural]:
        beside = [
            key
            for key in ("title", "aria-label", "aria-labelledby")
            if _attribute(one, key)
        ]
        if beside and (
            none or one.get("alt") == "" or one.get("aria-hidden") == "true"
        ):
            aria = "alt and aria disagree: " if beside[-1] != "title" else ""
            yield (
                "ALT004",
                f"{aria}the picture is marked as decorative and has {beside[-1]}",
                "",
            )
        for key in (
            ("aria-labelledby", "aria-describedby") if self.whole else ()
        ):
            for known in _ids(one, key):
                if (n := self.id_counts[known]) != 1:
                    count = "no element" if n == 0 else f"{n} elements"
                    yield (
                        "ALT011",
                        f'{key} names "{known}", which {count} of the page has',
                        "",
                    )
                    break
        if _attribute(one, "alt") and one.tag in _WITHOUT_ALT:
            yield "ALT012", f"alt has no effect on {one.tag}", ""

    def _names(
        self, one: Any, found: Occurrence, role: str, above: list[Any]
    ) -> Iterator[Structural]:
        """Findings about a missing name; also sets ``declared`` where they say all there is."""
        link = next(filter(_is_active, above), None)
        beside = link is not None and not found.image_only
        if one.tag in ("input", "area"):
            rule = "ALT006" if one.tag == "input" else "ALT007"
            submit = one.tag == "input" and found.fold in listed(
                "submit", found.language
            )
            if submit:
                yield rule, f'is named only "{found.text}"', ""
            elif not found.text:
                found.declared = True
                is_named_beside = one.tag == "area" and one.get(
                    "href"
                ) in self.named_targets(one.getparent())
                yield rule, "has no name", "warning" * is_named_beside
            return
        if found.text:
            return
        if found.image_only and link is not None:
            severity = "note" if _attribute(link, "title") else ""
            severity = (
                "warning" if any(map(norm, found.neighbours)) else severity
            )
            what = "the link or button contains nothing but a picture without text"
            yield "ALT003", what, severity
        elif found.decorative and beside:
            found.declared = True
        elif (
            one.tag == "img"
            and link is not None
            and _attribute(link, "aria-label")
        ):
            yield (
                "ALT001",
                "has no alternative text, inside a named link or button",
                "note",
            )
        if one.tag in ("img", "object", "amp-img") or found.decorative:
            return
        found.declared = True
        if (one.tag == "svg" and role in _IMAGE_ROLES) or role.startswith(
            "graphics-"
        ):
            yield "ALT009", f"the {one.tag} with role={role} has no name", ""
        elif role in _IMAGE_ROLES:
            yield "ALT008", f"the {one.tag} with role={role} has no name", ""
        elif not role and not beside and one.tag in ("svg", "canvas"):
            yield "ALT010", f"the {one.tag} has neither a role nor a name", ""

    def _name(self, one: Any) -> tuple[str | None, str]:
        """The accessible name and its source; None without an attribute for it."""
        if name := norm(" ".join(self._named_by(one, "aria-labelledby"))):
            return name, "aria-labelledby"
        keys = ["aria-label", "title"]
        own: str | None = None
        if one.tag in ("img", "area", "input", "amp-img"):
            own = one.get("alt")
            keys = ["aria-label", "alt", "title"]
        elif one.tag == "svg" and (title := one.find("title")) is not None:
            own = "".join(title.itertext())
            if norm(own) and not _attribute(one, "aria-label"):
                return own, "title element"
        if one.tag == "input":
            keys.append("value")
        for key in keys:
            if _attribute(one, key):
                return one.get(key), key
        return own, "alt"

    def _named_by(self, one: Any, attribute: str) -> list[str]:
        known = (self.ids.get(key) for key in _ids(one, attribute))
        return [
            label.get("aria-label")
            or label.get("alt")
            or norm(" ".join(islice(label.itertext(), 1000)))
            for label in known
            if label is not None
        ]

    def _set_context(
        self, found: Occurrence, one: Any, above: list[Any]
    ) -> None:
        for parent in (one, *above):
            if language := parent.get("lang") or parent.get("xml:lang"):
                found.language, found.own_language = language, parent is one
                break
        link = next(filter(_is_active, above), None)
        near = next(filter(_is_near, above), None)
        found.nearby = self.text(near) if near is not None else ""
        for figure in one.iterancestors("figure"):
            found.caption, is_group = self.caption_of_figure(figure)
            found.group = f"{self.name}:{figure.sourceline}" * is_group
            break
        described = self._named_by(one, "aria-describedby") + self._named_by(
            one, "aria-details"
        )
        found.long = " ".join(described) or one.get("longdesc", "")
        about = f"{one.get('class', '')} {found.picture}"
        if link is not None or one.tag in ("area", "input"):
            found.role = "functional"
            found.link = (one if link is None else link).get("href", "")
        elif found.decorative:
            found.role = "decorative"
        elif found.long or _COMPLEX.search(re.sub(r"[_-]", " ", about)):
            found.role = "complex"
        elif found.caption:
            found.role = "figure"
        if link is not None:
            found.image_only = self._image_only(link, one)
            found.neighbours = tuple(self._neighbours(link))

    def _image_only(self, link: Any, one: Any) -> bool:
        if _attribute(link, "aria-label") or _attribute(
            link, "aria-labelledby"
        ):
            return False
        others = [
            named
            for other, named in self.pictures_of_link(link)
            if other is not one
        ]
        return not self.text(link) and not any(others[:_MOST_IDS])

    def _find_pictures_of_link(self, link: Any) -> list[tuple[Any, bool]]:
        """Return the first pictures in a link or button, and whether each has a name."""
        pictures = filter(_is_picture, link.iter(etree.Element))
        return [
            (picture, bool(norm(self._name(picture)[0] or "")))
            for picture in islice(pictures, _MOST_IDS + 1)
        ]

    def _find_caption_of_figure(self, figure: Any) -> tuple[str, bool]:
        """Return the caption of a figure, and whether it is about several pictures."""
        child = figure.find("figcaption")
        caption = "" if child is None else self.text(child)
        images = list(islice(figure.iter("img"), 2))
        return caption, bool(caption) and len(images) > 1

    def _neighbours(self, link: Any) -> Iterator[str]:
        before, after = link.getprevious(), link.getnext()
        for other, gap in ((before, before), (after, link)):
            if (
                other is not None
                and _is_link(other)
                and not (gap.tail or "").strip()
                and other.get("href") == link.get("href")
            ):
                yield self.text(other)

    def _sources(self, one: Any) -> tuple[str, ...]:
        named = [
            one.get(key) for key in (*_LAZY, "src", "data") if one.get(key)
        ]
        if one.get("srcset"):
            pieces = filter(None, map(str.split, one.get("srcset").split(",")))
            named += [piece[0] for piece in islice(pieces, 20)]
        return tuple(dict.fromkeys(map(self._address, named)))

    def _address(self, source: str) -> str:
        if source[:5].lower() == "data:":
            data = source.encode("utf-8", "replace")
            return f"data:{hashlib.sha256(data).hexdigest()[:16]}"
        return join_address(self.base, source.strip()) or source.strip()


def _without_effect(one: Any, occurrence: Occurrence) -> Occurrence:
    severity = "note" if "-" in one.tag else ""
    hit = ("ALT012", f"alt has no effect on {one.tag}", severity)
    occurrence.raw, occurrence.structural = one.get("alt"), (hit,)
    occurrence.declared = True
    return occurrence


def _attribute(one: Any, key: str) -> str:
    """Return the value of an attribute with single blanks; empty if it is missing."""
    return norm(one.get(key, ""))


def _ids(one: Any, key: str) -> list[str]:
    return one.get(key, "").split()[:_MOST_IDS]  # type: ignore[no-any-return]


def _find_named_targets(area_map: Any) -> set[str | None]:
    """Return the addresses to which the areas with a text lead."""
    return {
        area.get("href")
        for area in area_map.iter("area")
        if _attribute(area, "alt")
    }


def _is_picture(one: Any) -> bool:
    kind = one.get("type", "").lower()
    match one.tag:
        case "img" | "svg" | "canvas" | "amp-img":
            return True
        case "area":
            return one.get("href") is not None
        case "input":
            return bool(kind == "image")
        case "object":
            return kind.startswith("image/") or bool(
                _PICTURE_FILE.search(one.get("data", ""))
            )
    return one.get("role", "").strip().lower() in _IMAGE_ROLES


def _is_link(one: Any) -> bool:
    return one.tag == "a" and one.get("href") is not None


def _is_near(one: Any) -> bool:
    return one.tag in _NEAR or one.get("role") == "button" or _is_link(one)


def _is_active(one: Any) -> bool:
    return (
        _is_link(one)
        or one.tag == "button"
        or one.get("role") in _ACTIVE_ROLES
    )


def _counts_as_none(one: Any) -> bool:
    focusable = one.get("tabindex") is not None or one.tag in _FOCUSABLE
    return not focusable and not any(
        key.startswith("aria-") and key != "aria-hidden" for key in one.attrib
    )


def _hidden(one: Any) -> bool:
    return (
        one.get("hidden") is not None
        or one.get("aria-hidden") == "true"
        or _HIDING.search(one.get("style", "")) is not None
    )


def _is_at_most(one: Any, most: int) -> bool:
    """Return whether an element states both sides, and neither is longer than so many pixels."""
    sides = (
        re.match(r"\d{1,6}", one.get(key, "")) for key in ("width", "height")
    )
    return all(side is not None and int(side[0]) <= most for side in sides)


def _is_pixel(one: Any) -> bool:
    return one.tag == "img" and _is_at_most(one, 1)


def _is_emoji(one: Any, sources: tuple[str, ...]) -> bool:
    about = " ".join((one.get("class", ""), *sources)).lower()
    return "emoji" in about or _is_at_most(one, 64)


def _visible(root: Any) -> str:
    """Visible text of an element, without the texts of pictures."""
    parts: list[str] = []
    n = 0
    walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, one in walker:
        if event == "start":
            if one is not root and (one.tag in _UNSEEN or _hidden(one)):
                walker.skip_subtree()
                continue
            piece = one.text or ""
        else:
            piece = (one.tail or "") if one is not root else ""
        gap = "" if not isinstance(one.tag, str) or one.tag in _INLINE else " "
        parts.append(gap + piece)
        n += len(piece)
        if n > _MOST_CONTEXT:
            break
    return norm("".join(parts))


def _places(source: str) -> dict[str, list[tuple[int, int | None]]]:
    """Lines and columns of all start tags, by tag; texts of scripts and comments have none."""
    found = defaultdict(list)
    line, start, until, before = 1, 0, 0, 0
    for match in _TAG.finditer(source):
        at = match.start()
        if at < until:
            continue
        if newlines := source.count("\n", before, at):
            line += newlines
            start = source.rfind("\n", before, at) + 1
        before = at
        tag = (match[1] or "").lower()
        if tag:
            found[tag].append((line, at - start + 1))
        if not tag or tag in _RAW:
            end = re.compile(f"</{tag}" if tag else "-->", re.I).search(
                source, match.end()
            )
            until = end.start() if end else len(source)
    return dict(found)
