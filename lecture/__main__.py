"""``python -m lecture [60|90] [arguments]``: show a lecture; ``python run.py lecture`` runs this.

All other arguments are Voilà's, e.g. ``--no-browser --port 9999``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LECTURES = ("60", "90")
"""Minutes; the first is the default."""
OPTIONS = (
    "--template=lecture",  # voila/templates/lecture, found through JUPYTER_PATH
    "--Voila.auto_token=True",  # the address that opens has it; no other page can send anything
    "--Voila.kernel_websocket_connection_class=cloze.serving.server.PromptConnection",
)


def voila_arguments(arguments: list[str]) -> list[str]:
    """Return the arguments for Voilà, the user's last.

    Raises:
        ValueError: there is no lecture of this length.
    """
    named = bool(arguments) and not arguments[0].startswith("-")
    minutes = arguments[0] if named else LECTURES[0]
    if minutes not in LECTURES:
        raise ValueError(f"There are lectures of 60 and of 90 minutes, not of {minutes}.")
    return [str(HERE / f"{minutes}_minutes.ipynb"), *OPTIONS, *arguments[named:]]


def project_address() -> dict[str, dict[str, str]]:
    """Return the project's address and its QR code for the last screen, or nothing."""
    import segno

    from notebooks.colab import GITHUB, here

    if not here():
        return {}
    address = GITHUB + here()
    code = segno.make(address, error="m", micro=False).svg_inline(omitsize=True, border=4)
    return {"home": {"address": address, "code": code}}


def main() -> None:
    """Show the lecture until it is stopped."""
    try:
        arguments = voila_arguments(sys.argv[1:])
    except ValueError as error:
        sys.exit(str(error))
    paths = (str(HERE), os.environ.get("JUPYTER_PATH", ""))
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, paths))
    sys.path.insert(0, str(HERE.parent))  # this may have been started from anywhere
    from traitlets.config import Config
    from voila.app import Voila

    config = Config(VoilaConfiguration={"resources": project_address()})
    Voila.launch_instance(arguments, config=config)


if __name__ == "__main__":
    main()
