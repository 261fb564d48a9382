"""Lab: the series in JupyterLab: ``python run.py lab`` in a checkout, ``cloze lab`` elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
NOTEBOOKS = next(
    folder / "notebooks"
    for folder in (PACKAGE, PACKAGE.parents[1])
    if (folder / "notebooks").is_dir()
)
"""The notebooks and their pages: inside an installed package, and beside ``src/`` in a checkout."""

SETTINGS = PACKAGE / "serving" / "settings"

OPTIONS = (
    "--LabApp.extension_manager=readonly",  # which would list what a network has to offer
    # Nothing asks the network and nothing asks the learner, who would be asked at the first start.
    f"--LabApp.app_settings_dir={SETTINGS}",
    "--LabApp.custom_css=True",  # which keeps lines of prose short on a wide screen
    f"--ServerApp.tornado_settings=static_custom_path={SETTINGS}",
    # Otherwise a click soon after another waits some 30 ms for the network's acknowledgement.
    "--ServerApp.kernel_websocket_connection_class=cloze.serving.server.PromptConnection",
    "--ServerApp.contents_manager_class=cloze.serving.server.Notebooks",
    "--allow-root",  # as one often is in a container; the server listens to this machine only
)
"""What JupyterLab is started with, wherever the notebooks are."""


def lay_out(folder: Path) -> list[str]:
    """Copy the notebooks and the pages beside them into a folder.

    Returns:
        The names of the files that were there before and are different; they stay as they were.

    Raises:
        ValueError: the folder cannot be written to.
    """
    kept = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for source in (*NOTEBOOKS.glob("*"), *NOTEBOOKS.glob("images/*")):
            name = source.relative_to(NOTEBOOKS)
            target = folder / name
            if source.suffix not in (".ipynb", ".md", ".png", ".svg"):
                continue
            if not target.exists():
                target.parent.mkdir(exist_ok=True)
                shutil.copyfile(source, target)
            elif target.read_bytes() != source.read_bytes():
                kept.append(str(name))
    except OSError as error:
        raise ValueError(
            f"The notebooks cannot be copied to {folder} ({error.strerror}): name another folder."
        ) from None
    return kept


def start(folder: Path, arguments: list[str]) -> None:
    """Run JupyterLab on the notebooks in a folder until it is stopped.

    Args:
        folder: which :func:`lay_out` has filled, or the checkout's own.
        arguments: more of them, for JupyterLab.
    """
    from jupyterlab.labapp import main

    root, first = folder.resolve(), "00_start_here.ipynb"
    if root == NOTEBOOKS:  # a checkout has more to look at
        root, first = root.parent, f"{root.name}/{first}"
    main(
        [
            f"--ServerApp.root_dir={root}",
            f"--LabApp.default_url=/lab/tree/{first}",
            *OPTIONS,
            *arguments,
        ]
    )
