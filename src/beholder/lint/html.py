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
        self.name, self.whole = (
            name,
            re.search(r"<html\b", source, re.I) is not None,
        )
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
        for one in self.root.iter():
            if not isinstance(one.tag, str):
                continue
            counts[one.tag] += 1
            if known := one.get("id"):
                self.ids.setdefault(known, one)
                self.id_counts[known] += 1
            if used := one.get("usemap"):
                self.maps.add(used.lstrip("#"))
            if one.tag == "base" and one.get("href"):
                # As in browsers, a base that is not valid has no effect.
                self.base = join_address(name, one.get("href")) or self.base
        self.places = _places(source)
        self.exact = {
            tag for tag, at in self.places.items() if len(at) == counts[tag]
        }
        self.text = lru_cache(maxsize=256)(_visible)
        # Each is computed once for all pictures of an element: a scan of the element for each of
        # its pictures would take quadratic time.
        self.pictures_of_link = cache(self._find_pictures_of_link)
        self.caption_of_figure = cache(self._find_caption_of_figure)
        self.named_targets = cache(_count_named_targets)

    def pictures(self) -> Iterator[Occurrence]:
        nth: Counter[str] = Counter()
        before: tuple[str, ...] = ()
        for one in self.root.iter(etree.Element):
            number, nth[one.tag] = nth[one.tag], nth[one.tag] + 1
            if not one.get("alt") and not _is_picture(one):
                continue
            above = list(one.iterancestors())
            tags = {parent.tag for parent in above}
            if "template" in tags or (one.tag == "svg" and "svg" in tags):
                continue
            place: tuple[int, int | None] = (one.sourceline, None)
            if one.tag in self.exact:
                place = self.places[one.tag][number]
            if not _is_picture(one):
                if not any(map(_hidden, (one, *above))):
                    yield self._without_effect(one, place)
                continue
            used = any(
                parent.tag == "map" and parent.get("name") in self.maps
                for parent in above
            )
            if _is_pixel(one) or (one.tag == "area" and not used):
                continue
            sources = self._sources(one)
            if "noscript" in tags and set(sources) & set(before):
                continue
            before = sources
            found = self._picture(one, above, sources, place)
            if found is not None:
                yield found

    def _picture(
        self,
        one: Any,
        above: list[Any],
        sources: tuple[str, ...],
        place: tuple[int, int | None],
    ) -> Occurrence | None:
        raw, text_from = self._name(one)
        role = (one.get("role") or "").strip().lower()
        named = bool(raw and norm(raw))
        none = role in ("none", "presentation") and not _counts_as_none(one)
        empty = one.get("alt") == "" and not role and not named
        decorative = (role in ("none", "presentation") and not none) or empty
        structural = list(self._marks(one, role, decorative or none))
        occurrence = self._occurrence(
            one,
            place,
            picture=sources[0] if sources else "",
            pictures=sources[1:],
            raw=None if decorative else raw,
            text_from=text_from,
            decorative=decorative,
            title=one.get("title") or "",
            emoji=_is_emoji(one, sources),
        )
        self._set_context(occurrence, one, above)
        if any(map(_hidden, (one, *above))):
            if not structural:
                return None
            structural = [hit for hit in structural if hit[0] == "ALT004"]
            occurrence.declared = True
        else:
            structural += self._names(one, occurrence, role, above)
        occurrence.structural = tuple(structural)
        return occurrence

    def _marks(self, one: Any, role: str, none: bool) -> Iterator[Structural]:
        beside = [
            key
            for key in ("title", "aria-label", "aria-labelledby")
            if norm(one.get(key) or "")
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
            for known in islice((one.get(key) or "").split(), _MOST_IDS):
                if (n := self.id_counts[known]) != 1:
                    count = "no element" if n == 0 else f"{n} elements"
                    yield (
                        "ALT011",
                        f'{key} names "{known}", which {count} of the page has',
                        "",
                    )
                    break
        if norm(one.get("alt") or "") and one.tag in (
            "svg",
            "object",
            "canvas",
            "div",
            "span",
        ):
            yield "ALT012", f"alt has no effect on {one.tag}", ""

    def _names(
        self, one: Any, found: Occurrence, role: str, above: list[Any]
    ) -> Iterator[Structural]:
        """Findings about a missing name; also sets ``declared`` where they say all there is."""
        link = next((parent for parent in above if _is_active(parent)), None)
        beside = link is not None and not found.image_only
        if one.tag in ("input", "area"):
            rule = "ALT006" if one.tag == "input" else "ALT007"
            submit = one.tag == "input" and found.fold in listed(
                "submit", found.language
            )
            if not found.text or submit:
                found.declared = not submit
                what = (
                    f'is named only "{found.text}"'
                    if submit
                    else "has no name"
                )
                n_named = 0
                if one.tag == "area":
                    n_named = self.named_targets(one.getparent())[
                        one.get("href")
                    ]
                    n_named -= bool(one.get("alt"))
                yield rule, what, "warning" if n_named else ""
            return
        if found.text:
            return
        if found.image_only and link is not None:
            severity = "note" if norm(link.get("title") or "") else ""
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
            and norm(link.get("aria-label") or "")
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
        if norm(one.get("aria-label") or ""):
            return one.get("aria-label"), "aria-label"
        own: str | None = None
        if one.tag in ("img", "area", "input", "amp-img"):
            own = one.get("alt")
            if norm(own or ""):
                return own, "alt"
        elif one.tag == "svg":
            title = next(
                (child for child in one if child.tag == "title"), None
            )
            own = None if title is None else "".join(title.itertext())
            if norm(own or ""):
                return own, "title element"
        for key in ("title", "value") if one.tag == "input" else ("title",):
            if norm(one.get(key) or ""):
                return one.get(key), key
        return own, "alt"

    def _named_by(self, one: Any, attribute: str) -> list[str]:
        known = islice((one.get(attribute) or "").split(), _MOST_IDS)
        return [
            self._labelled(self.ids[key]) for key in known if key in self.ids
        ]

    def _labelled(self, one: Any) -> str:
        return (
            one.get("aria-label")
            or one.get("alt")
            or norm(" ".join(islice(one.itertext(), 1000)))
        )

    def _set_context(
        self, found: Occurrence, one: Any, above: list[Any]
    ) -> None:
        for parent in (one, *above):
            if language := parent.get("lang") or parent.get("xml:lang"):
                found.language, found.own_language = language, parent is one
                break
        link = next((parent for parent in above if _is_active(parent)), None)
        figure = next(
            (parent for parent in above if parent.tag == "figure"), None
        )
        near = next(filter(_is_near, above), None)
        found.nearby = self.text(near) if near is not None else ""
        if figure is not None:
            found.caption, is_group = self.caption_of_figure(figure)
            found.group = (
                f"{self.name}:{figure.sourceline}" if is_group else ""
            )
        described = self._named_by(one, "aria-describedby") + self._named_by(
            one, "aria-details"
        )
        found.long = " ".join(described) or one.get("longdesc") or ""
        about = " ".join((one.get("class") or "", found.picture))
        if link is not None or one.tag in ("area", "input"):
            found.role = "functional"
            target = one if link is None else link
            found.link = target.get("href") or ""
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
        if any(
            norm(link.get(key) or "")
            for key in ("aria-label", "aria-labelledby")
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
        pictures = islice(filter(_is_picture, link.iter()), _MOST_IDS + 1)
        return [
            (picture, bool(norm(self._name(picture)[0] or "")))
            for picture in pictures
        ]

    def _find_caption_of_figure(self, figure: Any) -> tuple[str, bool]:
        """Return the caption of a figure, and whether it is about several pictures."""
        caption = next(
            (
                self.text(child)
                for child in figure
                if child.tag == "figcaption"
            ),
            "",
        )
        n_images = sum(1 for _ in islice(figure.iter("img"), 2))
        return caption, bool(caption) and n_images > 1

    def _neighbours(self, link: Any) -> Iterator[str]:
        before, after = link.getprevious(), link.getnext()
        for other, gap in ((before, before), (after, link)):
            if (
                other is None
                or not _is_link(other)
                or (gap.tail or "").strip()
            ):
                continue
            if other.get("href") == link.get("href"):
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
            return (
                "data:"
                + hashlib.sha256(
                    source.encode("utf-8", "replace")
                ).hexdigest()[:16]
            )
        return join_address(self.base, source.strip()) or source.strip()

    def _without_effect(
        self, one: Any, place: tuple[int, int | None]
    ) -> Occurrence:
        severity = "note" if "-" in one.tag else ""
        found = ("ALT012", f"alt has no effect on {one.tag}", severity)
        return self._occurrence(
            one, place, raw=one.get("alt"), declared=True, structural=(found,)
        )

    def _occurrence(
        self, one: Any, place: tuple[int, int | None], **found: Any
    ) -> Occurrence:
        line, column = place
        place_of: dict[str, Any] = {
            "file": self.name,
            "line": line,
            "column": column,
        }
        ignore = self.disabled.get(line, frozenset())
        return Occurrence(element=one.tag, ignore=ignore, **place_of, **found)


def _count_named_targets(area_map: Any) -> Counter[str | None]:
    """Count the areas with a text by the address that they lead to."""
    return Counter(
        area.get("href") for area in area_map.iter("area") if area.get("alt")
    )


def _is_picture(one: Any) -> bool:
    if not isinstance(one.tag, str):
        return False
    if one.tag in ("img", "svg", "canvas", "amp-img"):
        return True
    if one.tag == "area":
        return one.get("href") is not None
    if one.tag == "input":
        return (one.get("type") or "").lower() == "image"
    if one.tag == "object":
        kind = (one.get("type") or "").startswith("image/")
        return kind or bool(_PICTURE_FILE.search(one.get("data") or ""))
    return (one.get("role") or "").strip().lower() in _IMAGE_ROLES


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
        or _HIDING.search(one.get("style") or "") is not None
    )


def _sides(one: Any) -> list[int]:
    found = (
        re.match(r"\d{1,6}", one.get(key) or "") for key in ("width", "height")
    )
    return [int(side[0]) for side in found if side]


def _is_pixel(one: Any) -> bool:
    sides = _sides(one)
    return one.tag == "img" and len(sides) == 2 and max(sides) <= 1


def _is_emoji(one: Any, sources: tuple[str, ...]) -> bool:
    sides = _sides(one)
    about = " ".join((one.get("class") or "", *sources)).lower()
    return "emoji" in about or (len(sides) == 2 and max(sides) <= 64)


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
