"""The operations that judges can answer; operations of one kind are in one file."""

from beholder.judges.operations.align import (
    AlignWords,
    LexicalAlignment,
    MeasureSurprisal,
)
from beholder.judges.operations.answer import (
    AnswerQuestions,
    CheckCriteria,
    NameSubjects,
    TextAnswer,
    TextQuestion,
)
from beholder.judges.operations.assess import (
    Aspect,
    Assess,
    Assessment,
    GradeDescription,
    Rank,
)
from beholder.judges.operations.base import (
    OPERATIONS,
    ModelOperation,
    Operation,
    PanelOperation,
    Respondent,
)
from beholder.judges.operations.caption import Caption, CaptionAgain, Review
from beholder.judges.operations.classify import Category, Classify
from beholder.judges.operations.compare import BetterText, Compare
from beholder.judges.operations.match_answers import (
    AnswerMatch,
    MatchAnswers,
    OpenAnswer,
)
from beholder.judges.operations.place import AssessInContext, PlaceText
from beholder.judges.operations.presence import (
    Contradict,
    Presence,
    PresenceList,
    Question,
    QuestionKind,
)
from beholder.judges.operations.rating import (
    BREAK_KINDS,
    BreakKind,
    JudgedFrame,
    RatedExample,
    RateSequence,
    RateTransition,
    Rating,
)
from beholder.judges.operations.rewrite import (
    MANNERS,
    Manner,
    ReviseText,
    Rewrite,
    TextMark,
    Translate,
    TranslatedClause,
    Vary,
)
from beholder.judges.operations.statements import (
    AtomicStatement,
    Decompose,
    MatchNearest,
    MatchStatements,
    Verify,
)
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
    "BetterText",
    "BreakKind",
    "Caption",
    "CaptionAgain",
    "Category",
    "CheckCriteria",
    "Classify",
    "Compare",
    "Contradict",
    "Decompose",
    "GradeDescription",
    "JudgedFrame",
    "LexicalAlignment",
    "Manner",
    "MatchAnswers",
    "MatchNearest",
    "MatchStatements",
    "MeasureSurprisal",
    "ModelOperation",
    "NameSubjects",
    "OpenAnswer",
    "Operation",
    "PanelOperation",
    "PlaceText",
    "Presence",
    "PresenceList",
    "Question",
    "QuestionKind",
    "Rank",
    "RateSequence",
    "RateTransition",
    "RatedExample",
    "Rating",
    "Respondent",
    "Review",
    "ReviseText",
    "Rewrite",
    "TextAnswer",
    "TextMark",
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
