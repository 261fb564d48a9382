"""``python run.py site [folder]``: build the site and say where it is."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from cloze.files import FileError
from notebooks import colab
from web.site.build import ROOT, SiteError, build_site

UNPUBLISHED = (
    "Nothing tells where this copy is on GitHub, so no page has a link to Colab or to the project "
    "or a canonical address."
)
NOT_NAMED = "No page links to Colab before `python run.py owner {}` has written this address."


def main(arguments: list[str]) -> int:
    """Build the site into the named folder, or into ``_site``; return the exit code."""
    if len(arguments) > 1 or any(name.startswith("-") for name in arguments):
        print("The site takes one thing at most, the folder to build it in; the default is _site.")
        return 2
    folder = Path(arguments[0]).resolve() if arguments else ROOT / "_site"
    started = time.perf_counter()
    try:
        build_site(folder)
    except (SiteError, FileError) as error:
        print(error)
        return 1
    except OSError as error:
        print(f"{folder} cannot be written: {error.strerror or error}.")
        return 1
    files = [path for path in folder.rglob("*") if path.is_file()]
    pages = sum(path.suffix == ".html" for path in files)
    size = sum(path.stat().st_size for path in files) / 1e6
    seconds = time.perf_counter() - started
    print(f"{folder}: {pages} pages, {size:.1f} MB, in {seconds:.0f} s. To look at them:")
    print(f"  python -m http.server --bind 127.0.0.1 --directory {folder}")
    if not colab.at_home():
        print(NOT_NAMED.format(colab.here()) if colab.here() else UNPUBLISHED)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
