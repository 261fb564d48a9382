"""What all widgets share: markup that cannot be unsafe, and a view that only shows and reports.

A widget is a controller in Python. It writes its whole appearance as markup (``markup``), which
``view.js`` shows without understanding it, and has one method ``do_…`` for each thing a learner can
do. The markup names them: a button with ``data-do="toggle"`` calls ``do_toggle``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import anywidget
import traitlets
from IPython.display import display
from markupsafe import Markup

from cloze.teaching import palette
from cloze.widgets.markup import (  # noqa: F401
    ASLEEP,
    BROWSER,
    SHEETS,
    element,
    in_bits,
    in_nats,
    join,
    still_style,
)

HERE = Path(__file__).parent
LONGEST_PROBLEM = 400
"""The most characters of what went wrong that are shown."""


def style(module: str) -> str:
    """Return the style sheet of all widgets and, after it, the one beside a widget's module.

    Args:
        module: the module's ``__file__``.
    """
    own = Path(module).with_suffix(".css")
    sheets = [*(BROWSER / name for name in SHEETS), *([own] if own.exists() else [])]
    return "\n".join([palette.css(), *(sheet.read_text(encoding="utf-8") for sheet in sheets)])


def button(label: object, do: str, /, **attributes: object) -> Markup:
    """Write a button that calls ``do_…``."""
    return element("button", label, type="button", data_do=do, **attributes)


def form(do: str, /, *children: object, **attributes: object) -> Markup:
    """Write a form that calls ``do_…`` when it is submitted, and says in itself what went wrong."""
    return element("form", *children, problem_of(do), data_do=do, **attributes)


def select(label: str, do: str, /, options: Mapping[Any, object], chosen: object = None) -> Markup:
    """Write a labelled list of choices that calls ``do_…`` with the value of the chosen one.

    Args:
        label: what stands before it.
        do: the action.
        options: what is read of each, by its value.
        chosen: the value that is chosen now.
    """
    listed = (
        element("option", name, value=value, selected=value == chosen or None)
        for value, name in options.items()
    )
    return element("label", label, element("select", *listed, data_do=do))


def table_of(heads: Iterable[str], rows: Iterable[Markup], class_: str) -> Markup:
    """Write a table with a heading over each column."""
    columns = (element("th", head, scope="col") for head in heads)
    body = element("tbody", *rows)
    return element("table", element("thead", element("tr", *columns)), body, class_=class_)


def status(text: str) -> Markup:
    """Write the line that screen readers speak whenever it changes."""
    return element("p", text, role="status", class_="status")


def spoken(symbol: str) -> str:
    """Return how a screen reader is to say a symbol."""
    return {" ": "space", "\n": "new line"}.get(symbol, symbol)


def capitalised(text: str) -> str:
    """Begin with a capital and leave the rest: Bayes keeps his."""
    return text[:1].upper() + text[1:]


def problem_of(do: str) -> Markup:
    """Mark the place where a failure of ``do_…`` is told; without a mark it is told at the end."""
    return Markup("<!--{}-->").format(do)


class View(anywidget.AnyWidget):
    """A widget whose appearance is one piece of markup.

    A subclass defines ``markup`` and its ``do_…`` methods, and calls ``refresh`` when it is ready.
    What it needs of style besides stands in a file beside its module: ``_css = style(__file__)``.
    Clicks arrive on a thread of their own while a cell runs, so whatever changes or reads the
    state holds ``lock``.
    """

    # Of a module that exports a function named render, anywidget would take that for the widget's.
    _esm = (HERE / "browser/view.js").read_text("utf-8").replace("export function", "function")
    _css = style(__file__)

    html = traitlets.Unicode().tag(sync=True)
    problem = traitlets.Unicode()
    """What went wrong in the last action, in words; "" when nothing did."""
    present = traitlets.Bool(False)
    """Whether it is written for a lecture hall: in type as large as fits its place, and without
    what only one reader needs."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._acting = False
        self._done = ""
        """The last action."""
        self._shown = Markup("")
        super().__init__()
        self.on_msg(self._receive)
        # ipykernel 7.4 hands a click to the thread that last drew the widget; when that is a cell
        # that trains, Stop would wait for its end. The thread that the browser chose is its own.
        self.comm._reply_subshell_for = lambda _, chosen: chosen

    @traitlets.observe("present")
    def _set_present(self, _: Any) -> None:
        self.refresh()

    def presented(self) -> Self:
        """Write for a lecture hall from now on, and return the widget, for a cell to end with."""
        self.present = True
        return self

    def do_present(self) -> None:
        """Write for a lecture hall, or no longer; the button fills the screen as well."""
        self.present = not self.present

    def _ipython_display_(self) -> None:
        # Two outputs: of one with both, a saved notebook would show the widget's part alone.
        bundle, metadata = self._repr_mimebundle_() or ({}, {})
        display(bundle, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
        asleep = element("div", self.still(), ASLEEP, class_="cloze-asleep")
        display({"text/html": str(asleep)}, raw=True)  # type: ignore[no-untyped-call]

    def still(self) -> Markup | None:
        """Write a picture for where nothing runs; by default there is none."""
        return None

    def markup(self) -> Markup:
        """Write the widget's whole appearance."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Show the state as it is now; within an action, when that is done."""
        with self.lock:
            if self._acting:
                return
            self._shown = self.markup()
            self._write()

    def settle(self) -> None:
        """Do what takes longer, once the answer to an action is shown; by default nothing."""

    def _write(self) -> None:
        alert = element("p", self.problem or None, role="alert", class_="problem")
        place = problem_of(self._done)
        told = self._shown.replace(place, alert) if place in self._shown else self._shown + alert
        present = button("Present", "present", aria_pressed=self.present, data_full=True)
        look = "cloze present" if self.present else "cloze"
        self.html = str(element("div", present, told, class_=look))

    def act(self, do: str, /, **arguments: object) -> None:
        """Do what a click does; a failure is shown in the widget."""
        with self.lock:
            self._done = do
            self.problem = self._attempt(lambda: self._do(do, arguments))
            # When it cannot be drawn, what stood there stays, beside the reason.
            failed = self._attempt(self.refresh) or self._attempt(self.settle)
            if failed:
                self.problem = failed
                self._write()

    def _do(self, do: str, arguments: dict[str, object]) -> None:
        self._acting = True
        try:
            getattr(self, f"do_{do}")(**arguments)
        finally:
            self._acting = False

    def _attempt(self, step: Callable[[], None]) -> str:
        """Take a step and return what went wrong, in words; "" when nothing did."""
        try:
            step()
        except ValueError as error:  # ours: a sentence that says what to do
            problem = str(error)
        except Exception as error:  # a learner's model, say: nobody above could show it
            problem = f"{type(error).__name__}: {error}"
        else:
            return ""
        return problem if len(problem) <= LONGEST_PROBLEM else f"{problem[:LONGEST_PROBLEM]} …"

    def _receive(self, _: Any, content: dict[str, Any], __: Any) -> None:
        arguments = {key: value for key, value in content.items() if key != "do"}
        self.act(str(content.get("do")), **arguments)
