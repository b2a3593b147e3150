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

from beholder.text.refusals import PICTURE, REFUSALS

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
    r"|suggested|short|long|brief|concise|proposed|recommended|revised|improved|possible|updated"
    r"|new|your|my|the"
    r"|beschreibung|bild\w+|légende|descri\w+|beschrijving|unable|error|non riesco|legenda"
    # Agreement, labels, requests and refusals in other languages than English.
    r"|ich|ik|jag|non|als|som|klar|sicher|selbstverständlich|gern"
    r"|bien entendu|avec plaisir|volontiers|d['’]accord|vale|bien"
    r"|desde luego|con gusto|ovviamente|volentieri|va bene|com certeza|zeker|graag|uiteraard"
    r"|självklart|visst|javisst|givetvis|absolut|oczywiście|jasne|pewnie|voilà|di seguito|segue|eis"
    r"|a continuación|este es|nachfolgend|poniżej|opis|beskrivning|afbeeldingsbeschrijving|hmm+|so"
    r"|right|first|we|the user|der (?:be)?nutzer|die nutzerin|l['’]utilisateur|el usuario"
    r"|l['’]utente"
    r"|[ao] (?:usuário|utilizador)|de gebruiker|användaren|użytkownik|alternativ\w*|varianten?"
    r"|version|opción|opzione|opção|optie|opcja|wariant|bitte|dabei|könnte\w*|kannst|können|tut mir"
    r"|es (?:wurde|ist)|mir liegt|veuillez|merci|pourr\w+|pouvez|peux-tu|s['’]il|aucune"
    r"|il n['’]y a|en tant"
    r"|por favor|podr[ií]as?|puedes?|lamento|lamentablemente|perdón|disculp\w+|como|ningun\w*"
    r"|per favore|si prega"
    r"|puoi|potr\w+|spiacente|purtroppo|scusa|in quanto|come|nessuna|você|poderia|pode|infelizmente"
    r"|peço|nenhuma|upload|stuur|deel|voeg|kunt|kun|zou|excuses|er is|vänligen|var god|ladda|skicka"
    r"|bifoga|kan du|kunde du|ursäkta|beklagar|ingen|det finns|proszę|prześlij|czy|nie|jako"
    r"|przykro|brak"
)
_MAY_HAVE = re.compile(
    r"[<>{}◁▷Ġ▁|`\[]|^[ \t]*(?:#|[-*•–+]\s|\d)|\d:\d\d|\ds?\s?[:–-]|\*\*"
    r"|\b(?:USER|ASSISTANT|SYSTEM|HUMAN)\s*:|N['’]hésitez|Lassen Sie|Avísame|Fammi sapere|Laat het"
    rf"|\A\W*(?:(?:{_OPENING_WORDS})\b|[抱当當对對以很我申も죄好请請没沒未无無作用遗遺您你画写ファこす承か代はユご説選オ이사파미물네알요대옵替选图])"
    r"|\d[ \w]{0,12}[)\]）]\W*\Z|let me know|feel free|I hope th|would you like|do you want"
    r"|is there any|if you['’ ]|[.!?。！]\W{0,3}(?:lass|ich hoffe|möchte|soll ich|j['’]espère"
    r"|souhait|voulez"
    r"|dites|espero|si necesitas|quier|hazme|házme|no dudes|spero|se (?:hai|vuoi|precisar|quiser)"
    r"|vuoi|avise"
    r"|me avise|gostaria|quer|ik hoop|wil je|als (?:je|u)|låt mig|(?:jag )?hoppas|vill du|säg till"
    r"|daj|mam"
    r"|czy|jeśli|必要|他に|ご不明|お役|希望|如果|如需|需要|도움|필요|더)"
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
_USER_WANTS = (
    r"(?:the user (?:wants|is asking|asks|asked|has|needs|provided|said|requested|would)"
    r"|(?:der|die) (?:be)?nutzer(?:in)? (?:möchte|will|bittet|fragt|hat|braucht)"
    r"|l['’]utilisat(?:eur|rice) (?:veut|souhaite|demande|voudrait|a)"
    r"|(?:el|la) usuari[oa] (?:quiere|pide|solicita|ha|necesita)"
    r"|l['’]utente (?:vuole|chiede|desidera|ha)"
    r"|[oa] (?:usuári[oa]|utilizador(?:a)?) (?:quer|pede|pediu|solicita|deseja)"
    r"|de gebruiker (?:wil|vraagt|heeft)|användaren (?:vill|ber|frågar|behöver)"
    r"|użytkownik (?:chce|prosi|pyta|potrzebuje))\b"
)
_I_NEED = (
    r"(?:(?:i|we) (?:need to|have to|should|must)|let me think about"
    r"|ich (?:muss|sollte)|je dois|nous devons|(?:debo|necesito|tengo que)|devo|ik moet"
    r"|jag (?:måste|bör)"
    r"|muszę|powinienem)\b"
)
_THOUGHT_OBJECT = (
    r"(?:alt(?:ernativ\w*)?[ -]?te[xks]+[tio]?\w*|image|picture|photo|description|caption|bild\w*"
    r"|beschreibung|imagen|descripción|immagine|descrizione|imagem|descrição|afbeelding"
    r"|beschrijving"
    r"|beskriv\w*|obraz\w*|zdjęci\w*|opis\w*|user)"
)
# Reasoning that no tag encloses: the sentence that begins it and those that continue it.
_PLAIN_REASONING = re.compile(
    rf"\A\W*(?:(?:Okay|OK|Alright|All right|Hmm+|So|Right|First|Well|Gut|Also|D['’]accord|Bon|Bien"
    rf"|Vale"
    rf"|Va bene|Allora|Certo|Então|Ok[eé]|Dobrze|Dus|Så)\b[,.!…]*\s+)*"
    rf"(?:{_USER_WANTS}|{_I_NEED}[^.!?\n]{{0,60}}\b{_THOUGHT_OBJECT}\b)[^.!?\n]*[.!?]*"
    rf"(?:\s+(?:(?:I|we) (?:need|have|should|must|will|can|think|want)|I['’]ll|let me|let['’]s"
    rf"|the user"
    rf"|they (?:want|need)|so|first|next|also|maybe|perhaps|wait|hmm+|okay|{_USER_WANTS}"
    rf"|{_I_NEED})\b"
    rf"[^.!?\n]*[.!?]*)*"
    r"|\A\W*(?:好的?[，,。]?\s?|首先[，,]?)?(?:用户|用戶)(?:想|要|希望|需要|让我|请求|請求|给)[^。\n]*。?"
    r"(?:(?:我|需要|首先|然后)[^。\n]*。?)*"
    r"|\A\W*(?:はい、|では、|さて、)?ユーザー[はが][^。\n]*(?:求め|希望|たい|ほしい|欲し|依頼)[^。\n]*。?"
    r"|\A\W*(?:네[,.]?\s|좋아[,.]?\s)?사용자(?:가|는|께서)[^.\n]*(?:원하|요청|바라)[^.\n]*\.?",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"<[|｜][^<>|｜\n]{1,40}[|｜]>(?:(?:assistant|user|system|final|analysis)\b)?"
    r"|\A\s*<s>|</s>\s*\Z|</s>(?=\s*(?:<|\[))"
    r"|<start_of_turn>(?:model|user)\b"
    r"|<<?/?SYS>>?|\[INST\].*?\[/INST\]|\[/?INST\]"
    r"|\[(?:CLS|SEP|PAD|MASK|UNK|BOS|EOS|EOT|IMG|/IMG)\]"
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

_NOUN = (
    r"(?:caption|description|summary|transcript(?:ion)?|breakdown|alt(?:ernative)?[ -]?text(?:en)?"
    r"|texte (?:alternatif|de remplacement)|texto alternativo|testo alternativo"
    r"|alt(?:ernatieve)?[ -]tekst"
    r"|tekst alternatywny|(?:bild)?beskrivning(?:en)?|(?:alternativ|alt-|bild)text(?:en)?|opis"
    r"|(?:Bild)?beschreibung|Bildunterschrift|Alternativtext|légende|descripción|descrizione"
    r"|descrição"
    r"|didascalia|leyenda|legenda|beschrijving|bijschrift)s?"
)
_YES = (
    r"(?:Sure(?: thing)?|Certainly|Of course|Absolutely|Okay|OK|Great question"
    r"|(?:Aber )?(?:Natürlich|Gerne?|Sicher|Selbstverständlich)|(?:Na|Aber) klar|Klar"
    r"|(?:Mais )?(?:Bien sûr|Bien entendu)|Certainement|Avec plaisir|Volontiers|D['’]accord"
    r"|Claro(?: que sí)?|Por supuesto|Desde luego|Con (?:mucho )?gusto|Certo|Certamente|Ovviamente"
    r"|Volentieri|Va bene|Com certeza|Com prazer|Natuurlijk|Zeker|Graag|Uiteraard|Självklart|Visst"
    r"|Javisst|Givetvis|Absolut|Oczywiście|Jasne|Pewnie)"
)
_HERE = (
    r"(?:Here(?:['’]s| is| are)|Below (?:is|are)|The following is|Hier ist|Hier eine|Voici"
    r"|Nachfolgend|Hier kommt|Voilà|Aquí (?:tienes|está|va|le|te)|A continuación|Este es|Ecco"
    r"|Di seguito|Aqui (?:está|vai|tem)|Segue|Eis|Hier (?:is|heb|volgt)|Här (?:är|kommer|följer)"
    r"|Oto|Poniżej)"
)
_OPENINGS = re.compile(
    rf"\A\W*(?:{_YES}\s*[!,.：:]\s*)?(?:Based on (?:the|this|your)\b[^.:!?\n]{{0,60}},\s*)?"
    rf"(?:(?:I['’]d|I would) be happy to[^.!\n]*[.!]\s*)?"
    rf"{_HERE}\b[^.:!?\n]{{0,120}}\b{_NOUN}\b[^.:!?\n]{{0,100}}:[\s*]*"
    rf"|\A\W*{_YES}\s?!\s+(?=\W*[^\W\d_])"
    rf"|\A\W*Based on (?:the|this|your) (?:provided |uploaded |given |attached )?{PICTURE}"
    r"(?: provided| uploaded| given| attached)?,\s*"
    # A first proposal is one of several only if a second one follows.
    r"|\A\W*(?P<option>Option|Variante?|Version|Alternative?|Opción|Opzione|Opção|Optie|Opcja"
    r"|Wariant"
    r"|選択肢|オプション|案|选项|選項|옵션) ?(?:1|A|一)(?:\*\*)?\s*[:.)：]"
    r"(?=(?s:.*)\W(?P=option) ?(?:2|B|二)\b)[\s*]*"
    r"|\A\W*(?:(?:(?:Suggested|Short|Long|Brief|Concise|Proposed|Recommended|Revised|Improved|Final"
    r"|Image|Video|Detailed|Possible|Updated|New|The|Your|My) ){0,2}"
    r"(?:Caption|Description|Alt(?:ernative)?[ -]?text|Alt)"
    r"|(?:Bild)?beschreibung|Bildunterschrift|Légende|Descri[pz]\w{4,6}|Descrição"
    r"|(?:Afbeeldings|Beeld)?beschrijving|(?:Bild)?beskrivning|Bildtext|Didascalia|Leyenda|Opis"
    r"|Descri(?:pti|zi|pci|çã)\w{1,3} (?:de l['’]|de la |dell['’]|da |de )(?:image|imagen|immagine"
    r"|imagem)"
    r"|Opis (?:obrazu|zdjęcia|alternatywny)|Podpis"
    r"|Alternativ(?:er )?[ -]?text|Alt-?texten?|Texte (?:alternatif|de remplacement|alt)"
    r"|Texto (?:alternativo|alt)|Testo (?:alternativo|alt)|Alt(?:ernatieve)?[ -]?tekst"
    r"|Tekst (?:alternatywny|alt)"
    r"|(?:Caption|Description) (?:of|for) (?:the|this) (?:image|picture|photo|video)"
    r"|The (?:image|picture|photo|video) (?:shows|depicts) the following"
    r"|(?:Final )?answer|output|response)(?:\*\*)?\s*:[\s*]*"
    r"|\A\W*(?:代替テキスト|代替文|altテキスト|替代文[本字]|alt ?文本"
    r"|(?:图片|图像|圖片)(?:描述|说明|說明)"
    r"|画像の説明|대체 ?텍스트|이미지 ?설명)\s*[:：]\s*"
    rf"|\A\W*(?:(?:{_YES}|Alright)[,.!]\s+)?(?:let['’]s|let me|I['’]ll|I will)\s+"
    r"(?:describe|analy[sz]e|look at|take a look|break (?:this|it) down|caption)\b"
    r"\s+(?:this|it|what|the (?:image|picture|photo|video|scene))\b[^.:!?\n]{0,40}[.:!]"
    r"|\A[当對对]然?[，,!！可以]*[^。\n]{0,40}[：:]|\A以下是[^。\n]{0,40}[：:]"
    r"|\A好的?[，,！!。][^。\n]{0,40}[：:]|\A(?:当然|當然|好的|没问题|沒問題)[！!。]\s*(?=\w)"
    r"|\A(?:もちろん|承知(?:しま|いたしま)した|かしこまりました)[^。！!\n]{0,10}[。！!]"
    r"|\A(?:はい、)?(?:以下(?:は|が|に)|こちら[はが])[^。\n]{0,40}[：:。](?=\s*\S)"
    r"|\A(?:물론(?:입니다|이죠|이에요)|네|알겠습니다)[!.,]\s+(?:(?:다음은|여기)[^.:\n]{0,40}[:.]\s*)?"
    r"|\A(?:다음은|여기)[^.:\n]{0,40}(?:텍스트|설명|캡션)[^.:\n]{0,12}:\s*",
    re.IGNORECASE,
)
_CLOSINGS = re.compile(
    r"(?:(?<=[.!?]\s)|(?<=\n))\W{0,3}(?:(?:Please )?let me know (?:if|how|whether|what)"
    r"|(?:Please )?feel free to (?:ask|let|reach|contact|share|provide)|I hope (?:this|that) helps"
    r"|If you (?:need|have|would like|['’]d like|want) (?:any|me|more|further|to know)"
    r"|(?:Please )?Note(?: that|:) (?:this|the) (?:image|video)? ?(?:description|caption|summary)\b"
    r"|Would you like (?:me to|an?|more|another)\b|Is there anything else|Do you want me to"
    r"|(?:Could|Can) you (?:please )?(?:upload|share|provide|attach)|Please (?:upload|share|attach)"
    r"|Lass(?:en Sie)? mich wissen|Ich hoffe, (?:das|dies)|(?:Möchten Sie|Möchtest du|Soll ich),?"
    r"|N['’]hésitez pas|J['’]espère que (?:cela|ça)|Souhaitez-vous|Voulez-vous|Dites-moi si"
    r"|Avísame si|Espero que (?:esto|te|le|isso|ajude|sea)|Si necesitas|¿Quieres que|¿Te gustaría"
    r"|Házmelo saber|No dudes en|Fammi sapere|Spero che (?:questo|ti|sia)|Se hai bisogno|Vuoi che"
    r"|Se (?:precisar|quiser)|(?:Me )?avise(?:-me)? se|Gostaria que|Quer que eu"
    r"|Laat het me weten|Ik hoop dat (?:dit|het)|Wil je dat ik|Als (?:je|u) (?:nog )?(?:vragen"
    r"|meer)"
    r"|Låt mig veta|(?:Jag )?hoppas (?:att )?det(?:ta)?|Vill du att jag|Säg till om"
    r"|Daj (?:mi )?znać|Mam nadzieję, że|Czy chcesz|Jeśli (?:potrzebujesz|chcesz))"
    r"[^\n]*\s*\Z"
    r"|(?:(?<=[。！!？?.])\s*|(?<=\n))(?:(?:他に|必要であれば|必要でしたら|ご不明な?点?|お役に立て)[^\n]*"
    r"|(?:希望这|希望對|希望对|如果[你您]|如需|需要我)[^\n]*"
    r"|(?:도움이|더 필요|필요하시면)[^\n]*)\s*\Z"
    r"|[(\[（](?:(?:Word|Character) count:? \d+|\d{1,4} ?(?:words|characters|Zeichen|Wörter"
    r"|caractères"
    r"|mots|caracteres|palabras|palavras|caratteri|parole|tekens|woorden|tecken|ord|znak(?:ów|i)"
    r"|słów"
    r"|文字|字符?|字元|자))[)\]）]\W*\Z",
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
    ("reasoning", lambda text: _spans(_PLAIN_REASONING, text)),
    ("special tokens", lambda text: _spans(_TOKEN, text)),
    ("tags", _find_tags),
    ("code fences", lambda text: _spans(_FENCE, text)),
    ("JSON", _find_json),
    ("time stamps", lambda text: _spans(_TIMES, text)),
    ("refusals", lambda text: _spans(REFUSALS, text)),
    ("wrappers", lambda text: _spans(_OPENINGS, text)),
    ("wrappers", lambda text: _spans(_CLOSINGS, text)),
    (
        "headings",
        lambda text: (match.span(1) for match in _HEADING.finditer(text)),
    ),
    ("bullets", _find_bullets),
)
