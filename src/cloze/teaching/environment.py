"""The environment check: is everything here that the series needs, and if not, what to do.

This module imports nothing but the standard library at first, so it still speaks when torch or
another package is missing.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

# Of an installed package this is no project, and no lock is there.
PROJECT = Path(str(sys.modules["cloze"].__file__)).resolve().parents[2]

OLDEST_PYTHON = (3, 11)

DISTRIBUTION = "cloze-notebooks"
"""What the package index calls the package; there, ``cloze`` belongs to somebody else."""

INSTALL = "close Jupyter and start it with `python run.py lab`, which installs what is missing"


@dataclass(frozen=True)
class Finding:
    """What one part of the check saw."""

    fine: bool
    sentence: str
    """What is there, or what is wrong and what to do."""


@dataclass(frozen=True)
class EnvironmentReport:
    """All findings. On a machine where nothing is wrong it reads the same everywhere."""

    findings: tuple[Finding, ...]

    @property
    def fine(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.fine for finding in self.findings)

    def __repr__(self) -> str:
        wrong = sum(not finding.fine for finding in self.findings)
        many = "1 thing needs" if wrong == 1 else f"{wrong} things need"
        first = f"{many} your attention:" if wrong else "Everything is in place."
        worst_first = sorted(self.findings, key=lambda finding: finding.fine)
        signs = {True: "ok ", False: "!! "}
        return "\n".join([first, *(f"  {signs[f.fine]} {f.sentence}" for f in worst_first)])


def check_environment() -> EnvironmentReport:
    """Look at Python, the packages, torch's threads, the trained model and the corpus."""
    findings = [_python(), *_packages()]
    for part in (_threads, _model, _corpus):
        try:
            findings.append(part())
        except Exception as error:  # a broken package may raise anything at all
            name = {_threads: "torch", _model: "The trained model", _corpus: "The corpus"}[part]
            findings.append(
                Finding(False, f"{name} does not load ({_first_line(error)}); {INSTALL}.")
            )
    return EnvironmentReport(tuple(findings))


def _python() -> Finding:
    oldest = ".".join(map(str, OLDEST_PYTHON))
    if tuple(sys.version_info[:2]) < OLDEST_PYTHON:
        here = ".".join(map(str, sys.version_info[:2]))
        return Finding(
            False,
            f"This is Python {here}, and the series needs {oldest} or newer; install one from "
            "https://www.python.org/downloads/ and run `python run.py lab` with it.",
        )
    return Finding(True, f"Python is {oldest} or newer.")


def required_packages() -> dict[str, str]:
    """Return the versions that the packages of the series may have, as specifiers, by name.

    In the project's folder they are those of its lock (which may be newer than what was installed),
    ``==2.4.6``; where the package was installed without the project, those of its metadata,
    ``>=2,<3``.

    Raises:
        importlib.metadata.PackageNotFoundError: the package is not installed.
    """
    read = importlib.import_module("packaging.requirements").Requirement
    lines, lock = metadata.requires(DISTRIBUTION) or [], []
    try:
        tomllib = importlib.import_module("tomllib")  # Python 3.11 has it, an older one does not
        project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
        text = (PROJECT / "requirements.lock").read_text("utf-8")
        # After each version follow its hashes, on lines that begin with a space.
        lock = [read(line.strip("\\ ")) for line in text.splitlines() if line[:1] not in "# "]
        lines = project["dependencies"]
    except (ImportError, OSError):  # no project, or no tomllib
        pass
    needed = [read(line) for line in lines]
    versions = {r.name: str(r.specifier) for r in [*needed, *lock] if not r.marker}
    return {r.name: versions[r.name] for r in needed if not r.marker}


def _packages() -> list[Finding]:
    try:
        packages = required_packages()
    except metadata.PackageNotFoundError:
        return [
            Finding(
                False,
                f"The package {DISTRIBUTION} is not installed in this Python, so the versions of "
                f"the others cannot be compared; {INSTALL}.",
            )
        ]
    within = importlib.import_module("packaging.specifiers").SpecifierSet
    wrong = []
    for name, wanted in packages.items():
        try:
            # "2.13.0+cpu", the build of 2.13.0 for the CPU, is within "==2.13.0"
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            wrong.append(Finding(False, f"The package {name} is missing; {INSTALL}."))
            continue
        if not within(wanted).contains(installed, prereleases=True):
            wrong.append(
                Finding(
                    False,
                    f"{name} {installed} is installed, and the series was made with "
                    f"{name}{wanted}: what you see may differ from what you read; {INSTALL}.",
                )
            )
    return wrong or [Finding(True, "All packages have the versions the series was made with.")]


def _threads() -> Finding:
    threads = importlib.import_module("torch").get_num_threads()
    if threads != 1:
        return Finding(
            False,
            f"torch computes with {threads} threads; results repeat exactly with one, and on a "
            "busy machine one is faster; run `torch.set_num_threads(1)`, or start Jupyter without "
            "the environment variable OMP_NUM_THREADS.",
        )
    return Finding(True, "torch computes with one thread.")


def _model() -> Finding:
    checkpoint = importlib.import_module("cloze.checkpoint")
    return _loads(checkpoint.load_model, "The trained model loads.")


def _corpus() -> Finding:
    corpus = importlib.import_module("cloze.corpus")
    return _loads(corpus.Corpus.load, "The corpus is there.")


def _loads(load: Callable[[], object], fine: str) -> Finding:
    try:
        load()
    except ValueError as error:  # TextError and CheckpointError say what is wrong
        return Finding(
            False,
            f"{_first_line(error).rstrip('.')}; a fresh copy of the folder data/ mends that "
            "(`git checkout -- data`, or download the project again).",
        )
    return Finding(True, fine)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
