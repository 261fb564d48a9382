"""The notebooks in the environments of others: Colab's, the oldest, the newest, VS Code's.

``python -m benchmarks.environments colab`` makes one of them with uv, executes the notebooks in
kernels of it, and prints for each its seconds and what went wrong. What is installed is the last
commit. It needs a package index, and on Linux some 6 GB, since that index has PyTorch with CUDA.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from packaging.requirements import Requirement

from notebooks import colab
from notebooks.execute import reason

ROOT = Path(__file__).resolve().parent.parent
SERIES = sorted((ROOT / "notebooks").glob("*.ipynb"))
KERNEL = "elsewhere"
PUBLISHED = "somebody/cloze"
"""Where the notebooks believe to be published."""
REQUIRED: list[str] = colab.project()["dependencies"]
COLAB = ["ipykernel==6.17.1", "ipython==7.34.0", "ipywidgets==7.7.1", "numpy==2.1.3"]
COLAB += ["torch==2.11.*", "traitlets==5.7.1"]
"""What Colab published in August 2026 that it had; the notebook's own cell asks for the rest."""
SAID = ("anywidget", "ipykernel", "ipython", "ipywidgets", "jupyterlab", "numpy", "torch")
"""The packages whose versions are printed."""
COLAB_MODULE = """\
import sys
from types import SimpleNamespace

output = SimpleNamespace(enable_custom_widget_manager=lambda: None)
sys.modules["google.colab"] = SimpleNamespace(output=output)
"""


class Environment(NamedTuple):
    """What is installed before a notebook runs.

    Attributes:
        python: its version, which has to be on this machine.
        requirements: as pip writes them.
        resolution: which of the versions that they admit.
    """

    python: str
    requirements: list[str]
    resolution: str = "highest"


ENVIRONMENTS = {
    "colab": Environment("3.13", COLAB),
    "oldest": Environment("3.11", REQUIRED, "lowest-direct"),
    "newest": Environment("3.13", REQUIRED),
    "vscode": Environment("3.12", [r for r in REQUIRED if Requirement(r).name != "jupyterlab"]),
}


def uv(*words: str) -> str:
    """Run uv, and return what it writes."""
    command = [sys.executable, "-m", "uv", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - ours
    return done.stdout


def make(name: str, folder: Path) -> str:
    """Make an environment in a folder, and a kernel of it; return its Python."""
    chosen = ENVIRONMENTS[name]
    venv = folder / "venv"
    python = str(venv / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))
    install = ["pip", "install", "--quiet", "--python", python]
    uv("venv", "--quiet", "--seed", "--python", chosen.python, str(venv))
    uv(*install, "--resolution", chosen.resolution, *chosen.requirements)
    if name == "colab":  # where the notebook's first cell does it
        startup = folder / "ipython" / "profile_default" / "startup"
        startup.mkdir(parents=True)
        (startup / "colab.py").write_text(COLAB_MODULE, encoding="utf-8")
    else:
        uv(*install, "--no-deps", f"git+{ROOT.as_uri()}")
    kernel = folder / "kernels" / KERNEL / "kernel.json"
    kernel.parent.mkdir(parents=True)
    argv = [python, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "--log-level=ERROR"]
    argv += ["-f", "{connection_file}"]
    told = {"argv": argv, "display_name": name, "language": "python"}
    kernel.write_text(json.dumps(told), encoding="utf-8")
    return python


def run(path: Path, folder: Path) -> str:
    """Execute a notebook, far from the project's files; return what went wrong, if anything."""
    notebook = colab.with_colab(nbformat.read(path, as_version=4), path.name, PUBLISHED)
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        "TQDM_DISABLE": "1",
        "IPYTHONDIR": str(folder / "ipython"),
        # The cell for Colab takes the project from its address, which here is this folder.
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{ROOT.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": colab.GITHUB + PUBLISHED,
    }
    client = NotebookClient(
        notebook, timeout=1200, kernel_name=KERNEL, resources={"metadata": {"path": str(folder)}}
    )
    try:
        client.execute(env=environment)
    except Exception as error:
        return reason(error)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    warned = "".join(output.text for output in outputs if output.get("name") == "stderr")
    return f"warns: {warned.splitlines()[0]}" if warned else ""


def versions(name: str, python: str) -> str:
    """Say which versions an environment has of what matters most."""
    frozen = uv("pip", "freeze", "--quiet", "--python", python).splitlines()
    packages = (line for line in frozen if line.partition("==")[0] in SAID)
    return ", ".join([f"Python {ENVIRONMENTS[name].python}", *packages])


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; return how many notebooks failed."""
    parser = argparse.ArgumentParser(description="Execute the notebooks in another environment.")
    parser.add_argument("environment", choices=ENVIRONMENTS)
    parser.add_argument("--only", default="", help="the notebooks with this in their names")
    chosen = parser.parse_args(arguments)
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        try:
            python = make(chosen.environment, folder)
        except subprocess.CalledProcessError:
            parser.exit(1, "The environment could not be made: uv says above why.\n")
        os.environ["JUPYTER_PATH"] = temporary
        print(f"| {chosen.environment} | s | |\n| --- | --- | --- |", flush=True)
        for path in SERIES:
            if chosen.only in path.stem:
                started = time.perf_counter()
                said = run(path, folder)
                failed += bool(said) and not said.startswith("warns: ")
                print(f"| {path.stem} | {time.perf_counter() - started:.0f} | {said} |", flush=True)
        print(f"\n{versions(chosen.environment, python)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
