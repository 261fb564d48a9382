// The line of the explorer: each position a button, and on it what the view says of it. The port
// of src/cloze/widgets/explorer/line.py.

import { largest } from "./answers.js";
import { title } from "./chart.js";
import { button, element, join } from "./element.js";
import { capitalised, counted, fixed, inNats, rounded, signed, spoken, visible } from "./words.js";

// What is shaded darkest: nats, a share of the attention, nats.
const DARKEST = { occlusion: 1.5, attention: 1.0, surprise: 6.0 };
const LEAST = 0.05; // the least that is written beneath a position or in words

/** Return what the shades of the line stand for, and how much of it each position has. */
function shades(answers) {
  const { view, hidden } = answers.asked;
  if (view === "guesses" && !hidden) return ["occlusion", answers.occlusion];
  if (view === "attention") return ["attention", answers.attention];
  if (view === "surprise" && !hidden) return ["surprise", answers.surprise];
  return ["", []];
}

/** Return how dark an amount is, in percent: in tens, so that nothing changes for nothing. */
function heat(kind, amount) {
  return 10 * rounded(10 * Math.min(Math.max(amount / DARKEST[kind], 0), 1));
}

/** Write one position of the line. */
function letter(answers, at) {
  const state = answers.asked;
  const masked = state.masked.includes(at);
  const filled = state.filled[at];
  const truth = masked && state.hidden ? null : state.knownTruth(at);
  const hands = Object.entries(state.hands[at] ?? {});
  const [kind, amounts] = shades(answers);
  const said = [`position ${at}`];
  const classes = ["letter"];
  let shown;
  let below = "";
  let style = null;
  if (masked && !(kind === "surprise" && amounts.length)) {
    classes.push(filled ? "filled" : "masked");
    shown = filled ? visible(filled) : "?";
    said.push(filled ? `masked, filled with ${spoken(filled)}` : "masked");
    if (truth) {
      said.push(`the truth is ${spoken(truth)}`);
      below = visible(truth);
    } else if (hands.length) {
      const most = Math.max(...hands.map(([, n]) => n));
      const [first] = hands.find(([, n]) => n === most);
      const each = hands.map(([symbol, n]) => `${spoken(symbol)} ${n}`).join(", ");
      const alone = hands.length === 1 && most === 1;
      said.push(alone ? `you guess ${spoken(first)}` : `hands: ${each}`);
      below = `${visible(first)}?`;
    }
  } else {
    const symbol = state.truth[at];
    shown = visible(symbol);
    said.push(spoken(symbol));
    if (/\s/.test(symbol)) classes.push("space");
  }
  if (amounts.length && !(kind === "occlusion" && state.open.includes(at))) {
    const amount = amounts[at];
    classes.push(`heat ${kind}`);
    style = `--heat: ${heat(kind, amount)}%`;
    if (kind === "attention") {
      said.push(`attention ${fixed(amount, 2)}`);
      below = amount >= LEAST ? fixed(amount, 2).replace(/^0|\.00$/g, "") : "";
    } else if (kind === "surprise") {
      said.push(`${inNats(amount)} nats`);
      below = amount > 1 ? fixed(amount, 1) : "";
    } else if (Math.abs(amount) >= LEAST) {
      said.push(`if hidden: ${signed(amount)} nats`);
      below = amount >= 0.1 ? fixed(amount, 1).replace("inf", "∞") : "";
    }
  }
  const current = at === state.focus;
  return button(
    join([element("span", null, shown), element("small", null, below)]),
    "toggle",
    {
      class: classes.join(" "),
      style,
      "data-with-at": at,
      tabindex: current ? 0 : -1,
      "aria-pressed": masked,
      "aria-current": current ? "true" : null,
      "aria-label": said.join(", "),
    },
  );
}

/** Write the line, broken only between words. */
export function line(answers) {
  const state = answers.asked;
  const { length } = state.truth;
  // Each part begins with a word and ends with the space behind it.
  const starts = state.symbols.words(state.truth).slice(1).map((word) => word[0]);
  const words = [0, ...starts].map((start, i) => {
    const end = starts[i] ?? length;
    const letters = Array.from({ length: end - start }, (_, j) => letter(answers, start + j));
    return element("span", { class: "word" }, ...letters);
  });
  return element(
    "div",
    {
      role: "group",
      "aria-label":
        `The line, ${counted(length, state.symbols.unit)}. Space masks, arrows move, ` +
        "Shift and an arrow mask as they move.",
      class: "line",
      "data-arrows": "focus",
      "data-span": "span",
      "data-keys": state.hidden ? "guess" : null,
    },
    ...words,
  );
}

/** Say what the last answer at the focus depends on, and what misleads it. */
export function occlusionInWords(answers) {
  const costs = Array.from(answers.occlusion);
  if (!costs.length) return "";
  const state = answers.asked;
  const size = costs.map(Math.abs);
  const top = largest(size, 3).filter((at) => size[at] >= LEAST);
  const who = capitalised(title(answers.last[0]));
  const what = state.knownTruth(state.focus) ? "costs" : "changes the answer by";
  const nothing = `${who}: the answer does not depend on any single ${state.symbols.unit}`;
  if (!top.length) return `${nothing}; hiding one more ${what} less than ${LEAST} nats.`;
  const shaded = costs.some((cost) => heat("occlusion", cost));
  // What is seen is named, too.
  if (shaded && top.every((at) => costs[at] < 0)) top.splice(2, 1, ...largest(costs, 1));
  const places = top.map((at) => `${visible(state.held[at])} at ${at} ${signed(costs[at])}`);
  const listed = places.join(", ");
  if (top.every((at) => costs[at] < 0))
    return `${nothing}; hiding one more even helps, in nats: ${listed}.`;
  const shadesTell = `${who}: the answer depends on what is shaded`;
  const little = `${who}: the answer depends little on any single ${state.symbols.unit}`;
  return `${shaded ? shadesTell : little}. Hiding one more ${what}, in nats: ${listed}.`;
}
