"""Pictures of HTML pages: their accessible names, links, captions and surroundings.

libxml2 builds the tree, with its network access and entities off; style sheets and scripts are not
evaluated. A second, linear scan of the source gives lines and columns.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from beholder.errors import DataError
from beholder.lint.elements import (
    IMAGE_ROLES,
    MOST_IDS,
    addresses_of,
    attribute_text,
    find_named_targets,
    is_active,
    is_download_of,
    is_emoji,
    is_hidden_element,
    is_link,
    is_near,
    is_picture_element,
    is_pixel,
    listed_ids,
    may_have_no_role,
    neighbours_without_text,
    pictures_in,
    title_of_drawing,
    visible_text,
)
from beholder.lint.leftovers import LeftOut
from beholder.lint.occurrence import Occurrence, Structural, join_address
from beholder.lint.tags import StartTag, find_start_tags, find_stray_attributes
from beholder.lint.wording import listed, norm

MOST_TAGS = 2_000_000
"""Start and end tags of the largest page that is read."""

_LONG_TAG = re.compile(r"<[a-zA-Z](?:[^<>\s]*+\s++){10000}")
_BOUND = (
    *(":alt", "v-bind:alt", "x-bind:alt", "bind:alt", "th:alt"),
    *("[alt]", "[attr.alt]", "ng-attr-alt", "data-ng-attr-alt"),
)
"""Attributes by which frameworks compute an ``alt``."""
_MARKUP = re.compile(
    r"xmlns:([\w.-]+)\s*=\s*[\"']http://www\.w3\.org/(?:1999/xhtml|2000/svg)[\"']"
)
_COMPLEX = re.compile(r"\b(?:chart|map|graph|diagram)\b", re.I)
_DISABLED = re.compile(r"<!--\s*beholder-lint-disable-next-line\s+([\w ,]+)")
_WITHOUT_ALT = ("svg", "object", "canvas", "div", "span")


def pictures(
    source: str, name: str, left_out: list[LeftOut] | None = None, /
) -> Iterator[Occurrence]:
    """Yield the pictures of a page, in order.

    Args:
        source: The page, or a part of one.
        name: The file as findings name it.
        left_out: Receives what is not read, such as pictures in templates.

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
        page = _Page(source, name)
        yield from page.pictures()
        if left_out is not None:
            left_out += [
                LeftOut(kind, name, n) for kind, n in page.left_out.items()
            ]


def pictures_in_block(
    lines: Sequence[str],
    start: int,
    end: int,
    name: str,
    left_out: list[LeftOut] | None = None,
) -> Iterator[Occurrence]:
    """Yield the pictures of HTML within other markup, with their lines in the whole text.

    Args:
        lines: All lines of the text.
        start: Index of the first line of the block.
        end: Index of the line after the block.
        name: The file as findings name it.
        left_out: Receives what is not read.
    """
    block = "\n".join(lines[start:end])
    for occurrence in pictures(block, name, left_out):
        occurrence.line = start + (occurrence.line or 1)
        yield occurrence


