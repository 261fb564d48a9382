"""The site as `python run.py site` builds it, for the tests of its files and of its looks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build(folder: Path) -> None:
    """Build the site in a process of its own; Sphinx and its warnings stay out of this one."""
    result = subprocess.run(
        [sys.executable, "-m", "web.site", str(folder)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert result.returncode == 0, result.stdout
    assert result.stdout.startswith(f"{folder}: ")
    assert len(result.stdout.splitlines()) == 2, "no warnings"
