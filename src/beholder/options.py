"""Groups of options that kinds of runs and commands share.

A run's configuration holds the groups it needs, Python gives them, and the command line reads its
options and their help from the fields here. None means not given.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

from beholder.base.postgres import Address, is_address
from beholder.base.ranges import check_number
from beholder.errors import ConfigError

T = TypeVar("T")

Rating: TypeAlias = Literal["High", "Medium", "Low"]
"""Clearness with which a category fits, as ``classify`` rates it."""


Frames: TypeAlias = int | Literal["cues", "film"]
"""Pictures of a video: how many, or one for each cue of its timed text."""

MAX_FRAMES = 1000
"""Pictures of one video at most."""


class Options(TypedDict, total=False):
    """Keyword options of every Python function; the groups below document them."""

    limit: int | None
    skip_bad_rows: bool
    media_root: str | Path | None
    map: Mapping[str, str]
    references_from: str | Path | None
    require_all: bool
    group_references: bool
    frames: Frames | None
    base_url: str | None
    key_env: str | None
    temperature: float | None
    prompts: str | Path | None
    batch: bool
    replicates: int | None
    judge_options: Mapping[str, object]
    workers: int | None
    concurrency: int | None
    cache: str | Path | Address | None
    max_cost: float | None


def group_options(
    options: Options,
) -> tuple[DataOptions, JudgeOptions, WorkOptions]:
    """Keyword options as the groups of a configuration.

    Raises:
        ConfigError: An option has no such name, or a value is wrong.
    """
    unknown = sorted(set(options) - set(Options.__annotations__))
    if unknown:
        close = get_close_matches(unknown[0], Options.__annotations__, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ConfigError(
            f"no option is called {unknown[0]!r}; {hint}There are:"
            f" {', '.join(Options.__annotations__)}"
        )
    # Python callers give paths as texts; the groups have them as paths.
    values: dict[str, Any] = dict(options)
    extra = values.pop("judge_options", {})
    for name in ("media_root", "references_from", "prompts"):
        if values.get(name) is not None:
            values[name] = Path(values[name])
    if isinstance(values.get("cache"), str):
        values["cache"] = cache_place(values["cache"])

    # The groups share no field, so each takes those of its own names.
    def build_group(group: type[T]) -> T:
        names = [group_field.name for group_field in fields(group)]  # type: ignore[arg-type]
        return group(
            **{name: values[name] for name in names if name in values}
        )

    judging = replace(build_group(JudgeOptions), extra=extra)
    return build_group(DataOptions), judging, build_group(WorkOptions)


def default_tools(embedder: str | None, judge: object) -> dict[str, object]:
    """The tools that a call names, for metrics that name none."""
    return {
        kind: spec
        for kind, spec in (("embedder", embedder), ("judge", judge))
        if spec
    }


@dataclass(frozen=True)
class DataOptions:
    """The selection of a run's rows in the data.

    Attributes:
        limit: Read only the first N rows.
        skip_bad_rows: Skip invalid rows and count them.
        media_root: Folder of the pictures; by default that of the data.
        map: Column of a field: candidate, references, images, id ...
        references_from: Data file whose texts are the references, matched by id or image_id.
        require_all: Count pictures of --references-from without a text as failures.
        group_references: Join rows of one id and text that have one reference each.
        frames: Frames of videos: a number, cues for one per subtitle, or film (extra video).

    Raises:
        ConfigError: The limit is below 1, or ``frames`` is neither cues, film nor 1 to 1000.
    """

    limit: int | None = None
    skip_bad_rows: bool = False
    media_root: Path | None = None
    map: Mapping[str, str] = field(default_factory=dict)
    references_from: Path | None = None
    require_all: bool = False
    group_references: bool = False
    frames: Frames | None = None

    def __post_init__(self) -> None:
        # The command line gives a tuple, which its group parses.
        if not isinstance(self.map, Mapping | tuple):
            raise ConfigError(
                f"map={self.map!r}: expected names of columns by field, as {{'candidate': 'text'}}"
            )
        check_count("limit", self.limit, "leave it out to take all rows")
        if self.frames != "cues" and self.frames != "film":
            check_count(
                "frames",
                self.frames,
                "or cues, for one of each part of a timed text",
            )
            if self.frames is not None and self.frames > MAX_FRAMES:
                raise ConfigError(
                    f"frames={self.frames}: expected {MAX_FRAMES} at most"
                )

    def check_only(self, used: Collection[str], reason: str) -> None:
        """Check that no other option is given than those that a reader uses.

        Args:
            used: Fields that are used.
            reason: Why others are not, for the message.

        Raises:
            ConfigError: Another option is given; names it.
        """
        for option in fields(self):
            is_given = bool(getattr(self, option.name))
            if is_given and option.name not in used:
                name = option.name.replace("_", "-")
                raise ConfigError(f"--{name} is not used: {reason}")


_NAMED_OPTIONS = (
    "base_url",
    "key_env",
    "temperature",
    "prompts",
    "batch",
    "replicates",
)


@dataclass(frozen=True)
class JudgeOptions:
    """Settings of questions to judges that are not part of their specs.

    Attributes:
        base_url: Address of an OpenAI-compatible server, for openai:MODEL.
        key_env: Environment variable with the key of that server.
        temperature: Sampling temperature of judges; the default depends on the question.
        prompts: Folder of prompt templates that replace the built-in ones.
        batch: Use the server's batch mode, which is slower and costs half.
        extra: Further options of judges and their backends by name, such as ``timeout``.
        replicates: Answers to each question, at temperature 0.7 if none is given; the majority
            counts.

    Raises:
        ConfigError: The temperature is no number from 0, ``replicates`` is no whole number from 1,
            or ``extra`` repeats a field.
    """

    base_url: str | None = None
    key_env: str | None = None
    temperature: float | None = None
    prompts: Path | None = None
    batch: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)
    replicates: int | None = None

    def __post_init__(self) -> None:
        check_amount(
            "temperature",
            self.temperature,
            "leave it out for that of the question",
        )
        check_count(
            "replicates", self.replicates, "leave it out for one answer"
        )
        for name in _NAMED_OPTIONS:
            if name in self.extra:
                raise ConfigError(
                    f"extra holds {name!r}, which has a field of its own: set that"
                )

    def keywords(self) -> dict[str, object]:
        """Those that were given, as keyword options of ``judges.judge``."""
        options = {name: getattr(self, name) for name in _NAMED_OPTIONS}
        set_options = {
            name: value
            for name, value in options.items()
            if value is not None and value is not False
        }
        return {**self.extra, **set_options}

    def for_tools(self) -> dict[str, dict[str, object]]:
        """Options per kind of tool, for ``metrics.Tools``."""
        keywords = self.keywords()
        address: dict[str, object] = {
            name: keywords[name]
            for name in ("base_url", "key_env")
            if name in keywords
        }
        return {"judge": keywords, "embedder": address}


@dataclass(frozen=True)
class WorkOptions:
    """Concurrency, storage and budget of a run.

    Attributes:
        workers: Worker processes, which do not change results; by default chosen by the data's
            size.
        concurrency: Items that wait for judges at once; the default depends on the command.
        cache: File or database of the answers that all runs share; None for no cache.
        max_cost: Stop before judges cost more US dollars than this, resumed runs included.

    Raises:
        ConfigError: A number is out of its range.
    """

    workers: int | None = None
    concurrency: int | None = None
    cache: Path | Address | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        check_count(
            "workers", self.workers, "leave it out to let the data decide"
        )
        check_count(
            "concurrency",
            self.concurrency,
            "leave it out for the usual number",
        )
        check_amount("max_cost", self.max_cost, "leave it out for no limit")


def cache_place(text: str) -> Path | Address:
    """A path or the address of a database, whichever a text names.

    Raises:
        ConfigError: It is an address that cannot be read; the message repeats nothing of it.
    """
    return Address.parse(text) if is_address(text) else Path(text)


@dataclass(frozen=True)
class SampleDesign:
    """The selection of pictures; with ``rated`` alone, all that pass.

    Attributes:
        n: Size of the random set, which is drawn from all pictures.
        per_category: Pictures per category, drawn from those outside the random set.
        rated: Use only pictures with one category and at least this rating by ``classify``.
        seed: Random seed.
        column: Group column that holds the category.
        random: Category name of the random set.

    Raises:
        ConfigError: A number is below 1.
    """

    n: int | None = None
    per_category: int | None = None
    rated: Rating | None = None
    seed: int = 0
    column: str = "category"
    random: str = "random"

    def __post_init__(self) -> None:
        check_count("n", self.n, "leave it out for no random set")
        check_count(
            "per_category",
            self.per_category,
            "leave it out for no sets of categories",
        )


def check_distinct(noun: str, names: Sequence[str]) -> None:
    """Refuse repeated names.

    Raises:
        ConfigError: Names it.
    """
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"the {noun} {name} was asked for twice")


def check_list(name: str, value: object) -> None:
    """Refuse one text where several are expected: it would be taken for its letters.

    Raises:
        ConfigError: Shows the list that was probably meant.
    """
    if isinstance(value, str | bytes):
        start = value[:40]
        more = "..." if len(value) > len(start) else ""
        raise ConfigError(
            f"{name}: expected a list of texts, got one text; write [{start!r}{more}]"
        )


def check_text_lists(record: object) -> None:
    """Refuse one text in a field of a dataclass that holds several texts, and what is no text.

    Raises:
        ConfigError: Names the field.
    """
    # mypy takes the hash of a class for that of its instances, therefore Any.
    kind: Any = type(record)
    for name, is_of_texts in _text_lists(kind).items():
        values = getattr(record, name)
        check_list(name, values)
        if not is_of_texts:
            continue
        if not isinstance(values, Sequence):
            raise ConfigError(
                f"{name}: expected a list of texts, got {values!r}"
            )
        for value in values:
            if not isinstance(value, str):
                raise ConfigError(f"{name}: expected texts, got {value!r}")


@cache
def _text_lists(kind: type[Any]) -> dict[str, bool]:
    """Return whether each field that holds several values holds texts, by annotations."""
    texts = ("tuple[str, ...]", "Sequence[str]")
    prefixes = ("tuple[str", "Sequence[str", "tuple[Frame", "tuple[Unit")
    return {
        record_field.name: record_field.type in texts
        for record_field in fields(kind)
        if str(record_field.type).startswith(prefixes)
    }


def check_count(name: str, value: int | None, otherwise: str) -> None:
    """Refuse what is neither None nor a whole number from 1.

    Args:
        name: The option, for the message.
        value: Its value.
        otherwise: Alternative for the user, for the message.

    Raises:
        ConfigError: Names option and value.
    """
    if value is not None:
        check_number(name, value, 1, whole=True, hint=otherwise)


def check_amount(name: str, value: float | None, otherwise: str) -> None:
    """Refuse what is neither None nor a finite number from 0; arguments as ``check_count``.

    Raises:
        ConfigError: Names option and value.
    """
    if value is not None:
        check_number(name, value, 0, hint=otherwise)
