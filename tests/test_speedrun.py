"""The race runs a recipe and writes its row, and what is published of it is what was measured."""

import json
import re
import runpy
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree as ET

import pytest

from benchmarks import speedrun
from benchmarks.speedrun import interval, one_run
from cloze.corpus import Corpus
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.masking import held_out_batch

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ROOT / "benchmarks" / "recipes"
UNTRAINED = '''"""Learns nothing."""
from cloze.heads import MaskedLM

def train(race):
    for used in race.until(1e-4):
        assert 0 <= used < 1
    return MaskedLM()
'''

RECORDS = (ROOT / "benchmarks" / "records.json").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    whole = Corpus.load()
    return Corpus(whole.train[:8], whole.held_out[:1])


def test_a_run_is_kept_and_written(
    corpus: Corpus,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Corpus, "load", lambda: corpus)
    monkeypatch.setitem(speedrun.GOALS, "1.3", 9.0)
    recipe, results, picture = (tmp_path / name for name in ("mine.py", "runs.json", "mine.svg"))
    recipe.write_text(UNTRAINED)
    words = [str(recipe), "--tracks", "1.3", "0.9", "--seeds", "1", "--results", str(results)]
    speedrun.main([*words, "--picture", str(picture)])
    *_, row = capsys.readouterr().out.splitlines()
    assert re.fullmatch(
        r"\| mine \| Learns nothing\. \| 0\.0\d+ \(n = 1\) \| — \| +\| [\d-]+ \|", row
    )
    assert ET.parse(picture).getroot().tag.endswith("svg")
    monkeypatch.setattr(speedrun, "one_run", None)  # what is kept is not run again
    speedrun.main(words)
    assert row in capsys.readouterr().out


def test_nats_are_those_of_the_series_and_what_is_late_or_large_does_not_count(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = MaskedLM()
    nats = held_out_loss(model, held_out_batch(corpus.held_out_windows()))
    assert one_run(lambda _: model, corpus, "minute", 0) == pytest.approx(nats, abs=1e-4)
    with monkeypatch.context() as patch:
        patch.setattr(speedrun.Race, "used", lambda _: 1.01)
        assert one_run(lambda _: model, corpus, "minute", 0) is None
    monkeypatch.setattr(speedrun, "MOST_PARAMETERS", 1000)
    with pytest.raises(ValueError, match="1,000 are allowed"):
        one_run(lambda _: model, corpus, "minute", 0)


@pytest.mark.parametrize("name", ["textbook", "modernbert"])
def test_other_peoples_models_have_our_size(name: str) -> None:
    if name == "modernbert":
        pytest.importorskip("transformers")
    model = runpy.run_path(str(RECIPES / f"{name}.py"))["Model"]()
    size = sum(p.numel() for p in MaskedLM().parameters())
    assert sum(p.numel() for p in model.parameters()) == pytest.approx(size, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["counts", "default", "every_letter", "modernbert", "template", "textbook"]
)
def test_every_recipe_trains_and_answers(corpus: Corpus, name: str) -> None:
    recipe = runpy.run_path(str(RECIPES / f"{name}.py"))
    recipe.get("MINUTES", {})["minute"] = 0.01
    nats = one_run(recipe["train"], corpus, "minute", 0)
    assert nats is not None
    assert nats < 5


def test_interval() -> None:
    assert interval([0.1, 0.2, 0.3]) == "0.200 ± 0.248 (n = 3)"
    assert interval([1.0] * 5) == "1.000 ± 0.000"
    assert interval([0.1]) == "0.100 (n = 1)"
    assert interval([0.1, None]) == "—"


def test_the_published_table_is_that_of_the_file() -> None:
    written = json.loads(RECORDS)
    text = (ROOT / "benchmarks" / "RECORDS.md").read_text(encoding="utf-8")
    assert speedrun.table(written) in text


def test_the_readme_quotes_the_records() -> None:
    results = speedrun.by_track(json.loads(RECORDS))
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())

    def mean(name: str, track: str = "minute") -> float:
        return fmean(filter(None, results[name][track]))

    def times(name: str, track: str = "1.3", than: str = "default") -> float:
        return mean(name, track) / mean(than, track)

    for sentence in (
        f"**{times('modernbert'):.1f} times** less processor time than `ModernBertForMask",
        f"and **{times('modernbert_adamw'):.1f} times** less than the same with AdamW",
        f"It takes **{times('textbook'):.0f} times** less than the textbook recipe",
        f"and **{times('bert'):.0f} times** less than `BertForMaskedLM`",
        f"To 0.9 nats our recipe takes **{times('modernbert', '0.9'):.1f} times** less",
        f"takes {times('modernbert', '0.9', 'every_letter'):.1f} times less to 0.9 nats than",
        f"and pays {mean('every_letter'):.3f} nats after a minute",
        f"where our default pays {mean('default'):.3f}",
    ):
        assert sentence in readme
