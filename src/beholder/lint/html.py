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
from typing import Any, NamedTuple
from urllib.parse import unquote

from lxml import etree
from lxml import html as lxml_html

from beholder.errors import DataError
from beholder.lint.leftovers import LeftOut
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
_BOUND = (
    *(":alt", "v-bind:alt", "x-bind:alt", "bind:alt", "th:alt"),
    *("[alt]", "[attr.alt]", "ng-attr-alt", "data-ng-attr-alt"),
)
"""Attributes by which frameworks compute an ``alt``."""
_MARKUP = re.compile(
    r"xmlns:([\w.-]+)\s*=\s*[\"']http://www\.w3\.org/(?:1999/xhtml|2000/svg)[\"']"
)
_RAW_ATTRIBUTE = re.compile(
    r"[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>\"']+))?"
)
_TEMPLATE_MARKS = ("{%", "{{", "<?", "<%")
_BARE = frozenset(names("bare_attributes"))
"""Attributes of HTML that need no value."""
_MOST_ATTRIBUTES = 200
_PICTURE_FILE = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?)(?:$|[?#])", re.I
)
_COMPLEX = re.compile(r"\b(?:chart|map|graph|diagram)\b", re.I)
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_DISABLED = re.compile(r"<!--\s*beholder-lint-disable-next-line\s+([\w ,]+)")
_WITHOUT_ALT = ("svg", "object", "canvas", "div", "span")
_FOCUSABLE = frozenset(("a", "area", "button", "input"))


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


class _Place(NamedTuple):
    """The start tag of an element: line, column, and its place in the source, if it is known."""

    line: int
    column: int | None = None
    at: int | None = None


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
            for tag, places in _places(source, prefixes).items()
            if len(places) == counts[tag]
        }
        self.text = lru_cache(maxsize=256)(_visible)
        # Each is computed once for all pictures of an element: a scan of the element for each of
        # its pictures would take quadratic time.
        self.pictures_of_link = cache(self._find_pictures_of_link)
        self.caption_of_figure = cache(self._find_caption_of_figure)
        self.named_targets = cache(_find_named_targets)
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
            is_hidden = any(map(_hidden, (element, *above)))
            if not _is_picture(element):
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
            occurrence.emoji = _is_emoji(element, sources)
            is_marked = self._set_text(occurrence, element, above, is_hidden)
            if place.at is not None and not is_hidden:
                occurrence.structural += tuple(
                    _find_stray_attributes(self.source, place.at)
                )
            if is_marked or not is_hidden:
                yield occurrence

    def _shown_elements(self) -> Iterator[tuple[Any, list[Any], _Place]]:
        """Yield pictures and elements with a text, each with the elements around it."""
        nth: Counter[str] = Counter()
        for element in self.root.iter(etree.Element):
            number, nth[element.tag] = nth[element.tag], nth[element.tag] + 1
            is_picture = _is_picture(element)
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
            place = _Place(element.sourceline)
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
        if _is_pixel(element) or (element.tag == "area" and not is_used):
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
        role = _attribute(element, "role").lower()
        is_marked = role in ("none", "presentation")
        # ARIA ignores these roles on elements that can have focus or other
        # aria attributes.
        is_void = is_marked and not _counts_as_none(element)
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
            if _attribute(element, key)
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
            for element_id in _ids(element, key):
                if (n := self.id_counts[element_id]) != 1:
                    count = "no element" if n == 0 else f"{n} elements"
                    yield (
                        "ALT011",
                        f'{key} names "{element_id}", which {count} of the page has',
                        "",
                    )
                    break
        if _attribute(element, "alt") and element.tag in _WITHOUT_ALT:
            yield "ALT012", f"alt has no effect on {element.tag}", ""

    def _names(
        self, element: Any, occurrence: Occurrence, role: str, above: list[Any]
    ) -> Iterator[Structural]:
        """Yield findings about a missing name; set ``declared`` if no further rule applies."""
        # Inputs and areas have rules of their own. Then come links whose only
        # content is the picture, then elements that need a role to be pictures
        # at all.
        link = next(filter(_is_active, above), None)
        has_other_content = link is not None and not occurrence.image_only
        if element.tag in ("input", "area"):
            yield from self._names_of_control(element, occurrence)
            return
        if occurrence.text:
            return
        if occurrence.image_only and link is not None:
            severity = "note" if _attribute(link, "title") else ""
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
            and _attribute(link, "aria-label")
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
        if (element.tag == "svg" and role in _IMAGE_ROLES) or role.startswith(
            "graphics-"
        ):
            yield (
                "ALT009",
                f"the {element.tag} with role={role} has no name",
                "",
            )
        elif role in _IMAGE_ROLES:
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
        elif (title := _title_of_drawing(element)) is not None:
            fallback = "".join(title.itertext())
            if norm(fallback) and not _attribute(element, "aria-label"):
                return fallback, "title element"
        if element.tag == "input":
            keys.append("value")
            is_unnamed = not any(
                _attribute(element, key) for key in ("aria-label", "alt")
            )
            if is_unnamed and (label := self._label(element)):
                return label, "label"
        for key in keys:
            if _attribute(element, key):
                return element.get(key), key
        return fallback, "alt"

    def _label(self, element: Any) -> str:
        """Return the text of the labels of a button."""
        labels = self.labels.get(element.get("id", ""), [])
        around = next(element.iterancestors("label"), None)
        if around is not None and not around.get("for"):
            labels = [around, *labels]
        return norm(" ".join(map(self.text, labels[:_MOST_IDS])))

    def _has_named_part(self, drawing: Any) -> bool:
        """Return whether a part of a drawing is a picture with a name of its own."""
        parts = islice(drawing.iterdescendants(etree.Element), 1000)
        return any(
            _is_picture(part) and norm(self._name(part)[0] or "")
            for part in parts
        )

    def _match_copies(self, noscript: Any) -> None:
        """Match the pictures of a ``noscript`` with those directly before or behind it."""
        copies = list(_pictures_in(noscript))
        for neighbour in _neighbours_without_text(noscript):
            pictures = list(_pictures_in(neighbour))
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
        labels = (self.ids.get(key) for key in _ids(element, attribute))
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
        link = next(filter(_is_active, above), None)
        block = next(filter(_is_near, above), None)
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
            if _is_download_of(link, element.get("alt", "")):
                occurrence.ignore |= {"ALT101"}
            occurrence.neighbours = tuple(self._neighbours(link))

    def _image_only(self, link: Any, element: Any) -> bool:
        if _attribute(link, "aria-label") or _attribute(
            link, "aria-labelledby"
        ):
            return False
        other_names = [
            has_name
            for picture, has_name in self.pictures_of_link(link)
            if picture is not element
        ]
        return not self.text(link) and not any(other_names[:_MOST_IDS])

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
        for neighbour, gap in ((before, before), (after, link)):
            if (
                neighbour is not None
                and _is_link(neighbour)
                and not (gap.tail or "").strip()
                and neighbour.get("href") == link.get("href")
            ):
                yield self.text(neighbour)

    def _sources(self, element: Any) -> tuple[str, ...]:
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
        real_sources = self.real_sources.get(element, ())
        return tuple(
            dict.fromkeys((*real_sources, *map(self._address, addresses)))
        )

    def _address(self, source: str) -> str:
        if source[:5].lower() == "data:":
            # Embedded data may be large; its digest identifies it as well.
            data = source.encode("utf-8", "replace")
            return f"data:{hashlib.sha256(data).hexdigest()[:16]}"
        return join_address(self.base, source.strip()) or source.strip()


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


