"""Words whose full stop may not end a sentence, by what their stop can mean.

Entries are written without the final stop. Those that are no English words match in any case,
because captions are often lower-cased ("mr. bean"); the others match only as they are written.
"""

from __future__ import annotations


def _cased(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _any_case(words: str) -> frozenset[str]:
    return frozenset(form for word in words.split() for form in (word, word.lower(), word.upper()))


NEVER_FINAL = _any_case(
    "Mr Mrs Ms Mx Dr Drs Prof Ste Mt Messrs Mme Mlle Hr Frl Sra Srta Dra vs approx viz cf"
    " e.g i.e eg ie P.S z.B d.h bzw incl excl resp esp Ул Ст Им"
) | _cased(
    "Gen Sen Rep Rev Hon Capt Cpt Lt Col Sgt Maj Cmdr Adm Gov Pres Supt Fr Sr Atty Amb Insp"
    " ca c al г пр т д डॉ प्रो श्री पं"
)
"""A name, number or example follows: the stop never ends a sentence."""

BEFORE_NUMBER = _any_case(
    "No Nos Nr Fig Figs Eq Eqs Sec Ch Chap Vol Vols Art Pt Pp P Pl Ex Tab Ref Refs Op Ver Ed Pos"
)
"""The stop does not end a sentence when a number follows: "No. 5", but "No. He did not."."""

MAY_BE_FINAL = _any_case(
    "Jr Inc Ltd Bros Corp Ave Blvd Rd Hwy Dept Univ Assn St Ph.D Esq"
) | _cased(
    "Co Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri"
    " dept est misc temp max tel Tel Str usw"
)
"""The stop ends a sentence only when a word follows that usually begins one."""

ENDS_BEFORE_CAPITAL = _any_case("etc a.m p.m A.D B.C B.C.E C.E")
"""The stop ends a sentence when a capital follows, except that of a date or a time zone."""

UNITS = _cased("in ft yd mi lb lbs oz pt qt gal sq cu mm cm km kg hr hrs min mins sec secs mph")
"""After a number these are units, and ``MAY_BE_FINAL``; elsewhere they are words."""

DATE_WORDS = _cased(
    "January February March April May June July August September October November December"
    " Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
    " Januar Februar März Mai Juni Juli Oktober Dezember"
)
"""After "5 p.m." or an ordinal such as the German "3. Oktober" these continue the sentence."""

SMALL_WORDS = _cased("a an and at by for from in of on or the to vs with")
"""Words that stay in lower case in a heading."""

STARTERS = _cased(
    "The A An This That These Those It Its He She They We You I His Her Their Our My Your There"
    " Here In On At To From With By For As If When While Where What Who How Why But And Or So Then"
    " Also However After Before Behind Above Below Beside Next Two Three One Some Many Most All"
    " Both Each Every Another Other No Not Now Near Over Under Inside Outside Meanwhile Later"
    " Finally Overall Once Only Because Although Though Yet Did Does Do Is Are Was Were Will Can"
    " Please Let Such Several"
)
"""Words that, capitalised, usually begin a sentence."""
