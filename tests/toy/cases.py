"""Tables of cases that one test checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

MOST_CHARACTERS = 400
"""Of a case in a message."""
# What pytest.raises raises where nothing is raised is no Exception, nor is a group that has it.
FAILURES = (Exception, pytest.fail.Exception, BaseExceptionGroup)
Check = Callable[..., None]


def each_case(
    names: str | tuple[str, ...], cases: Iterable[Any]
) -> Callable[[Check], Check]:
    """Check all cases in one test, which fails with the error of each case that fails.

    The arguments are those of ``pytest.mark.parametrize``, and the decorator can be repeated in
    the same way. Use it where a case takes less than the milliseconds that pytest spends on a
    test, and where cases may share the test's fixtures.
    """
    parameters = (
        tuple(name.strip() for name in names.split(","))
        if isinstance(names, str)
        else names
    )
    rows = [
        dict(
            zip(
                parameters,
                case if len(parameters) > 1 else (case,),
                strict=True,
            )
        )
        for case in cases
    ]
    assert rows, "a test without cases checks nothing"

    def decorate(check: Check) -> Check:
        signature = inspect.signature(check)
        fixtures = [
            parameter
            for name, parameter in signature.parameters.items()
            if name not in parameters
        ]

        @wraps(check)
        def check_all(*instance: Any, **given: Any) -> None:
            failing: list[str] = []
            errors: list[BaseException] = []
            for row in rows:
                try:
                    check(*instance, **given, **row)
                except FAILURES as error:
                    error.add_note(f"case: {row}"[:MOST_CHARACTERS])
                    failing.append(str(row)[:MOST_CHARACTERS])
                    errors.append(error)
            if errors:
                raise BaseExceptionGroup(
                    "\n".join(
                        [f"{len(errors)} of {len(rows)} cases fail:", *failing]
                    ),
                    errors,
                )

        check_all.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return check_all

    return decorate
