// The widgets on the pages of the site, which work without Python. Where site/pages.py leaves room
// for one, it says which program shows it; the models and texts are those of the explorer's page.
import { render } from "../src/cloze/widgets/browser/view.js";
import { Model } from "../src/cloze/widgets/browser/widget.js";
import { loader } from "./load.js";

/**
 * @import { Examples } from "./twins/answers.js"
 * @import { Predictors } from "./twins/predictors.js"
 *
 * @typedef {{ predictors: Predictors, examples: Examples }} Loaded  What the explorer's page has.
 */

const FOLDER = new URL("../", import.meta.url); // of the explorer's page
const WORKER = new URL("web/engine/worker.js", FOLDER).href;
const TRAINS = "TrainingCurve";
const bytes = loader(FOLDER);

/**
 * Make the model of an explorer, or of another widget with the same questions.
 * @param {any} state
 * @param {Promise<Loaded>} loading
 */
async function exploring(state, loading) {
  const { predictors, examples } = await loading;
  const { beginning, Readers } = await import("./twins/answers.js");
  /** @type {string[]} */
  const names = state.readers ?? Object.keys(predictors);
  const shown = Object.fromEntries(names.map((name) => [name, predictors[name]]));
  const readers = new Readers(() => shown);
  const begins = beginning(shown[names[0]], examples, state);
  return new Model(begins, (what, sent) => readers.ask(what, sent));
}

/**
 * Makes the model of each widget that needs language models, by the name of its class in Python.
 * @type {Record<string, (state: any, loading: Promise<Loaded>) => Promise<object>>}
 */
const WITH_MODELS = {
  MaskExplorer: exploring,
  Inside: exploring,
  async Gap(state, loading) {
    const { gapModel } = await import("./gap.js");
    const load = async () => {
      const { predictors } = await loading;
      const { Readers } = await import("./twins/answers.js");
      const { Words } = await import("./words.js");
      const words = new Words(bytes, WORKER, state.of_words);
      return { letters: new Readers(() => predictors), words };
    };
    return gapModel(state, load());
  },
  async Unmasking(state, loading) {
    const { predictors } = await loading;
    const { unmasked, writing } = await import("./twins/generation.js");
    return writing((chosen) => unmasked(predictors.both, chosen), state);
  },
};

/** The examples that build.py has written into the explorer's page. */
async function examplesOfPage() {
  const html = new TextDecoder().decode(await bytes("index.html"));
  const page = new DOMParser().parseFromString(html, "text/html");
  return JSON.parse(page.getElementById("settings")?.textContent ?? "").examples;
}

/** @returns {Promise<Loaded>} */
async function load() {
  const { loadPredictors } = await import("./twins/predictors.js");
  const module = await WebAssembly.compile(await bytes("engine.wasm"));
  return { predictors: await loadPredictors(bytes, module), examples: await examplesOfPage() };
}

/** @type {Promise<Loaded> | undefined} */
let loading;

/**
 * @param {string} name
 * @param {any} state
 */
async function modelOf(name, state) {
  if (name in WITH_MODELS) {
    loading ??= load();
    return WITH_MODELS[name](state, loading);
  }
  if (name !== TRAINS) return new Model(state);
  const { PageTraining } = await import("./train.js");
  const toTry = () => location.assign(new URL("index.html#yours", FOLDER));
  return new PageTraining(state, bytes, WORKER, () => {}, toTry).curve;
}

/**
 * Where a place says what it needs.
 * @param {HTMLElement} place
 */
const wordsIn = (place) => /** @type {HTMLElement} */ (place.querySelector(".needs-python"));

/**
 * Say below a widget where it runs, and where else it is.
 * @param {HTMLElement} words
 * @param {string} name
 * @param {any} widget
 */
async function sayWhere(words, name, widget) {
  let hash = name === TRAINS ? "#train" : "";
  if (name === "MaskExplorer" || name === "Inside")
    hash = (await import("./link.js")).written(widget);
  const link = document.createElement("a");
  link.href = new URL("index.html", FOLDER).href + hash;
  link.textContent = "a page of its own";
  const before =
    name === TRAINS
      ? "It trains here, on this device, and nothing is sent. To save what you train, use "
      : "This widget runs here, on this device, with weights rounded to 16 bits; it also has ";
  words.replaceChildren(before, link, ".");
  words.removeAttribute("role");
}

/**
 * Make the widget of a place, which pages.py has given its name, program and first state.
 * @param {HTMLElement} place
 */
async function wake(place) {
  const { widget: name = "", program = "", state = "" } = place.dataset;
  const words = wordsIn(place);
  const models = name in WITH_MODELS;
  words.setAttribute("role", "status");
  place.ariaBusy = "true";
  if (models) words.textContent = "Loading the models: 1.6 MB, once.";
  try {
    const { default: Class } = await import(new URL(program, FOLDER).href);
    const widget = new Class(await modelOf(name, JSON.parse(state)));
    widget.refresh();
    const living = document.createElement("div");
    render({ widget, el: living });
    if (!models && name !== TRAINS) {
      place.replaceChildren(living);
      return;
    }
    place.querySelector(".cloze.still")?.remove();
    place.prepend(living);
    if (name === "Gap" && place.matches(".front *") && document.activeElement === document.body)
      living.querySelector("input")?.focus({ preventScroll: true });
    await sayWhere(words, name, widget);
  } catch (error) {
    loading = undefined; // the next one may be luckier
    const { message } = /** @type {Error} */ (error);
    words.textContent = `This widget could not be loaded (${message}); reload the page, or open it in a newer browser.`;
    throw error;
  } finally {
    place.ariaBusy = null;
  }
}

const soon = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      soon.unobserve(target);
      wake(/** @type {HTMLElement} */ (target));
    }
  },
  { rootMargin: "300px" },
);

for (const place of document.querySelectorAll(".living")) soon.observe(place);
