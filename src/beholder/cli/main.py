"""The entry point: all commands, and what an error looks like to a person.

Exit codes: 0 done; 1 some items failed or a gate was missed; 2 bad input or usage; 3 too few data
to decide; 130 interrupted.
A command gives its exit code, or None for 0. The module of a command is imported when the command
is named (for the list of commands, all are), and imports what it works with when it is called, so
that help waits for nothing.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    UnusedCliTokensError,
)

from beholder._version import __version__
from beholder.base.files import check_name
from beholder.errors import BeholderError, OutputError
from beholder.run.kind import Command, builtin_features, installed_features
from beholder.terminal.outputs import check_outputs, find_option, named_places
from beholder.terminal.printing import (
    STDOUT_NAME,
    name_stdout,
    print_note,
    runs_hint,
)


def _format_default(value: object) -> str | None:
    """A default as help shows it; None if the default means "not given"."""
    if value is None or value is False or value in ((), ""):
        return None
    return ", ".join(value) if isinstance(value, tuple) else str(value)


app = App(
    name="beholder",
    help="How good is a description of something seen, and where is it right or wrong?",
    help_flags=("--help", "-h"),
    help_format="plaintext",  # drawn faster; the pages of commands are markdown
    version=f"beholder {__version__}",
    default_parameter=Parameter(negative=(), show_default=_format_default),
    result_action="return_value",
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
)


def _add_command(command: Command) -> None:
    if command.is_group:
        app.command(command.function, name=command.name)
        return
    app.command(
        command.function,
        name=command.name,
        sort_key=command.place,
        help_format="markdown",
    )


for _feature in builtin_features():
    for _command in _feature.commands:
        _add_command(_command)
app.register_install_completion_command(
    help="Complete commands and options in this shell."
)


def _outside_commands(arguments: list[str]) -> list[Command]:
    """Commands of installed packages; looked up only if ours do not do."""
    if (
        arguments
        and arguments[0] in app
        and arguments[0] not in app.help_flags
    ):
        return []
    return [
        command
        for feature in installed_features()
        for command in feature.commands
    ]


def _missing_argument_hint(error: MissingArgumentError) -> str:
    """Return the hint for a missing argument: its help, or the runs that exist."""
    chain, name = (
        error.command_chain or (),
        error.argument.name if error.argument else "",
    )
    # For a run, the folders that exist help more than the help of the argument.
    if name.startswith("RUN"):
        second = (
            " `beholder leaderboard RUN` ranks the systems of one run."
            * (name == "RUN_B")
        )
        return f". {runs_hint()}{second}"
    arguments = app.parse_commands(chain)[1][-1].assemble_argument_collection(
        parse_docstring=True
    )
    help_text = "".join(
        f": {argument.parameter.help}"
        for argument in arguments
        if argument.name == name
    )
    return f"{help_text or '.'} See beholder {' '.join(chain)} --help."


def _error_message(
    error: BeholderError | CycloptsError | MemoryError, arguments: list[str]
) -> str:
    """Return the message of an error, with the next step."""
    if isinstance(error, OutputError):
        return f"{error}{_output_advice(error, arguments)}"
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory; free some, or use fewer --workers or smaller data, and run"
            " the same command again: what is finished is kept"
        )
    if isinstance(error, MissingArgumentError):
        return str(error).removesuffix(".") + _missing_argument_hint(error)
    if not isinstance(error, UnusedCliTokensError):
        return str(error)
    chain, tokens = (
        " ".join(error.command_chain or ()),
        " ".join(error.unused_tokens or ()),
    )
    hint = ""
    if chain.startswith("cache "):
        hint = f" To name a cache, write --cache {tokens}."
    elif chain == "compare":
        hint = " It compares two runs; beholder leaderboard ranks several."
    return f"{chain}: unexpected argument {tokens!r}.{hint} See beholder {chain} --help."


def _run_command(arguments: list[str]) -> int | None:
    """Parse the arguments, check the places of outputs, and return what the command returns."""
    command, bound, _ = app.parse_args(arguments)
    check_outputs(command, named_places(bound))
    result: int | None = command(*bound.args, **bound.kwargs)
    # Here and not at exit, where an error could not be explained.
    with name_stdout():
        sys.stdout.flush()
    return result


def _output_advice(error: OutputError, arguments: list[str]) -> str:
    """Return how another place is named: by the option that named this one, else by ``-o``."""
    option = find_option(error.path, arguments)
    if not option:
        _, apps, _ = app.parse_commands(arguments)
        names = {
            name
            for argument in apps[-1].assemble_argument_collection()
            for name in argument.names
        }
        option = "-o" if "-o" in names else ""
    return f" with {option}" if option else ""


def _print_system_error(error: OSError) -> None:
    """Print an error of the disk or of permissions, where a traceback does not help."""
    if error.filename == STDOUT_NAME:
        _drop_stdout()
    print_note(
        f"beholder: {error.filename or 'a file'}: {error.strerror or error}"
    )


def _drop_stdout() -> None:
    """Send what is left in the buffer of standard output nowhere, so that its flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Run the command line and exit."""
    # Imports make little garbage; to look for it is a tenth of a start.
    gc.set_threshold(200_000)
    # The search for garbage at exit takes a sixth of a short run.
    atexit.register(gc.freeze)
    # Runs use one thread (``threads``); more that OpenBLAS starts spin for a tenth of a second.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):
        # A character outside the terminal's encoding must not end the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    outside_commands: list[Command] = []
    try:
        for argument in arguments:
            check_name(argument)
        outside_commands = _outside_commands(arguments)
        for command in outside_commands:
            _add_command(command)
        if not arguments or arguments[0] in app.help_flags:
            # A command that is not imported is shown without its help.
            for name in app:
                app[name]
        sys.exit(_run_command(arguments))
    except (BeholderError, CycloptsError, MemoryError) as error:
        print_note(f"beholder: {_error_message(error, arguments)}")
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away, as `| head` does.
        _drop_stdout()
        sys.exit(0)
    except OSError as error:
        _print_system_error(error)
        sys.exit(2)
    except KeyboardInterrupt:
        print_note(
            "beholder: interrupted; run the same command again to resume"
        )
        sys.exit(130)
    finally:
        # A second call in this process starts fresh.
        for command in outside_commands:
            del app[command.name]
