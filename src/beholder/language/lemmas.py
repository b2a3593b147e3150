"""Base forms of English words: tables for what is irregular, rules for the rest.

The tables list irregular words only; ``_VERB_STEMS`` names the stems whose base form a rule cannot
know (hoping is from hope, but opening from open).
"""

from __future__ import annotations

import functools
import re

_VERBS: dict[str, str] = {}
for _entry in """
be am is are was were been being 's 're 'm ai
have has had having 've 'd_ | do does did done doing | go goes went gone | say says said
can ca could_ | will wo 'll would_ | shall sha | arise arose arisen | awake awoke awoken
bear bore borne born | beat beaten | become became | begin began begun | bend bent | bet
bind bound | bite bit bitten | bleed bled | blow blew blown | break broke broken | breed bred
bring brought | build built | burn burnt | burst | buy bought | cast | catch caught
choose chose chosen | cling clung | come came | cost | creep crept | cut | deal dealt | dig dug
draw drew drawn | dream dreamt | drink drank drunk | drive drove driven | eat ate eaten
fall fell fallen | feed fed | feel felt | fight fought | find found | flee fled | fling flung
fly flew flown flies | forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven
freeze froze frozen | get got gotten | give gave given | grind ground | grow grew grown
hang hung | hear heard | hide hid hidden | hit | hold held | hurt | keep kept | kneel knelt
know knew known | lead led | lean leant | leap leapt | learn learnt | leave left | lend lent
let | lie lay_ lain lying | lay laid | light lit | lose lost | make made | mean meant | meet met
mow mown | overlook | pay paid | put | quit | read | ride rode ridden | ring rang rung
rise rose risen | run ran | saw sawn | see saw seen sees seeing | seek sought | sell sold | send sent
set | sew sewn | shake shook shaken | shine shone | shoot shot | show shown | shrink shrank shrunk
shut | sing sang sung | sink sank sunk | sit sat | sleep slept | slide slid | slit | speak spoke spoken
spend spent | spill spilt | spin spun | spit spat | split | spread | spring sprang sprung
stand stood | steal stole stolen | stick stuck | sting stung | stink stank stunk
stride strode | strike struck stricken | string strung | strive strove | swear swore sworn
sweep swept | swell swollen | swim swam swum | swing swung | take took taken | teach taught
tear tore torn | tell told | think thought | throw threw thrown | understand understood
wake woke woken | wear wore worn | weave wove woven | weep wept | wet | win won | wind wound
withdraw withdrew withdrawn | wring wrung | write wrote written | undergo underwent undergone
overcome overcame | overhang overhung | overtake overtook | withstand withstood | foresee foresaw
die dying dies | tie tying ties | lie lies | vie vying | dye dyeing dyed | eye eyeing eyed
agree agreed | free freed | see | flee | canoe canoeing | hoe | shoe shoed | toe
bus bused | focus focused focusing focuses | gas gassed gassing | picnic picnicked picnicking
panic panicked panicking | frolic frolicked frolicking | mimic mimicked mimicking
travel travelled travelling | model modelled modelling | label labelled labelling
signal signalled signalling | level levelled levelling | cancel cancelled cancelling
panel panelled panelling | pencil pencilled | fuel fuelled fuelling | channel channelled
program programmed programming | equip equipped equipping | quiz quizzed
singe singeing singed | age aging ageing | ensue | glue | queue queuing | argue | cue
""".replace("\n", "|").split("|"):
    _base, *_forms = _entry.split() or [""]
    for _form in _forms:
        _VERBS.setdefault(_form.rstrip("_"), _base)
_VERBS.update({"lay": "lay", "could": "could", "would": "would", "'d": "would", "ai": "be"})