class _Page:
    """A page that is being read."""

    def __init__(self, source: str, name: str) -> None:
        self.name, self.source = name, source
        self.left_out: Counter[str] = Counter()
        self.is_whole = bool(re.search(r"<html\b", source, re.I))
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
        if any("depth" in entry.message for entry in parser.error_log):
            raise DataError(name, "is nested too deeply to be read")
        self.ids: dict[str, Any] = {}
        self.id_counts: Counter[str] = Counter()
        self.disabled: dict[int, frozenset[str]] = {}
        # A comment of line n suppresses rules on line n + 1.
        for number, line in enumerate(source.split("\n"), 2):
            comment = _DISABLED.search(line)
            if comment:
                self.disabled[number] = frozenset(
                    re.findall(r"\w+", comment[1])
                )
        self.maps: set[str] = set()
        self.base = name
        self.labels: dict[str, list[Any]] = defaultdict(list)
        noscripts = []
        counts: Counter[str] = Counter()
        # ``h:img`` is ``img`` where ``h`` is declared as the prefix of XHTML.
        prefixes = tuple(
            f"{prefix.lower()}:" for prefix in _MARKUP.findall(source)
        )
        for element in self.root.iter(etree.Element):
            if prefixes and element.tag.startswith(prefixes):
                element.tag = element.tag.partition(":")[2]
            counts[element.tag] += 1
            if element.tag == "noscript":
                noscripts.append(element)
            elif element.tag == "label" and element.get("for"):
                self.labels[element.get("for")].append(element)
            if element_id := element.get("id"):
                self.ids.setdefault(element_id, element)
                self.id_counts[element_id] += 1
            self.maps.add(element.get("usemap", "").lstrip("#"))
            if element.tag == "base":
                # As in browsers, a base that is not valid has no effect.
                address = join_address(name, element.get("href", ""))
                self.base = address or self.base
        # Where the tree has other elements than the source has tags, lines are those of the tree.
        self.places = {
            tag: places
            for tag, places in find_start_tags(source, prefixes).items()
            if len(places) == counts[tag]
        }
        self.text = lru_cache(maxsize=256)(visible_text)
        # Each is computed once for all pictures of an element: a scan of the element for each of
        # its pictures would take quadratic time.
        self.pictures_of_link = cache(self._find_pictures_of_link)
        self.caption_of_figure = cache(self._find_caption_of_figure)
        self.named_targets = cache(find_named_targets)
        self.real_sources: dict[Any, tuple[str, ...]] = {}
        """Addresses in the ``noscript`` beside a picture that a script loads."""
        self.copies: set[Any] = set()
        for noscript in noscripts:
            self._match_copies(noscript)

    def pictures(self) -> Iterator[Occurrence]:
        before: tuple[str, ...] = ()
        for element, above, place in self._shown_elements():
            occurrence = Occurrence(
                file=self.name,
                line=place.line,
                column=place.column,
                element=element.tag,
                ignore=self.disabled.get(place.line, frozenset()),
            )
            is_hidden = any(map(is_hidden_element, (element, *above)))
            if not is_picture_element(element):
                if not is_hidden:
                    yield _without_effect(element, occurrence)
                continue
            if self._is_left_out(element, above, is_hidden):
                continue
            sources = self._sources(element)
            # A noscript repeats the picture that a script would load.
            if element in self.copies or (
                any(parent.tag == "noscript" for parent in above)
                and set(sources) & set(before)
            ):
                continue
            before = sources
            occurrence.picture = next(iter(sources), "")
            occurrence.pictures = sources[1:]
            occurrence.emoji = is_emoji(element, sources)
            is_marked = self._set_text(occurrence, element, above, is_hidden)
            if place.at is not None and not is_hidden:
                occurrence.structural += tuple(
                    find_stray_attributes(self.source, place.at)
                )
            if is_marked or not is_hidden:
                yield occurrence

    def _shown_elements(self) -> Iterator[tuple[Any, list[Any], StartTag]]:
        """Yield pictures and elements with a text, each with the elements around it."""
        nth: Counter[str] = Counter()
        for element in self.root.iter(etree.Element):
            number, nth[element.tag] = nth[element.tag], nth[element.tag] + 1
            is_picture = is_picture_element(element)
            if not element.get("alt") and not is_picture:
                continue
            above = list(element.iterancestors())
            tags = {parent.tag for parent in above}
            if element.tag == "svg" and "svg" in tags:
                continue
            # A template is shown only if a script fills it in, or as the
            # shadow of its element.
            if "template" in tags and not any(
                parent.get("shadowrootmode") for parent in above
            ):
                if is_picture:
                    self.left_out["template"] += 1
                continue
            # ``nth`` counts the elements of a tag: the same place in the scan
            # of the source has line and column.
            place = StartTag(element.sourceline)
            if element.tag in self.places:
                place = self.places[element.tag][number]
            yield element, above, place

    def _is_left_out(
        self, element: Any, above: list[Any], is_hidden: bool
    ) -> bool:
        """Return whether a picture is not shown, or has a text that a framework computes."""
        # An area of a map that no picture uses is not shown.
        is_used = any(
            parent.tag == "map" and parent.get("name") in self.maps
            for parent in above
        )
        if is_pixel(element) or (element.tag == "area" and not is_used):
            return True
        is_computed = element.get("alt") is None and any(
            element.get(key) is not None for key in _BOUND
        )
        if is_computed and not is_hidden:
            self.left_out["expression"] += 1
        return is_computed

    def _set_text(
        self,
        occurrence: Occurrence,
        element: Any,
        above: list[Any],
        is_hidden: bool,
    ) -> bool:
        """Set text, context and findings; return whether attributes contradict or lead nowhere."""
        raw, occurrence.text_from = self._name(element)
        role = attribute_text(element, "role").lower()
        is_marked = role in ("none", "presentation")
        # ARIA ignores these roles on elements that can have focus or other
        # aria attributes.
        is_void = is_marked and not may_have_no_role(element)
        is_empty = (
            element.get("alt") == "" and not role and not norm(raw or "")
        )
        occurrence.decorative = (is_marked and not is_void) or is_empty
        occurrence.raw = None if occurrence.decorative else raw
        occurrence.title = element.get("title", "")
        self._set_context(occurrence, element, above)
        marks = list(self._marks(element, occurrence.decorative or is_void))
        if is_hidden:
            occurrence.declared = True
            # Readers never meet a hidden picture, so only contradicting marks are reported.
            structural = [hit for hit in marks if hit[0] == "ALT004"]
        else:
            structural = [
                *marks,
                *self._names(element, occurrence, role, above),
            ]
        occurrence.structural = tuple(structural)
        return bool(marks)

    def _marks(self, element: Any, is_marked: bool) -> Iterator[Structural]:
        other_names = [
            key
            for key in ("title", "aria-label", "aria-labelledby")
            if attribute_text(element, key)
        ]
        if other_names and (
            is_marked
            or element.get("alt") == ""
            or element.get("aria-hidden") == "true"
        ):
            aria = (
                "alt and aria disagree: " if other_names[-1] != "title" else ""
            )
            yield (
                "ALT004",
                f"{aria}the picture is marked as decorative and has {other_names[-1]}",
                "",
            )
        # Only a whole page says whether an id exists; a part may refer to the
        # rest.
        references = ("aria-labelledby", "aria-describedby")
        for key in references if self.is_whole else ():
            for element_id in listed_ids(element, key):
                if (n := self.id_counts[element_id]) != 1:
                    count = "no element" if n == 0 else f"{n} elements"
                    yield (
                        "ALT011",
                        f'{key} names "{element_id}", which {count} of the page has',
                        "",
                    )
                    break
        if attribute_text(element, "alt") and element.tag in _WITHOUT_ALT:
            yield "ALT012", f"alt has no effect on {element.tag}", ""

    def _names(
        self, element: Any, occurrence: Occurrence, role: str, above: list[Any]
    ) -> Iterator[Structural]:
        """Yield findings about a missing name; set ``declared`` if no further rule applies."""
        # Inputs and areas have rules of their own. Then come links whose only
        # content is the picture, then elements that need a role to be pictures
        # at all.
        link = next(filter(is_active, above), None)
        has_other_content = link is not None and not occurrence.image_only
        if element.tag in ("input", "area"):
            yield from self._names_of_control(element, occurrence)
            return
        if occurrence.text:
            return
        if occurrence.image_only and link is not None:
            severity = "note" if attribute_text(link, "title") else ""
            severity = (
                "warning"
                if any(map(norm, occurrence.neighbours))
                else severity
            )
            what = "the link or button contains nothing but a picture without text"
            yield "ALT003", what, severity
        elif occurrence.decorative and has_other_content:
            occurrence.declared = True
        elif (
            element.tag in ("img", "image")
            and link is not None
            and attribute_text(link, "aria-label")
        ):
            yield (
                "ALT001",
                "has no alternative text, inside a named link or button",
                "note",
            )
        if (
            element.tag in ("img", "image", "object", "embed", "amp-img")
            or occurrence.decorative
        ):
            return
        occurrence.declared = True
        if (element.tag == "svg" and role in IMAGE_ROLES) or role.startswith(
            "graphics-"
        ):
            yield (
                "ALT009",
                f"the {element.tag} with role={role} has no name",
                "",
            )
        elif role in IMAGE_ROLES:
            yield (
                "ALT008",
                f"the {element.tag} with role={role} has no name",
                "",
            )
        elif (
            not role
            and not has_other_content
            and element.tag in ("svg", "canvas")
            and not self._has_named_part(element)
        ):
            yield (
                "ALT010",
                f"the {element.tag} has neither a role nor a name",
                "",
            )

    def _names_of_control(
        self, element: Any, occurrence: Occurrence
    ) -> Iterator[Structural]:
        """Yield a finding about the name of a picture button or of an area of a map."""
        rule = "ALT006" if element.tag == "input" else "ALT007"
        submit = element.tag == "input" and occurrence.fold in listed(
            "submit", occurrence.language
        )
        if submit:
            yield rule, f'is named only "{occurrence.text}"', ""
        elif occurrence.text_from == "label":
            # The words are on the page, so no rule of texts is about them.
            occurrence.declared = True
        elif not occurrence.text:
            occurrence.declared = True
            is_named_beside = element.tag == "area" and element.get(
                "href"
            ) in self.named_targets(element.getparent())
            yield rule, "has no name", "warning" * is_named_beside

    def _name(self, element: Any) -> tuple[str | None, str]:
        """Return the accessible name and its source; None without an attribute for it."""
        # In the order of the accessible name computation (W3C accname).
        if name := norm(" ".join(self._named_by(element, "aria-labelledby"))):
            return name, "aria-labelledby"
        keys = ["aria-label", "title"]
        fallback: str | None = None
        if element.tag in ("img", "image", "area", "input", "amp-img"):
            fallback = element.get("alt")
            keys = ["aria-label", "alt", "title"]
        elif (title := title_of_drawing(element)) is not None:
            fallback = "".join(title.itertext())
            if norm(fallback) and not attribute_text(element, "aria-label"):
                return fallback, "title element"
        if element.tag == "input":
            keys.append("value")
            is_unnamed = not any(
                attribute_text(element, key) for key in ("aria-label", "alt")
            )
            if is_unnamed and (label := self._label(element)):
                return label, "label"
        for key in keys:
            if attribute_text(element, key):
                return element.get(key), key
        return fallback, "alt"

    def _label(self, element: Any) -> str:
        """Return the text of the labels of a button."""
        labels = self.labels.get(element.get("id", ""), [])
        around = next(element.iterancestors("label"), None)
        if around is not None and not around.get("for"):
            labels = [around, *labels]
        return norm(" ".join(map(self.text, labels[:MOST_IDS])))

    def _has_named_part(self, drawing: Any) -> bool:
        """Return whether a part of a drawing is a picture with a name of its own."""
        parts = islice(drawing.iterdescendants(etree.Element), 1000)
        return any(
            is_picture_element(part) and norm(self._name(part)[0] or "")
            for part in parts
        )

    def _match_copies(self, noscript: Any) -> None:
        """Match the pictures of a ``noscript`` with those directly before or behind it."""
        copies = list(pictures_in(noscript))
        for neighbour in neighbours_without_text(noscript):
            pictures = list(pictures_in(neighbour))
            if len(pictures) != len(copies) or not copies:
                continue
            sources = list(map(self._sources, copies))
            if all(
                picture.get("alt") == copy.get("alt")
                or set(self._sources(picture)) & set(addresses)
                for picture, copy, addresses in zip(
                    pictures, copies, sources, strict=True
                )
            ):
                self.copies.update(copies)
                self.real_sources |= dict(zip(pictures, sources, strict=True))
                return

    def _named_by(self, element: Any, attribute: str) -> list[str]:
        labels = (self.ids.get(key) for key in listed_ids(element, attribute))
        return [
            label.get("aria-label")
            or label.get("alt")
            or norm(" ".join(islice(label.itertext(), 1000)))
            for label in labels
            if label is not None
        ]

    def _set_context(
        self, occurrence: Occurrence, element: Any, above: list[Any]
    ) -> None:
        for parent in (element, *above):
            # An empty value says that the language is unknown.
            language = parent.get("lang", parent.get("xml:lang"))
            if language is not None:
                occurrence.language, occurrence.own_language = (
                    language,
                    parent is element,
                )
                break
        # The role follows from the first that applies: a link or button,
        # decoration, a long description or a chart, a caption.
        link = next(filter(is_active, above), None)
        block = next(filter(is_near, above), None)
        occurrence.nearby = self.text(block) if block is not None else ""
        for figure in element.iterancestors("figure"):
            occurrence.caption, is_group = self.caption_of_figure(figure)
            occurrence.group = f"{self.name}:{figure.sourceline}" * is_group
            break
        described = self._named_by(
            element, "aria-describedby"
        ) + self._named_by(element, "aria-details")
        occurrence.long = " ".join(described) or element.get("longdesc", "")
        about = f"{element.get('class', '')} {occurrence.picture}"
        if link is not None or element.tag in ("area", "input"):
            occurrence.role = "functional"
            occurrence.link = (element if link is None else link).get(
                "href", ""
            )
        elif occurrence.decorative:
            occurrence.role = "decorative"
        elif occurrence.long or _COMPLEX.search(re.sub(r"[_-]", " ", about)):
            occurrence.role = "complex"
        elif occurrence.caption:
            occurrence.role = "figure"
        if link is not None:
            occurrence.image_only = self._image_only(link, element)
            # The name of a file is what a link to download it should say.
            if is_download_of(link, element.get("alt", "")):
                occurrence.ignore |= {"ALT101"}
            occurrence.neighbours = tuple(self._neighbours(link))

    def _image_only(self, link: Any, element: Any) -> bool:
        if attribute_text(link, "aria-label") or attribute_text(
            link, "aria-labelledby"
        ):
            return False
        other_names = [
            has_name
            for picture, has_name in self.pictures_of_link(link)
            if picture is not element
        ]
        return not self.text(link) and not any(other_names[:MOST_IDS])

    def _find_pictures_of_link(self, link: Any) -> list[tuple[Any, bool]]:
        """Return the first pictures in a link or button, and whether each has a name."""
        pictures = filter(is_picture_element, link.iter(etree.Element))
        return [
            (picture, bool(norm(self._name(picture)[0] or "")))
            for picture in islice(pictures, MOST_IDS + 1)
        ]

    def _find_caption_of_figure(self, figure: Any) -> tuple[str, bool]:
        """Return the caption of a figure, and whether it is about several pictures."""
        child = figure.find("figcaption")
        caption = "" if child is None else self.text(child)
        images = list(islice(figure.iter("img"), 2))
        return caption, bool(caption) and len(images) > 1

    def _neighbours(self, link: Any) -> Iterator[str]:
        before, after = link.getprevious(), link.getnext()
        for neighbour, gap in ((before, before), (after, link)):
            if (
                neighbour is not None
                and is_link(neighbour)
                and not (gap.tail or "").strip()
                and neighbour.get("href") == link.get("href")
            ):
                yield self.text(neighbour)

    def _sources(self, element: Any) -> tuple[str, ...]:
        real_sources = self.real_sources.get(element, ())
        return tuple(
            dict.fromkeys(
                (*real_sources, *map(self._address, addresses_of(element)))
            )
        )

    def _address(self, source: str) -> str:
        if source[:5].lower() == "data:":
            # Embedded data may be large; its digest identifies it as well.
            data = source.encode("utf-8", "replace")
            return f"data:{hashlib.sha256(data).hexdigest()[:16]}"
        return join_address(self.base, source.strip()) or source.strip()


def _without_effect(element: Any, occurrence: Occurrence) -> Occurrence:
    severity = "note" if "-" in element.tag else ""
    hit = ("ALT012", f"alt has no effect on {element.tag}", severity)
    occurrence.raw, occurrence.structural = element.get("alt"), (hit,)
    occurrence.declared = True
    return occurrence
