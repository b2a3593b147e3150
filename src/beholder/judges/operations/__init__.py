"""What judges can be asked; operations of one kind are in one file."""

from __future__ import annotations

from beholder.judges.operations.align import AlignWords as AlignWords
from beholder.judges.operations.align import (
    LexicalAlignment as LexicalAlignment,
)
from beholder.judges.operations.align import (
    MeasureSurprisal as MeasureSurprisal,
)
from beholder.judges.operations.answer import AnswerMatch as AnswerMatch
from beholder.judges.operations.answer import (
    AnswerQuestions as AnswerQuestions,
)
from beholder.judges.operations.answer import CheckCriteria as CheckCriteria
from beholder.judges.operations.answer import MatchAnswers as MatchAnswers
from beholder.judges.operations.answer import NameSubjects as NameSubjects
from beholder.judges.operations.answer import OpenAnswer as OpenAnswer
from beholder.judges.operations.answer import TextAnswer as TextAnswer
from beholder.judges.operations.answer import TextQuestion as TextQuestion
from beholder.judges.operations.assess import Aspect as Aspect
from beholder.judges.operations.assess import Assess as Assess
from beholder.judges.operations.assess import Assessment as Assessment
from beholder.judges.operations.assess import (
    GradeDescription as GradeDescription,
)
from beholder.judges.operations.assess import Rank as Rank
from beholder.judges.operations.base import OPERATIONS as OPERATIONS
from beholder.judges.operations.base import ModelOperation as ModelOperation
from beholder.judges.operations.base import Operation as Operation
from beholder.judges.operations.base import PanelOperation as PanelOperation
from beholder.judges.operations.base import Respondent as Respondent
from beholder.judges.operations.caption import Caption as Caption
from beholder.judges.operations.caption import CaptionAgain as CaptionAgain
from beholder.judges.operations.caption import Review as Review
from beholder.judges.operations.classify import Category as Category
from beholder.judges.operations.classify import Classify as Classify
from beholder.judges.operations.place import AssessInContext as AssessInContext
from beholder.judges.operations.place import PlaceText as PlaceText
from beholder.judges.operations.presence import Contradict as Contradict
from beholder.judges.operations.presence import Presence as Presence
from beholder.judges.operations.presence import PresenceList as PresenceList
from beholder.judges.operations.presence import Question as Question
from beholder.judges.operations.presence import QuestionKind as QuestionKind
from beholder.judges.operations.rating import BREAK_KINDS as BREAK_KINDS
from beholder.judges.operations.rating import BreakKind as BreakKind
from beholder.judges.operations.rating import JudgedFrame as JudgedFrame
from beholder.judges.operations.rating import RatedExample as RatedExample
from beholder.judges.operations.rating import RateSequence as RateSequence
from beholder.judges.operations.rating import RateTransition as RateTransition
from beholder.judges.operations.rating import Rating as Rating
from beholder.judges.operations.rewrite import MANNERS as MANNERS
from beholder.judges.operations.rewrite import Manner as Manner
from beholder.judges.operations.rewrite import ReviseText as ReviseText
from beholder.judges.operations.rewrite import Rewrite as Rewrite
from beholder.judges.operations.rewrite import TextMark as TextMark
from beholder.judges.operations.rewrite import Translate as Translate
from beholder.judges.operations.rewrite import (
    TranslatedClause as TranslatedClause,
)
from beholder.judges.operations.rewrite import Vary as Vary
from beholder.judges.operations.statements import (
    AtomicStatement as AtomicStatement,
)
from beholder.judges.operations.statements import Decompose as Decompose
from beholder.judges.operations.statements import MatchNearest as MatchNearest
from beholder.judges.operations.statements import (
    MatchStatements as MatchStatements,
)
from beholder.judges.operations.statements import Verify as Verify
from beholder.judges.operations.write_asked import (
    AnswerFromPictures as AnswerFromPictures,
)
from beholder.judges.operations.write_asked import (
    WriteCriteria as WriteCriteria,
)
from beholder.judges.operations.write_asked import (
    WriteQuestions as WriteQuestions,
)
from beholder.judges.operations.write_asked import (
    WrittenCriterion as WrittenCriterion,
)
from beholder.judges.operations.write_asked import (
    WrittenQuestion as WrittenQuestion,
)
