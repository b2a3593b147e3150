"""Settings of a study in both directions: the columns of the run, and how the study is made."""

from __future__ import annotations

from dataclasses import dataclass

from beholder.errors import ConfigError


@dataclass(frozen=True)
class Columns:
    """Names of group columns and of judgments in the run.

    Attributes:
        system: Group column of the candidate's author; else the run's name is used.
        category: Group column of the picture's category.
        dataset: Group column of the data set.
        language: Group column of the language.
        rating: Judgment with human ratings of the candidate.
        human_rating: Judgment with human ratings of the reference.
    """

    system: str = "system"
    category: str = "category"
    dataset: str = "dataset"
    language: str = "language"
    rating: str = "rating"
    human_rating: str = "human_rating"


@dataclass(frozen=True)
class StudySettings:
    """Settings of a bidirectional study.

    Attributes:
        random: Category to compare the others with; ``rest`` is all other pictures.
        cuts: F1 or recall below which a text is hard, and from which it is easy; None for tertiles.

    Raises:
        ConfigError: The cuts are not two shares, the lower first.
    """

    random: str = "random"
    cuts: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if (
            self.cuts is not None
            and not 0.0 <= self.cuts[0] <= self.cuts[1] <= 1.0
        ):
            raise ConfigError(
                f"cuts {self.cuts}: expected two numbers from 0 to 1, the lower first"
            )
