"""The page: the explorer without Python, as files for a web server and as one file for a stick.

Both hold the same modules, styles and weights (rounded to 16 bits, :mod:`web.weights`), and ask
nobody for anything else.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from markupsafe import Markup

from cloze import checkpoint
from cloze.baselines import baseline_losses
from cloze.corpus import Corpus
from cloze.explorer import Gap, MaskExplorer
from cloze.explorer.widget import EXAMPLES, Example
from cloze.files import FileError
from cloze.heads import MaskedLM
from cloze.lessons.training import results
from cloze.prediction.shipped import shipped_model
from cloze.teaching import palette
from cloze.training import Recipe, TrainingRun
from cloze.vocabulary import VOCABULARY
from cloze.widgets import TrainingCurve, widget
from cloze.widgets.modules import bundle, needed, without_comments
from web import weights
from web.engine import build as engine

HERE = Path(__file__).parent
FIRST = "web/page.js"
"""The module that the page runs."""
GAP = "web/first.js"
"""The module that shows the gap, before all others have come."""
WORKER = "sw.js"
STYLE = "page.css"
STATIC = HERE / "static"
"""Icons, and what a system asks that installs the page as an app."""
POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:"
)
POLICY_OF_ONE_FILE = (
    "default-src 'none'; script-src {} 'wasm-unsafe-eval'; worker-src blob:; "  # its own script
    "style-src 'unsafe-inline'; img-src data:"
)
"""What a page may load; the browser enforces it. WebAssembly has to be allowed by name."""
TRAINER = "web/engine/worker.js"
"""The module that trains."""
TITLE = "Which letter is missing?"
DESCRIPTION = (
    "Guess the hidden letter of a line. Then see what three small models guess: from the left, "
    "from the right and from both sides. They run in your browser."
)
WORDS = "words.safetensors"
"""The words' encoder, which is loaded when somebody asks for it."""
WORD_EXAMPLES = {
    "what did he open?": Example("He opened his umbrella because it was raining.", "umbrella"),
    "who is she?": Example("The queen said that she would never forgive them.", "she"),
    "names and numbers": Example("Captain Blythe's ship sailed in 1803, didn't it?", "ship"),
    "two words at once": Example("I do not know where they went.", "where they"),
    "what surprises most?": Example("The children ate their potato in the garden all day.", ""),
}
INSIDE = "#line=she+asked+what+it+was&mask=12&view=inside&second=she+asked+when+it+was&bet=true"
"""The explorer where one looks for the head that carries a letter."""
NAME = "the notebook series Cloze"
HOSTED = (
    "The models run in this page, on this device. What you type is sent nowhere, and once loaded "
    "the page works without a network; the browser's menu can install it as an app."
)
ALONE = (
    "Everything is in this one file, the models and what runs them. It never uses a network, so "
    "what you type is sent nowhere."
)


