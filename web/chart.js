// What everybody guesses at one gap, as one picture: the port of
// src/cloze/widgets/explorer/chart.py.

import { largest } from "./answers.js";
import { button, element } from "./element.js";
import { ROOM, bet, cost, raised, who } from "./room.js";
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
 * likeliest, and the truth; what nobody expects is left out. The room expects what it has named.
 */
function candidates(answers, k) {
  const state = answers.asked;
  const every = Object.values(answers.byName).map((answer) => answer.at(state.focus));
  const hands = state.hands[state.focus] ?? {};
  const named = state.symbols.known.map((symbol) => (hands[symbol] ?? 0) / (raised(hands) || 1));
  const most = named.map((share, i) => Math.max(share, ...every.map((said) => said[i])));
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
  return answers.baseline.cost(answers.asked.symbols.known.indexOf(truth));
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

/** Write the heading of a column: whose it is, and what the truth costs. */
function head({ name, called, paid }) {
  let written = null;
  if (paid !== null) {
    const bits = element("span", { class: "bits" }, `= ${inBits(paid)} bits`);
    written = element("span", { class: "number" }, `costs ${inNats(paid)} nats `, bits);
  }
  return element("th", { scope: "col", class: name }, element("b", null, called), " ", written);
}

/** Return who guesses at the focus: the left wing, the right wing, the others beside them. */
function columnsOf(answers, baseline) {
  const state = answers.asked;
  const at = state.focus;
  const { known } = state.symbols;
  const found = Object.entries(answers.byName).map(([name, answer]) => ({
    name,
    called: title(name),
    said: Array.from(answer.at(at)),
    paid: answer.cost(at),
  }));
  const hands = state.hands[at];
  if (hands) {
    const paid = cost(hands, known, state.knownTruth(at));
    found.push({ name: ROOM, called: who(raised(hands)), said: bet(hands, known), paid });
  }
  if (baseline && answers.baseline) {
    const said = Array.from(answers.baseline.probabilities);
    found.push({ name: UNIGRAM, called: title(UNIGRAM), said, paid: baselineCost(answers, at) });
  }
  const wing = ({ name }) => ({ left: 0, right: 2 })[name] ?? 3;
  return found.sort((a, b) => wing(a) - wing(b));
}

/** Write the guesses at the focus, which is an open gap: `k` candidates, the truth, all others. */
export function chart(answers, k, { baseline = true } = {}) {
  const state = answers.asked;
  const at = state.focus;
  const { known } = state.symbols;
  const columns = columnsOf(answers, baseline);
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
    const others = (said) => sum(said.filter((_, i) => !shown.includes(i)));
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
  const middleHead = element("th", { scope: "col", class: "middle" }, unit);
  return element(
    "table",
    { class: "chart" },
    element("caption", { class: "spoken" }, `What is at position ${at}?`),
    element("thead", null, row(null, middleHead, columns.map(head))),
    element("tbody", null, ...rows),
  );
}
