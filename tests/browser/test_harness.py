"""The browser tests' own instruments: they see what they are to see, and say when they cannot."""

from __future__ import annotations

import re

from playwright.sync_api import Page

from tests.browser.watch import Watch, low_contrasts

TEXTS = """
<body style="background: white; color: black">
  <p>good</p>
  <p style="color: #767676">just good</p>
  <p style="color: #777777">just bad</p>
  <p style="opacity: 0.4">faint</p>
  <p style="color: color-mix(in srgb, black 40%, white)">mixed</p>
  <div style="background: black"><p>night</p><p style="background: white">day</p></div>
  <input value="typed" style="background: white; color: #aaa">
  <button disabled style="color: #aaa">off</button>
  <p style="color: #aaa; position: absolute; clip-path: inset(50%)">spoken</p>
  <svg width="200" height="50">
    <rect x="90" y="0" width="100" height="50" fill="#000" />
    <text x="100" y="20" fill="#fff">lit</text>
    <text x="100" y="40" fill="#000">unlit</text>
  </svg>
</body>
"""


def test_low_contrasts_are_found_and_only_they(page: Page) -> None:
    page.set_content(TEXTS)
    assert low_contrasts(page.locator("body")) == [
        "4.48 just bad",
        "2.85 faint",
        "2.85 mixed",
        "1.00 night",
        "2.32 typed",
        "1.00 unlit",
    ]


def test_requests_to_other_machines_and_errors_are_seen_and_fail(page: Page, watch: Watch) -> None:
    page.set_content("<img src='https://example.org/a.png'>")
    page.evaluate("() => { setTimeout(() => { throw new Error('thrown'); }); }")
    with page.expect_console_message(lambda message: message.text == "said"):
        page.evaluate("() => setTimeout(() => console.error('said'), 50)")
    assert watch.requests == ["https://example.org/a.png"]
    assert {re.split(r" \(|\n", error)[0] for error in watch.errors} == {
        "Failed to load resource: net::ERR_NAME_NOT_RESOLVED",
        "Error: thrown",
        "said",
    }
    watch.requests.clear()
    watch.errors.clear()
