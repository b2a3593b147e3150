from beholder.lint.linting import LintReport as LintReport
from beholder.lint.linting import lint as lint
from beholder.lint.occurrence import Occurrence as Occurrence
from beholder.lint.rules import LintFinding as LintFinding
from beholder.lint.rules import LintRule as LintRule
