"""axe-core: what of a page somebody cannot use who does not see it, or has no mouse."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

GRAVE = ("serious", "critical")


def violations(page: Page, within: str | None = None, rule: str = "") -> list[str]:
    """List the serious and critical violations that axe-core finds, a line for each element.

    Args:
        page: as it stands now; what is hidden is not looked at.
        within: a selector of the part that is judged; by default the whole page.
        rule: the one that is asked about; by default all.
    """
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
