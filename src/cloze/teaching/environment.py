"""The environment check: is everything here that the series needs, and if not, what to do.

It imports the rest only when it is called, so it still speaks when torch or another package is
broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata

DISTRIBUTION = "cloze-notebooks"
"""What the package index calls the package; there, ``cloze`` belongs to somebody else."""

INSTALL = "close Jupyter and start it with `python run.py lab`, which installs what is missing"


@dataclass(frozen=True)
class EnvironmentReport:
    """What needs attention: a sentence for each thing, none where all is in place."""

    problems: tuple[str, ...]

    def __repr__(self) -> str:
        if not self.problems:
            return (
                "Everything is in place: the packages, one thread for torch, the trained model, "
                "and the corpus."
            )
        n = len(self.problems)
        head = "1 thing needs" if n == 1 else f"{n} things need"
        return "\n".join([f"{head} your attention:", *(f"  {each}" for each in self.problems)])


def check_environment() -> EnvironmentReport:
    """Look at the packages, torch's threads, the trained model and the corpus."""
    problems = [*_packages()]
    for what, look in {
        "torch": _threads,
        "The trained model": _model,
        "The corpus": _corpus,
    }.items():
        try:
            look()
        except ValueError as error:  # ours say what to do
            problems.append(str(error))
        except Exception as error:  # a broken package may raise anything at all
            first = (str(error).splitlines() or [type(error).__name__])[0]
            problems.append(f"{what} does not load ({first}); {INSTALL}.")
    return EnvironmentReport(tuple(problems))


def _packages() -> Iterator[str]:
    """Compare the packages that are installed with the ranges that the series asks for."""
    from packaging.requirements import Requirement

    try:
        needed = [Requirement(line) for line in metadata.requires(DISTRIBUTION) or []]
    except metadata.PackageNotFoundError:
        yield f"The package {DISTRIBUTION} is not installed in this Python; {INSTALL}."
        return
    for package in needed:
        if package.marker:  # of an extra
            continue
        try:
            installed = metadata.version(package.name)
        except metadata.PackageNotFoundError:
            yield f"The package {package.name} is missing; {INSTALL}."
            continue
        if not package.specifier.contains(installed, prereleases=True):
            yield (
                f"{package.name} {installed} is installed, and the series needs "
                f"{package.name} {package.specifier}; {INSTALL}."
            )


def _threads() -> None:
    import torch

    if torch.get_num_threads() != 1:
        raise ValueError(
            f"torch computes with {torch.get_num_threads()} threads; results repeat exactly with "
            "one, and on a busy machine one is faster; run `torch.set_num_threads(1)`, or start "
            "Jupyter without the environment variable OMP_NUM_THREADS."
        )


def _model() -> None:
    from cloze.checkpoint import load_model

    _loads(load_model)


def _corpus() -> None:
    from cloze.corpus import Corpus

    _loads(Corpus.load)


def _loads(load: Callable[[], object]) -> None:
    try:
        load()
    except ValueError as error:
        raise ValueError(
            f"{str(error).rstrip('.')}; a fresh copy of the folder data/ mends that "
            "(`git checkout -- data`, or download the project again)."
        ) from None
