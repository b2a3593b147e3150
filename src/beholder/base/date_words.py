"""Words of dates in the languages of the word lists: en, de, fr, es, it, nl, pt, sv and pl.

They are written as ``fold_date`` folds a text: lower case, without accents. Chinese, Japanese and
Korean have signs behind the numbers, which ``archival_dates`` rewrites.
"""

from __future__ import annotations

MONTHS = (
    "january jan januar janner januari janvier janv enero ene gennaio gen janeiro styczen stycznia",
    "february feb februar februari fevrier fevr fev febrero febbraio fevereiro luty lutego",
    "march mar marz mrz mars marzo maart mrt marco marzec marca",
    "april apr avril avr abril abr aprile kwiecien kwietnia",
    "may mai mayo maggio mag mei maio maj maja",
    "june jun juni juin junio giugno giu junho czerwiec czerwca",
    "july jul juli juillet juil julio luglio lug julho lipiec lipca",
    "august aug aout agosto ago augustus augusti sierpien sierpnia",
    "september sep sept septembre septiembre setiembre settembre setembro set wrzesien wrzesnia",
    "october oct oktober okt octobre octubre ottobre ott outubro out pazdziernik pazdziernika",
    "november nov novembre noviembre novembro listopad listopada",
    "december dec dezember dez decembre diciembre dic dicembre dezembro grudzien grudnia",
)
"""Names and abbreviations of each month."""

SEASONS = (
    "spring fruhling fruhjahr printemps primavera lente voorjaar var wiosna wiosny",
    "summer sommer ete verano estate zomer verao sommar lato lata",
    "autumn fall herbst automne otono autunno herfst outono host jesien jesieni",
    "winter hiver invierno inverno vinter zima zimy",
)
"""Names of the seasons, in the order of EDTF's codes 21 to 24."""

ROLES = {
    "about": "c ca circa cir about around approx approximate approximately roughly probably"
    " possibly perhaps estimated presumed uncertain maybe um etwa wohl vermutlich vers environ"
    " hacia alrededor probablemente verso omstreeks rond ongeveer cerca omkring cirka okolo",
    "before": "before pre prior vor avant antes prima voor fore przed",
    "until": "until till by bis jusque hasta fino tot ate till do",
    "after": "after post nach apres despues dopo na depois efter po",
    "since": "since from seit ab depuis desde dal sedan od",
    "early": "early anfang fruhe fruhes beginning start debut principios inizio begin vroege inicio"
    " borjan poczatek",
    "mid": "mid middle mitte milieu mediados meta midden meados mitten polowa",
    "late": "late end ende spates fin finales fine einde laat final slutet koniec",
    "to": "to bis through thru until till al tot ate till do",
    "between": "between zwischen entre tra fra tussen mellan miedzy",
    "and": "and und et och",
    "century": "century centuries cent jahrhundert jahrhunderts jh jhdt jhd siecle siglo secolo"
    " eeuw seculo arhundradet arhundrade wiek wieku",
    "decade": "decade annees anos anni jaren jahre",
}
"""Words that say how the date behind them is meant."""

FILLERS = (
    "the of in on at de del della di der den des dem im am le la el em en das dos do da year years"
    " jahr annee ano anno jaar ar rok roku r"
    " monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag"
    " freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche"
)
"""Words without a meaning of their own."""

MAKING_WORDS = (
    "published printed issued reprinted dated date taken made created photographed produced"
    " photograph photo negative neg print copyright copyrighted built composed executed designed"
    " exposed developed"
)
"""Words for what was done at a date."""

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first"
)
ORDINALS = tuple(_ORDINALS.split())
"""Numbers of centuries in words."""
_NUMERALS = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx xxi"
ROMAN_NUMERALS = tuple(_NUMERALS.split())
"""Numbers of centuries in Roman numerals."""

UNDATED = (
    "nd",
    "no date",
    "not dated",
    "undated",
    "unknown",
    "unknown date",
    "date unknown",
    "date not known",
    "not known",
    "date not recorded",
    "not recorded",
    "no date given",
    "undetermined",
    "na",
    "none",
    "null",
    "nan",
    "nil",
    "sd",
    "sine dato",
    "sine anno",
    "sa",
    "od",
    "oj",
    "ohne datum",
    "ohne jahr",
    "undatiert",
    "unbekannt",
    "datum unbekannt",
    "sans date",
    "non date",
    "date inconnue",
    "inconnu",
    "inconnue",
    "sin fecha",
    "sf",
    "fecha desconocida",
    "desconocido",
    "desconocida",
    "senza data",
    "data sconosciuta",
    "non datato",
    "zonder datum",
    "zj",
    "ongedateerd",
    "datum onbekend",
    "onbekend",
    "sem data",
    "data desconhecida",
    "desconhecida",
    "desconhecido",
    "odaterad",
    "utan ar",
    "ua",
    "okand",
    "bez daty",
    "bd",
    "br",
    "nieznana",
    "data nieznana",
    "xxxx",
    "uuuu",
    "0000",
    "0000-00-00",
    "----",
    "",
)
"""Texts of catalogues without a date, without dots and brackets."""
