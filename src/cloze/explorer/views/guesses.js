// The guesses at the selected position. While they are hidden, a room guesses here.

import { button, element, form, join, problemOf } from "../../widgets/browser/element.js";
import {
  capitalised,
  fixed,
  inNats,
  signed,
  spoken,
  visible,
} from "../../widgets/browser/words.js";
import { drawn } from "../chart.js";
import { guesserName, MOST_HANDS, raised } from "../hands.js";
import { heat, LEAST_CHANGE, largest, paragraph, titleOf } from "../parts.js";

/**
 * @import { Attributes, Child, Markup } from "../../widgets/browser/element.js"
 * @import { Guesses, Seen, Shade, State, View } from "../parts.js"
 * @import { Hands } from "../hands.js"
 */

const SURPRISE = [
  element("summary", null, "What does it cost?"),
  "What the truth costs a reader is its surprise, −log of the probability it gave, in nats: 0 if it " +
    `was certain, ${inNats(Math.log(2))} for one chance in two, ${inNats(Math.log(100))} for one in a hundred.`,
];
const DARKEST = 1.5; // the change of the answer, in nats, that is shaded darkest

/** @param {State} state */
const isOpen = ({ open, focus }) => open.includes(focus);

/**
 * Write what everybody guesses at the selected position, and what the last answer depends on.
 * @param {Seen} seen
 */
function panel({ state, answer, more, present }) {
  const at = state.focus;
  if (!state.masked.includes(at))
    return paragraph(
      `Position ${at} is not masked. Click it, or press Space, to mask it and see ` +
        "what the models guess.",
    );
  if (at in state.filled) {
    const filled = spoken(state.filled[at]);
    return element(
      "p",
      null,
      `Position ${at} holds ${filled}, and the models read it. `,
      button("Empty it", "empty", { "data-with-at": at }),
    );
  }
  if (state.hidden) return showOfHands(state);
  if (!answer) return null;
  const shown = [drawn(state, answer)];
  if (state.once) shown.push(element("details", null, ...SURPRISE));
  else if (at in state.hands) shown.push(element("p", { class: "stakes" }, verdict(state)));
  if (!present) {
    const depends = more ? inWords(state, answer, more.map(Number)) : "";
    shown.push(element("p", { class: "quiet leans" }, depends));
  }
  return join(shown);
}

/**
 * Shade a position by what it costs the answer to mask it as well.
 * @param {Seen} seen
 * @param {number} at
 * @returns {Shade | null}
 */
function shade({ state, more }, at) {
  if (!more || state.open.includes(at)) return null;
  const amount = Number(more[at]);
  const shaded = { kind: "occlusion", heat: heat(amount, DARKEST) };
  if (Math.abs(amount) < LEAST_CHANGE) return shaded;
  const below = amount >= 0.1 ? fixed(amount, 1) : "";
  return { ...shaded, label: `if masked: ${signed(amount)} nats`, below };
}

/**
 * Say what the last answer depends on.
 * @param {State} state
 * @param {Guesses} answer
 * @param {number[]} costs
 */
function inWords(state, { readers }, costs) {
  const size = costs.map(Math.abs);
  const top = largest(size, 3).filter((at) => size[at] >= LEAST_CHANGE);
  const reader = capitalised(titleOf(readers[readers.length - 1].name));
  if (!top.length)
    return `${reader}: masking one more ${state.symbols.unit} changes next to nothing.`;
  const what = state.truthAt(state.focus) ? "costs" : "changes the answer by";
  const places = top.map((at) => `${spoken(state.held[at])} at ${at} ${signed(costs[at])}`);
  return `${reader}: masking one more ${state.symbols.unit} ${what}, in nats: ${places.join(", ")}.`;
}

// ── what a room guesses ─────────────────────────────────────────────────────────────────────────

/**
 * Write what guesses are made with, and them. One guess is a show of one hand.
 * @param {State} state
 */
