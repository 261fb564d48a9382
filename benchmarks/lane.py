"""The lane: the process in which somebody's recipe trains, or answers, while the referee watches.

``benchmarks.speedrun`` starts it as ``python -I -B lane.py train`` or ``… judge``, with the recipe
as the only file of an empty folder and nothing in the environment. What it may know comes through
its standard input: the training pieces and a seed, or weights and masked lines without the answers.
What it says goes through its standard output, a line of JSON and so many bytes each.

Before the recipe is loaded, a guard begins to watch what Python reports of itself
(``sys.addaudithook``, which cannot be taken back). Files other than code, anything written,
threads, processes and the network end the run. What compiled code does without Python, it misses;
so there is nothing to find. The package here is a copy without data, and where Linux allows it the
project's folders and the network are out of this process's sight.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # Python was started without a path of its own

import torch  # noqa: E402
from safetensors.torch import load, save  # noqa: E402
from torch import Tensor, nn  # noqa: E402

import cloze.training  # noqa: E402, F401 - what most recipes need is loaded before the clock starts

FORBIDDEN = (
    *("_thread.start", "os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile"),
    *("os.system", "pty.spawn", "socket", "subprocess", "os.remove", "os.rename", "os.mkdir"),
)
"""How the names of the events begin that end a run."""


class Channel:
    """What lane and referee say to each other: some words as JSON, and bytes."""

    def __init__(self, read: IO[bytes], write: IO[bytes]) -> None:
        self.read, self.write = read, write

    def say(self, data: bytes = b"", **words: object) -> None:
        """Send words and bytes."""
        self.write.write(json.dumps({**words, "bytes": len(data)}).encode() + b"\n" + data)
        self.write.flush()

    def hear(self) -> tuple[dict[str, Any], bytes]:
        """Wait for the next words and bytes.

        Raises:
            EOFError: the other side has gone.
        """
        line = self.read.readline()
        if not line:
            raise EOFError
        words: dict[str, Any] = json.loads(line)
        data = self.read.read(words["bytes"])
        if len(data) < words["bytes"]:
            raise EOFError
        return words, data


class Race:
    """What a recipe is told, and how it hands over what it has trained."""

    def __init__(self, channel: Channel, ids: Tensor, seed: int, goal: float | None) -> None:
        self.ids = ids
        """All training pieces in a row, a newline between them; shape ``(characters,)``."""
        self.seed = seed
        """For every draw, so that five runs differ."""
        self.goal = goal
        """The held-out loss to reach, 1.3 or 0.9 nats; None for the lowest in one minute."""
        self._channel = channel

    def used(self) -> float:
        """Ask the referee for the processor time used, in minutes of the default recipe."""
        self._channel.say(say="used")
        used: float = self._channel.hear()[0]["used"]
        return used

    def until(self, minutes: float) -> Iterator[float]:
        """Yield the share of so many minutes that is used, 0 … 1, until they are over."""
        while (used := self.used()) < minutes:
            yield used / minutes

    def hand_over(self, model: nn.Module) -> None:
        """Give the referee the weights as they are now, and the time with them."""
        self._channel.say(save(state(model)), say="weights")
        self._channel.hear()


def state(model: nn.Module) -> dict[str, Tensor]:
    """Return what a model has learned; what two of its parts share comes once."""
    tensors = {t.data_ptr(): (name, t) for name, t in reversed(model.state_dict().items())}
    return {name: tensor.detach().clone() for name, tensor in tensors.values()}


copying: list[bool] = []
"""Not empty while the judge copies its own process."""


def guard(folder: Path, foul: Callable[[str], NoReturn]) -> None:
    """Watch from now on what this process does; there is no way back."""
    places = (sys.prefix, sys.base_prefix, folder)
    code = tuple(str(Path(place).resolve()) + os.sep for place in places)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(FORBIDDEN) and not (copying and event == "os.fork"):
            foul(f"it called {event}: one process, one thread, and nobody to talk to")
        if event == "open" and not isinstance(arguments[0], int):
            path, mode, flags = arguments
            whole = os.path.realpath(os.fsdecode(path))
            writes = set("wax+") & set(mode or "") or flags & (os.O_WRONLY | os.O_RDWR)
            if writes or not whole.startswith(code):
                foul(f"it opened {Path(whole).name}; a recipe reads code and no other file")

    sys.addaudithook(watch)


def recipe_of(path: Path) -> ModuleType:
    """Load a recipe from its file."""
    spec = importlib.util.spec_from_file_location("recipe", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["recipe"] = module
    spec.loader.exec_module(module)
    return module


def load_slow_modules(source: str) -> None:
    """Load what is no part of a recipe's time, and does what the guard forbids while it loads."""
    # The first optimizer of a process makes torch load a second's worth of modules.
    torch.optim.AdamW([nn.Parameter(torch.zeros(1))], fused=True)
    if "transformers" in source:
        from transformers import BertForMaskedLM, ModernBertForMaskedLM  # noqa: F401


def train(channel: Channel, path: Path) -> None:
    """Let the recipe train."""
    words, data = channel.hear()
    ids = torch.frombuffer(bytearray(data), dtype=torch.uint8).long()
    race = Race(channel, ids, words["seed"], words["goal"])
    torch.manual_seed(race.seed)
    recipe_of(path).train(race)
    channel.say(say="done")
    channel.hear()  # the referee ends the process, once it has looked at it


def judge(channel: Channel, path: Path) -> None:
    """Answer lines with weights that were handed over: logits at every position."""
    model = recipe_of(path).Model().eval()
    own = model.state_dict()
    with torch.no_grad():
        model(torch.zeros(1, 64, dtype=torch.long))  # what torch sets up here, copies have
    while True:
        words, data = channel.hear()
        if words["say"] == "weights":
            # No line of the recipe runs here: all copies would remember what it computed.
            for name, tensor in load(data).items():
                own[name].copy_(tensor)
            continue
        ids = torch.frombuffer(bytearray(data), dtype=torch.uint8).long().view(*words["shape"])
        gc.collect()
        gc.freeze()  # what the collector does not touch, copies share
        answers = [answer_of_a_copy(model, line[None]) for line in ids]
        sizes = {len(answer) for answer in answers}
        channel.say(b"".join(answers), say="logits", sizes=sorted(sizes))


def answer_of_a_copy(model: nn.Module, line: Tensor) -> bytes:
    """Let a copy of this process answer a line, and end: nothing of it is left for the next.

    Args:
        model: its answer has the shape ``(1, length, |V|)``.
        line: ids of shape ``(1, length)``.
    """
    read, write = os.pipe()
    copying.append(True)
    child = os.fork()
    copying.clear()
    if child == 0:
        try:
            with torch.no_grad(), os.fdopen(write, "wb") as answer:
                answer.write(model(line).float().numpy().tobytes())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        logits = answer.read()
    os.waitpid(child, 0)
    return logits


def main() -> None:
    """Do what the referee says, and say how it ended."""
    channel = Channel(sys.stdin.buffer, os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what the recipe prints is not for the referee
    recipe = Path.cwd() / "recipe.py"
    load_slow_modules(recipe.read_text(encoding="utf-8"))

    def foul(what: str) -> NoReturn:
        channel.say(say="foul", what=what)
        os._exit(1)

    guard(Path.cwd(), foul)
    channel.say(say="ready")
    try:
        {"train": train, "judge": judge}[sys.argv[1]](channel, recipe)
    except EOFError:
        return
    except Exception as error:
        channel.say(say="foul", what=f"it failed with {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