def build_page(folder: Path, series: str | None = None, site: str = "") -> list[Path]:
    """Write the page as files for a web server; it opens without a network after the first visit.

    Args:
        folder: is made if need be; files of the same names are replaced.
        series: where the notebooks are, as an address or a path from the page; None to name them
            without a link.
        site: the address of the site that has this folder, if there is one.

    Returns:
        What was written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    copies = [Path(shutil.copy(path, folder)) for path in sorted(STATIC.iterdir())]
    paths = [*weights.write(folder), *what_trains(folder), *copies]
    texts = {
        **modules(),
        STYLE: style(),
        "index.html": hosted(series, site and f"{site}{folder.name}/"),
    }
    for name, text in texts.items():
        paths.append(_written(folder / name, text))
    names = [path.relative_to(folder).as_posix() for path in paths]
    paths.append(Path(shutil.copy(checkpoint.WORDS, folder)))
    return [*paths, _written(folder / WORKER, worker(folder, names, [WORDS]))]


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def build_single(path: Path, series: str | None = None) -> None:
    """Write the page as one file that a double click opens.

    Args:
        path: is replaced if it is there.
        series: where the notebooks are, if they are to be linked.
    """
    with tempfile.TemporaryDirectory() as folder:
        inside = [
            f'<script type="application/octet-stream" id="{each.name}">'
            f"{in_base64(each.read_bytes())}</script>"
            for each in (*weights.write(Path(folder)), *what_trains(Path(folder)), checkpoint.WORDS)
        ]
    icon = (STATIC / "icon.svg").read_bytes()
    head = [
        about(TITLE, DESCRIPTION),
        f'<link rel="icon" href="data:image/svg+xml;base64,{in_base64(icon)}">',
        f"<style>{style()}</style>",
    ]
    script = bundle(modules(), FIRST)
    digest = in_base64(hashlib.sha256(script.encode()).digest())
    policy = POLICY_OF_ONE_FILE.format(f"'sha256-{digest}'")
    trainer = (
        f'<script type="application/x-worker" id="trainer">{bundle(modules(), TRAINER)}</script>'
    )
    scripts = [*inside, trainer, f"<script>{script}</script>"]
    _written(path, page(policy, head, ALONE, series, {}, scripts))


def in_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def modules() -> dict[str, str]:
    """Return the text of all modules: the page's own and those of the widgets.

    The keys are their paths in the project. They have the same on the page, so imports hold there.
    """
    folders = (HERE, HERE / "twins", HERE / "engine")
    paths = [path for folder in folders for path in sorted(folder.glob("*.js"))]
    texts = {
        path.relative_to(HERE.parent).as_posix(): path.read_text("utf-8")
        for path in paths
        if path.name != WORKER
    }
    texts |= {f"src/cloze/{path}": text for path, text in widget.programs().items()}
    return {name: without_comments(text) for name, text in texts.items()}


def what_trains(folder: Path) -> list[Path]:
    """Write the compiled engine and the corpus, compressed: the training text, then the held-out.

    The held-out pieces are cut into windows, whole ones, so that their masks are those of Python.
    """
    corpus = Corpus.load()
    held_out = VOCABULARY.decode(corpus.held_out_windows().flatten())
    text = VOCABULARY.decode(corpus.train_ids) + held_out
    paths = [folder / "engine.wasm", folder / "corpus.gz"]
    paths[0].write_bytes(engine.MODULE.read_bytes())
    paths[1].write_bytes(gzip.compress(text.encode(), mtime=0))
    return paths


@cache
def training() -> dict[str, object]:
    """Return what the page trains: the default encoder by the default recipe, and its baselines."""
    corpus = Corpus.load()
    run = TrainingRun(MaskedLM(), corpus)
    baselines = baseline_losses(corpus, run.held_out)
    levels = {name: baselines[name] for name in ("uniform", "unigram", "both neighbours")}
    levels["six neighbours"] = results.six_neighbours()
    alone = TrainingCurve(run, levels, recorded=results.moments()).alone()
    assert alone is not None
    return alone


def about(title: str, description: str, address: str = "") -> Markup:
    """Write a page's description for search engines and for previews of links to it.

    Args:
        title: without the markup around it.
        description: in a sentence or two.
        address: where it is; "" leaves out what needs an address.
    """
    properties = {
        "og:type": "website",
        "og:title": title,
        "og:description": description,
        "og:url": address,
    }
    tags = [Markup('<meta name="description" content="{}">').format(description)]
    if address:
        tags.append(Markup('<link rel="canonical" href="{}">').format(address))
        property_ = Markup('<meta property="{}" content="{}">')
        tags += [property_.format(*each) for each in properties.items()]
    return Markup("\n").join(tags)


def style() -> str:
    """Return the style sheet: the widgets', and what surrounds them in the same colours."""
    light, dark = (palette.properties(each) for each in (palette.LIGHT, palette.DARK))
    around = (
        f":root {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-jp-theme-light]) {{ {dark} }} }}\n"
        f':root[data-jp-theme-light="false"] {{ {dark} }}\n'
    )
    own = (HERE / STYLE).read_text("utf-8")
    return "\n".join([palette.css(), widget.styles(), around, own])