function showOfHands(state) {
  const at = state.focus;
  const { known, wide } = state.symbols;
  const hands = state.hands[at] ?? {};
  const symbols = known && !wide ? keys(at, known, hands, state.once) : choice(at, known);
  if (state.once) return symbols;
  const how = known && !wide ? "Type it or choose it" : known ? "Choose it" : "Type it";
  const counts = Object.entries(hands).map(([symbol, n]) => raisedFor(at, symbol, n));
  return join([
    paragraph(`What is missing there? ${how} once for every hand, then reveal.`),
    symbols,
    element("div", { class: "row hands" }, ...counts),
    problemOf("count"),
    counts.length ? element("p", { class: "quiet stakes" }, stakes(hands, state)) : "",
  ]);
}

/**
 * Write a key for each symbol.
 * @param {number} at
 * @param {string[]} known
 * @param {Hands} hands
 * @param {boolean} once  Whether there is one guess, so that none is counted.
 */
function keys(at, known, hands, once) {
  /** @param {string} symbol */
  const blank = (symbol) => /\s/.test(symbol);
  const order = [...known.filter((symbol) => !blank(symbol)), ...known.filter(blank)];
  const first = order.find((symbol) => symbol in hands) ?? order[0];
  const buttons = order.map((symbol) =>
    button(
      join([
        element("span", null, visible(symbol)),
        element("small", null, once ? "" : (hands[symbol] ?? "")),
      ]),
      "guess",
      {
        "data-with-at": at,
        "data-with-key": symbol,
        "aria-label": `guess ${spoken(symbol)}`,
        class: symbol in hands ? "raised" : null,
        tabindex: symbol === first ? 0 : -1,
      },
    ),
  );
  const group = {
    role: "group",
    "data-arrows": "",
    "aria-label": once ? "Guess" : "Raise a hand for",
    class: "row keys",
  };
  return element("div", group, ...buttons);
}

/**
 * Write a list of what may be guessed, or a field where that would be too long.
 * @param {number} at
 * @param {string[] | null} known
 */
function choice(at, known) {
  const options = known?.map((symbol) => element("option", { value: symbol }, symbol));
  const field = options
    ? element("select", { name: "key" }, ...options)
    : element("input", { type: "text", name: "key", size: 12, autocomplete: "off" });
  return form(
    "guess",
    { "data-with-at": at, class: "row" },
    element("label", null, "Raise a hand for", field),
    element("button", { type: "submit" }, "Guess"),
  );
}

/**
 * Write the hands for one symbol, to be corrected by hand.
 * @param {number} at
 * @param {string} symbol
 * @param {number} n
 */
function raisedFor(at, symbol, n) {
  const field = element("input", {
    type: "number",
    min: 0,
    max: MOST_HANDS,
    value: n,
    "aria-label": `hands for ${spoken(symbol)}`,
    "data-do": "count",
    "data-with-at": at,
    "data-with-key": symbol,
  });
  return element("label", { "data-key": symbol }, element("b", null, visible(symbol)), field);
}

/**
 * Say what is left for a symbol that nobody named.
 * @param {Hands} hands
 * @param {State} state
 */
function stakes(hands, { symbols: { n, unit } }) {
  const p = 1 / n / (raised(hands) + 1);
  return (
    `One extra hand is shared by all ${n} ${unit}s, ` +
    `so a ${unit} without hands costs ${inNats(-Math.log(p))} nats.`
  );
}

/**
 * Say what was guessed by hand.
 * @param {State} state
 */
function verdict(state) {
  const hands = state.hands[state.focus];
  const most = Object.entries(hands).sort(([, n], [, m]) => m - n);
  const listed = most.map(([symbol, n]) => `${spoken(symbol)} ${n}`).join(", ");
  return `${capitalised(guesserName(raised(hands)))}: ${listed}. ${stakes(hands, state)}`;
}

/** @type {View} */
export default {
  title: "Guesses",
  place: 0,
  asks: (state) => (isOpen(state) && !state.hidden ? "occlusion" : null),
  panel,
  shade,
  sides: true,
  sums: true,
};
