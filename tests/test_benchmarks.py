"""Every benchmark runs in its quick mode and refuses bad arguments with a usage line."""

import pytest

from benchmarks import recipe


def test_recipe_quick(capsys: pytest.CaptureFixture[str]) -> None:
    recipe.main(["--quick", "--only", "ordinary heads"])
    _, row = capsys.readouterr().out.splitlines()
    assert row.startswith("ordinary heads")
    assert 2.0 < float(row.split()[-1]) < 8.0


def test_bad_arguments_get_a_usage_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        recipe.main(["--only", "nothing"])
    assert "usage: python -m benchmarks.recipe" in capsys.readouterr().err
