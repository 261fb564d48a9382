// How the explorer looks: from a state and its answers to markup, and nothing else. The port of
// src/cloze/widgets/explorer/markup.py.

import { largest } from "./answers.js";
import { bar, baselineCost, chart, title } from "./chart.js";
import { Markup, button, element, form, join, problemOf, select, status, tableOf } from "./element.js";
import { occlusionInWords, line } from "./line.js";
import { MOST_HANDS, cost, raised, unnamed, who } from "./room.js";
import { VIEWS } from "./state.js";
import { inWords as tallyInWords } from "./tally.js";
import {
  capitalised,
  counted,
  fixed,
  inBits,
  inNats,
  oneDigit,
  spoken,
  sum,
  visible,
} from "./words.js";

const HINT = "Click a letter to hide it, or drag over several.";
const TERMS_SHOWN = 6; // how many terms of the sum are written out
const paragraph = (text) => element("p", null, text);

// ── guesses at the focus ────────────────────────────────────────────────────────────────────────

/** Write what everybody guesses at the focus, and what the last answer depends on. */
function guesses(answers, present) {
  const state = answers.asked;
  const at = state.focus;
  if (at in state.filled) {
    const filled = visible(state.filled[at]);
    return element(
      "p",
      null,
      `Position ${at} holds ${filled}, and the models read it. `,
      button("Empty it", "empty", { "data-with-at": at }),
    );
  }
  if (!state.masked.includes(at))
    return paragraph(
      `Position ${at} is not masked. Click it, or press Space, to hide it and see ` +
        "what the models guess.",
    );
  if (state.hidden) return showOfHands(state);
  const parts = [chart(answers, present ? 4 : 5, { baseline: !present })];
  if (at in state.hands) parts.push(element("p", { class: "stakes" }, verdict(answers)));
  if (!present) parts.push(element("p", { class: "quiet leans" }, occlusionInWords(answers)));
  return join(parts);
}

/** Write what guesses are made with, and them. One guess is a show of one hand. */
function showOfHands(state) {
  const at = state.focus;
  const hands = state.hands[at] ?? {};
  const counts = Object.entries(hands).map(([symbol, n]) => raisedFor(at, symbol, n));
  return join([
    paragraph("What is hidden there? Type it or choose it once for every hand, then reveal."),
    keys(at, state.symbols.known, hands),
    element("div", { class: "row hands" }, ...counts),
    problemOf("count"),
    counts.length ? element("p", { class: "quiet stakes" }, stakes(hands, state)) : join([]),
  ]);
}

function keys(at, known, hands) {
  const blank = (symbol) => /\s/.test(symbol);
  const order = [...known.filter((symbol) => !blank(symbol)), ...known.filter(blank)];
  const buttons = order.map((symbol) =>
    button(
      join([element("span", null, visible(symbol)), element("small", null, hands[symbol] ?? "")]),
      "guess",
      {
        "data-with-at": at,
        "data-with-key": symbol,
        "aria-label": `guess ${spoken(symbol)}`,
        class: symbol in hands ? "raised" : null,
      },
    ),
  );
  const group = { role: "group", "aria-label": "Raise a hand for", class: "row keys" };
  return element("div", group, ...buttons);
}

/** Write the hands for one symbol, to be counted by hand. */
function raisedFor(at, symbol, n) {
  const name = spoken(symbol);
  const along = { "data-with-at": at, "data-with-key": symbol };
  const more = (label, said, attributes) =>
    button(label, "guess", { "aria-label": `${said} for ${name}`, ...attributes });
  return element(
    "span",
    { "data-key": symbol },
    element("b", null, visible(symbol)),
    button("−", "take", { "aria-label": `one hand fewer for ${name}`, ...along }),
    element("input", {
      type: "number",
      min: 0,
      max: MOST_HANDS,
      value: n,
      "aria-label": `hands for ${name}`,
      "data-do": "count",
      ...along,
    }),
    more("+", "one more hand", along),
    more("+10", "ten more hands", { "data-with-n": 10, ...along }),
  );
}

/** Say what is left for a symbol that nobody named. */
function stakes(hands, state) {
  const { known, unit } = state.symbols;
  const p = unnamed(hands, known);
  return (
    `One extra hand is shared by all ${known.length} ${unit}s, so a ${unit} without hands ` +
    `still gets ${oneDigit(p)} and costs ${inBits(-Math.log(p))} bits.`
  );
}

function verdict(answers) {
  const state = answers.asked;
  const at = state.focus;
  const hands = state.hands[at];
  const truth = state.knownTruth(at);
  let said;
  if (raised(hands) === 1) {
    const [own] = Object.keys(hands);
    const [name, answer] = answers.last;
    const p = fixed(answer.at(at)[state.symbols.known.indexOf(own)], 2);
    const judged = truth === null ? "" : own === truth ? " It is right." : " It is wrong.";
    said = `Your guess: ${visible(own)}.${judged} The model gives it ${p} ${title(name)}.`;
  } else {
    const most = Object.entries(hands).sort(([, n], [, m]) => m - n);
    said = `The room: ${most.map(([symbol, n]) => `${visible(symbol)} ${n}`).join(", ")}.`;
  }
  return `${said} ${stakes(hands, state)}`;
}

