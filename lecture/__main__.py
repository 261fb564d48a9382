"""``python -m lecture [60|90] [arguments]``: show a lecture; ``python run.py lecture`` runs this.

``--votes`` lets the room vote by phone, and ``--votes=ADDRESS`` or ``--votes=ADDRESS:PORT`` says at
which address of this computer. All other arguments are Voilà's, e.g. ``--no-browser --port 9999``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LECTURES = ("60", "90")
"""Minutes; the first is shown when none is named."""
VOTES = "--votes"
OPTIONS = (
    "--template=lecture",  # voila/templates/lecture, found through JUPYTER_PATH
    "--Voila.auto_token=True",  # the address that opens has it; no other page can send anything
    "--Voila.kernel_websocket_connection_class=cloze.serving.server.PromptConnection",
)


def voila_arguments(arguments: list[str]) -> list[str]:
    """Write what Voilà is started with; the user's arguments come last.

    Raises:
        ValueError: there is no lecture of so many minutes.
    """
    named = bool(arguments) and not arguments[0].startswith("-")
    minutes = arguments[0] if named else LECTURES[0]
    if minutes not in LECTURES:
        raise ValueError(f"There are lectures of 60 and of 90 minutes, not of {minutes}.")
    return [str(HERE / f"{minutes}_minutes.ipynb"), *OPTIONS, *arguments[named:]]


def split(arguments: list[str]) -> tuple[str | None, list[str]]:
    """Take ``--votes`` from the arguments: where phones vote (None for nowhere), and the others."""
    wanted = [each for each in arguments if each.partition("=")[0] == VOTES]
    others = [each for each in arguments if each not in wanted]
    return wanted[-1].partition("=")[2] if wanted else None, others


def main() -> None:
    """Show the lecture until it is stopped."""
    where, arguments = split(sys.argv[1:])
    try:
        arguments = voila_arguments(arguments)
    except ValueError as error:
        sys.exit(str(error))
    found = (str(HERE), os.environ.get("JUPYTER_PATH", ""))
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, found))
    sys.path.insert(0, str(HERE.parent))  # this may have been started from anywhere
    from lecture.server import Lecture

    Lecture.launch_instance(arguments, where=where)


if __name__ == "__main__":
    main()
