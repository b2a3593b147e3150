"""Rules for what models and programs write around or instead of a description: ALT114 to ALT117.

Sentences of programs come in the language of the program, which is often another one than that of
the page; therefore all languages are always looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beholder.lint.occurrence import Occurrence
from beholder.lint.rules import Hit, LintSetting, check
from beholder.lint.wording import (
    names,
    norm,
    shortened,
    without_quotes,
    words,
)
from beholder.text.residue import Residue, ResidueKind

_CREDIT = re.compile(
    r"""
    (?:\b(?i:(?:photo|image|picture|foto)(?:graph)?s?(?:\s+(?i:by|credits?|courtesy)\b|\s*[:©/])
    |credits?\b|courtesy\b|copyright\b
    |(?i:source|quelle|fuente|fonte|bron|källa|źródło|fot\.|bild(?:nachweis|quelle|rechte)|crediti
    |crédits?(?:\ photos?)?|créditos?)\s*[:©/])|©|\([cC]\))[\s:/©]*(?:(?i:by|of|the)\s+)*
    (?:(?:[A-ZÀ-ÖØ-ÞŁŚŻŹĆ\d][\w.'’-]*|(?i:and|of|the|via|getty|images|shutterstock|reuters
        |for))[\s/,&|]*)+
    |\b(?i:getty\ images|shutterstock|reuters|istock|alamy)\b
    """,
    re.VERBOSE,
)
_GENERATED = (
    r"(?:gener(?!al|at(?:or|ion)|ous|ic)|génér|gegener|gerad|wygener|vytvořen|luo[tm]"
    r"|oluştur|созда|сгенер|létrehoz|生成|產生|생성)"
)
_AUTOMATIC = r"(?:automaa?t|automá|otomatik|автомат|自動|自动|자동)"
_DESCRIPTION = (
    r"(?:descri|beschr|beskriv|leírás|opis|popis|kuvaus|açıklama|описан|説明|描述|설명|alt[- ]?text"
    r"|alternative text)"
)
_PROGRAM_MIND = (
    r"(?:(?<![^\W\d_])(?:AI|KI|IA|MI)(?![a-z])|\bl['’]IA\b|人工智|人工知能"
    r"|Tekoäly|Yapay zek|umělou intel|искусствен"
    r"|inteligencia artificial|intelligence artificielle|intelligenza artificiale"
    r"|inteligência artificial|sztuczn\w+ inteligen\w+|mesterséges)"
)
_MAY = (
    r"(?:\b(?:may|might|kann|können|könnten?|peut|peuvent|puede|pueden|può|potrebbe|pode|podem"
    r"|poder\w+|mogelijk|kan|może|mogą|voi|může|lehet)\b|olabilir|может|могут|可能|수 )"
)
_FRAME = re.compile(
    r"""
    may\ be\ an\ image\ of|may\ be\ a\ (?:photo|picture|graphic|illustration)\ of
    |\bkann\ ein\ (?:bild|foto)\ von\b|peut\ être\ une?\ (?:image|photo)\ de
    |puede\ ser\ una?\ (?:imagen|foto)|pode\ ser\ uma?\ (?:imagem|foto)
    |potrebbe\ essere\ un(?:['’]|a\ )(?:immagine|foto)|kan\ een\ (?:afbeelding|foto)\ zijn
    |może\ być\ (?:zdjęci|obraz)\w*|kan\ vara\ en\ bild
    |の(?:画像|写真|イラスト)のようです|可能是[^。]{0,30}(?:图片|图像|照片|圖片|圖像|插图)
    |(?:이미지|사진|그림)일\ 수\ 있
    |no\ description\ available|no\ alternative\ text\ description
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FRAME_START = re.compile(
    r"""
    an?\ picture\ containing|ein\ bild,\ das\ .{1,200}?\benthält|une\ image\ contenant
    |imagen\ que\ contiene|immagine\ che\ contiene|afbeelding\ met\b|uma\ imagem\ (?:com|contendo)
    |obraz\ zawierający|(?:et\ )?billede,?\ (?:der|som)\ indeholder
    |en\ bild\ som\ (?:visar|innehåller)|et\ bilde\ som\ inneholder|kuva,\ joka\ sisältää
    |.{1,40}が含まれている画像|图片包含|一張含有
    |(?:image\ )?(?:generated|written|described)\ (?:by|with)\ (?:an?\ )?(?:AI|artificial)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PICTURE_NOUN = (
    r"(?:image|picture|photo|bild(?:en|et|e)?|foto(?:t|graf[iíy]\w?)?|imagen|immagine|imagem"
    r"|afbeelding"
    r"|obraz(?:ek)?|zdjęcie|画像|写真|图片|图像|照片|圖片|圖像|이미지|사진)"
)
_CONTAINS = (
    r"(?:contain|enthalten|enthält|conten|conti|contener|contém|conter|bevat|innehåll|zawiera|含|包含"
    r"|포함)"
)
# "Image may contain: dog", as networks write it in the language of the reader.
_MAY_CONTAIN = re.compile(
    rf"""
    \W*(?:(?:the|this|das|dieses|l|la|esta|cette|a|o|esta|de|deze|ten|to)['’\ ]\ ?)?{_PICTURE_NOUN}
    (?:(?!\w)|(?=[에는がに可]))[^.:]{{0,12}}?(?:
    {_MAY}[^.:]{{0,25}}?{_CONTAINS}
    |{_CONTAINS}\w*\ (?:peut-être|möglicherweise|mogelijk|eventuell|vielleicht|quizás|tal\ vez|forse
        |talvez|kanske|prawdopodobnie|probablement)\b
    |(?:{_CONTAINS})[^.:：]{{0,12}}(?:可能|수\ 있)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SIGNS = (_GENERATED, _AUTOMATIC, _DESCRIPTION, _PROGRAM_MIND, _MAY)
_GENERATED_BY, _AUTOMATICALLY, _DESCRIBED, _BY_A_PROGRAM, _POSSIBLY = (
    re.compile(sign, re.IGNORECASE) for sign in _SIGNS
)
_SENTENCE = re.compile(r"[^.!?。\n]+")


def _find_program_sentence(text: str) -> tuple[int, int] | None:
    """Return the range in which a program says that it wrote the text, in whatever language.

    By form: "generated", with "automatically" and "description", or with the program's name and
    "may", within a few words.
    """
    generated = _GENERATED_BY.search(text)
    if not generated:
        return None
    for sentence in _SENTENCE.finditer(text):
        # Texts are normalised, so that the lines of a frame are one sentence
        # with the text; what is near the word counts.
        for match in _GENERATED_BY.finditer(text, *sentence.span()):
            start = max(sentence.start(), match.start() - 45)
            end = min(sentence.end(), match.end() + 90)
            near = text[max(start, match.start() - 30) : match.end() + 30]
            is_description = _AUTOMATICALLY.search(near) and _DESCRIBED.search(
                near
            )
            around = text[start:end]
            may_be_wrong = _BY_A_PROGRAM.search(around) and _POSSIBLY.search(
                around, match.start() - start
            )
            if is_description or may_be_wrong:
                return start, end
    return None


_NOUN = r"(?:images?|pictures?|photos?|photographs?|illustrations?|graphics?|pics?)"
_SHOWS = (
    r"(?:features?|shows?|depicts?|captures?|portrays?|displays?|presents?|contains?|illustrates?"
    r"|showcases?|highlights?|includes?|reveals?|represents?|provides|offers"
    r"|is\ (?:of\b|an?\b)|consists\ of|appears\ to|seems\ to)"
)
_NO_ADJECTIVE = (
    r"(?:(?!(?:in|of|on|with|and|at|by|from|to|for|near|behind|beside|holding|taking|a|an|the)\b)"
    r"[\w-]+\ )"
)
_NOUN_DE = r"(?:bild|foto|fotografie|aufnahme|grafik|abbildung|illustration)"
_NOUN_FR = r"(?:image|photo|photographie|illustration)"
_NOUN_ES = r"(?:imagen|foto|fotografía|ilustración)"
_NOUN_IT = r"(?:immagine|foto|fotografia|illustrazione)"
_NOUN_PT = r"(?:imagem|foto|fotografia|ilustração)"
_NOUN_NL = r"(?:afbeelding|foto|beeld|plaatje|illustratie)"
_NOUN_PL = r"(?:zdjęciu|obrazie|obrazku|ilustracji|grafice|fotografii)"
STATEMENT = re.compile(
    rf"""
    \W*(?:
    (?:this|the|these)\ {_NO_ADJECTIVE}{{0,3}}?{_NOUN}
        (?:\ (?:you(?:['’]ve)?\ )?(?:have\ )?(?:provided|uploaded|shared|attached|above|below))?
        \ (?:{_NO_ADJECTIVE})?{_SHOWS}\b
    |an?\ {_NO_ADJECTIVE}{{0,3}}?{_NOUN}\ (?:(?:that|which)\ {_SHOWS}
        |featuring|capturing|portraying|displaying|depicts|features|captures)\b
    |(?:this|here)\ is\ an?\ {_NO_ADJECTIVE}{{0,3}}?{_NOUN}\ (?:(?:that|which)\ {_SHOWS}|of)\b
    |here\ we\ (?:can\ )?see\b|pictured\ (?:here\ )?(?:is|are)\b
    |in\ (?:this|the)\ {_NO_ADJECTIVE}{{0,2}}?{_NOUN}(?:,|\ (?:we|you|there|a|an|the|one)\b)
    |(?:das|dieses|die|diese)\ (?:vorliegende\ )?{_NOUN_DE}\ (?:zeigt|stellt|präsentiert|enthält
        |bildet)\b
    |(?:auf|in)\ (?:diesem|dieser)\ {_NOUN_DE}\b
    |(?:auf|in)\ (?:dem|der)\ {_NOUN_DE}\ (?:ist|sind|sieht|sehen|befinde[nt]|steht|stehen|kann
        |können|erkenn\w+|wird|werden|zu\ sehen|sitzt|sitzen|liegt|liegen|hat|gibt|ein|eine|man)\b
    |(?:cette|la|l['’])\ ?{_NOUN_FR}\ (?:montre|représente|présente|illustre|capture|dépeint
        |contient|met\ en)\b
    |(?:sur|dans)\ (?:cette|l['’])\ ?{_NOUN_FR}\b
    |(?:sur|dans)\ la\ {_NOUN_FR}(?:,|\ (?:on|nous|il\ y\ a|se|une?|figure)\b)
    |(?:la|esta)\ {_NOUN_ES}\ (?:muestra|presenta|representa|captura|contiene|retrata|ilustra)\b
    |en\ esta\ {_NOUN_ES}\b
    |en\ la\ {_NOUN_ES}(?:,|\ (?:se|hay|vemos|podemos|puede|aparece\w*|observa\w*|está|una?)\b)
    |(?:l['’]|la|questa|quest['’])\ ?{_NOUN_IT}\ (?:mostra|raffigura|ritrae|rappresenta|presenta
        |contiene|cattura)\b
    |(?:nell['’]|in\ quest[a'’]\ ?|nella\ ){_NOUN_IT}\b
    |(?:a|esta|essa)\ {_NOUN_PT}\ (?:mostra|apresenta|retrata|exibe|representa|contém|captura)\b
    |(?:na|nesta|nessa)\ {_NOUN_PT}\b
    |(?:de|deze|het|dit)\ {_NOUN_NL}\ (?:toont|laat|bevat|geeft)\b
    |(?:op|in)\ (?:deze|dit|de|het)\ (?:afbeelding|foto|plaatje|illustratie)\ (?:is|zijn|zie|zien
        |ziet|staat|staan|zit|zitten|ligt|liggen
        |wordt|worden|kun|kan|een)\b
    |(?:bilden|fotot|fotografiet|denna\ bild|det\ här\ fotot|den\ här\ bilden)\ (?:visar
        |föreställer|innehåller|skildrar)\b
    |(?:på|i)\ (?:den\ här\ bilden|denna\ bild|det\ här\ fotot)\b
    |(?:på|i)\ (?:bilden|fotot|fotografiet)\ (?:syns|ser|är|finns|står|sitter|ligger|visas|kan|har
        |en|ett)\b
    |(?:to\ |ten\ |ta\ )?(?:zdjęcie|obraz|obrazek|ilustracja|grafika|fotografia)
        \ (?:przedstawia|pokazuje|ukazuje|prezentuje|zawiera)\b
    |na\ (?:tym|tej)\ {_NOUN_PL}\b
    |na\ {_NOUN_PL}\ (?:widać|widzimy|jest|są|widoczn|znajduj|można|przedstawion|pokazan)
    |(?:这张|这幅|该|此|這張|這幅|本)?(?:图片|图像|照片|圖片|画面|图)(?:显示|展示|描绘|展现|呈现|顯示|展現)
    |(?:这张|这幅|该|此|這張|這幅|本)?(?:图片|图像|照片|圖片|画面)(?:中|上|里|裡)
    |(?:この|こちらの)(?:画像|写真|イラスト|図)(?:は|には|では|に|で)
    |(?:画像|写真|イラスト)(?:には|では)
    |이\ (?:이미지|사진|그림)(?:은|는|에는|에서)|(?:이미지|사진)(?:에는|에서는)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Openings that speak of the picture instead of what it shows: "This image features"."""

_MOODS = (
    r"(?:calm|peaceful|serene|co[sz]y|warm|inviting|festive|lively|tranquil|moody|dreamy|nostalgic"
    r"|whimsical|playful|vibrant|cheerful|somber|sombre|eerie|mysterious|romantic|relaxed|intimate"
    r"|dramatic|professional|welcoming|joyful|joyous|celebratory|tense|solemn|magical|ethereal"
    r"|dynamic|energetic|melancholic|contemplative|rustic|elegant|homely|quiet|bustling)"
)
_AIR = r"(?:atmosphere|ambian?ce|ambience|mood|vibe|aura)"
_GIVING = (
    r"(?:creat|giv|lend|add|convey|evok|exud|radiat|suggest|captur|foster|enhanc|contribut|reflect"
    r"|emphasi[sz]|highlight|impart|instill?|invok|project|set)(?:e?s|ing)"
)
_ABSTRACT = (
    r"(?:peace|calm|calmness|solitude|joy|happiness|warmth|confidence|strength|serenity|loneliness"
    r"|tranquill?ity|elegance|energy|excitement|power|determination|comfort|mystery|hope|innocence"
    r"|unity|resilience|professionalism|friendship|love|nostalgia|freedom|luxury|sadness)"
)
_MOOD = re.compile(
    rf"""
    \b(?:the\ )?(?:overall|general)\ (?:\w+\ )?(?:{_AIR}|tone|feel|feeling|impression|aesthetic
        |composition|scene|image|effect)\b
    |\b(?:the|its)\ (?:\w+\ )?{_AIR}\b(?:\ of\ the\ \w+)?\ (?:is|feels|appears|seems|was)\b
    |\b{_GIVING}\ (?:to\ )?(?:[\w,'’-]+\ ){{0,6}}?(?:sense|feeling|feel|{_AIR}|air|essence|spirit
        |impression|tone|character|warmth|charm|depth|elegance|drama|mystery)\b
        (?:\ (?:of|to|and|that)\b|(?=[.,;!]|\s*$))
    |\bevok(?:es?|ing)\ (?:[\w,'’-]+\ ){{0,5}}?(?:nostalgia|tranquill?ity|calm|serenity|peace|joy
        |wonder|awe|hope|comfort|melancholy|emotions?|memories|sadness|mystery)\b
    |\b{_MOODS}(?:,?\ (?:and\ |yet\ )?\w+){{0,2}}?\ (?:{_AIR}|feel|feeling|quality)\b
    |\b(?:convey|exud|radiat|evok|symboli[sz])(?:e?s|ing)\ (?:[\w-]+\ ){{0,2}}?{_ABSTRACT}\b
    |\b(?:serv|stand)(?:es|s|ing)?\ as\ an?\ (?:[\w-]+\ )?(?:testament|reminder|symbol|tribute)\b
    |\ba\ testament\ to\b|\bte(?:lls|lling)\ (?:a|the)\ story\ of\b|\brich\ tapestry\b
    |\binvit(?:es|ing)\ (?:the\ )?viewers?\b|\b(?:draws|drawing)\ the\ viewer\b
    |\b(?:overall|in\ (?:summary|conclusion)),\ (?:the|this|it)\b
    |\bcaptur(?:es|ing)\ the\ (?:\w+\ )?(?:essence|beauty|spirit|magic|charm)\b
    |\b(?:stimmung|atmosphäre)\b(?:\ \w+){{0,3}}?\ (?:ist|wirkt)\b
    |\b(?:vermittelt|erzeugt|schafft|strahlt|verleiht)\b[^.]{{0,60}}?\b(?:stimmung|atmosphäre|gefühl
        |eindruck|ruhe|geborgenheit)\b
    |\b(?:ambiance|atmosphère)\b(?:\ [\w'’]+){{0,3}}?\ est\b
    |\b(?:créant|crée|évoquant|évoque|dégageant|dégage|conférant
        |confère)\b[^.]{{0,40}}?\b(?:ambiance
        |atmosphère|sentiment|sensation|impression)\b
    |\b(?:atmósfera|ambiente|estado\ de\ ánimo)\b(?:\ \w+){{0,3}}?\ es\b
    |\b(?:creando|crea|evocando|evoca|transmitiendo|transmite|genera|generando)\b[^.]{{0,40}}?
        \b(?:atmósfera|ambiente|sensación|sentimiento)\b
    |\batmosfera\b(?:\ \w+){{0,3}}?\ è\b
    |\b(?:creando|crea|evocando|evoca|trasmettendo|trasmette)\b[^.]{{0,40}}?\b(?:atmosfera|senso
        |sensazione)\b
    |\b(?:criando|cria|evocando|evoca|transmitindo|transmite)\b[^.]{{0,40}}?\b(?:atmosfera|ambiente
        |sensação|sentimento|clima)\b
    |\b(?:sfeer|stemming)\b(?:\ \w+){{0,3}}?\ is\b
    |\b(?:creëert|wekt|straalt|ademt|roept)\b[^.]{{0,40}}?\b(?:sfeer|gevoel|rust)\b
    |\bstämningen\ är\b|\bskapar\ en\b[^.]{{0,30}}?\b(?:stämning|atmosfär|känsla)\b
    |\b(?:nastrój|atmosfera)\ jest\b
    |\b(?:tworzy|tworząc|oddaje)\b[^.]{{0,40}}?\b(?:nastrój|atmosferę)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MOOD_SIGNS = tuple(names("mood_signs"))
"""Parts of words of which every match of ``_MOOD`` has one; the expression itself is slow."""
_PROMPT_SIGNS = re.compile(
    r"[<(:]|--|\dgirl|\dboy|\dother|quality|artstation|detailed|realistic|engine|render|\dk\b|focus"
    r"|lighting|mm|f/",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"""
    <(?:lora|lyco|hypernet):[^<>]*>|\([\w\ ,-]{1,60}:\d\.\d+\)
    |\s--(?:ar|v|s|q|c|no|niji|style|stylize|chaos|seed|iw|tile|quality)\ [\w:.-]+
    |(?:^|,\s*)\d(?:girl|boy|other)s?(?=\s*(?:,|$))|\bmasterpiece\b[^.]{0,40}\bbest\ quality\b
    |\bbest\ quality\b[^.]{0,40}\bmasterpiece\b|\btrending\ on\ artstation\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STYLE = re.compile(
    r"""
    ,\s*(?:unreal\ engine|octane\ render|(?:4|8|16)k|ultra[- ]?realistic|hyper[- ]?realistic
    |(?:highly|ultra|hyper)[- ]detailed|sharp\ focus|photorealistic
    |(?:volumetric|cinematic|studio)\ lighting|\d\dmm(?:\ lens)?|f/[\d.]+)\s*(?=,|$)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TAG_WITH_LINE = re.compile(r"\b[^\W\d_]+(?:_[^\W_]+)+\b")

_IN_OTHER_RULES: frozenset[ResidueKind] = frozenset(
    ("refusals", "headings", "bullets")
)
"""Kinds of residue that ALT115 and ALT112 report."""
_UNREADABLE: frozenset[ResidueKind] = frozenset(
    ("reasoning", "special tokens", "tags", "JSON", "code fences")
)


def residues_of(
    occurrence: Occurrence,
) -> Iterator[tuple[Residue, tuple[int, int] | None]]:
    """Yield the residue of a text, each piece with its range in the normalised text."""
    raw = occurrence.raw or ""
    last = 0
    for residue in occurrence.residues:
        piece = norm(raw[residue.start : residue.end])
        # Blanks and line ends of the raw text are single blanks in the normalised one.
        at = occurrence.text.find(piece, last)
        span = None if at < 0 or not piece else (at, at + len(piece))
        last = span[1] if span else last
        yield residue, span


def find_prompt(text: str) -> re.Match[str] | None:
    """Return the first mark of a prompt for picture generators; None without one."""
    if not _PROMPT_SIGNS.search(text):
        return None
    # One style may describe a work, two are instructions.
    styles = list(_STYLE.finditer(text))
    return _PROMPT.search(text) or (styles[0] if len(styles) > 1 else None)


def count_tags(text: str) -> int:
    """Return the number of words that are joined by underscores, as tags of training sets are."""
    return len(_TAG_WITH_LINE.findall(text)) if "_" in text else 0


@check("ALT114")
def not_a_description(
    occurrence: Occurrence, setting: LintSetting
) -> Hit | None:
    """Find texts that are only a credit, and phrases of captioning programs."""
    text = occurrence.judged
    match = (
        _FRAME_START.match(text)
        or _MAY_CONTAIN.match(text)
        or _FRAME.search(text)
    )
    span = match.span() if match else _find_program_sentence(text)
    if span:
        quoted = shortened(text[slice(*span)].strip())
        return Hit(f'contains the machine-made "{quoted}"', span)
    credited = sum(
        len(words(match[0])) for match in _CREDIT.finditer(occurrence.text)
    )
    if occurrence.words and credited >= 0.6 * len(occurrence.words):
        return Hit("is only a credit")
    return None


@check("ALT115")
def refusal(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find answers of a model that describes nothing: refusals, and requests for the picture."""
    for residue, span in residues_of(occurrence):
        if residue.kind == "refusals":
            return Hit("is a refusal of a model", span)
    return None


@check("ALT116")
def model_residue(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find what a model leaves around its description: wrappers, reasoning, tokens, JSON."""
    pieces = [
        (residue, span)
        for residue, span in residues_of(occurrence)
        if residue.kind not in _IN_OTHER_RULES
    ]
    if not pieces:
        return None
    # What cannot be read aloud first.
    residue, span = min(
        pieces, key=lambda piece: piece[0].kind not in _UNREADABLE
    )
    quoted = shortened(occurrence.text[slice(*span)]) if span else ""
    return Hit(
        f"contains {residue.kind} of a model"
        + (f', "{quoted}"' if quoted else ""),
        span,
        "error" if residue.kind in _UNREADABLE else "",
    )


@check("ALT117")
def mood(occurrence: Occurrence, setting: LintSetting) -> Hit | None:
    """Find sentences on the mood or meaning of a picture."""
    lowered = occurrence.text.lower()
    if not any(sign in lowered for sign in _MOOD_SIGNS):
        return None
    if match := _MOOD.search(without_quotes(occurrence.text)):
        return Hit(
            f'judges the mood or meaning: "{shortened(match[0])}"',
            match.span(),
        )
    return None
