// The widgets of a page that live without Python: where pages.py leaves room for one, it is made of
// the modules, models and texts of the explorer's own page, which the browser fetches once for all.
import { render } from "../explorer/view.js";
import { Model } from "../explorer/widget.js";

/**
 * @import { Examples } from "../explorer/answers.js"
 * @import { Game } from "../explorer/judge.js"
 * @import { Predictors } from "../explorer/predictor.js"
 * @import { WidgetModel } from "../explorer/widget.js"
 *
 * @typedef {{ predictors: Predictors, examples: Examples, game: Game }} Loaded  What the explorer's
 *   page has.
 */

const FOLDER = new URL("../explorer/", import.meta.url);

/**
 * The widgets by the name of their class in Python: the module whose default export shows one, and,
 * if somebody must answer what it asks, what makes its model of how it begins and of what the
 * explorer's page has.
 * @type {Record<string, { module: string, model?: (state: object, loaded: Loaded) => Promise<object> }>}
 */
const WIDGETS = {
  GuessingGame: {
    module: "guessing_game.js",
    async model(state, { predictors, game }) {
      const { playing } = await module("judge.js");
      return playing(predictors, game, state);
    },
  },
  MaskDraws: { module: "draws.js" },
  MaskExplorer: {
    module: "explorer.js",
    async model(state, { predictors, examples }) {
      const { exploring } = await module("answers.js");
      return exploring(predictors, examples, state);
    },
  },
  ProbabilityBet: { module: "bet.js" },
  Quiz: { module: "quiz.js" },
  Sight: { module: "sight.js" },
  Unmasking: {
    module: "unmasking.js",
    async model(state, { predictors }) {
      const { writing } = await module("generation.js");
      return writing(predictors.both, state);
    },
  },
};

const module = (/** @type {string} */ name) => import(new URL(name, FOLDER).href);

/** @param {string} name */
async function fetched(name) {
  const answer = await fetch(new URL(name, FOLDER));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

/** @returns {Promise<Loaded>} */
async function load() {
  /** @type {typeof import("../explorer/predictor.js")} */
  const { loadPredictors } = await module("predictor.js");
  const [predictors, html] = await Promise.all([
    loadPredictors(async (name) => (await fetched(name)).arrayBuffer()),
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

/** Make the widget of a place, which pages.py has given its name and how it begins. */
async function widgetOf({ widget = "", state = "" }) {
  const { module: name, model } = WIDGETS[widget];
  const { default: Class } = await module(name);
  const begins = JSON.parse(state);
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
  const asks = WIDGETS[place.dataset.widget ?? ""].model;
  words.setAttribute("role", "status");
  place.ariaBusy = "true";
  if (asks) words.textContent = "Loading the models: 1.6 MB, once.";
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
      const { written } = await module("link.js");
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
