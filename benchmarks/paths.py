"""Paths named on the command line, refused before an hour is spent on what they cannot hold."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path


def to_write(suffix: str) -> Callable[[str], Path]:
    """Return what reads the path of a file to write, for argparse's ``type``.

    It raises argparse.ArgumentTypeError where the folder does not exist or the file's name does not
    end with ``suffix``.
    """

    def read(text: str) -> Path:
        path = Path(text)
        if path.suffix != suffix:
            raise argparse.ArgumentTypeError(f"{path} does not end with {suffix}")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
        return path

    return read
