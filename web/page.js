// The page: the widgets without Python, each shown by the view that all widgets share.

import Unmasking from "../src/cloze/lessons/writing_with_gaps/widget.js";
import TrainingCurve from "../src/cloze/widgets/browser/curve.js";
import { button, element } from "../src/cloze/widgets/browser/element.js";
import { render } from "../src/cloze/widgets/browser/view.js";
import { Model, ValueError, Widget } from "../src/cloze/widgets/browser/widget.js";
import Files from "./files.js";
import { gap, loaded, named, settings } from "./first.js";
import { LinkedExplorer, written } from "./link.js";
import { loader } from "./load.js";
import { ModelChoice, ModelList, OF_A_LINE } from "./model_choice.js";
import { PageTraining } from "./train.js";
import { beginning, Readers } from "./twins/answers.js";
import { writing } from "./twins/generation.js";
import { loadPredictors } from "./twins/predictors.js";

/**
 * @import { Answers, Traits } from "../src/cloze/explorer/parts.js"
 * @import { Bytes } from "./load.js"
 * @import { Yours } from "./train.js"
 * @import { Shown } from "../src/cloze/widgets/browser/widget.js"
 */

const TO_WRITE = "the ___ __ _______ sat on the ___ and ______ at ___ ___";
const root = document.documentElement;

/**
 * The bytes of a file beside the page, or of one that is written into it.
 * @type {Bytes}
 */
async function bytes(name, told) {
  const inside = document.getElementById(name)?.textContent;
  if (!inside) return loader(location.href)(name, told);
  return Uint8Array.from(atob(inside), (c) => c.charCodeAt(0)).buffer;
}

/** What trains: the address of a module beside the page, or a script that is written into it. */
function trainer() {
  const inside = document.getElementById("trainer");
  if (!inside) return new URL(settings.trainer, location.href).href;
  return new Blob([inside.textContent], { type: "text/javascript" });
}

/**
 * @param {Shown & { refresh(): void }} widget
 * @param {HTMLElement} place
 */
function show(widget, place) {
  widget.refresh();
  render({ widget, el: place });
}

/**
 * The colours: those of the system until somebody chooses.
 * @extends {Widget<object>}
 */
class Theme extends Widget {
  static presents = false;
  #system = matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    super(new Model({}));
    this.chosen = storage()?.getItem("cloze-theme");
    this.#system.addEventListener("change", () => this.refresh());
  }

  get dark() {
    return this.chosen ? this.chosen === "dark" : this.#system.matches;
  }

  markup() {
    root.dataset.jpThemeLight = String(!this.dark);
    return element("div", null, button("Dark", "switch", { "aria-pressed": this.dark }));
  }

  do_switch() {
    this.chosen = this.dark ? "light" : "dark";
    storage()?.setItem("cloze-theme", this.chosen);
  }
}

// Where a browser stores nothing for a page, the theme stays as chosen until the page is left.
function storage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/**
 * Open what is dropped into a place.
 * @param {HTMLElement} place
 * @param {Files} files
 */
function dropped(place, files) {
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("drop", (event) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return; // a piece of text goes into the field
    event.preventDefault();
    files.act("open", { file });
  });
}

const place = named("explorer");

async function main() {
  root.classList.toggle("embedded", window !== window.top);
  show(new Theme(), named("theme"));
  const module = await WebAssembly.compile(await bytes("engine.wasm"));
  const series = await loadPredictors(bytes, module);
  const choice = new ModelChoice(series, module, bytes, trainer(), settings.words);
  loaded.resolve({ letters: new Readers(() => series), words: choice.words });
  /** @type {Model<Traits, Answers>} */
  const model = new Model(beginning(series.both, settings.examples), (what, sent) =>
    choice.ask(what, sent),
  );
  const explorer = new LinkedExplorer(model);
  explorer.read = (words) => choice.read(words);
  /** @type {Map<boolean, object>} */
  const kept = new Map(); // what was shown of letters, and of words
  let words = false;
  choice.model.on("change:who", () => {
    const shown = Object.fromEntries(OF_A_LINE.map((name) => [name, model.get(name)]));
    const before = kept.set(words, shown).get(choice.reads) ?? choice.begins;
    const other = words === choice.reads ? {} : before;
    words = choice.reads;
    model.assign({ ...other, revision: model.get("revision") + 1 });
  });
  for (const id of ["explorer", "unmasking"]) show(new ModelList(choice.model), named(`who-${id}`));
  const follow = () => explorer.act("link", { hash: location.hash });
  if (location.hash) await follow();
  show(explorer, place);
  const goTo = () => {
    place.scrollIntoView({ block: "nearest" });
    /** @type {HTMLElement | null} */
    const reached = place.querySelector('[data-arrows] [tabindex="0"]');
    reached?.focus();
  };
  // A link in the page is below the explorer: go to what it shows.
  addEventListener("hashchange", async () => {
    if (document.getElementById(location.hash.slice(1))) return; // a part of the page
    await follow();
    goTo();
  });
  // The address follows what is shown, for a reload and for the way back; it stays as it was opened
  // until something changes.
  let before = written(explorer);
  let follows = !location.hash; // whether the explorer shows what is played above it
  explorer.listen(() => {
    const address = written(explorer);
    if (explorer.problem || address === before) return;
    before = address;
    follows = false;
    if (address !== location.hash) history.replaceState(null, "", address);
  });
  const played = () => {
    const { truth, words, masked, focus } = gap.state;
    if (!follows || !gap.over || gap.wide) return;
    const shown = { truth, words, masked, focus, hands: { [focus]: { [gap.typed]: 1 } } };
    before = written({ state: { ...explorer.state, ...shown } });
    model.assign({ ...shown, revealed: true });
  };
  gap.listen(played);
  played();
  const take = (/** @type {Yours} */ yours) => choice.take(yours);
  const toTry = async () => {
    await choice.choose("yours");
    await explorer.act("view", { view: "guesses" });
    goTo();
  };
  const trained = new PageTraining(settings.training, bytes, trainer(), take, toTry);
  show(new TrainingCurve(trained.curve), named("training"));
  const files = new Files(trained.files);
  show(files, named("files"));
  dropped(named("files"), files);
  // The address names a part of the page, which has its place only now, or carries a line.
  if (location.hash) (document.getElementById(location.hash.slice(1)) ?? place).scrollIntoView();
  // Another model writes from the beginning.
  const write = async () => {
    const place = document.createElement("div");
    const written = await writing((chosen) => choice.ask("write", chosen), { line: TO_WRITE });
    named("unmasking").replaceChildren(place);
    show(new Unmasking(written), place);
  };
  await write();
  choice.model.on("change:who", write);
  if (settings.worker && "serviceWorker" in navigator)
    await navigator.serviceWorker.register(settings.worker).catch(() => {}); // it works online, too
}

place.ariaBusy = "true";
main()
  .catch((error) => {
    loaded.reject(error);
    // An error that is not ours is what an older browser stumbles over.
    const advice = error instanceof ValueError ? "" : "; open the page in a newer browser.";
    const words = `The explorer cannot start: ${error.message}${advice}`;
    place.innerHTML = element("p", { role: "alert" }, words).text;
    throw error;
  })
  .finally(() => {
    place.ariaBusy = null;
  });
