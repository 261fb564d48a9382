// What everybody guesses at one gap, as one picture: the port of
// src/cloze/widgets/explorer/chart.py.

import { largest } from "./answers.js";
import { button, element } from "./element.js";
import { counted, fixed, inBits, inNats, spoken, sum, visible } from "./words.js";

const LEAST = 0.005; // a probability below this is written 0.00
const UNIGRAM = "unigram";
const TITLES = {
  left: "from the left",
  right: "from the right",
  both: "from both sides",
  [UNIGRAM]: "without looking",
};

/** Return how a reader is called. */
export function title(name) {
  return TITLES[name] ?? name;
}

/**
 * Return what may stand at the focus, in the order of the last reader: the `k` that anybody finds
 * likeliest, and the truth; what nobody expects is left out.
 */
function candidates(answers, k) {
  const state = answers.asked;
  const every = Object.values(answers.byName).map((answer) => answer.at(state.focus));
  const most = state.symbols.known.map((_, i) => Math.max(...every.map((said) => said[i])));
  const shown = new Set(largest(most, k).filter((i) => most[i] >= LEAST));
  const truth = state.knownTruth(state.focus);
  if (truth !== null) shown.add(state.symbols.known.indexOf(truth));
  const last = every.at(-1);
  return [...shown].sort((i, j) => last[j] - last[i] || i - j);
}

/** Return −log P of the truth for whoever knows frequencies only; null if it is unknown. */
export function baselineCost(answers, at) {
  const truth = answers.asked.knownTruth(at);
  if (!answers.baseline || truth === null) return null;
  return -Math.log(answers.baseline.probabilities[answers.asked.symbols.known.indexOf(truth)]);
}

/** Write a bar and its number. */
export function bar(probability) {
  const written = fixed(probability, 2);
  return element(
    "div",
    { class: probability >= LEAST ? "track" : "track none" },
    element("span", { class: "bar", style: `--p: ${written}` }),
    element("span", { class: "number" }, written),
  );
}

function head(name, cost) {
  let paid = null;
  if (cost !== null) {
    const bits = element("span", { class: "bits" }, ` = ${inBits(cost)} bits`);
    paid = element("span", { class: "number" }, `costs ${inNats(cost)} nats`, bits);
  }
  return element("th", { scope: "col", class: name }, element("b", null, title(name)), " ", paid);
}

/** Write the guesses at the focus, which is an open gap: `k` candidates, the truth, all others. */
export function chart(answers, k, { baseline = true } = {}) {
  const state = answers.asked;
  const at = state.focus;
  const { known } = state.symbols;
  const columns = Object.entries(answers.byName).map(([name, answer]) => ({
    name,
    said: answer.at(at),
    cost: answer.cost(at),
  }));
  if (baseline && answers.baseline)
    columns.push({
      name: UNIGRAM,
      said: answers.baseline.probabilities,
      cost: baselineCost(answers, at),
    });
  // The left wing, the candidates, the right wing, and the others beside them.
  const wing = ({ name }) => ({ left: 0, right: 2 })[name] ?? 3;
  columns.sort((a, b) => wing(a) - wing(b));
  const middle = columns.filter(({ name }) => name === "left").length;

  const row = (attributes, first, cells) =>
    element("tr", attributes, ...cells.slice(0, middle), first, ...cells.slice(middle));
  const cells = (values) =>
    columns.map(({ name }, i) => element("td", { class: name }, bar(values[i])));

  const shown = candidates(answers, k);
  const rows = shown.map((i) => {
    const isTruth = known[i] === state.knownTruth(at);
    const label = button(visible(known[i]), "fill", {
      class: "candidate",
      "data-with-at": at,
      "data-with-symbol": known[i],
      "aria-label": `fill position ${at} with ${spoken(known[i])}${isTruth ? ", the truth" : ""}`,
    });
    const tick = isTruth ? element("span", { class: "tick", title: "the truth" }, "✓") : null;
    return row(
      { class: isTruth ? "truth" : null, "data-key": known[i] },
      element("th", { scope: "row" }, label, tick),
      cells(columns.map(({ said }) => said[i])),
    );
  });
  const leftOver = known.length - shown.length;
  if (leftOver) {
    const others = (said) => sum(Array.from(said).filter((_, i) => !shown.includes(i)));
    const label = element("span", { class: "quiet" }, counted(leftOver, "other"));
    rows.push(
      row(
        { class: "rest", "data-key": "rest of" },
        element("th", { scope: "row" }, label),
        cells(columns.map(({ said }) => others(said))),
      ),
    );
  }
  const unit = element("span", { class: "spoken" }, state.symbols.unit);
  const heads = columns.map(({ name, cost }) => head(name, cost));
  return element(
    "table",
    { class: "chart" },
    element("caption", { class: "spoken" }, `What stands at position ${at}?`),
    element("thead", null, row(null, element("th", { scope: "col", class: "middle" }, unit), heads)),
    element("tbody", null, ...rows),
  );
}
