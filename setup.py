"""What pyproject.toml cannot say: a wheel carries ``data/`` inside the package.

In a checkout it stands beside ``src/``, where it is easy to find; an installed package has no such
neighbour. ``cloze.corpus.data_folder`` finds it in both places.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithData(build_py):
    """Copy the data of the series into the package, unless it is installed to be edited."""

    def run(self) -> None:
        """Build the package, then copy."""
        super().run()
        if not self.editable_mode:
            shutil.copytree("data", Path(self.build_lib) / "cloze" / "data", dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithData})
