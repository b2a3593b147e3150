"""``beholder`` and ``python -m beholder``: the list of commands, or the command line."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] in ([], ["--help"], ["-h"]):
        from importlib.metadata import entry_points

        # The stored list is without the commands of installed packages.
        if not entry_points(group="beholder.kinds"):
            try:
                sys.stdout.write(commands())
                sys.stdout.flush()
            except BrokenPipeError:
                # The reader of our output went away, as `| head` does.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
    from beholder.cli.main import main as run

    run()


def commands() -> str:
    """``commands.txt`` to the width of the terminal: to import all commands takes longer."""
    import shutil
    import textwrap
    from importlib.resources import files

    width = max(shutil.get_terminal_size().columns, 45)
    lines = []
    for line in (
        (files("beholder") / "commands.txt").read_text("utf-8").splitlines()
    ):
        name, tab, about = line.partition("\t")
        indent = f"  {name:21}"
        if tab:
            rest = " " * len(indent)
            line = textwrap.fill(
                about, width, initial_indent=indent, subsequent_indent=rest
            )
        lines.append(line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
