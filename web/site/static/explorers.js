// The explorers of a page: the pictures that pages.py marks come to life, as on the explorer's own
// page, whose modules and models these are. What the browser has fetched once serves them all.
import { Explorer } from "../explorer/explorer.js";
import { written } from "../explorer/link.js";
import { readPredictors } from "../explorer/predictor.js";
import view from "../explorer/view.js";

const READERS = ["left", "right", "both"];
const FOLDER = new URL("../explorer/", import.meta.url);

async function load() {
  const buffers = READERS.map(async (name) => {
    const answer = await fetch(new URL(`${name}.safetensors`, FOLDER));
    if (!answer.ok) throw new Error(`${name}.safetensors: ${answer.status}`);
    return [name, await answer.arrayBuffer()];
  });
  return readPredictors(Object.fromEntries(await Promise.all(buffers)));
}

let loaded;
const predictors = () => (loaded ??= load());

async function explorerOf({ line, mask, examples }) {
  const explorer = await Explorer.of(await predictors(), JSON.parse(examples));
  const masked = mask.split(",").map(Number);
  await explorer.become(explorer.state.withLine(line, explorer.maxLen).withMasked(masked));
  await explorer.act("focus", { at: masked[0] });
  return explorer;
}

async function wake(place) {
  const words = place.querySelector(".needs-python");
  words.setAttribute("role", "status");
  words.textContent = "The models are being loaded: 1.6 MB, once.";
  try {
    const explorer = await explorerOf(place.dataset);
    const living = document.createElement("div");
    view.render({ model: explorer, el: living });
    place.querySelector(".cloze.still").replaceWith(living);
    const own = document.createElement("a");
    own.href = new URL(`index.html${written(explorer.state)}`, FOLDER);
    own.textContent = "On a page of its own";
    words.replaceChildren(
      "The explorer runs in this page, on this device, with weights rounded to 16 bits. ",
      own,
      " it has links to share.",
    );
    words.removeAttribute("role");
  } catch (error) {
    loaded = undefined; // the next one may be luckier
    words.textContent = `The models could not be loaded (${error.message}); load the page again.`;
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

for (const place of document.querySelectorAll(".living-explorer")) {
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
