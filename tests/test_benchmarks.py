"""Every benchmark runs in its quick mode and refuses bad arguments with a usage line."""

from types import ModuleType

import pytest

from benchmarks import latency, recipe
from tests.browser import jupyter


def test_recipe_quick(capsys: pytest.CaptureFixture[str]) -> None:
    recipe.main(["--quick", "--only", "ordinary heads"])
    _, row = capsys.readouterr().out.splitlines()
    assert row.startswith("ordinary heads")
    assert 2.0 < float(row.split()[-1]) < 8.0


@pytest.mark.skipif(not jupyter.chromium(), reason=jupyter.NO_CHROMIUM)
def test_latency_quick(capsys: pytest.CaptureFixture[str]) -> None:
    latency.main(["--quick"])
    rows = capsys.readouterr().out.splitlines()[-4:]
    for row, widget in zip(rows, sorted([*latency.WIDGETS] * 2), strict=True):
        assert row.startswith(f"run.py lab    {widget}")
        html, slow_html, frame, slow_frame = map(int, row.split()[-4:])
        assert 0 < html <= slow_html <= slow_frame < 10_000
        assert html <= frame <= slow_frame


@pytest.mark.parametrize(
    ("benchmark", "arguments"), [(recipe, ["--only", "nothing"]), (latency, ["--clicks", "1"])]
)
def test_bad_arguments_get_a_usage_line(
    benchmark: ModuleType, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        benchmark.main(arguments)
    assert f"usage: python -m {benchmark.__name__}" in capsys.readouterr().err
