"""Optional packages: a sentence when they are missing, and ``transformers`` without its notices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata


def need(what: str, **least: int) -> None:
    """Ask for packages that are missing, or older than a major version.

    Args:
        what: what needs them, to begin the sentence with.
        least: the major version of each, 0 for any.

    Raises:
        ValueError: one of them is missing.
    """
    missing = []
    for name, major in least.items():
        try:
            recent = int(metadata.version(name).partition(".")[0]) >= major
        except metadata.PackageNotFoundError:
            recent = False
        if not recent:
            missing.append(f'"{name}>={major}"' if major else name)
    if missing:
        raise ValueError(
            f"{what} needs packages that are not installed: "
            f"`pip install {' '.join(missing)}` brings them."
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Keep ``transformers`` from showing its progress and what it thinks of a file."""
    from transformers.utils import logging as notices

    shown, verbosity = notices.is_progress_bar_enabled(), notices.get_verbosity()
    notices.disable_progress_bar()
    notices.set_verbosity_error()
    try:
        yield
    finally:
        notices.set_verbosity(verbosity)
        if shown:
            notices.enable_progress_bar()
