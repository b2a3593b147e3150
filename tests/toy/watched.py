"""A page of a browser, with what went wrong in it."""

from __future__ import annotations

from typing import Any


class Watched:
    """A page of a browser with what went wrong in it and what it asked for elsewhere."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.problems: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", self._console)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def axe(self) -> list[str]:
        """Serious faults for people with disabilities, as axe-core finds them."""
        from axe_playwright_python.sync_playwright import Axe

        self.page.wait_for_load_state("load")  # styles, too
        faults = Axe().run(self.page).response["violations"]
        return [
            f"{fault['id']}: {fault['nodes'][0]['html']} {fault['nodes'][0]['failureSummary']}"
            for fault in faults
            if fault["impact"] in ("serious", "critical")
        ]
