"""What a page must not do, and what of it somebody cannot see or use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Error, Page, Request, WebSocket

SETTLED = Path(__file__).with_name("settled.js").read_text(encoding="utf-8")
GRAVE = ("serious", "critical")
"""What axe-core calls a violation that keeps somebody out."""


@dataclass
class Watch:
    """What a page asked of other machines, and the errors it met."""

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    forgiven: list[str] = field(default_factory=list)
    """Words of the errors that a test brings about."""

    def over(self, page: Page) -> None:
        """Begin to watch a page."""
        for event, heard in self._events.items():
            page.on(event, heard)  # type: ignore[call-overload]

    def leave(self, page: Page) -> None:
        """Watch a page no longer."""
        for event, heard in self._events.items():
            page.remove_listener(event, heard)

    @property
    def _events(self) -> dict[str, Callable[[Any], None]]:
        return {
            "request": self._requested,
            "websocket": self._requested,
            "pageerror": self._raised,
            "console": self._said,
        }

    def forgive(self, words: str) -> None:
        """Forget the errors that contain these words, also those that are still to come."""
        self.forgiven.append(words)
        self.errors = [error for error in self.errors if words not in error]

    def _met(self, error: str) -> None:
        if not any(words in error for words in self.forgiven):
            self.errors.append(error)

    def _requested(self, request: Request | WebSocket) -> None:
        parts = urlsplit(request.url)
        local = parts.hostname in ("localhost", "127.0.0.1")
        if not local and parts.scheme not in ("data", "blob"):
            self.requests.append(request.url)

    def _raised(self, error: Error) -> None:
        self._met(error.stack or str(error))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._met(f"{message.text} ({message.location.get('url', '')})")


def settled(page: Page) -> None:
    """Wait until nothing of a page moves any more: only then is it the same on every machine."""
    page.evaluate(SETTLED, page.viewport_size)


def violations(page: Page, within: str | None = None, rule: str = "") -> list[str]:
    """List the serious and critical violations that axe-core finds, a line for each element.

    Args:
        page: as it stands once it has settled; what is hidden is not looked at.
        within: a selector of the part that is judged; by default the whole page.
        rule: the one that is asked about; by default all.
    """
    settled(page)
    # Without what is not asked for, which takes half of the time.
    options: dict[str, object] = {"resultTypes": ["violations"], "selectors": False}
    if rule:
        options["runOnly"] = [rule]
    found = Axe().run(page, within, options).response["violations"]
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


def low_contrasts(page: Page, within: str = "body") -> list[str]:
    """List the texts within an element that stand out too little from their background."""
    return violations(page, within, "color-contrast")