_NOUNS: dict[str, str] = {}
for _pair in """
men man women woman children child people people feet foot teeth tooth geese goose mice mouse
lice louse oxen ox dice die leaves leaf loaves loaf wolves wolf calves calf halves half
shelves shelf knives knife wives wife lives life thieves thief selves self elves elf scarves scarf
hooves hoof wharves wharf sheaves sheaf shoes shoe toes toe canoes canoe hoes hoe foes foe
tiptoes tiptoe oboes oboe cacti cactus fungi fungus nuclei nucleus radii radius stimuli stimulus
alumni alumnus foci focus syllabi syllabus criteria criterion phenomena phenomenon
bacteria bacterium media medium data datum strata stratum crises crisis analyses analysis
bases base oases oasis axes axe theses thesis hypotheses hypothesis diagnoses diagnosis
indices index matrices matrix vertices vertex appendices appendix movies movie cookies cookie
ties tie pies pie lies lie brownies brownie hoodies hoodie selfies selfie zombies zombie
calories calorie species species series series collies collie genies genie rookies rookie
smoothies smoothie birdies birdie veggies veggie aeries aerie prairies prairie
glasses glasses pants pants jeans jeans shorts shorts trousers trousers scissors scissors
sunglasses sunglasses eyeglasses eyeglasses goggles goggles binoculars binoculars
pajamas pajamas pyjamas pyjamas tights tights leggings leggings overalls overalls
clothes clothes goods goods news news tennis tennis bus bus gas gas lens lens christmas christmas
canvas canvas atlas atlas iris iris chassis chassis trellis trellis cross cross
buses bus busses bus gases gas lenses lens canvases canvas irises iris viruses virus
campuses campus circuses circus cactuses cactus walruses walrus statuses status bonuses bonus
octopuses octopus choruses chorus focuses focus sinuses sinus crocuses crocus
houses house horses horse roses rose noses nose vases vase purses purse cases case phases phase
phrases phrase nurses nurse hoses hose cheeses cheese causes cause pauses pause clauses clause
courses course verses verse corpses corpse pulses pulse blouses blouse spouses spouse mouses mouse
greenhouses greenhouse warehouses warehouse lighthouses lighthouse suitcases suitcase
bookcases bookcase staircases staircase showcases showcase databases database purchases purchase
exercises exercise surprises surprise premises premise licenses license senses sense expenses expense
responses response defenses defense universes universe reverses reverse bruises bruise cruises cruise
franchises franchise enterprises enterprise mayonnaises mayonnaise turquoises turquoise
sizes size prizes prize mazes maze breezes breeze bronzes bronze trapezes trapeze glazes glaze
axes axe caches cache aches ache headaches headache mustaches mustache moustaches moustache
avalanches avalanche niches niche quiches quiche psyches psyche
police police cattle cattle sheep sheep deer deer fish fish aircraft aircraft spacecraft spacecraft
watercraft watercraft hovercraft hovercraft offspring offspring moose moose salmon salmon
bison bison swine swine shrimp shrimp works works barracks barracks headquarters headquarters
crossroads crossroads means means gallows gallows politics politics physics physics
mathematics mathematics economics economics athletics athletics gymnastics gymnastics
graphics graphic ceramics ceramic electronics electronics acoustics acoustics
photos photo pianos piano logos logo videos video studios studio radios radio zoos zoo kangaroos
kangaroo bamboos bamboo tattoos tattoo shampoos shampoo igloos igloo discos disco kilos kilo
avocados avocado flamingos flamingo tuxedos tuxedo rhinos rhino hippos hippo gazebos gazebo
patios patio ratios ratio portfolios portfolio memos memo casinos casino silos silo autos auto
roofs roof chiefs chief cliffs cliff cuffs cuff beliefs belief chefs chef reefs reef proofs proof
gulfs gulf handkerchiefs handkerchief
""".split("\n"):
    _words = _pair.split()
    _NOUNS.update(zip(_words[::2], _words[1::2], strict=False))
_NOUNS["kangaroos"] = "kangaroo"

