"""The weights of the page: rounded, whole, and the same bytes every time."""

from pathlib import Path

import torch
from safetensors.torch import load_file

from cloze.encoder import DIRECTIONS
from cloze.prediction.shipped import shipped_model
from web import weights

WEB = Path(weights.__file__).parent


def test_weights_are_the_shipped_ones_rounded_and_repeat_to_the_byte(tmp_path: Path) -> None:
    first, again = (weights.write(tmp_path / name) for name in ("first", "again"))
    assert [path.name for path in first] == [
        f"{kind}{name}.safetensors" for name in DIRECTIONS for kind in ("", "inside-")
    ]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    models = first[::2]
    size = sum(path.stat().st_size for path in models) / 1e6
    for says in ("page.html", "site_widgets.js"):
        assert f"Loading the models: {size:.1f} MB" in (WEB / says).read_text("utf-8")
    for name, path in zip(DIRECTIONS, models, strict=True):
        tensors = load_file(path)
        assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
        rounded, exact = weights.rounded(name).state_dict(), shipped_model(name).state_dict()
        assert tensors.keys() == rounded.keys() == exact.keys()
        for key, tensor in tensors.items():
            assert torch.equal(tensor.float(), rounded[key])
            assert torch.allclose(rounded[key], exact[key], rtol=2**-11, atol=2**-24)
