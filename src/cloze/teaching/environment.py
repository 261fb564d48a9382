"""The environment check: are the needed packages installed, in the right versions?"""

from __future__ import annotations

from importlib import metadata

from packaging.requirements import Requirement

DISTRIBUTION = "cloze-notebooks"
"""The package's name on the package index, where ``cloze`` belongs to somebody else."""


def check_environment() -> None:
    """Print what is missing or has the wrong version, or that everything is in place."""
    problems = []
    for package in map(Requirement, metadata.requires(DISTRIBUTION) or []):
        if package.marker:  # needed by an extra
            continue
        try:
            version = metadata.version(package.name)
        except metadata.PackageNotFoundError:
            problems.append(f"{package} is missing.")
            continue
        if not package.specifier.contains(version, prereleases=True):
            problems.append(f"{package} is needed, and {version} is installed.")
    if problems:
        problems.append("Close Jupyter and start it with `python run.py lab`, which installs them.")
    print("\n".join(problems) or "Everything is in place.")