_PRONOUNS = {
    "me": "i", "my": "my", "him": "he", "her": "she", "them": "they", "us": "we",
    "'em": "they", "an": "a", "n't": "not", "these": "this", "those": "that",
    "'s": "'s", "others": "other",
}  # fmt: skip
_ADJECTIVES = {
    "better": "good", "best": "good", "worse": "bad", "worst": "bad", "further": "far",
    "farther": "far", "farthest": "far", "furthest": "far", "less": "little", "least": "little",
    "more": "more", "most": "most", "elder": "old", "eldest": "old",
}  # fmt: skip
_SILENT_E = re.compile(
    r"(?:[^aeiou]?[aeiouy](?:[cvzu]|[^aeiou]l)|[aeiou]nc|rc|[^aeioul]dg|[aeiou]g|rg|ns|ls|rs|us|is|as|os"
    r"|th|[aeiou]qu|u|[bcdfgkpt]l|[^aeiou]iz|at|ut|[^aeiou]ur|[^o]os|ir|[^e]as|rv|lv|nv)$"
)
_NO_E = re.compile(
    r"(?:[aeo]u|ai|ea|ee|ie|oa|oo|ou|ei|oi|ui|au|e|a|i|o|u)?(?:ck|ll|ss|ff|zz|sh|ch|tch|ng|nk|nd|nt|ct|pt|ft|st"
    r"|ld|lk|lt|lm|mp|rd|rk|rm|rn|rt|rl|sk|wn|w|x|y|ght|aw|ow|ew|ay|oy|ey)$"
)
_E_STEMS = frozenset(
    "advertis argu bath breath caus cleans collaps com compos continu creas declar decreas "
    "describ disclos displac divid emerg encas enclos encourag eras expos featur fenc fring ghost "
    "glanc glu hous imag includ increas involv judg leas loos measur ming mov nurs oppos paus "
    "phras pictur pleas plung praise promis propos purchas pursu puzzl rais releas remov requir "
    "rescu resembl resid revers scar scrap shap shar shav sid slic sooth spac squeez stag stat "
    "stor stroll_ structur subdu surpris tast teas tun typ us valu wav whol challeng arrang chang "
    "exchang rang hing bing plac produc reduc danc balanc announc bounc slic ic juic notic prais "
    "clos los cho choos pos ros dos nos expos mak tak bak rak wak shak lik hik bik strik smok jok "
    "pok strok typ wip pip rip_ grip_ scop hop_ cop rop shap tap_ drap scrap_ plac rac fac lac "
    "trac spac embrac prepar compar shar car star_ scar_ dar squar glar war_ bor stor snor scor "
    "explor ador restor ignor cur secur matur captur captur pictur injur insur ensur assur "
    "tir fir wir hir admir inspir desir requir retir acquir rid slid glid guid hid sid divid "
    "provid decid resid collid cod erod explod mod_ includ conclud excud rud_ fad wad shad grad "
    "trad mad_ parad invad lin shin din_ min fin refin defin combin examin imagin determin "
    "outlin streamlin dominat phon ton_ zon hon postpon tun prun convin_ tim lim_ climb_ nam gam "
    "blam fram flam tam_ sham shav wav sav pav pil fil til smil compil til rul schedul sal scal "
    "whal inhal exhal styl cycl recycl bicycl rob_ prob scribb_ inscrib describ prescrib "
    "bib_ cub_ tub_ vot not promot devot quot dot_ rot_ complet delet compet excit unit invit "
    "ignit writ bit_ recit spit_ whit_ cit sit_ execut pollut dilut comput salut contribut "
    "distribut substitut institut constitut rout mut_ persuad serv observ curv carv starv preserv "
    "reserv deserv solv involv resolv revolv evolv arriv driv div div surviv giv liv lov glov "
    "mov prov improv approv remov hov_ leav weav receiv perceiv believ achiev reliev sleev_ "
    "shelv halv valv_ nerv_ swerv forg merg emerg charg enlarg diverg larg_ urg surg purg gorg "
    "wedg edg judg pledg dodg bridg lodg nudg ag pag wag manag damag imag engag packag averag "
    "sav stat creat relat locat".split()
)
_PLAIN_STEMS = frozenset(
    "open happen listen fasten soften open hasten deepen darken brighten widen lighten broaden "
    "enter offer gather cover recover discover uncover deliver hover wander wonder shelter water "
    "flower scatter shatter clutter flutter flicker glitter shimmer cluster filter lower tower "
    "order border render center counter master number power layer linger tender hunker hammer "
    "visit edit limit exhibit inhabit inherit credit profit deposit exit orbit permit benefit "
    "develop envelop gallop wallop stop visit carpet market target blanket pocket bracket jacket "
    "ticket trumpet budget rivet riot pilot pivot ballot ribbon season reason person pardon crayon "
    "button cotton poison iron abandon mention position function question section station "
    "balloon pattern govern turn burn train rain gain remain contain explain maintain obtain "
    "retain stain strain drain sprain look book cook hook rook proof roof group loop stoop scoop "
    "troop droop swoop need feed seed bleed speed read lead bead head spread thread tread bread "
    "load road unload toad beat heat seat treat eat repeat seat cheat defeat float coat boat bloat "
    "shout sprout scout pout suit fruit recruit await wait bait repair chair pair impair stair "
    "wear tear bear fear hear near appear clear gear rear year smear spear steer cheer peer veer "
    "pour tour sour detour hail sail tail mail nail trail rail fail assail detail curtail veil peel "
    "feel heel wheel steel kneel reel reveal seal heal steal deal appeal conceal boil coil soil "
    "spoil toil foil oil recoil foal goal howl growl bowl prowl crawl sprawl drawl haul maul "
    "fool cool pool tool school stool drool travel level label model panel channel tunnel fuel "
    "signal equal rival total pedal medal sandal vandal bottle_ pencil stencil cancel marvel "
    "unravel gravel shovel swivel pummel trowel dial trial festoon maroon cocoon harpoon swoon "
    "lean clean mean screen green queen seem beam gleam stream scream team steam dream roam foam "
    "groom bloom zoom loom boom room claim exclaim aim maim redeem esteem join coin ruin reign "
    "sign design assign align resign adorn mourn worn learn earn return deter refer prefer "
    "leap heap reap keep sleep sweep weep creep peep steep soap shop weap help gulp yelp whisper "
    "bother differ suffer pester fester enter utter mutter stutter batter chatter matter flatter "
    "honor honour color colour favor favour harbor harbour labor labour savor savour armor armour "
    "mirror monitor author tailor anchor sponsor tutor vector factor doctor visor razor "
    "bias canvas focus harness witness purchas_ process progress impress express compress "
    "publish furnish finish polish vanish establish arch search reach teach perch parch watch "
    "catch match hatch patch stretch sketch approach attach detach touch couch crouch vouch "
    "launch branch bunch punch crunch munch trench drench bench clench quench belch squelch "
    "rush brush crush flush push wash splash smash crash dash flash".split()
)