// ── the whole line ──────────────────────────────────────────────────────────────────────────────

/** Write L = −Σ log P with its numbers in it. */
function formula(answer) {
  const costs = answer.knownCosts;
  const more = costs.length - TERMS_SHOWN;
  const shown = costs.slice(0, TERMS_SHOWN);
  const logs = shown.map((cost) => `log ${fixed(Math.exp(-cost), 2)}`).join(" + ");
  const rest = more > 0 ? ` + … (${more} more)` : "";
  const middle = costs.length > 1 ? ` = ${shown.map(inNats).join(" + ")}${rest}` : "";
  return `L = −Σ log P(x_i | x̃) = −(${logs}${rest})${middle} = ${inNats(sum(costs))} nats`;
}

function costRow(name, total, n, readerClass = null) {
  const values = [inNats(total), inNats(total / n), inBits(total / n)];
  return element(
    "tr",
    { class: readerClass },
    element("th", { scope: "row" }, name),
    ...values.map((value) => element("td", { class: "number" }, value)),
  );
}

/** Write the loss of the whole line, against log|V| and the unigram. */
function costsOfLine(answers) {
  const state = answers.asked;
  const last = answers.last[1];
  const n = last.knownCosts.length;
  if (!n) return join([]);
  if (state.hidden)
    return element("p", { class: "quiet" }, "The loss is shown when you reveal.");
  const rows = Object.entries(answers.byName).map(([name, answer]) =>
    costRow(title(name), sum(answer.knownCosts), n, name),
  );
  const { size, unit } = state.symbols;
  if (answers.baseline) {
    const total = sum(state.open.map((at) => baselineCost(answers, at) ?? 0));
    const text = answers.baseline.text;
    rows.push(costRow(`unigram: how frequent each ${unit} is in ${text}`, total, n));
  }
  const most = n * Math.log(size);
  rows.push(costRow(`log|V|: all ${size} symbols equally likely`, most, n));
  const heads = ["guesser", "L in nats", "nats per gap", "bits per gap"];
  return element(
    "details",
    // With one gap it only says again what the bars have said.
    { open: n > 1, "data-key": n === 1 ? "one gap" : "several gaps" },
    element("summary", null, `The whole line, ${counted(n, "gap")}, in the formula`),
    element("p", { class: "formula number" }, formula(last)),
    tableOf(heads, rows, "costs"),
  );
}

// ── the other views ─────────────────────────────────────────────────────────────────────────────

/** Write the guesses at two gaps, apart and together. */
function pair(answers) {
  if (answers.asked.hidden) return paragraph("Reveal first: this view shows guesses.");
  const found = answers.pair;
  if (!found) {
    const { focus: at, truth, masked, open } = answers.asked;
    const beside = [at + 1, at - 1].filter((i) => i >= 0 && i < truth.length);
    const [free] = beside.filter((i) => !masked.includes(i));
    const said = "Mask two positions, preferably side by side, to compare their guesses. ";
    if (!open.length || free === undefined) return paragraph(said);
    const hide = button("Hide a neighbour", "toggle", { "data-with-at": free });
    return element("p", null, said, hide);
  }
  const table = (heading, rows) => {
    const guessed = rows.map(([symbols, p]) =>
      element(
        "tr",
        { "data-key": symbols.join(" ") },
        element("th", { scope: "row", class: "middle" }, symbols.map(visible).join("")),
        element("td", { class: "both" }, bar(p)),
      ),
    );
    return element(
      "table",
      { class: "chart both" },
      element("caption", null, element("b", null, heading)),
      element("tbody", null, ...guessed),
    );
  };
  return join([
    paragraph(
      `Positions ${found.first} and ${found.second}. Apart, each gap is guessed without ` +
        "knowing the other. Together, the first is filled before the second is guessed. " +
        "Fill one of them in the view Guesses, and the guess for the other changes.",
    ),
    element(
      "div",
      { class: "tables" },
      table("apart: P(a) · P(b)", found.apart),
      table("together: P(a) · P(b | a)", found.together),
    ),
  ]);
}

function choice(what, n, chosen) {
  return select(what, what, Array.from({ length: n }, (_, i) => [i, i + 1]), chosen);
}

/** Write the choice of a head, and in words where it looks. */
function attention(answers) {
  const state = answers.asked;
  const weights = Array.from(answers.attention);
  if (!weights.length)
    return paragraph(`${capitalised(title(answers.last[0]))}: this model has no attention to show.`);
  const held = state.held.map((symbol, at) => (state.open.includes(at) ? "?" : symbol));
  const places = largest(weights, 4).map(
    (at) => `position ${at} (${visible(held[at])}) ${fixed(weights[at], 2)}`,
  );
  return join([
    element(
      "div",
      { class: "row" },
      choice("layer", answers.nLayers, state.layer),
      choice("head", answers.nHeads, state.head),
    ),
    paragraph(`From position ${state.focus} this head looks at ${places.join(", ")}.`),
    element(
      "p",
      { class: "quiet" },
      "Attention shows where a head reads, not why the model guesses as it does: what a " +
        "head reads may matter little, and later layers change it again.",
    ),
  ]);
}

