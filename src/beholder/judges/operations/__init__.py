"""What judges can be asked, one file per operation."""

from __future__ import annotations

from beholder.judges.operations.align import AlignWords, LexicalAlignment
from beholder.judges.operations.answer import (
    AnswerQuestions,
    CheckCriteria,
    NameSubjects,
    TextAnswer,
    TextQuestion,
)
from beholder.judges.operations.assess import Aspect, Assess, Assessment
from beholder.judges.operations.base import OPERATIONS, Operation
from beholder.judges.operations.caption import Caption, CaptionAgain
from beholder.judges.operations.classify import Category, Classify
from beholder.judges.operations.contradict import Contradict
from beholder.judges.operations.decompose import AtomicStatement, Decompose
from beholder.judges.operations.grade import GradeDescription
from beholder.judges.operations.match import MatchNearest, MatchStatements
from beholder.judges.operations.match_answers import AnswerMatch, MatchAnswers, OpenAnswer
from beholder.judges.operations.place import AssessInContext, PlacedAnswer, PlaceText
from beholder.judges.operations.presence import Presence, Question, QuestionKind
from beholder.judges.operations.presence_list import PresenceList
from beholder.judges.operations.rank import Rank
from beholder.judges.operations.rating import (
    BREAK_KINDS,
    BreakKind,
    JudgedFrame,
    RatedExample,
    RateSequence,
    RateTransition,
    Rating,
)
from beholder.judges.operations.review import Review
from beholder.judges.operations.revise import Mark, ReviseText
from beholder.judges.operations.rewrite import Rewrite
from beholder.judges.operations.surprisal import MeasureSurprisal
from beholder.judges.operations.translate import Translate, TranslatedClause
from beholder.judges.operations.vary import MANNERS, Manner, Vary
from beholder.judges.operations.verify import Verify
from beholder.judges.operations.write_asked import (
    AnswerFromPictures,
    WriteCriteria,
    WriteQuestions,
    WrittenCriterion,
    WrittenQuestion,
)

__all__ = [
    "BREAK_KINDS",
    "MANNERS",
    "OPERATIONS",
    "AlignWords",
    "AnswerFromPictures",
    "AnswerMatch",
    "AnswerQuestions",
    "Aspect",
    "Assess",
    "AssessInContext",
    "Assessment",
    "AtomicStatement",
    "BreakKind",
    "Caption",
    "CaptionAgain",
    "Category",
    "CheckCriteria",
    "Classify",
    "Contradict",
    "Decompose",
    "GradeDescription",
    "JudgedFrame",
    "LexicalAlignment",
    "Manner",
    "MatchAnswers",
    "Mark",
    "MatchNearest",
    "MatchStatements",
    "MeasureSurprisal",
    "NameSubjects",
    "OpenAnswer",
    "Operation",
    "PlaceText",
    "PlacedAnswer",
    "Presence",
    "PresenceList",
    "Question",
    "QuestionKind",
    "Rank",
    "RateSequence",
    "RateTransition",
    "RatedExample",
    "Rating",
    "Review",
    "ReviseText",
    "Rewrite",
    "TextAnswer",
    "TextQuestion",
    "Translate",
    "TranslatedClause",
    "Vary",
    "Verify",
    "WriteCriteria",
    "WriteQuestions",
    "WrittenCriterion",
    "WrittenQuestion",
]
