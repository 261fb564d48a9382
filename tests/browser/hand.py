"""Drives a widget in a real browser, connected to Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Self

from playwright.sync_api import Page

from cloze.widgets.widget import Widget

# What Jupyter gives a widget: a model in step with Python, here through `window.python`.
JUPYTER = """async ([program, state, places]) => {
  const listeners = new Map();
  const tell = (event, ...said) => (listeners.get(event) ?? []).forEach((each) => each(...said));
  const changed = new Set();
  const take = (fresh) => {
    const names = Object.keys(fresh).filter(
      (name) => JSON.stringify(fresh[name]) !== JSON.stringify(state[name]));
    Object.assign(state, fresh);
    names.forEach((name) => tell(`change:${name}`));
    if (names.length) tell("change");
  };
  let waiting = 0;
  const say = async (said) => {
    if (window.broken) throw new Error("Cannot send");
    waiting += 1;
    const heard = await python(said);
    waiting -= 1;
    if (!waiting) take(heard.state); // an answer to what has changed since would take that back
    heard.messages.forEach((message) => tell("msg:custom", message));
  };
  const model = {
    get: (name) => state[name],
    set: (name, value) => { changed.add(name); take({ [name]: value }); },
    save_changes: () => {
      const changes = Object.fromEntries([...changed].map((name) => [name, state[name]]));
      changed.clear();
      if (!window.broken) window.saved = say({ changes });
    },
    on: (event, listener) => listeners.set(event, [...(listeners.get(event) ?? []), listener]),
    off: () => {},
    send: (message) => say({ message }),
  };
  window.fromPython = take;
  const url = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  const widget = (await import(url)).default();
  await widget.initialize({ model });
  window.ends = places.map((id) =>
    widget.render({ model, el: document.getElementById(id) }));
  await window.widget.settled;
}"""
ACT = """async ([action, sent]) => {
  await widget.act(action, sent);
  await window.saved;
  await widget.settled;
}"""

TELL = """async (state) => {
  fromPython(state);
  await widget.settled;
}"""


def state_of(widget: Widget) -> dict[str, Any]:
    """Return a widget's state as Jupyter sends it."""
    names = [name for name in widget.keys if not name.startswith("_") and name != "layout"]
    return dict(json.loads(json.dumps(widget.get_state(names))))


class Hand:
    """What a learner does to a widget, and what comes of it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.widget: Widget
        self.messages: list[Any] = []
        page.expose_function("python", self._hear)

    def __repr__(self) -> str:
        return repr(self.widget)

    def take(self, widget: Widget, places: Sequence[str] = ()) -> Self:
        """Take a widget in hand.

        Args:
            widget: what is driven from now on.
            places: the ids of the elements of the page in which it is shown.
        """
        self.widget = widget
        widget.send = self.messages.append
        # The program keeps its widget to itself.
        program = str(widget._esm).replace("widget = new", "widget = window.widget = new")
        self.page.evaluate(JUPYTER, [program, state_of(self.widget), places])
        return self

    def act(self, action: str, /, **sent: object) -> None:
        """Do what a click does, and wait until Python knows of it."""
        self.page.evaluate(ACT, [action, sent])

    def tell(self, **traits: object) -> None:
        """Set traits in Python, one after the other, and let the browser know of all changes."""
        for name, value in traits.items():
            setattr(self.widget, name, value)
        self.page.evaluate(TELL, state_of(self.widget))

    @property
    def html(self) -> str:
        """The markup as it is now."""
        return str(self.page.evaluate("widget.html"))

    @property
    def problem(self) -> str:
        """What went wrong in the last action, in words."""
        return str(self.page.evaluate("widget.problem"))

    def _hear(self, said: Any) -> dict[str, object]:
        self.messages.clear()
        if "message" in said:
            self.widget._receive(self.widget, said["message"], [])
        else:
            self.widget.set_state(said["changes"])
        return {"state": state_of(self.widget), "messages": json.loads(json.dumps(self.messages))}
