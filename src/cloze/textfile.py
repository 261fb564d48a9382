"""Text files as people have them: only real files are read, and only text passes for text."""

from __future__ import annotations

import codecs
import stat
from pathlib import Path

from cloze.vocabulary import TextError, counted

MOST_BYTES = 200_000_000
"""The largest text, a file or a whole folder, that is read into memory."""
_SAVE = "open it in an editor and save it as UTF-8"
_CONTROLS = [chr(i) for i in (*range(9), *range(14, 32), *range(127, 160), 0xFFFD) if i != 0x85]


def read(path: Path, most: int = MOST_BYTES, before: int = 0) -> bytes:
    """Read a file that is one: a pipe would block, and a device would never end.

    Args:
        path: of the file.
        most: the most bytes that may be read.
        before: how many of them were read from other files.

    Raises:
        TextError: there is no such file, or it is none, too large or not readable.
    """
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise TextError(f"{path} is a folder; Corpus.load reads a folder of topics.")
        if not stat.S_ISREG(found.st_mode):
            raise TextError(f"{path} is a pipe or a device; copy its text into a file first.")
        if before + found.st_size > most:
            raise TextError(
                f"With {path} there are more than {most // 10**6} MB of text; take a part."
            )
        return path.read_bytes() if found.st_size else b""  # in /proc sizes are 0 and reads endless
    except FileNotFoundError:
        target = f"that {path} leads to" if path.is_symlink() else path
        raise TextError(f"There is no file {target}; check the path.") from None
    except OSError as error:
        raise TextError(f"{path} cannot be read: {error.strerror}.") from None


def decode(path: Path, raw: bytes) -> str:
    """Decode text in UTF-8, in UTF-16 that begins with its mark, or in Latin-1.

    Raises:
        TextError: it is empty, in another encoding, or no text at all.
    """
    if not raw.strip():
        raise TextError(f"{path} is empty; choose a file with text in it.")
    if raw.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise TextError(f"{path} is text in UTF-32; {_SAVE}.")
    try:
        if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            text = raw.decode("utf-16")
        elif b"\0" in raw:
            raise TextError(
                f"{path} is not a text file: it holds zero bytes, as pictures do, and as texts in "
                f"UTF-16 or UTF-32 without their mark do; {_SAVE}."
            )
        else:
            text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _decode_western(path, raw)
    controls = sum(map(text.count, _CONTROLS))
    if controls > len(text) / 200:
        raise TextError(
            f"{path} is not a text file: it holds {counted(controls, 'control character')}; "
            f"{_SAVE}."
        )
    return text


def _decode_western(path: Path, raw: bytes) -> str:
    """Decode Latin-1, with the quotation marks that Windows adds to it.

    Every byte would be a character of Latin-1, so text in another encoding, and any file at all,
    would pass for it. In a Western language most letters are plain.
    """
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError:
        text = ""
    if not text or len(raw) - len(raw.translate(None, bytes(range(128, 256)))) > len(raw) * 0.3:
        raise TextError(
            f"{path} is not text in UTF-8, nor in a Western European encoding (Latin-1); {_SAVE}."
        ) from None
    return text
