// The widgets on the pages of the site, which live without Python. Where site/pages.py leaves room
// for one, it says which program shows it; the models and texts are those of the explorer's page.
import { render } from "../src/cloze/widgets/browser/view.js";
import { Model } from "../src/cloze/widgets/browser/widget.js";

/**
 * @import { Examples } from "./twins/answers.js"
 * @import { Predictors } from "./twins/predictors.js"
 *
 * @typedef {{ predictors: Predictors, examples: Examples }} Loaded  What the explorer's page has.
 */

const FOLDER = new URL("../", import.meta.url); // of the explorer's page

const TRAINS = "TrainingCurve";

/**
 * Make the model of an explorer, or of another widget that asks the same.
 * @param {any} state
 * @param {Loaded} loaded
 */
async function explores(state, { predictors, examples }) {
  const { exploring } = await import("./twins/answers.js");
  /** @type {string[]} */
  const readers = state.readers ?? Object.keys(predictors);
  const cast = Object.fromEntries(readers.map((name) => [name, predictors[name]]));
  return exploring(() => cast, examples, state);
}

/**
 * What answers the widgets that ask the models, by the name of their class in Python: each makes a
 * widget's model of how it begins and of what the explorer's page has.
 * @type {Record<string, (state: any, loaded: Loaded) => Promise<object>>}
 */
const ANSWERS = {
  MaskExplorer: explores,
  Inside: explores,
  async Unmasking(state, { predictors }) {
    const { writing } = await import("./twins/generation.js");
    return writing(predictors.both, state);
  },
};

/** @param {string} name */
async function fetched(name) {
  const answer = await fetch(new URL(name, FOLDER));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

/** @param {string} name */
const bytes = async (name) => (await fetched(name)).arrayBuffer();

/** What the explorer's page is told by build.py. */
async function settings() {
  const html = await (await fetched("index.html")).text();
  const page = new DOMParser().parseFromString(html, "text/html");
  return JSON.parse(page.getElementById("settings")?.textContent ?? "");
}

/** @returns {Promise<Loaded>} */
async function load() {
  const { loadPredictors } = await import("./twins/predictors.js");
  const module = await WebAssembly.compile(await bytes("engine.wasm"));
  const [predictors, { examples }] = await Promise.all([loadPredictors(bytes, module), settings()]);
  return { predictors, examples };
}

/** @type {Promise<Loaded> | undefined} */
let loading;

function loaded() {
  loading ??= load();
  return loading;
}

/**
 * What answers the widget of a loss curve: a training in a thread of its own.
 * @param {any} state
 */
async function trainingOf(state) {
  const { PageTraining } = await import("./train.js");
  const thread = () => new Worker(new URL("web/engine/worker.js", FOLDER), { type: "module" });
  return new PageTraining(state, bytes, thread).curve;
}

/**
 * @param {string} widget
 * @param {any} begins
 */
async function modelOf(widget, begins) {
  if (widget === TRAINS) return trainingOf(begins);
  return widget in ANSWERS ? ANSWERS[widget](begins, await loaded()) : new Model(begins);
}

/** Make the widget of a place, which pages.py has given its name, program and how it begins. */
async function widgetOf({ widget = "", program = "", state = "" }) {
  const { default: Class } = await import(new URL(program, FOLDER).href);
  const made = new Class(await modelOf(widget, JSON.parse(state)));
  made.refresh();
  return made;
}

/**
 * Where a place says what it needs.
 * @param {HTMLElement} place
 */
const wordsIn = (place) => /** @type {HTMLElement} */ (place.querySelector(".needs-python"));

/**
 * Say below a widget where it runs, and where else it is.
 * @param {string} widget
 * @param {string} hash  Leads the explorer's page to the same.
 * @returns {(string | Node)[]}
 */
function told(widget, hash) {
  const own = document.createElement("a");
  own.href = new URL("index.html", FOLDER).href + hash;
  const [before, link, after] =
    widget === TRAINS
      ? [
          "It trains here, on this device, and nothing is sent. On ",
          "the explorer's page",
          " you can also save what you train.",
        ]
      : [
          "This widget runs here, on this device, with weights rounded to 16 bits; there is ",
          "a page of its own",
          ", too.",
        ];
  own.textContent = link;
  return [before, own, after];
}

/** @param {HTMLElement} place */
async function wake(place) {
  const { widget: name = "" } = place.dataset;
  const words = wordsIn(place);
  const models = name in ANSWERS;
  const asks = models || name === TRAINS;
  words.setAttribute("role", "status");
  place.ariaBusy = "true";
  if (models) words.textContent = "Loading the models: 1.6 MB, once.";
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
    let hash = name === TRAINS ? "#train" : "";
    if (name === "MaskExplorer") {
      const { written } = await import("./link.js");
      hash = written(widget);
    }
    words.replaceChildren(...told(name, hash));
    words.removeAttribute("role");
  } catch (error) {
    loading = undefined; // the next one may be luckier
    const what = models ? "models" : "widget";
    const { message } = /** @type {Error} */ (error);
    words.textContent = `The ${what} could not be loaded (${message}); reload the page, or open it in a newer browser.`;
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
