"""The fixture ``beholder_gate`` of pytest.

pytest loads this module in every environment that contains beholder, so it imports nothing of
beholder before a test asks for the fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from beholder.records import MetricResult


@pytest.fixture(scope="session")
def beholder_gate() -> Callable[..., MetricResult]:
    """Assert that the mean of many texts is within bounds: beholder.harness.testing.assert_mean.

    The tests of a session share models and answers of judges.
    """
    from beholder.harness.testing import assert_mean
    from beholder.metrics import Tools

    return partial(assert_mean, tools=Tools())
