"""Compile the engine: ``python -m web.engine.build`` writes engine.wasm beside engine.c.

Only who changes engine.c needs it, and ziglang, a C compiler from the package index (`pip install
ziglang==0.17.1`, 411 MB unpacked). The compiled module is committed, and the same compiler makes
the same bytes of it everywhere.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCE, MODULE = HERE / "engine.c", HERE / "engine.wasm"
COMPILE = [
    "cc", "--target=wasm32-freestanding", "-O3", "-msimd128", "-mbulk-memory", "-ffp-contract=off",
    "-Wall", "-Wextra", "-Werror", "-nostdlib",
    "-Wl,--no-entry", "-Wl,--strip-all", "-Wl,-z,stack-size=65536",
]  # fmt: skip


def compiled(to: Path = MODULE) -> Path:
    """Compile engine.c.

    Raises:
        subprocess.CalledProcessError: it has a mistake, or ziglang is not installed.
    """
    command = [sys.executable, "-m", "ziglang", *COMPILE, "-o", str(to), SOURCE.name]
    subprocess.run(command, cwd=HERE, check=True)  # noqa: S603 - our own compiler and file
    return to


if __name__ == "__main__":
    compiled()
