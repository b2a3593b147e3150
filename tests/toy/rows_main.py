"""The command line with the toy judges; a process of its own for tests that kill it."""

from beholder.backends import BACKENDS
from beholder.cli import main
from toy.bothways import Reader
from toy.judge import Storyteller

if __name__ == "__main__":
    BACKENDS.register("story")(Storyteller)
    BACKENDS.register("reader")(Reader)
    main()
