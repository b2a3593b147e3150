from .linting import LintReport as LintReport
from .linting import lint as lint
from .occurrence import Occurrence as Occurrence
from .rules import LintFinding as LintFinding
from .rules import LintRule as LintRule
