"""Files: written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors import SafetensorError


class FileError(ValueError):
    """A file that cannot be read or written; the message says why."""


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield a unique temporary path beside ``path`` to write to, and delete it afterwards.

    Rename it to ``path`` when it is complete: whatever happens before that, the old file stays.

    Raises:
        FileError: there is no room, or no permission.
    """
    part = path.absolute().with_name(f".{secrets.token_hex(8)}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        yield part
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path!s:.200} cannot be written: {reason}.") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):
            part.unlink()


def followed(path: Path) -> Path:
    """Return where a link leads, so that its target is written and the link stays."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path
