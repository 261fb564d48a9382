"""No output of a notebook depends on how a processor rounds."""

import os
import subprocess
import sys

import pytest

from tests.series import LECTURES, NOTEBOOKS, ROOT

PROCESSORS = {
    "nothing special": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_CBWR": "COMPATIBLE",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
    },
    "AVX": {"MKL_CBWR": "AVX", "ONEDNN_MAX_CPU_ISA": "AVX"},
    "two threads": {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"},  # which do not spin
}
"""What has torch and its libraries round in other places.

``notebooks/conftest.py`` compares with AVX2 in every run; one thread is what all others have.
"""


@pytest.mark.slow
@pytest.mark.parametrize("settings", PROCESSORS.values(), ids=PROCESSORS)
def test_the_notebooks_give_the_same_on(settings: dict[str, str]) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", *NOTEBOOKS, *LECTURES],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout
