"""What all widgets share in Python: their state, answers to what the browser asks, and a repr.

A widget's look and its actions are one JavaScript file: in ``browser``, or beside its Python file.
A style sheet beside it is found and needs no mention. A widget's state is in
the traits that are synchronised: when one side changes a trait, the other side follows. What only
Python knows, JavaScript asks for: ``ask("predict", {line})`` calls ``answer_predict(line)`` here.
"""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path
from typing import Any, Self

import anywidget
import traitlets
from IPython.display import display
from markupsafe import Markup

from cloze.teaching import palette
from cloze.widgets import modules
from cloze.widgets.markup import ASLEEP, BROWSER, alive, element

PACKAGE = BROWSER.parents[1]


@cache
def programs() -> dict[str, str]:
    """Return the text of all modules of the widgets by the path of their file in the package."""
    texts = {
        path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8")
        for path in sorted(PACKAGE.rglob("*.js"))
    }
    return texts | {"explorer/views.js": views()}


def views() -> str:
    """Write the module that names the explorer's views: what is in the folder ``views``."""
    names = sorted(path.stem for path in (PACKAGE / "explorer" / "views").glob("*.js"))
    imports = [f'import {name} from "./views/{name}.js";\n' for name in names]
    return f"{''.join(imports)}export const VIEWS = {{ {', '.join(names)} }};\n"


def program(file: str | Path) -> str:
    """Return a widget's program for Jupyter, with all that it imports.

    Args:
        file: its path, or its name if it is in ``browser``.
    """
    return modules.widget(programs(), (BROWSER / file).relative_to(PACKAGE).as_posix())


def styles() -> str:
    """Return the style sheets of all widgets, without colours."""
    shared = BROWSER / "view.css"
    own = sorted({*PACKAGE.rglob("*.css")} - {shared})
    return "\n".join(path.read_text("utf-8") for path in (shared, *own))


class Widget(anywidget.AnyWidget):
    """A widget that lives in the browser.

    A subclass names its program, ``_esm = program("sight.js")``, and defines traits with
    ``.tag(sync=True)``. While a cell runs, clicks arrive on another thread, so hold ``lock`` to
    read or change more than one trait.
    """

    _css = f"{palette.css()}\n{styles()}"

    present = traitlets.Bool(False).tag(sync=True)
    """Whether it is written for a lecture hall: in type as large as fits its place, and without
    what only one reader needs."""

    def __init__(self, **traits: object) -> None:
        self.lock = threading.RLock()
        super().__init__(**traits)
        self.on_msg(self._receive)
        # ipykernel 7.4 hands a message to the thread that last drew the widget; when that is a cell
        # that trains, Stop would wait for its end (test_live_training). The browser chose its own.
        self.comm._reply_subshell_for = lambda _, chosen: chosen

    def presented(self) -> Self:
        """Write for a lecture hall from now on, and return the widget, for a cell to end with."""
        self.present = True
        return self

    def change(self, **traits: Any) -> None:
        """Change several traits, in one message to the browser."""
        with self.hold_sync():
            for name, value in traits.items():
                self.set_trait(name, value)

    def still(self) -> Markup | None:
        """Write what is shown where nothing runs; by default nothing."""
        return None

    def alone(self) -> dict[str, object] | None:
        """Return the state that a page without Python begins with; None where it could not answer.

        By default it is all of it, for a widget that asks Python nothing.
        """
        shared = set(Widget.class_trait_names())
        own = [name for name in self.keys if name not in shared and not name.startswith("_")]
        return dict(self.get_state(own))

    def _ipython_display_(self) -> None:
        # Two outputs: of one with both, a saved notebook would show the widget's part alone.
        bundle, metadata = self._repr_mimebundle_() or ({}, {})
        display(bundle, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
        display({"text/html": str(self.asleep())}, raw=True)  # type: ignore[no-untyped-call]

    def asleep(self) -> Markup:
        """Write what stands below the widget, for when nothing runs."""
        lives = alive(type(self).__name__, self.alone())
        return element("div", self.still(), ASLEEP, class_="cloze-asleep", **lives)

    def _receive(self, _: Any, content: dict[str, Any], __: Any) -> None:
        """Answer what the browser asks; what goes wrong is told there, in words."""
        reply = {"id": content["id"]}
        try:
            with self.lock:
                reply["answer"] = getattr(self, f"answer_{content['ask']}")(**content["sent"])
        except ValueError as error:  # ours: a sentence that says what to do
            reply["problem"] = str(error)
        except Exception as error:  # a learner's model, say: nobody above could show it
            reply["problem"] = f"{type(error).__name__}: {error}"
        self.send(reply)