def _pictures_in(element: Any) -> Iterator[Any]:
    """Yield the first pictures of an element, or the element itself."""
    pictures = filter(_is_picture, element.iter(etree.Element))
    yield from islice(pictures, _MOST_IDS)


def _neighbours_without_text(element: Any) -> Iterator[Any]:
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


def _title_of_drawing(element: Any) -> Any:
    """Return the ``title`` of a drawing or of a part of one; None without it."""
    if (
        element.tag != "svg"
        and next(element.iterancestors("svg"), None) is None
    ):
        return None
    return element.find("title")


def _is_download_of(link: Any, text: str) -> bool:
    if link.get("download") is None or not norm(text):
        return False
    path = unquote(re.split(r"[?#]", link.get("href", ""))[0])
    file_names = (path.rpartition("/")[2], link.get("download"))
    return norm(text).casefold() in [
        norm(file_name).casefold() for file_name in file_names
    ]


def _find_stray_attributes(source: str, at: int) -> Iterator[Structural]:
    """Yield findings about a text that ends too early in its tag, and a second ``alt``.

    Args:
        source: The page.
        at: Place of the tag.
    """
    tag = re.compile(r"<[^\s/>]+").match(source, at)
    at = tag.end() if tag else len(source)
    start = at
    n_alts = 0
    alt_end, is_quoted, is_stray = -1, False, False
    for _ in range(_MOST_ATTRIBUTES):
        attribute = _RAW_ATTRIBUTE.match(source, at)
        if attribute is None:
            break
        key, value = attribute[1].lower(), attribute[2]
        is_bare = value is None and key not in _BARE
        if alt_end >= 0:
            # A quotation mark in a name, a name right behind the text, or a
            # word behind a text without quotation marks.
            is_next = at == alt_end
            is_stray = is_stray or (
                any(mark in key for mark in "\"'")
                or (is_next and is_bare and attribute.start(1) == at)
                or (is_next and is_bare and not is_quoted and key.isalpha())
            )
        if key == "alt" and value is not None:
            n_alts += 1
            if alt_end < 0:
                alt_end = attribute.end()
                is_quoted = value[0] in "\"'"
        at = attribute.end()
    if any(mark in source[start:at] for mark in _TEMPLATE_MARKS):
        return
    if is_stray:
        rest = norm(source[alt_end:at])[:60]
        yield (
            "ALT113",
            f"ends at a quotation mark or blank inside it: the tag continues with {rest}",
            "",
        )
    elif n_alts > 1:
        yield (
            "ALT112",
            f"is one of {n_alts} alt attributes of its tag, and only the first counts",
            "",
        )


