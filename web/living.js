// The widgets on the pages of the site, which live without Python. Where site/pages.py leaves room
// for one, it says which program shows it; the models and texts are those of the explorer's page.
import { render } from "../src/cloze/widgets/browser/view.js";
import { Model } from "../src/cloze/widgets/browser/widget.js";

/**
 * @import { Examples } from "./answers.js"
 * @import { Game } from "./judge.js"
 * @import { Predictors } from "./predictor.js"
 *
 * @typedef {{ predictors: Predictors, examples: Examples, game: Game }} Loaded  What the explorer's
 *   page has.
 */

const FOLDER = new URL("../", import.meta.url); // of the explorer's page

/**
 * Make the model of an explorer, or of another widget that asks the same.
 * @param {any} state
 * @param {Loaded} loaded
 */
async function explores(state, { predictors, examples }) {
  const { exploring } = await import("./answers.js");
  /** @type {string[]} */
  const readers = state.readers ?? Object.keys(predictors);
  const cast = Object.fromEntries(readers.map((name) => [name, predictors[name]]));
  return exploring(() => cast, examples, state);
}

/**
 * What answers the widgets that ask, by the name of their class in Python: each makes a widget's
 * model of how it begins and of what the explorer's page has. The other widgets ask nothing.
 * @type {Record<string, (state: any, loaded: Loaded) => Promise<object>>}
 */
const ANSWERS = {
  async GuessingGame(state, { predictors, game }) {
    const { playing } = await import("./judge.js");
    return playing(predictors, game, state);
  },
  MaskExplorer: explores,
  Inside: explores,
  async Unmasking(state, { predictors }) {
    const { writing } = await import("./generation.js");
    return writing(predictors.both, state);
  },
};

/** @param {string} name */
async function fetched(name) {
  const answer = await fetch(new URL(name, FOLDER));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

/** @returns {Promise<Loaded>} */
async function load() {
  const { loadPredictors } = await import("./predictor.js");
  const bytes = async (/** @type {string} */ name) => (await fetched(name)).arrayBuffer();
  const [predictors, html] = await Promise.all([
    bytes("engine.wasm").then(async (engine) =>
      loadPredictors(bytes, await WebAssembly.compile(engine)),
    ),
    fetched("index.html").then((answer) => answer.text()),
  ]);
  const page = new DOMParser().parseFromString(html, "text/html");
  const { examples, game } = JSON.parse(page.getElementById("settings")?.textContent ?? "");
  return { predictors, examples, game };
}

/** @type {Promise<Loaded> | undefined} */
let loading;

function loaded() {
  loading ??= load();
  return loading;
}

/** Make the widget of a place, which pages.py has given its name, program and how it begins. */
async function widgetOf({ widget = "", program = "", state = "" }) {
  const { default: Class } = await import(new URL(program, FOLDER).href);
  const begins = JSON.parse(state);
  const model = ANSWERS[widget];
  const made = new Class(model ? await model(begins, await loaded()) : new Model(begins));
  made.refresh();
  return made;
}

/**
 * Where a place says what it needs.
 * @param {HTMLElement} place
 */
const wordsIn = (place) => /** @type {HTMLElement} */ (place.querySelector(".needs-python"));

/** @param {HTMLElement} place */
async function wake(place) {
  const words = wordsIn(place);
  const asks = (place.dataset.widget ?? "") in ANSWERS;
  words.setAttribute("role", "status");
  place.ariaBusy = "true";
  if (asks) words.textContent = "Loading the models: 1.8 MB, once.";
  try {
    const widget = await widgetOf(place.dataset);
    const living = document.createElement("div");
    render({ widget, el: living });
    if (!asks) {
      place.replaceChildren(living);
      return;
    }
    place.querySelector(".cloze.still")?.remove();
    place.prepend(living);
    const own = document.createElement("a");
    own.href = new URL("index.html", FOLDER).href;
    if (place.dataset.widget === "MaskExplorer") {
      const { written } = await import("./link.js");
      own.href += written(widget);
    }
    own.textContent = "a page of its own";
    words.replaceChildren(
      "This widget runs here, on this device, with weights rounded to 16 bits; there is ",
      own,
      ", too.",
    );
    words.removeAttribute("role");
  } catch (error) {
    loading = undefined; // the next one may be luckier
    const what = asks ? "models" : "widget";
    const { message } = /** @type {Error} */ (error);
    words.textContent = `The ${what} could not be loaded (${message}); reload the page.`;
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

/** @type {NodeListOf<HTMLElement>} */
const places = document.querySelectorAll(".living");
for (const place of places) {
  if ("atOnce" in place.dataset) {
    soon.observe(place);
    continue;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Try this line";
  button.addEventListener("click", async () => {
    await wake(place);
    /** @type {HTMLElement | null} */
    const reached = place.querySelector('.line button[tabindex="0"]');
    reached?.focus();
  });
  wordsIn(place).replaceChildren(button);
}
