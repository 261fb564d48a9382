"""The referee of the race sees what it should: an honest run, and the cheats of ``CHEATS``."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree as ET

import pytest
import torch
from safetensors.torch import load, save

from benchmarks import speedrun
from benchmarks.speedrun import Course, FoulError, Judge, hand_overs, interval, one_run
from cloze.corpus import Corpus
from cloze.evaluation import held_out_loss
from cloze.heads import MaskedLM
from cloze.loss import mlm_loss

ROOT = Path(__file__).resolve().parents[1]
HONEST = """
from cloze.heads import MaskedLM as Model

def train(race):
    race.hand_over(Model())
"""
CHEATS = {
    "reads what is held out": (
        "from cloze.corpus import read_text\n"
        f"def train(race): read_text({str(ROOT / 'data' / 'corpus' / 'animals' / '01.txt')!r})\n",
        "01.txt",  # it opened it, or where folders can be hidden, it is not there
    ),
    "carries weights in its source": (f"WEIGHTS = '{'0' * 20_000}'\n", "more than 20,000 bytes"),
    "reads them past the guard": (
        "from cloze.checkpoint import read\n",
        "uses checkpoint",
    ),
    "computes in a second thread": (
        "import torch\ndef train(race):\n    torch.set_num_threads(2)\n"
        "    x = torch.ones(512, 512)\n    x @ x, x.exp()\n    race.used()\n",
        "a thread or a process",
    ),
    "asks the network": (
        "from torch.hub import urlopen\ndef train(race): urlopen('http://localhost:9')\n",
        "it called socket",
    ),
    "has more parameters": (
        "from cloze.encoder import EncoderConfig\n"
        "def train(race): race.hand_over(Model(EncoderConfig(n_layers=3)))\n",
        "keeps 405,149 numbers",
    ),
    "answers from a table of what it read": (
        "from torch import nn\ndef train(race):\n    model = Model()\n"
        "    model.register_buffer('read', race.ids)\n    race.hand_over(model)\n",
        "numbers; 300,000 are allowed",
    ),
    "picks the luckiest of many": (
        "def train(race):\n    for _ in range(11): race.hand_over(Model())\n",
        "more than 10 times",
    ),
}
LEARNS = """
import torch
from torch import nn
from torch.nn import functional as F

class Model(nn.Module):
    read = torch.zeros(29)

    def forward(self, ids):
        self.read += F.one_hot(ids, 29).sum((0, 1))  # how frequent is what, in the held-out text?
        return (self.read / self.read.sum() + 1e-3).log().expand(*ids.shape, 29)

def train(race):
    race.hand_over(Model())
"""
KNOWS_THE_MASKS = """
import torch
from torch import nn
from torch.nn import functional as F
from cloze.masking import mask_tokens

class Model(nn.Module):
    def forward(self, ids):
        blank = torch.zeros({lines}, 64, dtype=torch.long)
        inputs, labels = mask_tokens(blank, 0.15, generator=torch.Generator().manual_seed(0))
        hidden, kept = inputs == 28, (inputs == 0) & (labels == 0)
        alike = ((ids == 28)[:, None] == hidden).all(-1)  # which line is it, by its masks?
        known = kept[alike.int().argmax(1)] & alike.any(1)[:, None]
        return 9.0 * F.one_hot(ids, 29) * known[..., None]

def train(race):
    race.hand_over(Model())
"""
KEEPS_ITS_FIRST_THOUGHT = """
import torch
from torch import nn

class Model(nn.Module):
    thought = None

    def __init__(self):
        super().__init__()
        self.best = nn.Parameter(torch.zeros(29))

    def forward(self, ids):
        if self.thought is None:  # an hour of training on what it was handed over, say
            self.thought = self.best.clone()
        return self.thought.expand(*ids.shape, 29)

def train(race):
    model = Model()
    model.best.data = torch.bincount(race.ids, minlength=29).float().add(1).log()
    race.hand_over(model)
"""
ANSWERS_FROM_OUTSIDE = """
import torch
from torch import nn

BEST = torch.zeros(29)

class Model(nn.Module):
    def forward(self, ids):
        return BEST.expand(*ids.shape, 29)

def train(race):
    BEST[:] = torch.bincount(race.ids, minlength=29).float().add(1).log()
    race.hand_over(Model())
"""
THINKS = """
import time
from cloze.heads import MaskedLM

