"""Lemmas of hard words; expected forms are those of a dictionary."""

from __future__ import annotations

from beholder.language.lemmas import lemma
from toy.cases import each_case

NOUNS = """
glasses=glasses glass=glass buses=bus bus=bus gas=gas tennis=tennis lens=lens lenses=lens
leaves=leaf shelves=shelf knives=knife wolves=wolf roofs=roof cliffs=cliff hooves=hoof
scarves=scarf men=man women=woman children=child people=people feet=foot teeth=tooth geese=goose
mice=mouse snowmen=snowman policewomen=policewoman grandchildren=grandchild cities=city toys=toy
berries=berry cookies=cookie movies=movie pies=pie ties=tie potatoes=potato tomatoes=tomato
photos=photo pianos=piano shoes=shoe toes=toe canoes=canoe horses=horse houses=house vases=vase
noses=nose roses=rose purses=purse boxes=box benches=bench dishes=dish classes=class
churches=church watches=watch axes=axe sheep=sheep deer=deer fish=fish aircraft=aircraft
species=species series=series pants=pants jeans=jeans scissors=scissors cacti=cactus radii=radius
crises=crisis bases=base oases=oasis headaches=headache mustaches=mustache sizes=size prizes=prize
bronzes=bronze staircases=staircase suitcases=suitcase skies=sky skis=ski taxis=taxi zebras=zebra
giraffes=giraffe tattoos=tattoo kangaroos=kangaroo igloos=igloo
"""
VERBS = """
shining=shine hoping=hope hopping=hop sitting=sit lying=lie lies=lie dying=die tying=tie tied=tie
laying=lay laid=lay standing=stand stood=stand hung=hang hanging=hang held=hold wearing=wear
worn=wear riding=ride rode=ride ridden=ride written=write writing=write taken=take taking=take
making=make having=have has=have is=be are=be was=be being=be goes=go going=go does=do doing=do
running=run swimming=swim cutting=cut stopped=stop wrapped=wrap planned=plan dragged=drag
opening=open opened=open covered=cover gathered=gather scattered=scatter visited=visit
exhibiting=exhibit featuring=feature captured=capture placed=place placing=place faced=face
dancing=dance balancing=balance surrounded=surround attached=attach reaching=reach touches=touch
pushes=push crosses=cross mixes=mix carries=carry carried=carry carrying=carry flies=fly
flying=fly flew=fly flown=fly tries=try played=play closed=close closing=close used=use using=use
raised=raise raising=raise exposed=expose posing=pose leaning=lean leaned=lean gleaming=gleam
seated=seat heated=heat floating=float loading=load tasting=taste pasted=paste resting=rest
tilted=tilt painted=paint mounted=mount lined=line shaded=shade seeing=see seen=see fleeing=flee
agreed=agree dyed=dye eyed=eye shoes=shoe lit=light fed=feed led=lead blew=blow blown=blow
drawn=draw woven=weave strewn=strewn bent=bend smiling=smile waving=wave skating=skate biting=bite
whispering=whisper entering=enter offering=offer sprawled=sprawl cooled=cool crumpled=crumple
sparkling=sparkle cuddling=cuddle nestled=nestle arranged=arrange changing=change ranging=range
emerging=emerge bulging=bulge judging=judge resembles=resemble depicts=depict showcases=showcase
contrasts=contrast adding=add added=add
"""
ADJECTIVES = """
larger=large largest=large bigger=big biggest=big hotter=hot happier=happy prettiest=pretty
taller=tall older=old younger=young wider=wide paler=pale better=good best=good worst=bad
simpler=simple darker=dark lighter=light smaller=small nearer=near closer=close whiter=white
greener=green
"""


def pairs(table: str) -> list[tuple[str, str]]:
    return [(p.split("=")[0], p.split("=")[1]) for p in table.split()]


@each_case(("word", "expected"), pairs(NOUNS))
def test_noun_lemma_is_the_dictionary_form(word: str, expected: str) -> None:
    assert lemma(word, "NOUN", "NNS") == expected


@each_case(("word", "expected"), pairs(VERBS))
def test_verb_lemma_is_the_dictionary_form(word: str, expected: str) -> None:
    tag = "VBZ" if word.endswith("s") else "VBN"
    if word.endswith("ing"):
        tag = "VBG"
    assert lemma(word, "VERB", tag) == expected


@each_case(("word", "expected"), pairs(ADJECTIVES))
def test_adjective_lemma_is_the_plain_form(word: str, expected: str) -> None:
    assert (
        lemma(word, "ADJ", "JJS" if word.endswith("st") else "JJR") == expected
    )


def test_singular_noun_in_s_is_left_alone() -> None:
    assert [lemma(w, "NOUN", "NN") for w in ("glass", "bus", "dress", "Christmas")] == [
        "glass", "bus", "dress", "christmas",
    ]  # fmt: skip