def _without_effect(element: Any, occurrence: Occurrence) -> Occurrence:
    severity = "note" if "-" in element.tag else ""
    hit = ("ALT012", f"alt has no effect on {element.tag}", severity)
    occurrence.raw, occurrence.structural = element.get("alt"), (hit,)
    occurrence.declared = True
    return occurrence


def _attribute(element: Any, key: str) -> str:
    """Return the value of an attribute with single blanks; empty if it is missing."""
    return norm(element.get(key, ""))


def _ids(element: Any, key: str) -> list[str]:
    return element.get(key, "").split()[:_MOST_IDS]  # type: ignore[no-any-return]


def _find_named_targets(area_map: Any) -> set[str | None]:
    """Return the addresses to which the areas with a text lead."""
    return {
        area.get("href")
        for area in area_map.iter("area")
        if _attribute(area, "alt")
    }


def _is_picture(element: Any) -> bool:
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
    return element.get("role", "").strip().lower() in _IMAGE_ROLES


def _is_link(element: Any) -> bool:
    return element.tag == "a" and element.get("href") is not None


def _is_near(element: Any) -> bool:
    return (
        element.tag in _NEAR
        or element.get("role") == "button"
        or _is_link(element)
    )


def _is_active(element: Any) -> bool:
    return (
        _is_link(element)
        or element.tag == "button"
        or element.get("role") in _ACTIVE_ROLES
    )


def _counts_as_none(element: Any) -> bool:
    focusable = (
        element.get("tabindex") is not None or element.tag in _FOCUSABLE
    )
    return not focusable and not any(
        key.startswith("aria-") and key != "aria-hidden"
        for key in element.attrib
    )


def _hidden(element: Any) -> bool:
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


def _is_pixel(element: Any) -> bool:
    return element.tag in ("img", "image") and _is_at_most(element, 1)


def _is_emoji(element: Any, sources: tuple[str, ...]) -> bool:
    about = " ".join((element.get("class", ""), *sources)).lower()
    return "emoji" in about or _is_at_most(element, 64)


def _visible(root: Any) -> str:
    """Return the visible text of an element, without the texts of pictures."""
    # At the start of an element its text is read, at its end the text behind
    # it, which for the root is outside.
    parts: list[str] = []
    n = 0
    walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        if event == "start":
            if element is not root and (
                element.tag in _UNSEEN or _hidden(element)
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


def _places(source: str, prefixes: tuple[str, ...]) -> dict[str, list[_Place]]:
    """Return the place of each start tag, by tag, without scripts and comments."""
    places_by_tag = defaultdict(list)
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
        if prefixes and tag.startswith(prefixes):
            tag = tag.partition(":")[2]
        if tag:
            places_by_tag[tag].append(_Place(line, at - start + 1, at))
        # Tags in scripts, styles and comments are text: skip to their end.
        if not tag or tag in _RAW:
            end = re.compile(f"</{tag}" if tag else "-->", re.I).search(
                source, match.end()
            )
            until = end.start() if end else len(source)
    return dict(places_by_tag)
