"""One value is printed as one figure, wherever it stands and however it was added up."""

from __future__ import annotations

import math

from beholder.base.rounding import fixed
from beholder.report.markdown import markdown
from beholder.report.numbers import show_fixed, show_number
from beholder.report.study_tables import latex, show_cell
from beholder.tables import Column, Table
from toy.cases import each_case


@each_case(
    ("value", "digits", "text"),
    [
        (0.0345, 3, "0.035"),
        (0.034499999999999996, 3, "0.035"),  # a unit in the last place below
        (1.0005, 3, "1.001"),  # the nearest double lies below the half
        (0.5, 0, "1"),
        (1.5, 0, "2"),
        (2.5, 0, "3"),
        (-0.0345, 3, "-0.035"),
        (-0.0004, 3, "0.000"),
        (0.0344999, 3, "0.034"),
        (9.9996, 3, "10.000"),
        (123456789012345678, 0, "123456789012345678"),
        (5e-324, 3, "0.000"),
        (math.nan, 3, "nan"),
        (-math.inf, 3, "-inf"),
    ],
)
def test_halves_go_away_from_zero(
    value: float, digits: int, text: str
) -> None:
    assert fixed(value, digits) == text


def test_the_largest_number_is_printed() -> None:
    assert len(fixed(1.7e308, 3)) == 309 + 4


def test_a_mean_is_one_figure_in_whatever_order_it_was_added_up() -> None:
    # 0.0345 each way, and the doubles differ in their last places
    halves = {
        0.0345,
        0.1 + 0.2 - 0.3 + 0.0345,
        sum([0.0345] * 10) / 10,
        1.0345 - 1,
    }
    assert len(halves) > 2
    assert {fixed(half, 3) for half in halves} == {"0.035"}


def test_tables_of_all_forms_print_the_same_figure() -> None:
    means = {"n": 0.034499999999999996}
    table = Table("t", "T", (Column("n", "n"),), (means,))
    assert (
        show_number(means["n"])
        == show_cell(means, table.columns[0])
        == "0.035"
    )
    assert "0.035" in markdown(table)
    assert "0.035" in latex(table)
    assert show_fixed(1234567.5, 0) == "1,234,568"
