"""The browser tests' own instruments: they see what they are to see, and say when they cannot."""

from __future__ import annotations

import re

from playwright.sync_api import Page

from benchmarks.jupyter import Notebook
from tests.browser.watch import Watch, low_contrasts

TEXTS = """
<body style="background: white; color: black">
  <p>good</p>
  <p style="color: #767676">just good</p>
  <p style="color: #777777">just bad</p>
  <p style="opacity: 0.4">faint</p>
  <p style="color: rgb(0 0 0 / 40%)">thin</p>
  <p style="color: color-mix(in srgb, black 40%, white)">mixed</p>
  <div style="background: black"><p>night</p><p style="background: white">day</p></div>
  <div style="background: black; opacity: 0.5"><p style="color: white">dusk</p></div>
  <input value="typed" style="background: white; color: #aaa">
  <button disabled style="color: #aaa">off</button>
  <p style="color: #aaa; position: absolute; clip-path: inset(50%)">spoken</p>
  <p style="color: #aaa; display: none">gone</p>
  <svg width="200" height="50">
    <text x="10" y="20" fill="#999">grey</text>
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
        "2.85 thin",
        "2.85 mixed",
        "1.00 night",
        "3.98 dusk",
        "2.32 typed",
        "2.85 grey",
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


def test_a_kernel_reaches_no_network(lab: Notebook) -> None:
    lab.new("import socket; socket.create_connection(('192.0.2.1', 80), timeout=2)")
    assert "The series touches no network" in lab.run(0)
