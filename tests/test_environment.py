"""environment.yml and pyproject.toml describe one environment, and conda can read its half."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from rattler import MatchSpec
from rattler.exceptions import InvalidMatchSpecError

ROOT = Path(__file__).resolve().parent.parent

# What PyPI calls torch, conda-forge calls pytorch; its matplotlib adds the Qt window system to the
# library, matplotlib-base is what PyPI calls matplotlib; its playwright is the one for JavaScript.
# All others have one name.
CONDA_NAMES = {
    "torch": "pytorch",
    "matplotlib": "matplotlib-base",
    "playwright": "playwright-python",
}
# conda needs to be told of the two that every virtual environment has.
ONLY_CONDA = {"python", "pip"}


def pins_of_pyproject() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = {}
    for requirement in project["dependencies"] + project["optional-dependencies"]["test"]:
        pin = re.fullmatch(r"([a-z0-9-]+)==([0-9.]+)", requirement)
        assert pin, f"not an exact pin: {requirement}"
        pins[CONDA_NAMES.get(pin[1], pin[1])] = pin[2]
    return pins


def conda_specs() -> list[str]:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    return [spec for spec in environment["dependencies"] if isinstance(spec, str)]


def name_and_version(spec: str) -> tuple[str, str]:
    parsed = MatchSpec(spec, strict=True)
    assert parsed.name is not None
    return parsed.name.normalized, str(parsed.version or "")


def test_conda_and_pip_name_the_same_packages_and_versions() -> None:
    conda = dict(map(name_and_version, conda_specs()))
    exact = {name: f"=={version}" for name, version in pins_of_pyproject().items()}
    assert {name: pin for name, pin in conda.items() if name not in ONLY_CONDA} == exact
    assert conda.keys() >= ONLY_CONDA


@pytest.mark.parametrize("spec", conda_specs())
def test_every_spec_is_strictly_valid(spec: str) -> None:
    MatchSpec(spec, strict=True)


@pytest.mark.parametrize("spec", ["numpy=>2", "pytorch=2.13.0=cpu*", "Num Py ==2.4.6 a b"])
def test_a_bad_spec_is_refused(spec: str) -> None:
    with pytest.raises(InvalidMatchSpecError):
        MatchSpec(spec, strict=True)


def test_pytorch_is_the_build_for_the_cpu() -> None:
    [pytorch] = [spec for spec in conda_specs() if spec.startswith("pytorch ")]
    assert str(MatchSpec(pytorch, strict=True).build) == "cpu*"


def test_python_is_one_that_the_package_admits_and_binder_sees() -> None:
    [python] = [spec for spec in conda_specs() if spec.startswith("python")]
    # Binder's repo2docker looks for this form and falls back to a Python of its own.
    wanted = re.fullmatch(r"python=3\.(\d+)", python)
    assert wanted
    assert int(wanted[1]) >= 11


def test_the_package_itself_is_installed_in_place() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["channels"][0] == "conda-forge"
    assert environment["dependencies"][-1] == {"pip": ["-e ."]}