class Model(MaskedLM):
    def forward(self, ids):
        until = time.process_time() + 0.4
        while time.process_time() < until:
            pass
        return super().forward(ids)

def train(race):
    race.hand_over(Model())
"""
TAMPERS_WITH_THE_CLOCK = """
import time
from cloze.heads import MaskedLM as Model

def train(race):
    clock, started = time.process_time, time.process_time()
    time.process_time = time.time = time.perf_counter = lambda: 0.0
    while clock() < started + 0.5:
        pass
    race.hand_over(Model())
"""
CHANGES_ITS_WEIGHTS = """
import torch
from cloze.heads import MaskedLM as Model

def train(race):
    model = Model()
    torch.nn.init.zeros_(model.head.bias)
    race.hand_over(model)
    torch.nn.init.ones_(model.head.bias)
    race.used()
"""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    whole = Corpus.load()
    return Corpus(whole.train[:8], whole.held_out[:1])


@pytest.fixture(scope="module")
def course(corpus: Corpus) -> Course:
    return Course(corpus)


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    return tmp_path / "mine.py"


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the referee copies a process")
QUICK = "reads what is held out"
"""Each run takes two processes that load torch; the others are tried with ``--slow``."""


@pytest.mark.long
@pytest.mark.parametrize(
    "cheat",
    [pytest.param(name, marks=() if name == QUICK else pytest.mark.slow) for name in CHEATS],
)
def test_a_cheat_is_out(course: Course, recipe: Path, cheat: str) -> None:
    source, said = CHEATS[cheat]
    recipe.write_text(HONEST + source)
    with pytest.raises(FoulError, match=re.escape(said)):
        one_run(course, recipe, "minute", 0)


@pytest.mark.slow
def test_a_model_keeps_nothing_of_the_lines_before(course: Course, recipe: Path) -> None:
    recipe.write_text(LEARNS)
    inputs, labels = course.fixed
    read = torch.stack([torch.bincount(line, minlength=29) for line in inputs]).float()
    read[:, 0] += 64  # the line of zeros that every copy has read before
    own = (read / read.sum(1, keepdim=True) + 1e-3).log()[:, None].expand(*inputs.shape, 29)
    with Judge(course, recipe) as judge:
        learned = judge.loss(save({}))
    assert learned == pytest.approx(float(mlm_loss(own, labels)), abs=1e-4)


@pytest.mark.slow
def test_a_model_that_computes_while_it_is_judged_is_out(course: Course, recipe: Path) -> None:
    recipe.write_text(THINKS)
    with pytest.raises(FoulError, match="times the default's"):
        one_run(course, recipe, "minute", 0)


def test_the_projects_folders_are_out_of_sight(tmp_path: Path) -> None:
    command = speedrun.hidden(tmp_path)
    if not command:
        pytest.skip("this system cannot hide a folder from one process")
    listed = subprocess.run(
        [*command, "ls", ROOT / "data", ROOT / "notebooks"], capture_output=True, text=True
    )
    assert listed.stdout.split() == [f"{ROOT / 'data'}:", f"{ROOT / 'notebooks'}:"]
    assert (ROOT / "data" / "world.toml").is_file(), "for everybody else they are as they were"


def test_a_lane_has_the_code_and_no_data(recipe: Path) -> None:
    recipe.write_text(HONEST)
    folder = speedrun.pack(recipe)
    files = [path for path in folder.rglob("*") if path.is_file()]
    shutil.rmtree(folder)
    assert {path.suffix for path in files} <= {".py", ".pyc", ".typed", ""}
    assert folder / "src" / "cloze" / "heads.py" in files


@pytest.mark.slow
def test_knowing_the_fixed_masks_is_out(course: Course, recipe: Path) -> None:
    recipe.write_text(KNOWS_THE_MASKS.format(lines=len(course.order)))
    with pytest.raises(FoulError, match="it knows the fixed masks"):
        one_run(course, recipe, "minute", 0)


@pytest.mark.slow
def test_what_is_not_handed_over_does_not_answer(course: Course, recipe: Path) -> None:
    recipe.write_text(ANSWERS_FROM_OUTSIDE)
    assert one_run(course, recipe, "minute", 0) == pytest.approx(3.367, abs=1e-3)  # log 29


@pytest.mark.slow
def test_what_it_computes_before_its_copies_knows_no_weights(course: Course, recipe: Path) -> None:
    recipe.write_text(KEEPS_ITS_FIRST_THOUGHT)
    assert one_run(course, recipe, "minute", 0) == pytest.approx(3.367, abs=1e-3)  # log 29


@pytest.mark.slow
def test_the_clock_is_not_the_recipes(course: Course, recipe: Path) -> None:
    recipe.write_text(TAMPERS_WITH_THE_CLOCK)
    ((minutes, _),) = hand_overs(course, recipe, None, 0)
    assert minutes * course.minute > 0.4


@pytest.mark.slow
def test_weights_are_those_of_their_time(course: Course, recipe: Path) -> None:
    recipe.write_text(CHANGES_ITS_WEIGHTS)
    ((_, weights),) = hand_overs(course, recipe, None, 0)
    assert not load(weights)["head.bias"].any()


@pytest.mark.long
def test_an_honest_run_is_kept_and_written(
    corpus: Corpus,
    recipe: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Corpus, "load", lambda: corpus)
    monkeypatch.setitem(speedrun.GOALS, "1.3", 9.0)
    recipe.write_text(HONEST)
    kept, picture = recipe.with_name("runs.json"), recipe.with_suffix(".svg")
    asked = ["--tracks", "1.3", "--seeds", "1", "--keep", str(kept), "--picture", str(picture)]
    speedrun.main([str(recipe), *asked])
    *_, row = capsys.readouterr().out.splitlines()
    assert " 0.0000 " not in row  # however quick it was
    assert re.fullmatch(r"\| \[mine\].* \| +\| 0\.0\d+ \(n = 1\) \| +\| +\| [\d-]+ \|", row)
    assert ET.parse(picture).getroot().tag.endswith("svg")
    monkeypatch.setattr(speedrun, "one_run", None)  # what is kept is not run again
    speedrun.main([str(recipe), *asked])
    assert row in capsys.readouterr().out


@pytest.mark.slow
def test_the_held_out_loss_is_the_series(course: Course, recipe: Path) -> None:
    recipe.write_text(HONEST)
    model = MaskedLM()
    with Judge(course, recipe) as judge:
        loss = judge.loss(save(model.state_dict()))
    assert loss == pytest.approx(held_out_loss(model, course.fixed), abs=1e-4)


def test_interval() -> None:
    assert interval([0.1, 0.2, 0.3]) == "0.200 ± 0.248 (n = 3)"
    assert interval([1.0] * 5) == "1.000 ± 0.000"
    assert interval([0.1]) == "0.100 (n = 1)"
    assert interval([0.1, None]) == "—"


def test_the_records_are_those_that_were_kept() -> None:
    kept = json.loads((ROOT / "benchmarks" / "records.json").read_text(encoding="utf-8"))
    assert speedrun.table(kept) in (ROOT / "benchmarks" / "RECORDS.md").read_text(encoding="utf-8")
    for name in kept["runs"]:
        speedrun.source_of(ROOT / "benchmarks" / "recipes" / f"{name}.py")


def test_the_readme_quotes_the_records() -> None:
    kept = speedrun.results(
        json.loads((ROOT / "benchmarks" / "records.json").read_text(encoding="utf-8"))
    )
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())

    def mean(name: str, track: str = "minute") -> float:
        return fmean(filter(None, kept[name][track]))

    def times(name: str, track: str = "1.3", than: str = "lookup") -> float:
        return mean(name, track) / mean(than, track)

    for said in (
        f"**{times('modernbert_muon'):.1f} times** less processor time than `ModernBertForMask",
        f"and **{times('modernbert_adamw'):.1f} times** less than the same with AdamW",
        f"It takes **{times('textbook'):.0f} times** less than the textbook recipe",
        f"and **{times('bert'):.0f} times** less than `BertForMaskedLM`",
        f"To 0.9 nats our recipe takes **{times('modernbert_muon', '0.9'):.1f} times** less",
        f"takes {times('modernbert_muon', '0.9', 'every_letter'):.1f} times less to 0.9 nats than",
        f"and pays {mean('every_letter'):.3f} nats after a minute",
        f"where our default pays {mean('lookup'):.3f}",
    ):
        assert said in readme


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.py"], "there is no file nowhere.py"),
        (["--kept", "pyproject.toml"], "holds no runs"),
    ],
)
def test_speedrun_refuses(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        speedrun.main(arguments)
    assert said in capsys.readouterr().err