/** Write in words what surprises. */
function surprise(answers) {
  const state = answers.asked;
  const { unit } = state.symbols;
  if (state.hidden) return paragraph(`Reveal first: this view shows what each ${unit} costs.`);
  if (state.gaps.length)
    return paragraph("Surprise needs a line without typed gaps, because it asks for the truth.");
  const costs = Array.from(answers.surprise);
  const places = largest(costs, 5).map(
    (at) => `${visible(state.truth[at])} at ${at} (${inNats(costs[at])})`,
  );
  const mean = inNats(sum(costs) / costs.length);
  return join([
    paragraph(
      `What each ${unit} costs, in nats, when only it is masked. The darker, the more ` +
        "surprising.",
    ),
    paragraph(`Most surprising: ${places.join(", ")}. Mean ${mean} nats.`),
  ]);
}

// ── all of it ───────────────────────────────────────────────────────────────────────────────────

/** Say in one or two sentences what happened and what is guessed at the focus. */
function summary(answers) {
  const state = answers.asked;
  const said = [state.event];
  const [name, last] = answers.last;
  if (state.open.includes(state.focus) && !state.hidden) {
    const p = Array.from(last.at(state.focus));
    const best = largest(p, 2).map((i) => `${spoken(state.symbols.known[i])} ${fixed(p[i], 2)}`);
    said.push(`${capitalised(title(name))}: ${best.join(", ")}.`);
    const hands = state.hands[state.focus];
    const paid = hands && cost(hands, state.symbols.known, state.knownTruth(state.focus));
    if (hands && paid !== null) {
      const p = fixed(Math.exp(-paid), 2);
      said.push(`${capitalised(who(raised(hands)))}: ${p} for the truth, ${inBits(paid)} bits.`);
    }
  }
  if (last.loss !== null && !state.hidden)
    said.push(`Loss ${inNats(last.loss)} nats per gap, ${counted(last.knownCosts.length, "gap")}.`);
  return said.join(" ");
}

/** Write what is said, beside the button that ends the guessing. */
function told(answers) {
  const state = answers.asked;
  const said = status(summary(answers));
  if (!state.guessFirst) return said;
  const reveal = button("Reveal", "reveal", { "aria-disabled": state.revealed || null });
  return element("div", { class: "row" }, reveal, said);
}

/** Write what acts on the whole line. */
function controls(state, examples) {
  const keptBack = state.hidden && state.masked.length > 0;
  const buttons = [
    button("Mask a word", "word"),
    button("Mask 15% at random", "random"),
    button("Unmask all", "unmask", { "aria-disabled": keptBack || null }),
    button("Guess first", "guess_first", { "aria-pressed": state.guessFirst }),
  ];
  const field = element("input", {
    type: "text",
    name: "text",
    size: 30,
    autocomplete: "off",
    placeholder: "type or paste, _ for a gap",
  });
  const typed = form(
    "line",
    { class: "row" },
    element("label", null, "Your line", field),
    element("button", { type: "submit" }, "Use it"),
  );
  const listed = [["", "choose one"], ...examples.map((name) => [name, name])];
  return element(
    "div",
    { class: "controls" },
    element("div", { class: "row" }, ...buttons),
    element("div", { class: "row" }, typed, select("Examples", "example", listed)),
  );
}

/** Write the choice of a view. */
function views(state) {
  const buttons = Object.entries(VIEWS).map(([view, label]) =>
    button(label, "view", { "data-with-view": view, "aria-pressed": view === state.view }),
  );
  return element("div", { role: "group", "aria-label": "View", class: "row views" }, ...buttons);
}

/** Write the whole explorer; `paid` is what the room and the readers have paid so far. */
export function explorer(answers, examples, paid, present) {
  const state = answers.asked;
  const shown = {
    guesses: () => guesses(answers, present),
    pair: () => pair(answers),
    attention: () => attention(answers),
    surprise: () => surprise(answers),
  };
  const tools = controls(state, examples);
  const parts = [
    present ? tools : element("p", { class: "quiet" }, HINT),
    line(answers),
    told(answers),
    present ? new Markup("") : views(state),
    element("div", { class: "panel" }, shown[state.view]()),
  ];
  const room = paid.length && state.guessFirst;
  const lineIsTold = !present && ["guesses", "pair"].includes(state.view);
  const sums = [
    room ? element("p", { class: "tally" }, tallyInWords(paid)) : null,
    lineIsTold ? costsOfLine(answers) : null,
  ];
  parts.push(element("div", null, ...sums));
  if (!present) parts.push(tools);
  return element("div", { class: "explorer" }, ...parts);
}
