// The widgets of a page that live without Python: where pages.py leaves room for one, it is made of
// the modules, models and texts of the explorer's own page, which the browser fetches once for all.
import { render } from "../explorer/view.js";
import { Model } from "../explorer/widget.js";

const FOLDER = new URL("../explorer/", import.meta.url);

/**
 * The widgets by the name of their class in Python: the module whose default export shows one, and,
 * if somebody must answer what it asks, what makes its model of how it begins and of what the
 * explorer's page has.
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

const module = (name) => import(new URL(name, FOLDER));

async function fetched(name) {
  const answer = await fetch(new URL(name, FOLDER));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

async function load() {
  const { loadPredictors } = await module("predictor.js");
  const [predictors, html] = await Promise.all([
    loadPredictors(async (name) => (await fetched(name)).arrayBuffer()),
    fetched("index.html").then((answer) => answer.text()),
  ]);
  const page = new DOMParser().parseFromString(html, "text/html");
  const { examples, game } = JSON.parse(page.getElementById("settings").textContent);
  return { predictors, examples, game };
}

let loading;

async function widgetOf({ widget, state }) {
  const { module: name, model } = WIDGETS[widget];
  const { default: Class } = await module(name);
  const begins = JSON.parse(state);
  const made = new Class(
    model ? await model(begins, await (loading ??= load())) : new Model(begins),
  );
  made.refresh();
  return made;
}

async function wake(place) {
  const words = place.querySelector(".needs-python");
  const asks = WIDGETS[place.dataset.widget].model;
  words.setAttribute("role", "status");
  place.ariaBusy = "true";
  if (asks) words.textContent = "Loading the models: 1.6 MB, once.";
  try {
    const widget = await widgetOf(place.dataset);
    const living = document.createElement("div");
    render({ widget, el: living });
    if (!asks) return void place.replaceChildren(living);
    place.querySelector(".cloze.still")?.remove();
    place.prepend(living);
    const own = document.createElement("a");
    own.href = new URL("index.html", FOLDER);
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
    words.textContent = `The ${what} could not be loaded (${error.message}); reload the page.`;
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
      wake(target);
    }
  },
  { rootMargin: "300px" },
);

for (const place of document.querySelectorAll(".living")) {
  if ("atOnce" in place.dataset) {
    soon.observe(place);
    continue;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Try this line";
  button.addEventListener("click", async () => {
    await wake(place);
    place.querySelector('.line button[tabindex="0"]').focus();
  });
  place.querySelector(".needs-python").replaceChildren(button);
}