def page(
    policy: str,
    head: Iterable[str],
    private: str,
    series: str | None,
    settings: dict[str, object],
    scripts: Iterable[str],
) -> str:
    """Write the document.

    Args:
        policy: what it may load.
        head: what names its style and icons.
        private: what happens to what is typed, in words.
        series: where the notebooks are.
        settings: what else ``page.js`` reads.
        scripts: what is run, and what that reads.
    """
    gap, model, of_words = Gap(), shipped_model(), shipped_model("words")
    known, words = (
        {name: each._asdict() for name, each in examples.items()}
        for examples in (EXAMPLES, WORD_EXAMPLES)
    )
    all_settings = {
        "examples": known,
        "gap": gap.alone(),
        "words": {"size": checkpoint.WORDS.stat().st_size, "examples": words},
        "training": training(),
        **settings,
    }
    written = json.dumps(all_settings, ensure_ascii=False)
    filled = {
        "policy": policy,
        "title": TITLE,
        "head": "\n".join(head),
        "gap": str(gap.still()),
        "doors": doors("", series or "#series"),
        "still": str(MaskExplorer(guess_first="once").still()),
        "examples": _examples(),
        "parameters": f"{sum(p.numel() for p in model.parameters()):,}",
        "words_parameters": f"{sum(p.numel() for p in of_words.parameters()):,}",
        "words_pieces": f"{of_words.vocabulary.n_ordinary:,}",
        "words_size": f"{checkpoint.WORDS.stat().st_size / 1e6:.1f} MB",
        "max_len": str(model.config.max_len),
        "rate": f"{Recipe().mask_prob:.0%}",
        "train_characters": f"{len(Corpus.load().train_ids):,}",
        "private": private,
        "series": Markup('<a href="{}">{}</a>').format(series, NAME) if series else NAME,
        "settings": written.replace("<", "\\u003c"),
        "scripts": "\n".join(scripts),
    }
    text = (HERE / "page.html").read_text("utf-8")
    for name, value in filled.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def doors(page: str, series: str) -> Markup:
    """Write where the gap leads to: three links, each with a picture.

    Args:
        page: the address of the explorer's page; "" on that page itself.
        series: where the notebooks are.
    """
    places = (f"{page}{INSIDE}", f"{page}#train", series)
    text = (HERE / "doors.html").read_text("utf-8")
    return Markup(text).format(*places)  # noqa: S704 - ours


def worker(folder: Path, names: Iterable[str], later: Sequence[str]) -> str:
    """Write the program that keeps files of a folder for when there is no network.

    Args:
        folder: their folder.
        names: of what is kept at once.
        later: of what is kept as soon as somebody has asked for it.
    """
    digest = hashlib.sha256()
    for name in (*names, *later):
        digest.update(name.encode())
        digest.update((folder / name).read_bytes())
    constants = {
        "VERSION": digest.hexdigest()[:16],
        "FILES": ["./", *names],
        "LATER": later,
    }
    lines = [f"const {name} = {json.dumps(value)};\n" for name, value in constants.items()]
    return "".join(lines) + (HERE / WORKER).read_text("utf-8")


def hosted(series: str | None, address: str) -> str:
    """Write the document that a web server shows.

    Args:
        series: where the notebooks are.
        address: of the page.
    """
    head = [
        about(TITLE, DESCRIPTION, address),
        '<link rel="icon" href="icon.svg" type="image/svg+xml">',
        '<link rel="apple-touch-icon" href="icon-180.png">',
        '<link rel="manifest" href="manifest.webmanifest">',
        f'<meta name="theme-color" content="{palette.DARK["paper"]}">',
        f'<link rel="stylesheet" href="{STYLE}">',
    ]
    first = [f'<link rel="modulepreload" href="{name}">' for name in needed(modules(), GAP)]
    scripts = [f'<script type="module" src="{name}"></script>' for name in (GAP, FIRST)]
    return page(
        POLICY, [*head, *first], HOSTED, series, {"worker": WORKER, "trainer": TRAINER}, scripts
    )


def _examples() -> Markup:
    """Write a link to each of the examples: the address has the line and what is hidden in it."""
    links = []
    for name, (line, masked) in EXAMPLES.items():
        start = line.index(masked)
        hidden = range(start, start + len(masked))
        address = f"#line={line.replace(' ', '+')}"
        address += f"&mask={','.join(map(str, hidden))}" if masked else "&view=surprise"
        links.append(Markup('<a href="{}">{}</a>').format(address, name))
    return Markup("\n").join(links)


def main() -> None:
    """Build the page from the command line."""
    parser = argparse.ArgumentParser(description="Build the explorer as a page without Python.")
    parser.add_argument("folder", type=Path, help="where the page and explorer.html are written")
    parser.add_argument("--series", help="the address of the notebooks, to be linked")
    chosen = parser.parse_args()
    if chosen.folder.exists() and not chosen.folder.is_dir():
        parser.error(f"{chosen.folder} is a file; name a folder.")
    single = chosen.folder / "explorer.html"
    try:
        paths = build_page(chosen.folder, chosen.series)
        build_single(single, chosen.series)
    except FileError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{chosen.folder} cannot be written: {error.strerror or error}.")
    size = sum(path.stat().st_size for path in paths)
    print(f"{chosen.folder / 'index.html'}: {size / 1e6:.2f} MB in {len(paths)} files")
    print(f"{single}: {single.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
