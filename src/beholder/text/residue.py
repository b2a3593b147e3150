"""Residue: what a machine leaves around the text that it was asked for.

Each kind is known by its form where it has one, so that it is found in any language; wrappers and
refusals are sentences, known by how they begin, in nine languages. Only the places where machines
leave them are looked at: a caption may quote JSON or describe a sign that says "Sure!".
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

ResidueKind: TypeAlias = Literal[
    "reasoning",
    "special tokens",
    "tags",
    "JSON",
    "code fences",
    "time stamps",
    "wrappers",
    "refusals",
    "headings",
    "bullets",
]
KINDS: tuple[ResidueKind, ...] = get_args(ResidueKind)
"""In the order in which reports name them."""


@dataclass(frozen=True, slots=True)
class Residue:
    """A piece of a text that is residue.

    Attributes:
        kind: Kind of residue.
        start: Index of its first character.
        end: Index after its last character.
    """

    kind: ResidueKind
    start: int
    end: int


def find_residue(text: str) -> list[Residue]:
    """Find the residue of a text, in text order; pieces do not overlap.

    A refusal is residue, too: a text that is nothing else has nothing left without it.
    """
    if not _MAY_HAVE.search(text):
        return []
    residues: list[Residue] = []
    plain = text
    for kind, find in _FINDERS:
        for start, end in find(plain):
            residues.append(Residue(kind, start, end))
        # What is found is out of the way of the rules that look at beginnings and ends.
        plain = _blanked(text, residues)
    return sorted(residues, key=lambda residue: residue.start)


def without_residue(text: str) -> str:
    """A text without its residue, with single blanks where pieces were within a line."""
    residues = find_residue(text)
    if not residues:
        return text
    pieces, last = [], 0
    for residue in residues:
        pieces += [
            text[last : residue.start],
            _replacement(text[residue.start : residue.end]),
        ]
        last = residue.end
    joined = "".join([*pieces, text[last:]])
    lines = (" ".join(line.split()) for line in joined.split("\n"))
    return "\n".join(line for line in lines if line)


def _replacement(piece: str) -> str:
    """The text in place of a piece of residue: a blank, or the character that JSON escaped."""
    # A backslash alone is removed: the character that it escapes follows and stays.
    if piece == "\\":
        return ""
    if _UNICODE_ESCAPE.fullmatch(piece):
        character: str = json.loads(f'"{piece}"')
        return (
            " "
            if unicodedata.category(character) in ("Cc", "Zs")
            else character
        )
    return " "


def _blanked(text: str, residues: Iterable[Residue]) -> str:
    characters = list(text)
    for residue in residues:
        for place in range(residue.start, residue.end):
            if characters[place] != "\n":
                characters[place] = " "
    return "".join(characters)


# A quick look: the signs that residue of a form has, or a sentence that begins as one of the lists.
_OPENING_WORDS = (
    r"sure|certainly|of course|absolutely|okay|ok|great question|here|below|the following|as an?"
    r"|i|sorry|unfortunately|my apologies|apologies|caption|description|image|video|detailed|alt"
    r"|alternative|final|hier|natürlich|gerne|es tut|entschuldigung|leider|voici|bien sûr|je"
    r"|based on|let|alright|assistant|thought|output|answer|response|it looks|it seems|it appears"
    r"|no|there is no|there was no"
    r"|the (?:image|picture|photo|video) (?:shows|depicts|could|can(?:not)?|did|failed)"
    r"|désolée?|aquí|claro|por supuesto|lo siento|ecco|certo|certamente|mi dispiace|aqui|desculpe"
    r"|sinto|natuurlijk|het spijt|helaas|please|option|ich kann|ik kan|no puedo|não|non posso|här"
    r"|tyvärr|jag kan|förlåt|oto|przepraszam|niestety|nie mogę|testo|texte|texto|tekst"
    r"|suggested|short|long|brief|concise|proposed|recommended|revised|improved|possible|updated|new|your|my|the"
    r"|beschreibung|bild\w+|légende|descri\w+|beschrijving|unable|error|non riesco|legenda"
)
_MAY_HAVE = re.compile(
    r"[<>{}◁▷Ġ▁|`\[]|^[ \t]*(?:#|[-*•–+]\s|\d)|\d:\d\d|\ds?\s?[:–-]|\*\*"
    r"|\b(?:USER|ASSISTANT|SYSTEM|HUMAN)\s*:|N['’]hésitez|Lassen Sie|Avísame|Fammi sapere|Laat het"
    rf"|\A\W*(?:(?:{_OPENING_WORDS})\b|[抱当當对對以很我申も죄])"
    r"|\d[ \w]{0,12}[)\]]\W*\Z|let me know|feel free|I hope th|would you like|do you want"
    r"|is there any|if you['’ ]"
    r"|\bnote(?: that|:) th|\bplease (?:upload|share|attach)"
    r"|(?:could|can) you (?:please|upload|sh|pro)",
    re.IGNORECASE | re.MULTILINE,
)

_THOUGHT = r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)"
# The second alternative: the opening tag was part of the prompt, so only the closing one is left.
_REASONING = re.compile(
    rf"<(?P<tag>{_THOUGHT})>.*?(?:</(?P=tag)>|\Z)"
    rf"|\A(?:(?!<{_THOUGHT}>).)*?</{_THOUGHT}>"
    rf"|\[(?P<bracket>THINK|REASONING)\].*?(?:\[/(?P=bracket)\]|\Z)"
    r"|◁think▷.*?(?:◁/think▷|\Z)"
    r"|<\|channel\|>analysis<\|message\|>.*?(?:<\|end\|>|\Z)"
    r"|\A\s*Thought:.*?\bFinal Answer:"
    r"|<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_TOKEN = re.compile(
    r"<[|｜][^<>|｜\n]{1,40}[|｜]>(?:(?:assistant|user|system|final|analysis)\b)?"
    r"|\A\s*<s>|</s>\s*\Z|</s>(?=\s*(?:<|\[))"
    r"|<start_of_turn>(?:model|user)\b"
    r"|<<?/?SYS>>?|\[INST\].*?\[/INST\]|\[/?INST\]|\[(?:CLS|SEP|PAD|MASK|UNK|BOS|EOS|EOT|IMG|/IMG)\]"
    r"|</?(?:pad|eos|bos|sos|unk|mask|cls|sep|end|start|eot|eom|endoftext|image|video"
    r"|(?:start|begin|end)_of_\w+|extra_id_\d+|unused\d+|0x[0-9A-F]{2})>"
    r"|[Ġ▁](?=\w)"
    r"|^[ \t]*(?:###[ \t]*)?(?:ASSISTANT|USER|SYSTEM|HUMAN)\s*:"
    r"|(?:\A|(?<=\n))[ \t]*(?:Assistant|Human)\s*:|(?<=\n)[ \t]*User\s*:"
    r"|^[ \t]*###[ \t]*(?:Response|Assistant|Answer)\s*:"
    r"|(?:(?<=\s)##(?=[a-z]+\b))",
    re.MULTILINE,
)
_ENCLOSED = re.compile(
    r"\A\s*<([a-z][a-z_-]*)>(.*)</\1>\s*\Z", re.DOTALL | re.IGNORECASE
)
_ENCLOSING_HTML = frozenset(
    (
        "p",
        "b",
        "i",
        "em",
        "strong",
        "u",
        "s",
        "div",
        "span",
        "body",
        "html",
        "ul",
        "ol",
    )
)
_FENCE = re.compile(
    r"\A\s*(?:```|~~~)[\w-]*[ \t]*(?=\n|$)|(?<=\n)[ \t]*(?:```|~~~)[ \t]*\s*\Z"
)
_JSON = re.compile(
    r"\A\s*(?:[\[{]\s*)*\{\s*(?P<quote>[\"'])[^\"'\n]{1,60}(?P=quote)\s*:\s*|\A\s*\[\s*\"[^\"]"
)
_STRING = re.compile(
    r"\"(?:[^\"\\]|\\.)*(?:\"|\Z)|'(?:[^'\\]|\\.|(?<=\w)'(?=\w))*(?:'|\Z)",
    re.DOTALL,
)
_UNICODE_ESCAPE = re.compile(
    r"\\u(?i:(?!d[89a-f])[0-9a-f]{4}|d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})"
)
"""A character by its number; those beyond 16 bits are written as a pair of surrogates."""
_ESCAPE = re.compile(
    rf"{_UNICODE_ESCAPE.pattern}|\\[bfnrt]|(?P<backslash>\\)[\"'\\/]"
)

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?"
_FIRST_HOUR = r"0?0:\d{2}(?::\d{2})?"
_SECONDS = r"\d{1,5}(?:\.\d{1,3})?"
_TO = r"\s*(?:-->|->|[-–—~]|to)\s*"
_AT_START = r"(?:\A|(?<=\n)|(?<=[.!?]\s)|(?<=[.!?]))[ \t]*"
_TIMES = re.compile(
    rf"^[ \t]*(?:\d+[ \t]*\n[ \t]*)?\d{{1,2}}:\d{{2}}(?::\d{{2}})?[.,]\d{{3}}[ \t]*-->[ \t]*"
    rf"{_CLOCK}[^\n]*$"
    r"|\AWEBVTT[^\n]*"
    rf"|{_AT_START}(?:[\[<]{_CLOCK}(?:{_TO}{_CLOCK})?[\]>]|\({_CLOCK}{_TO}{_CLOCK}\))[ \t]*[:,-]?"
    rf"|{_AT_START}(?:{_CLOCK}{_TO}{_CLOCK}[ \t]*:|{_FIRST_HOUR}{_TO}{_CLOCK}[ \t]*[:,-]?)"
    rf"|{_AT_START}{_FIRST_HOUR}[ \t]*[:-](?=[ \t])"
    rf"|{_AT_START}[\[<(]?{_SECONDS}\s?s?{_TO}{_SECONDS}\s?(?:s|sec|seconds)\b[\]>)]?[ \t]*[:,-]?"
    rf"|{_AT_START}[\[<(]?{_SECONDS}\s?(?:s|sec|seconds)[\]>)]?[ \t]*:(?=\s)"
    rf"|{_AT_START}<{_SECONDS}>(?:[ \t]*<{_SECONDS}>)?",
    re.MULTILINE,
)
# "# 7" and "# of" count something: after a single "#" another word must follow.
_HEADING = re.compile(
    r"^[ \t]*(#(?=[ \t]+(?!of\b)[^\d\s])|#{2,6})[ \t]+(?=\S)", re.MULTILINE
)
_BULLET = re.compile(
    r"^[ \t]*((?:[-*•–+]|\d{1,2}[.)])[ \t]+)(?=\S)", re.MULTILINE
)

_PICTURE = r"(?:images?|pictures?|photos?|photographs?|videos?|frames?|files?|attachments?)"
_NOUN = (
    r"(?:caption|description|summary|transcript(?:ion)?|breakdown|alt(?:ernative)?[ -]?text(?:en)?"
    r"|texte alternatif|texto alternativo|testo alternativo|alt(?:ernatieve)?[ -]tekst"
    r"|tekst alternatywny|beskrivning|opis"
    r"|Beschreibung|Bildunterschrift|Alternativtext|légende|descripción|descrizione|descrição"
    r"|didascalia|leyenda|legenda|beschrijving|bijschrift)s?"
)
_YES = (
    r"(?:Sure(?: thing)?|Certainly|Of course|Absolutely|Okay|OK|Great question|Natürlich|Gerne"
    r"|Bien sûr|Claro|Por supuesto|Certo|Certamente|Natuurlijk)"
)
_HERE = (
    r"(?:Here(?:['’]s| is| are)|Below (?:is|are)|The following is|Hier ist|Hier eine|Voici"
    r"|Aquí tienes|Aquí está|Ecco|Aqui está|Hier is|Här är|Oto)"
)
_OPENINGS = re.compile(
    rf"\A\W*(?:{_YES}\s*[!,.]\s*)?(?:Based on (?:the|this|your)\b[^.:!?\n]{{0,60}},\s*)?"
    rf"(?:(?:I['’]d|I would) be happy to[^.!\n]*[.!]\s*)?"
    rf"{_HERE}\b[^.:!?\n]{{0,120}}\b{_NOUN}\b[^.:!?\n]{{0,100}}:[\s*]*"
    rf"|\A\W*{_YES}!\s+(?=\W*[^\W\d_])"
    rf"|\A\W*Based on (?:the|this|your) (?:provided |uploaded |given |attached )?{_PICTURE}"
    r"(?: provided| uploaded| given| attached)?,\s*"
    # A first proposal is one of several only if a second one follows.
    r"|\A\W*Option (?:1|A)(?:\*\*)?\s*[:.)](?=.*\bOption (?:2|B)\b)[\s*]*"
    r"|\A\W*(?:(?:(?:Suggested|Short|Long|Brief|Concise|Proposed|Recommended|Revised|Improved|Final"
    r"|Image|Video|Detailed|Possible|Updated|New|The|Your|My) ){0,2}"
    r"(?:Caption|Description|Alt(?:ernative)?[ -]?text|Alt)"
    r"|(?:Bild)?beschreibung|Bildunterschrift|Légende|Descri[pz]\w{4,6}|Descrição|Beschrijving"
    r"|Texte alternatif|Texto alternativo|Testo alternativo|Alt(?:ernatieve)?[ -]tekst"
    r"|Tekst alternatywny"
    r"|(?:Caption|Description) (?:of|for) (?:the|this) (?:image|picture|photo|video)"
    r"|The (?:image|picture|photo|video) (?:shows|depicts) the following"
    r"|(?:Final )?answer|output|response)(?:\*\*)?\s*:[\s*]*"
    rf"|\A\W*(?:(?:{_YES}|Alright)[,.!]\s+)?(?:let['’]s|let me|I['’]ll|I will)\s+"
    r"(?:describe|analy[sz]e|look at|take a look|break (?:this|it) down|caption)\b"
    r"\s+(?:this|it|what|the (?:image|picture|photo|video|scene))\b[^.:!?\n]{0,40}[.:!]"
    r"|\A[当對对]然?[，,!！可以]*[^。\n]{0,40}[：:]|\A以下是[^。\n]{0,40}[：:]"
    r"|\Aもちろん[^。\n]{0,10}[。！!]",
    re.IGNORECASE,
)
_CLOSINGS = re.compile(
    r"(?:(?<=[.!?]\s)|(?<=\n))\W{0,3}(?:(?:Please )?let me know (?:if|how|whether|what)"
    r"|(?:Please )?feel free to (?:ask|let|reach|contact|share|provide)|I hope (?:this|that) helps"
    r"|If you (?:need|have|would like|['’]d like|want) (?:any|me|more|further|to know)"
    r"|(?:Please )?Note(?: that|:) (?:this|the) (?:image|video)? ?(?:description|caption|summary)\b"
    r"|Would you like (?:me to|an?|more|another)\b|Is there anything else|Do you want me to"
    r"|(?:Could|Can) you (?:please )?(?:upload|share|provide|attach)|Please (?:upload|share|attach)"
    r"|Lassen Sie mich wissen|N['’]hésitez pas|Avísame si|Fammi sapere|Laat het me weten)"
    r"[^\n]*\s*\Z"
    r"|[(\[](?:(?:Word|Character) count:? \d+|\d{1,4} (?:words|characters|Zeichen|caractères"
    r"|caracteres|caratteri|tekens))[)\]]\W*\Z",
    re.IGNORECASE,
)
_CANNOT = (
    r"(?:can(?:no|['’])?t|can not|cannot|am (?:not able|unable)|['’]m (?:not able|unable)"
    r"|(?:won['’]t|will not)(?: be able)?"
    r"|do(?:n['’]t| not) have the (?:ability|capability|capacity)|must decline)"
)
# What models say they cannot do; people who write "Sorry, I can't dance" name other things.
_TASK = (
    r"(?:to |actually |directly |currently )*(?:assist|help (?:you|with)|comply|do (?:that|this)"
    r"|fulfil+|with|(?:identify|provide|view|see|describe|process|access|recogni[sz]e|generate"
    r"|analy[sz]e|determine|create|answer|interpret|continue|discuss|caption|engage|open|look at)"
    rf"\b[^.!?\n]*\b(?:{_PICTURE}|people|persons?|individuals?|anyone|content|requests?|questions?"
    r"|descriptions?|captions?|details|this|that))\b"
)
_REFUSALS = re.compile(
    rf"\A\W*(?:I(?:['’]m| am)(?: \w+)? (?:sorry|afraid)|Sorry|Unfortunately|(?:My )?apologies"
    rf"|I apologi[sz]e)\b[^.!?\n]{{0,60}}\bI\s?{_CANNOT}\s+{_TASK}[^.!?\n]*[.!?]?"
    r"|\A\W*I(?:['’]m| am) sorry[,.!]?\s*\Z"
    rf"|\A\W*I\s?{_CANNOT}\s+{_TASK}[^.!?\n]*[.!?]?"
    rf"|\A\W*(?:(?:I(?:['’]m| am) )?(?:sorry|afraid)[,.]? ?(?:but )?|Unfortunately,? )?"
    r"I (?:do not|don['’]t|can['’]?t) (?:see|have) (?:any|an|the|access to (?:the|an|any)) "
    rf"(?:\w+ )?{_PICTURE}\b[^.!?\n]*[.!?]?"
    rf"|\A\W*(?:It (?:looks|seems|appears)(?: like| that)? )?(?:there (?:is|was) )?no {_PICTURE}"
    r"(?: \w+){0,3} (?:provided|attached|uploaded)\b[^.!?\n]*[.!?]?"
    r"|\A\W*As an? (?:AI|artificial intelligence|(?:large )?language model)\b[^.!?\n]*[.!?]?"
    rf"|\A\W*Unable to (?:describe|view|see|process|access|analy[sz]e|load|open|identify)\b"
    rf"[^.!?\n]{{0,30}}\b(?:{_PICTURE}|this|it|content)\b[^.!?\n]*[.!?]?"
    rf"|\A\W*It (?:looks|seems|appears)(?: like| that)? you (?:did|have)(?: not|n['’]t)"
    rf" \w+\b[^.!?\n]{{0,20}}\b{_PICTURE}\b[^.!?\n]*[.!?]?"
    rf"|\A\W*(?:Error: )?(?:The )?{_PICTURE}"
    r" (?:could not|cannot|can['’]?t|did not|failed to) (?:be )?"
    r"(?:load|display|access|process|open|view|read)[^.!?\n]*[.!?]?"
    rf"|\A\W*(?:Please|(?:Could|Can|Would) you(?: please)?) (?:provide|upload|share|attach|send)\b"
    rf"[^.!?:\n]{{0,30}}\b{_PICTURE}\b[^.!?\n]*[.!?]?"
    r"|\A\W*(?:Es tut mir leid|Entschuldigung|Leider)\b[^.!?\n]*\bkann[^.!?\n]*[.!?]?"
    r"|\A\W*Ich kann (?:das|dieses|die|diese|den|diesen|keine?|hier|leider|dir|Ihnen|nicht)\b"
    r"[^.!?\n]*\b(?:nicht|keine?)\b[^.!?\n]*[.!?]?"
    r"|\A\W*(?:Je suis )?désolée?\b[^.!?\n]*\bje ne (?:peux|suis)[^.!?\n]*[.!?]?"
    r"|\A\W*Lo siento\b[^.!?\n]*\bno (?:puedo|es posible)[^.!?\n]*[.!?]?"
    r"|\A\W*Mi dispiace\b[^.!?\n]*\bnon posso[^.!?\n]*[.!?]?"
    r"|\A\W*(?:Desculpe|Sinto muito)\b[^.!?\n]*\bnão (?:posso|consigo)[^.!?\n]*[.!?]?"
    r"|\A\W*(?:(?:Het spijt me|Helaas)\b[^.!?\n]*\bkan|Sorry\b[^.!?\n]*\bik kan)[^.!?\n]*[.!?]?"
    r"|\A\W*(?:Je ne peux pas|No puedo|Non (?:posso|riesco)|Não (?:posso|consigo)"
    r"|Ik kan|Jag kan|Nie mogę)\b"
    r"[^.!?\n]*\b(?:image|imagen|foto\w*|immagine|imagem|afbeelding|bild\w*|zdjęci\w+|obra[zs]\w*"
    r"|personne|persona|persoon|osob\w+|solicitud|demande|richiesta)\b[^.!?\n]*[.!?]?"
    r"|\A\W*(?:Tyvärr|Förlåt)\b[^.!?\n]*\bkan\b[^.!?\n]*\binte\b[^.!?\n]*[.!?]?"
    r"|\A\W*(?:Przepraszam|Niestety|Przykro mi)\b[^.!?\n]*\bnie (?:mogę|jestem w stanie)\b"
    r"[^.!?\n]*[.!?]?"
    r"|\A(?:很?抱歉|对不起|我)[^。\n]{0,12}?(?:无法|不能)[^。\n]*。?"
    r"|\A申し訳(?:ありません|ございません)[^\n]*"
    r"|\A죄송[^\n]*",
    re.IGNORECASE,
)


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """The matches of a pattern without the white space around them."""
    for match in pattern.finditer(text):
        start = match.end() - len(match[0].lstrip())
        end = match.start() + len(match[0].rstrip())
        if start < end:
            yield start, end


def _find_tags(text: str) -> Iterator[tuple[int, int]]:
    enclosed = _ENCLOSED.match(text)
    if enclosed and enclosed[1].lower() not in _ENCLOSING_HTML:
        yield text.index("<"), enclosed.start(2)
        yield enclosed.end(2), len(text.rstrip())


def _find_json(text: str) -> Iterator[tuple[int, int]]:
    """All of a text that is JSON but its values that are texts, and the escapes within these."""
    is_whole = text.rstrip()[-1:] in ("}", "]") or text.count(
        "{"
    ) > text.count("}")
    if not (_JSON.match(text) and is_whole):
        return
    last = len(text) - len(text.lstrip())
    for string in _STRING.finditer(text):
        is_key = text[string.end() :].lstrip()[:1] == ":"
        is_closed = len(string[0]) > 1 and string[0][-1] == string[0][0]
        if is_key:
            continue
        start = string.start() + 1
        end = string.end() - is_closed
        yield last, start
        for escape in _ESCAPE.finditer(text, start, end):
            yield escape.span("backslash" if escape["backslash"] else 0)
        last = end
    if last < len(text.rstrip()):
        yield last, len(text.rstrip())


def _find_bullets(text: str) -> list[tuple[int, int]]:
    """List marks of two lines or more; a single one may be a dash."""
    marks = [match.span(1) for match in _BULLET.finditer(text)]
    return marks if len(marks) > 1 else []


_FINDERS: tuple[
    tuple[ResidueKind, Callable[[str], Iterable[tuple[int, int]]]], ...
] = (
    ("reasoning", lambda text: _spans(_REASONING, text)),
    ("special tokens", lambda text: _spans(_TOKEN, text)),
    ("tags", _find_tags),
    ("code fences", lambda text: _spans(_FENCE, text)),
    ("JSON", _find_json),
    ("time stamps", lambda text: _spans(_TIMES, text)),
    ("refusals", lambda text: _spans(_REFUSALS, text)),
    ("wrappers", lambda text: _spans(_OPENINGS, text)),
    ("wrappers", lambda text: _spans(_CLOSINGS, text)),
    (
        "headings",
        lambda text: (match.span(1) for match in _HEADING.finditer(text)),
    ),
    ("bullets", _find_bullets),
)
