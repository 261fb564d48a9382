// The widgets of a page that live without Python: where pages.py leaves room for one, it is made of
// the modules, models and texts of the explorer's own page, which the browser fetches once for all.
import { Readers, beginning } from "../explorer/answers.js";
import Explorer from "../explorer/explorer.js";
import { writing } from "../explorer/generation.js";
import GuessingGame from "../explorer/guessing_game.js";
import { playing } from "../explorer/judge.js";
import { written } from "../explorer/link.js";
import { loadPredictors } from "../explorer/predictor.js";
import Unmasking from "../explorer/unmasking.js";
import { render } from "../explorer/view.js";
import { Model } from "../explorer/widget.js";

const FOLDER = new URL("../explorer/", import.meta.url);

const MAKERS = {
  explorer({ predictors, examples }, { line, mask }) {
    const masked = mask ? mask.split(",").map(Number) : [];
    const begin = { line, masked };
    const paid = new Model({ paid: [] });
    const state = beginning(predictors, examples, begin);
    const explorer = new Explorer(new Model(state, new Readers(predictors, paid)));
    paid.on("change", () => explorer.set({ paid: paid.get("paid") }));
    return explorer;
  },
  game: ({ predictors, game }, { seed }) =>
    new GuessingGame(playing(predictors, game, { seed: Number(seed) })),
  unmasking: ({ predictors }, { line, temperature }) =>
    new Unmasking(writing(predictors.both, { line, temperature: Number(temperature) })),
};

async function fetched(name) {
  const answer = await fetch(new URL(name, FOLDER));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

async function load() {
  const [predictors, html] = await Promise.all([
    loadPredictors(async (name) => (await fetched(name)).arrayBuffer()),
    fetched("index.html").then((answer) => answer.text()),
  ]);
  const page = new DOMParser().parseFromString(html, "text/html");
  const { examples, game } = JSON.parse(page.getElementById("settings").textContent);
  return { predictors, examples, game };
}

let loading;

async function wake(place) {
  const words = place.querySelector(".needs-python");
  words.setAttribute("role", "status");
  words.textContent = "Loading the models: 1.6 MB, once.";
  try {
    const widget = await MAKERS[place.dataset.kind](await (loading ??= load()), place.dataset);
    const living = document.createElement("div");
      widget.refresh();
    render({ widget, el: living });
    place.querySelector(".cloze.still")?.remove();
    place.prepend(living);
    const own = document.createElement("a");
    own.href = new URL(`index.html${widget.state ? written(widget) : ""}`, FOLDER);
    own.textContent = "a page of its own";
    words.replaceChildren(
      "This widget runs here, on this device, with weights rounded to 16 bits; there is ",
      own,
      ", too.",
    );
    words.removeAttribute("role");
  } catch (error) {
    loading = undefined; // the next one may be luckier
    words.textContent = `The models could not be loaded (${error.message}); reload the page.`;
    throw error;
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