@functools.lru_cache(maxsize=65536)
def lemma(text: str, pos: str, tag: str) -> str:
    """The base form of a word, in lower case.

    Args:
        text: The word as written.
        pos: Universal part of speech.
        tag: Penn Treebank tag; only its plural and inflection marks are used.
    """
    word = text.lower()
    if pos in ("VERB", "AUX"):
        return verb(word, tag)
    if pos == "NOUN" or tag in ("NNS", "NNPS"):
        return noun(word) if tag in ("NNS", "NNPS", "") else _NOUNS.get(word, word)
    if pos in ("ADJ", "ADV") and tag in ("JJR", "JJS", "RBR", "RBS"):
        return adjective(word)
    if pos in ("PRON", "DET", "PART"):
        return _PRONOUNS.get(word, word)
    return word


def noun(word: str) -> str:
    """The singular of a plural noun; words that are only used in the plural stay."""
    if word in _NOUNS:
        return _NOUNS[word]
    for end, single in (("women", "woman"), ("men", "man"), ("children", "child")):
        if word.endswith(end) and len(word) > len(end):
            return word[: -len(end)] + single
    if "-" in word:
        first, _, last = word.rpartition("-")
        return f"{first}-{noun(last)}"
    if not word.endswith("s") or word.endswith(("ss", "us", "is", "'s")) or len(word) < 3:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes", "oes")):
        return word[:-2]
    return word[:-1]


def verb(word: str, tag: str = "") -> str:
    """The infinitive of a verb form."""
    if word in _VERBS and not (word == "saw" and tag in ("VB", "VBP")):
        return _VERBS[word]
    if tag in ("VB", "VBP", "MD"):
        return word
    if "-" in word:
        first, _, last = word.rpartition("-")
        return f"{first}-{verb(last, tag)}"
    for prefix in ("over", "under", "out", "re", "un", "with", "fore"):
        if word.startswith(prefix) and word[len(prefix) :] in _VERBS and tag != "VBZ":
            return prefix + _VERBS[word[len(prefix) :]]
    if word.endswith("ing") and len(word) > 4 and re.search("[aeiouy]", word[:-3]):
        return _stem(word[:-3])
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ed") and len(word) > 3 and re.search("[aeiouy]", word[:-2]):
        return _stem(word[:-2])
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and tag in ("VBZ", ""):
        return _without_s(word)
    return word


def _without_s(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1]


def _stem(stem: str) -> str:
    """The infinitive for what stands before -ing or -ed."""
    if stem in _PLAIN_STEMS:
        return stem
    if stem in _E_STEMS:
        return stem + "e"
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "aeiou":
        single = stem[:-1]
        return stem if stem[-1] in "sz" or stem[-1] in "lf" and len(single) < 5 else single
    if re.search(r"(?:^|[^aeiou])[aeiouy][bdgklmnprtz]$", stem) and _syllables(stem) == 1:
        return stem + "e"  # a doubled consonant would show a short vowel: hop, hopping
    if _SILENT_E.search(stem) and not _NO_E.search(stem):
        return stem + "e"
    return stem


def _syllables(stem: str) -> int:
    return len(re.findall("[aeiouy]+", stem))


def adjective(word: str) -> str:
    """The plain form of a comparative or superlative."""
    if word in _ADJECTIVES:
        return _ADJECTIVES[word]
    for end in ("er", "est"):
        if word.endswith(end) and len(word) > len(end) + 2:
            stem = word[: -len(end)]
            if stem.endswith("i"):
                return stem[:-1] + "y"
            if stem[-1] == stem[-2] and stem[-1] not in "aeioulsf":
                return stem[:-1]
            if stem.endswith(("rg", "c", "v", "id", "it", "ut", "ur", "os", "af", "is", "as", "ar", "bl",
                              "pl", "tl")) and stem not in ("near", "dear", "clear", "neat", "stupid"):
                return stem + "e"
            return stem
    return word
