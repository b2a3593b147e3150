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

_PICTURE = r"(?:images?|pictures?|photos?|photographs?|videos?|frames?|files?|attachments?)"
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
    rf"|\A\W*Based on (?:the|this|your) (?:provided |uploaded |given |attached )?{_PICTURE}"
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
_SORRY = (
    r"(?:(?:Es )?tut mir (?:sehr )?leid|Entschuldigung|Verzeihung|Leider|(?:Je suis )?désolée?"
    r"|Malheureusement|Je regrette|Lo siento|Lamento|Lamentablemente|Perdón|Disculp\w+|Mi dispiace"
    r"|Spiacente|Purtroppo|Scusa(?:mi|te)?|Desculp\w+|Sinto muito|Infelizmente|Peço desculpas?"
    r"|Het spijt (?:me|mij)|Helaas|Sorry|Excuses|Tyvärr|Förlåt|Ursäkta|(?:Jag )?beklagar"
    r"|Jag är ledsen"
    r"|Przepraszam|Niestety|Przykro mi)"
)
# With or without an apology before it: "Lo siento, pero no veo ninguna imagen."
_AFTER_SORRY = rf"\A\W*(?:{_SORRY}[,.!:]?\s+(?:(?:aber|mais|pero|ma|mas|maar|men|ale|que)\s+)?)?\W?"
_PICTURE_WORD = (
    r"(?:Bild(?:er|es|en)?|Foto(?:s|t|graf\w+)?|Datei(?:en)?|Anhang|Grafik|images?|photos?"
    r"|fichiers?"
    r"|pièces? jointes?|im[aá]gen(?:es)?|archivos?|adjuntos?|immagin[ei]|file|allegat[oi]"
    r"|image(?:m|ns)"
    r"|arquivos?|ficheiros?|anexos?|afbeelding(?:en)?|bestand(?:en)?|bijlagen?|fil(?:en|er)?"
    r"|bilag\w+"
    r"|obraz\w*|zdjęci\w*|plik\w*|załącznik\w*)"
)
_GIVEN = (
    r"(?:hochgeladen|angehängt|bereitgestellt|beigefügt|übermittelt|gesendet|gefunden|vorhanden"
    r"|fournie?"
    r"|jointe?|téléchargée?|téléversée?|envoyée?|adjunt\w+|subid\w+|proporcionad\w+|enviad\w+"
    r"|cargad\w+"
    r"|fornit[ao]|allegat[ao]|caricat[ao]|inviat[ao]|anexad\w+|carregad\w+|fornecid\w+|geüpload"
    r"|bijgevoegd|meegestuurd|verstrekt|toegevoegd|laddats upp|bifogats|bifogad|uppladdad|skickats"
    r"|przesłan\w+|załączon\w+|dołączon\w+|wgran\w+|udostępnion\w+)"
)
_REST = r"[^.!?\n]*[.!?]?"
_NEAR = r"[^.!?\n]{0,80}?"
# "I see no picture", "no picture was uploaded", "please upload the picture", and tasks that a model
# says it cannot do, each by the verb and the noun that it has in a language.
_REFUSALS_BEYOND_ENGLISH = (
    rf"{_AFTER_SORRY}(?:"
    rf"(?:Ich )?(?:sehe|finde|habe|erkenne|kann)(?: ich)?\b{_NEAR}\bkein(?:e|en)?\b{_NEAR}\b"
    rf"{_PICTURE_WORD}\b"
    rf"|Mir liegt\b{_NEAR}\bkein\w*\b{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|(?:Es )?(?:wurde|ist)\b(?: \w+)? kein(?:e|en)? {_PICTURE_WORD}\b{_NEAR}\b{_GIVEN}\b"
    r"|(?:Ich )?(?:bin|wäre)(?: ich)?(?: leider)? nicht in der Lage\b|Dabei kann ich\b[^.!?\n]*\b"
    r"nicht helfen\b"
    rf"|Je ne (?:vois|trouve|reçois|parviens|peux|détecte|suis)\b{_NEAR}\b(?:{_PICTURE_WORD}"
    rf"|demande|contenu)\b"
    rf"|Je n['’]ai\b{_NEAR}\b(?:reçu|accès|pas|trouvé)\b{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|(?:Aucune?|Il n['’]y a (?:aucune?|pas d['’]?))\s?{_PICTURE_WORD}\b{_NEAR}\b{_GIVEN}\b"
    rf"|(?:Yo )?no (?:veo|encuentro|recibo|he recibido|tengo acceso|puedo|me es posible|soy capaz"
    rf"|logro)\b"
    rf"{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|No (?:hay|se ha|has|ha)\b{_NEAR}\b(?:{_PICTURE_WORD}\b{_NEAR}\b{_GIVEN}|{_GIVEN}\b"
    rf"{_NEAR}\b{_PICTURE_WORD})\b"
    rf"|Non (?:vedo|trovo|riesco|posso|ho (?:ricevuto|accesso)|sono in grado)\b{_NEAR}\b"
    rf"{_PICTURE_WORD}\b"
    rf"|(?:Non (?:c['’]è|è stat[ao]|hai)|Nessun[ao']?)\b{_NEAR}\b{_PICTURE_WORD}\b{_NEAR}\b"
    rf"{_GIVEN}\b"
    rf"|Non (?:è stat[ao]|hai)\b{_NEAR}\b{_GIVEN}\b{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|(?:Eu )?não (?:vejo|encontro|consigo|posso|recebi|tenho acesso|sou capaz)\b{_NEAR}\b"
    rf"{_PICTURE_WORD}\b"
    rf"|(?:Não (?:há|foi|vi)|Nenhuma?)\b{_NEAR}\b(?:{_PICTURE_WORD}\b{_NEAR}\b{_GIVEN}|{_GIVEN}\b"
    rf"{_NEAR}\b{_PICTURE_WORD})\b"
    rf"|(?:Ik )?(?:zie|vind|heb|kan|ontvang)(?: ik)?\b{_NEAR}\b(?:geen|niet)\b{_NEAR}\b"
    rf"{_PICTURE_WORD}\b"
    rf"|(?:Er is|Je hebt|U hebt|U heeft)\b{_NEAR}\bgeen {_PICTURE_WORD}\b{_NEAR}\b{_GIVEN}\b"
    rf"|(?:Ik )?ben(?: ik)? niet in staat\b"
    rf"|(?:Jag )?(?:ser|hittar|har|kan)(?: jag)?\b{_NEAR}\b(?:ingen|inget|inga|inte)\b{_NEAR}\b"
    rf"{_PICTURE_WORD}\b"
    rf"|(?:Det finns ingen|Ingen) {_PICTURE_WORD}\b{_NEAR}\b{_GIVEN}\b"
    rf"|Nie (?:widzę|mogę|znajduję|otrzymał[ae]m|mam|jestem w stanie)\b{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|(?:Nie|Żaden|Żadne|Brak)\b{_NEAR}\b(?:{_PICTURE_WORD}\b{_NEAR}\b{_GIVEN}|{_GIVEN}\b"
    rf"{_NEAR}\b{_PICTURE_WORD})\b"
    # Requests for the picture.
    rf"|(?:Bitte|Kannst du|Können Sie|Könnte(?:st du|n Sie))\b{_NEAR}\b{_PICTURE_WORD}\b{_NEAR}\b"
    rf"(?:hoch(?:laden)?|senden|schicken"
    r"|an(?:hängen)?|bereit(?:stellen)?|teilen|hochzuladen|bei(?:fügen)?|zu)\b"
    rf"|Bitte (?:senden|schicken|sende|schicke|teilen|teile) {_NEAR}\b{_PICTURE_WORD}\b"
    rf"|(?:Veuillez|Merci de|Pourriez-vous|Pouvez-vous|Peux-tu|Pourrais-tu|S['’]il vous plaît"
    rf"|S['’]il te plaît)\b{_NEAR}"
    rf"\b(?:(?:ré-?)?(?:télécharge[rz]|téléverse[rz]|envoye[rz]|charge[rz]|importe[rz]"
    rf"|partage[rz])|renvoye[rz]|joindre|joignez|fournir"
    rf"|fournissez|transmett\w+|partagez)\b{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|(?:Por favor|(?:Me )?puedes?|Podr[ií]as?|(?:Você )?pode(?:ria)?)\b{_NEAR}"
    rf"\b(?:sub[ae]|subir|env[ií][aeo]\w*|adjunt\w+|compart\w+|comparti\w+|proporcion\w+|carg\w+"
    rf"|carreg\w+|anex\w+|partilh\w+"
    rf"|forne[cç]\w+|faça|fazer)\b{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|(?:(?:Env[ií][ae]|Sub[ae]|Adjunte?|Carregue|Anexe|Envie)(?:me)?),? por favor,? {_NEAR}\b"
    rf"{_PICTURE_WORD}\b"
    rf"|(?:Per favore|Ti prego|Si prega|Puoi|Può|Potrest[ie]|Potrebbe)\b{_NEAR}\b(?:caric\w+"
    rf"|ricaric\w+|invi\w+|alleg\w+|condivid\w+"
    rf"|forni\w+)\b{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|(?:Upload|Stuur|Deel|Voeg)\b{_NEAR}\b(?:alstublieft|alsjeblieft|a\.u\.b\.|de|het|een|je"
    rf"|uw)\b{_NEAR}\b{_PICTURE_WORD}\b"
    r"(?=[^.!?\n]*(?:zodat|toe\b|opnieuw|[.!?]|\Z))"
    rf"|(?:Kunt u|Kun je|Zou je|Zou u)\b{_NEAR}\b{_PICTURE_WORD}\b{_NEAR}\b(?:uploaden|sturen"
    rf"|delen|toevoegen|bijvoegen)\b"
    rf"|(?:Vänligen|Var god(?: och)?|Kan du|Kunde du|Skulle du kunna)\b{_NEAR}\b(?:ladda upp"
    rf"|skicka|bifoga|dela)\b{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|(?:Ladda upp|Skicka|Bifoga)\b{_NEAR}\b{_PICTURE_WORD}\b(?=[^.!?\n]*\b(?:så|igen|tack"
    rf"|för att|du vill)\b)"
    rf"|(?:Proszę|Czy (?:możesz|mógłbyś|mogłabyś|może|mógłby))\b{_NEAR}\b(?:prze[sś]\w+|wgra\w*"
    rf"|załącz\w*|dołącz\w*|doda\w*|udostępni\w*"
    rf"|wy[sś]\w+)\b{_NEAR}\b{_PICTURE_WORD}\b"
    rf"|Prześlij\b{_NEAR}\b{_PICTURE_WORD}\b"
    r"|Als (?:KI|künstliche Intelligenz|Sprachmodell|AI|taalmodel)\b|En tant qu(?:['’]IA|e modèle)"
    r"|Como (?:(?:una|uma|un|um) )?(?:IA|modelo de|inteligencia artificial"
    r"|inteligência artificial)\b"
    r"|(?:In quanto|Come) (?:IA\b|modello|intelligenza artificiale)|Jako (?:AI|model|sztuczna)\b"
    r"|Som (?:AI|språkmodell)"
    rf"){_REST}"
)
_REFUSALS_IN_DENSE_SCRIPTS = (
    r"\A(?:请|請)[^。\n]{0,12}?(?:上传|上傳|发送|發送|提供|分享|附上)[^。\n]{0,16}?(?:图|圖|照片|文件|档案|檔案)[^。\n]*。?"
    r"|\A(?:您|你)(?:能|可以|好像|似乎|还|還|没)[^。\n]{0,16}?(?:上传|上傳|发送|提供|分享|附上)[^。？\n]{0,12}?(?:图|圖"
    r"|照片)[^。\n]*。?"
    r"|\A(?:我|很?抱歉，?|对不起，?|對不起，?)?[^。\n]{0,6}?(?:没有|沒有|未能?|看不到|看不见|找不到|没|沒)[^。\n]{0,10}?"
    r"(?:看到|看见|收到|检测到|檢測到|发现|找到|上传|上傳|任何)?[^。\n]{0,8}?(?:您|你|任何|上传|上傳|附)[^。\n]{0,10}?(?:图片|图像|照片"
    r"|圖片|圖像)[^。\n]*。?"
    r"|\A我(?:看不到|没有看到|沒有看到|没看到|未看到|未收到)[^。\n]{0,10}(?:图|圖|照片)[^。\n]*。?"
    r"|\A(?:很?遗憾|很?抱歉|對不起|对不起|不好意思|作为一个?|作為)[^。\n]{0,20}(?:无法|無法|不能|没有办法|看不到|没有看到)[^。\n]*。?"
    r"|\A(?:无法|無法)(?:查看|识别|識別|处理|描述|显示|加载|打开|读取|分析)[^。\n]{0,10}(?:图|圖|照片|内容|人)[^。\n]*。?"
    r"|\A(?:すみません|すみませんが|ごめんなさい|恐れ入りますが|恐れ入り)[^。\n]*(?:ません|ください|ない|ますか)[^。\n]*。?"
    r"|\A[^。\n]{0,12}?(?:画像|写真|ファイル)[^。\n]{0,16}?(?:アップロード|添付|送信|送|共有|提供)[^。\n]{0,12}?"
    r"(?:ください|下さい|いただけ|お願い|もらえ)[^。\n]*。?"
    r"|\A[^。\n]{0,12}?(?:画像|写真|ファイル)[がはをもにの][^。\n]{0,16}?(?:見え|見られ|表示|添付|アップロード|確認|閲覧|ありま|見つか|見当た"
    r"|認識|処理|説明|識別|特定|お答え|分析|開|読み込)[^。\n]{0,12}?(?:ません|できない|いない|見えない)[^。\n]*。?"
    r"|\A[^.\n]{0,12}?(?:이미지|사진|파일|그림)[^.\n]{0,16}?(?:업로드|첨부|보내|공유|제공|올려)[^.\n]{0,10}?(?:주세요|주시|주십"
    r"|주실|하세요|바랍니다)[^.\n]*\.?"
    r"|\A[^.\n]{0,12}?(?:이미지|사진|파일)[가이를을는은][^.\n]{0,16}?"
    r"(?:보이지|첨부되지|업로드되지|볼 수 없|확인할 수 없|찾을 수 없"
    r"|설명할 수 없"
    r"|분석할 수 없|식별할 수 없|처리할 수 없|없습니다)[^.\n]*\.?"
    r"|\A미안[^\n]*"
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
    r"|\A죄송[^\n]*"
    rf"|{_REFUSALS_BEYOND_ENGLISH}|{_REFUSALS_IN_DENSE_SCRIPTS}",
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
    ("refusals", lambda text: _spans(_REFUSALS, text)),
    ("wrappers", lambda text: _spans(_OPENINGS, text)),
    ("wrappers", lambda text: _spans(_CLOSINGS, text)),
    (
        "headings",
        lambda text: (match.span(1) for match in _HEADING.finditer(text)),
    ),
    ("bullets", _find_bullets),
)
