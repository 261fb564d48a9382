// How the explorer looks. What needs an answer keeps showing the last one, visibly waiting, until
// the answer to what is seen has come.

import { button, element, form, join, problemOf, select, status, tableOf } from "./element.js";
import { MOST_HANDS, ROOM, bet, cost, raised, who } from "./room.js";
import { inWords as tallyInWords } from "./tally.js";
import {
  capitalised,
  counted,
  fixed,
  inBits,
  inNats,
  oneDigit,
  signed,
  spoken,
  sum,
  visible,
} from "./words.js";

const HINT = "Click a letter to hide it, or drag over several.";
export const VIEWS = {
  guesses: "Guesses",
  pair: "Two gaps",
  attention: "Attention",
  surprise: "Surprise",
};
const TERMS_SHOWN = 6; // how many terms of the sum are written out
const LEAST = 0.005; // a probability below this is written 0.00
const LEAST_CHANGE = 0.05; // the least change or share that is written beneath a position or in words
// What is shaded darkest: nats, a share of the attention, nats.
const DARKEST = { occlusion: 1.5, attention: 1.0, surprise: 6.0 };
const UNIGRAM = "unigram";
const TITLES = {
  left: "from the left",
  right: "from the right",
  both: "from both sides",
  [UNIGRAM]: "without looking",
};
const NOTHING = join([]);

const title = (name) => TITLES[name] ?? name;
const paragraph = (text) => element("p", null, text);
const costAt = (costs, at) => (costs[at] == null ? null : Number(costs[at]));

/** Return the places of the `k` largest values, largest first. */
function largest(values, k) {
  return [...values.keys()].sort((i, j) => values[j] - values[i] || i - j).slice(0, k);
}

/** Write the whole explorer: `widget` is one. */
export function explorer(widget) {
  const { state, present } = widget;
  const fresh = widget.answered === widget.posed; // what is seen has been answered
  const answer = fresh ? widget.answer : null;
  const seen = {
    panel: panel(state, answer, widget, present),
    told: fresh || state.hidden ? summary(state, answer, widget.announcement) : null,
    sums: state.hidden || !state.open.length || fresh ? sums(state, answer, present) : null,
  };
  // What waits for an answer is what it was.
  const waits = seen.panel === null;
  for (const name of Object.keys(seen)) seen[name] ??= widget.seen?.[name] ?? NOTHING;
  widget.seen = seen;
  const paid = widget.get("paid");
  const bare = !widget.get("tools");
  const tools = bare ? NOTHING : controls(state, widget.get("examples"));
  return element(
    "div",
    { class: state.symbols.wide ? "explorer words" : "explorer" },
    present && !bare ? tools : element("p", { class: "quiet" }, HINT),
    line(state, shadesOf(state, answer, widget)),
    told(state, seen.told),
    present || bare ? NOTHING : views(state),
    element("div", { class: "panel", "aria-busy": waits || null }, seen.panel),
    element(
      "div",
      null,
      paid.length && state.guessFirst ? element("p", { class: "tally" }, tallyInWords(paid)) : null,
      bare ? null : seen.sums,
    ),
    present ? NOTHING : tools,
  );
}

// ── the line ────────────────────────────────────────────────────────────────────────────────────

/** Return what the shades of the line stand for, and how much of it each position has. */
function shadesOf(state, answer, { occlusion }) {
  const { view, hidden, layer, head } = state;
  if (!answer) return ["", []];
  if (view === "guesses" && !hidden) return ["occlusion", occlusion];
  if (view === "attention") return ["attention", answer.attention[layer]?.[head] ?? []];
  if (view === "surprise" && !hidden) return ["surprise", answer.surprise.map(Number)];
  return ["", []];
}

/** Return how dark an amount is, in percent: in tens, so that nothing changes for nothing. */
function heat(kind, amount) {
  return 10 * Math.round(10 * Math.min(Math.max(amount / DARKEST[kind], 0), 1));
}

/** Write one position of the line. */
function letter(state, [kind, amounts], at) {
  const masked = state.masked.includes(at);
  const filled = state.filled[at];
  const truth = masked && state.hidden ? null : state.truthAt(at);
  const hands = Object.entries(state.hands[at] ?? {});
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
      below = amount >= LEAST_CHANGE ? fixed(amount, 2).replace(/^0|\.00$/g, "") : "";
    } else if (kind === "surprise") {
      said.push(`${inNats(amount)} nats`);
      below = amount > 1 ? fixed(amount, 1) : "";
    } else if (Math.abs(amount) >= LEAST_CHANGE) {
      said.push(`if hidden: ${signed(amount)} nats`);
      below = amount >= 0.1 ? fixed(amount, 1).replace("inf", "∞") : "";
    }
  }
  const current = at === state.focus;
  return button(join([element("span", null, shown), element("small", null, below)]), "toggle", {
    class: classes.join(" "),
    style,
    "data-with-at": at,
    tabindex: current ? 0 : -1,
    "aria-pressed": masked,
    "aria-current": current ? "true" : null,
    "aria-label": said.join(", "),
  });
}

/** Return the positions of the line in parts: each begins with a word and ends before the next. */
function parts({ truth, words }) {
  const starts = [0, ...words.slice(1).map(([start]) => start)];
  return starts.map((start, i) => {
    const length = (starts[i + 1] ?? truth.length) - start;
    return Array.from({ length }, (_, j) => start + j);
  });
}

/** Write the line, broken only between words. */
function line(state, shades) {
  const words = parts(state).map((part) =>
    element("span", { class: "word" }, ...part.map((at) => letter(state, shades, at))),
  );
  const { unit, known, wide } = state.symbols;
  return element(
    "div",
    {
      role: "group",
      "aria-label":
        `The line, ${counted(state.truth.length, unit)}. Space masks, arrows move, ` +
        "Shift and an arrow mask as they move.",
      class: "line",
      "data-arrows": "focus",
      "data-span": "span",
      "data-keys": state.hidden && known && !wide ? "guess" : null,
    },
    ...words,
  );
}

// ── what is guessed at the focus ────────────────────────────────────────────────────────────────

/** Write what the view shows below the line; null if that waits for an answer. */
function panel(state, answer, widget, present) {
  const shown = { guesses, pair, attention, surprise }[state.view](state, answer, widget, present);
  return shown ?? (widget.answered === widget.posed ? NOTHING : null);
}

/** Write what everybody guesses at the focus, and what the last answer depends on. */
function guesses(state, answer, { occlusion }, present) {
  const at = state.focus;
  if (!state.masked.includes(at))
    return paragraph(
      `Position ${at} is not masked. Click it, or press Space, to hide it and see ` +
        "what the models guess.",
    );
  if (at in state.filled) {
    const filled = visible(state.filled[at]);
    return element(
      "p",
      null,
      `Position ${at} holds ${filled}, and the models read it. `,
      button("Empty it", "empty", { "data-with-at": at }),
    );
  }
  if (state.hidden) return showOfHands(state);
  if (!answer) return null;
  const shown = [chart(state, answer, present ? 4 : 5, !present)];
  if (at in state.hands) shown.push(element("p", { class: "stakes" }, verdict(state, answer)));
  if (!present)
    shown.push(element("p", { class: "quiet leans" }, occlusionInWords(state, answer, occlusion)));
  return join(shown);
}

/** Write what guesses are made with, and them. One guess is a show of one hand. */
function showOfHands(state) {
  const at = state.focus;
  const { known, wide } = state.symbols;
  const hands = state.hands[at] ?? {};
  const how = known && !wide ? "Type it or choose it" : known ? "Choose it" : "Type it";
  const counts = Object.entries(hands).map(([symbol, n]) => raisedFor(at, symbol, n));
  return join([
    paragraph(`What is hidden there? ${how} once for every hand, then reveal.`),
    known && !wide ? keys(at, known, hands) : choice(at, known),
    element("div", { class: "row hands" }, ...counts),
    problemOf("count"),
    counts.length ? element("p", { class: "quiet stakes" }, stakes(hands, state)) : NOTHING,
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

/** Write a list of what may be guessed, or a field where that would be too long. */
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
function stakes(hands, { symbols: { n, unit } }) {
  const p = 1 / n / (raised(hands) + 1);
  return (
    `One extra hand is shared by all ${n} ${unit}s, so a ${unit} without hands ` +
    `still gets ${oneDigit(p)} and costs ${inBits(-Math.log(p))} bits.`
  );
}

function verdict(state, answer) {
  const hands = state.hands[state.focus];
  const truth = state.truthAt(state.focus);
  let said;
  if (raised(hands) === 1) {
    const [own] = Object.keys(hands);
    const last = answer.readers.at(-1);
    const p = fixed(last.p[answer.symbols.indexOf(own)], 2);
    const judged = truth === null ? "" : own === truth ? " It is right." : " It is wrong.";
    said = `Your guess: ${visible(own)}.${judged} The model gives it ${p} ${title(last.name)}.`;
  } else {
    const most = Object.entries(hands).sort(([, n], [, m]) => m - n);
    said = `The room: ${most.map(([symbol, n]) => `${visible(symbol)} ${n}`).join(", ")}.`;
  }
  return `${said} ${stakes(hands, state)}`;
}

// ── the chart: candidates down the middle, bars to the sides ────────────────────────────────────

/**
 * Return what may stand at the focus, in the order of the last reader: the `k` that anybody finds
 * likeliest, and the truth; what nobody expects is left out. The room expects what it has named.
 */
function candidates(state, { symbols, readers }, k) {
  const hands = state.hands[state.focus] ?? {};
  const most = symbols.map((symbol, i) =>
    Math.max((hands[symbol] ?? 0) / (raised(hands) || 1), ...readers.map(({ p }) => p[i])),
  );
  const shown = new Set(largest(most, k).filter((i) => most[i] >= LEAST));
  const truth = state.truthAt(state.focus);
  if (truth !== null) shown.add(symbols.indexOf(truth));
  const last = readers.at(-1).p;
  return [...shown].sort((i, j) => last[j] - last[i] || i - j);
}

/** Return who guesses at the focus: the left wing, the right wing, the others beside them. */
function columnsOf(state, { symbols, readers, baseline }, withBaseline) {
  const { focus: at } = state;
  const { n } = state.symbols;
  const found = readers.map(({ name, p, costs }) => ({
    name,
    called: title(name),
    p,
    paid: costAt(costs, at),
  }));
  const hands = state.hands[at];
  if (hands) {
    const p = symbols.map((symbol) => bet(hands, symbol, n));
    found.push({
      name: ROOM,
      called: who(raised(hands)),
      p,
      paid: cost(hands, state.truthAt(at), n),
    });
  }
  if (withBaseline && baseline) {
    const { p, costs } = baseline;
    found.push({ name: UNIGRAM, called: title(UNIGRAM), p, paid: costAt(costs, at) });
  }
  const wing = ({ name }) => ({ left: 0, right: 2 })[name] ?? 3;
  return found.sort((a, b) => wing(a) - wing(b));
}

/** Write a bar and its number. */
function bar(probability) {
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
    const nats = element("span", { "data-count": true }, inNats(paid));
    const bits = element("span", { class: "bits" }, `= ${inBits(paid)} bits`);
    written = element("span", { class: "number" }, "costs ", nats, " nats ", bits);
  }
  return element("th", { scope: "col", class: name }, element("b", null, called), " ", written);
}

/** Write the guesses at the focus, which is an open gap: `k` candidates, the truth, all others. */
function chart(state, answer, k, withBaseline) {
  const { focus: at } = state;
  const columns = columnsOf(state, answer, withBaseline);
  const middle = columns.filter(({ name }) => name === "left").length;
  const row = (attributes, first, cells) =>
    element("tr", attributes, ...cells.slice(0, middle), first, ...cells.slice(middle));
  const cells = (values) =>
    columns.map(({ name }, i) => element("td", { class: name }, bar(values[i])));

  const shown = candidates(state, answer, k);
  const rows = shown.map((i) => {
    const symbol = answer.symbols[i];
    const isTruth = symbol === state.truthAt(at);
    const label = button(visible(symbol), "fill", {
      class: "candidate",
      "data-with-at": at,
      "data-with-symbol": symbol,
      "aria-label": `fill position ${at} with ${spoken(symbol)}${isTruth ? ", the truth" : ""}`,
    });
    const tick = isTruth ? element("span", { class: "tick", title: "the truth" }, "✓") : null;
    return row(
      { class: isTruth ? "truth" : null, "data-key": symbol },
      element("th", { scope: "row" }, label, tick),
      cells(columns.map(({ p }) => p[i])),
    );
  });
  const leftOver = state.symbols.n - shown.length;
  if (leftOver) {
    const others = (p) => Math.max(0, 1 - sum(shown.map((i) => p[i])));
    const label = element("span", { class: "quiet" }, counted(leftOver, "other"));
    rows.push(
      row(
        { class: "rest", "data-key": "rest of" },
        element("th", { scope: "row" }, label),
        cells(columns.map(({ p }) => others(p))),
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

/** Say what the last answer at the focus depends on, and what misleads it. */
function occlusionInWords(state, { readers }, costs) {
  if (!costs.length) return "";
  const size = costs.map(Math.abs);
  const top = largest(size, 3).filter((at) => size[at] >= LEAST_CHANGE);
  const teller = capitalised(title(readers.at(-1).name));
  const what = state.truthAt(state.focus) ? "costs" : "changes the answer by";
  const nothing = `${teller}: the answer does not depend on any single ${state.symbols.unit}`;
  if (!top.length) return `${nothing}; hiding one more ${what} less than ${LEAST_CHANGE} nats.`;
  const shaded = costs.some((cost) => heat("occlusion", cost));
  // What is seen is named, too.
  if (shaded && top.every((at) => costs[at] < 0)) top.splice(2, 1, ...largest(costs, 1));
  const places = top.map((at) => `${visible(state.held[at])} at ${at} ${signed(costs[at])}`);
  const listed = places.join(", ");
  if (top.every((at) => costs[at] < 0))
    return `${nothing}; hiding one more even helps, in nats: ${listed}.`;
  const shadesTell = `${teller}: the answer depends on what is shaded`;
  const little = `${teller}: the answer depends little on any single ${state.symbols.unit}`;
  return `${shaded ? shadesTell : little}. Hiding one more ${what}, in nats: ${listed}.`;
}

// ── the other views ─────────────────────────────────────────────────────────────────────────────

/** Write the guesses at two gaps, apart and together. */
function pair(state, answer) {
  if (state.hidden) return paragraph("Reveal first: this view shows guesses.");
  if (state.open.length < 2) {
    const { focus: at, truth, masked, open } = state;
    const beside = [at + 1, at - 1].filter((i) => i >= 0 && i < truth.length);
    const [free] = beside.filter((i) => !masked.includes(i));
    const said = "Mask two positions, preferably side by side, to compare their guesses. ";
    if (!open.length || free === undefined) return paragraph(said);
    const hide = button("Hide a neighbour", "toggle", { "data-with-at": free });
    return element("p", null, said, hide);
  }
  if (!answer) return null;
  const { first, second, apart, together } = answer.pair;
  const between = state.symbols.wide ? " " : "";
  const table = (heading, rows) => {
    const guessed = rows.map(([symbols, p]) =>
      element(
        "tr",
        { "data-key": symbols.join(" ") },
        element("th", { scope: "row", class: "middle" }, symbols.map(visible).join(between)),
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
      `Positions ${first} and ${second}. Apart, each gap is guessed without ` +
        "knowing the other. Together, the first is filled before the second is guessed. " +
        "Fill one of them in the view Guesses, and the guess for the other changes.",
    ),
    element(
      "div",
      { class: "tables" },
      table("apart: P(a) · P(b)", apart),
      table("together: P(a) · P(b | a)", together),
    ),
  ]);
}

/** Draw the line with a bar over each position, as high as its share of `most`. */
function bars(state, kind, amounts, most) {
  const words = parts(state).map((part) => {
    const columns = part.map((at) => {
      const hides = state.open.includes(at) && kind === "attention";
      const high = Math.min(Math.max(amounts[at] / most, 0), 1);
      return element(
        "span",
        { class: at === state.focus && kind === "attention" ? "column from" : "column" },
        element("i", { style: `--high: ${fixed(high, 2)}` }),
        hides ? "?" : visible(state.held[at]),
      );
    });
    return element("span", { class: "word" }, ...columns);
  });
  return element("div", { class: `columns ${kind}`, "aria-hidden": true }, ...words);
}

/** Write all heads small, and the chosen one large: where it looks from the focus. */
function attention(state, answer) {
  if (!answer) return null;
  const { layer, head: chosen, focus } = state;
  const weights = answer.attention[layer]?.[chosen];
  if (!weights)
    return paragraph(
      `${capitalised(title(answer.readers.at(-1).name))}: this model has no attention to show.`,
    );
  const symbol = (at) => (state.open.includes(at) ? "?" : visible(state.held[at]));
  const places = largest(weights, 4).map(
    (at) => `position ${at} (${symbol(at)}) ${fixed(weights[at], 2)}`,
  );
  const rows = answer.attention.map((heads, l) => {
    const cells = heads.map((each, h) => {
      const [most] = largest(each, 1);
      const pressed = l === layer && h === chosen;
      return button(small(each, focus), "head", {
        "data-with-layer": l,
        "data-with-head": h,
        "aria-pressed": pressed,
        tabindex: pressed ? 0 : -1,
        "aria-label": `layer ${l + 1}, head ${h + 1}, looks most at position ${most}, ${fixed(each[most], 2)}`,
      });
    });
    return element("div", { class: "layer" }, element("span", null, `layer ${l + 1}`), ...cells);
  });
  return join([
    paragraph(
      `Each small picture is one head: how much it looks, from position ${focus}, at each position ` +
        "of the line. Choose one to see it large.",
    ),
    element(
      "div",
      { class: "heads", role: "group", "aria-label": "Heads", "data-arrows": "head" },
      ...rows,
    ),
    bars(state, "attention", weights, Math.max(...weights)),
    paragraph(
      `Layer ${layer + 1}, head ${chosen + 1}: from position ${focus} it looks at ${places.join(", ")}.`,
    ),
    element(
      "p",
      { class: "quiet" },
      "Attention shows where a head reads, not why the model guesses as it does: what a " +
        "head reads may matter little, and later layers change it again.",
    ),
  ]);
}

/** Draw where a head looks, small: a bar for each position, and a mark where it looks from. */
function small(weights, focus) {
  const d = weights.map((weight, at) => `M${at + 0.5} 10V${fixed(10 - 10 * weight, 1)}`);
  const box = {
    viewBox: `0 0 ${weights.length} 10`,
    preserveAspectRatio: "none",
    "aria-hidden": true,
  };
  const from = element("path", { class: "from", d: `M${focus + 0.5} 0V10` });
  return element("svg", box, from, element("path", { d: d.join("") }));
}

/** Write what surprises: a bar for each symbol, and in words. */
function surprise(state, answer) {
  const { unit } = state.symbols;
  if (state.hidden) return paragraph(`Reveal first: this view shows what each ${unit} costs.`);
  if (state.gaps.length)
    return paragraph("Surprise needs a line without typed gaps, because it asks for the truth.");
  if (!answer) return null;
  const costs = answer.surprise.map(Number);
  const places = largest(costs, 5).map(
    (at) => `${visible(state.truth[at])} at ${at} (${inNats(costs[at])})`,
  );
  const mean = inNats(sum(costs) / costs.length);
  return join([
    paragraph(
      `What each ${unit} costs, in nats, when only it is masked. The higher, the more surprising.`,
    ),
    bars(state, "surprise", costs, DARKEST.surprise),
    paragraph(`Most surprising: ${places.join(", ")}. Mean ${mean} nats.`),
  ]);
}

// ── the whole line ──────────────────────────────────────────────────────────────────────────────

const costsOf = ({ costs }) =>
  Object.values(costs)
    .filter((cost) => cost !== null)
    .map(Number);

/** Write L = −Σ log P with its numbers in it. */
function formula(costs) {
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
function sums(state, answer, present) {
  if (present || !["guesses", "pair"].includes(state.view)) return NOTHING;
  const n = state.open.filter((at) => state.truthAt(at) !== null).length;
  if (!n) return NOTHING;
  if (state.hidden) return element("p", { class: "quiet" }, "The loss is shown when you reveal.");
  if (!answer) return NOTHING;
  const { readers, baseline } = answer;
  const rows = readers.map((reader) =>
    costRow(title(reader.name), sum(costsOf(reader)), n, reader.name),
  );
  const { size, unit } = state.symbols;
  if (baseline) {
    const text = `unigram: how frequent each ${unit} is in ${baseline.text}`;
    rows.push(costRow(text, sum(costsOf(baseline)), n));
  }
  const most = n * Math.log(size);
  rows.push(costRow(`log|V|: all ${size} symbols equally likely`, most, n));
  const heads = ["guesser", "L in nats", "nats per gap", "bits per gap"];
  return element(
    "details",
    // With one gap it only says again what the bars have said.
    { open: n > 1, "data-key": n === 1 ? "one gap" : "several gaps" },
    element("summary", null, `The whole line, ${counted(n, "gap")}, in the formula`),
    element("p", { class: "formula number" }, formula(costsOf(readers.at(-1)))),
    tableOf(heads, rows, "costs"),
  );
}

// ── what is said, and what acts on the line ─────────────────────────────────────────────────────

/** Say in one or two sentences what happened and what is guessed at the focus. */
function summary(state, answer, announcement) {
  const said = announcement ? [announcement] : [];
  if (answer && !state.hidden) {
    const { symbols, readers } = answer;
    const { name, p, ...last } = readers.at(-1);
    const {
      focus: at,
      symbols: { n },
    } = state;
    if (state.open.includes(at)) {
      const best = largest(p, 2).map((i) => `${spoken(symbols[i])} ${fixed(p[i], 2)}`);
      said.push(`${capitalised(title(name))}: ${best.join(", ")}.`);
      const hands = state.hands[at];
      const paid = hands && cost(hands, state.truthAt(at), n);
      if (hands && paid !== null) {
        const given = fixed(Math.exp(-paid), 2);
        said.push(
          `${capitalised(who(raised(hands)))}: ${given} for the truth, ${inBits(paid)} bits.`,
        );
      }
    }
    const costs = costsOf(last);
    if (costs.length)
      said.push(
        `Loss ${inNats(sum(costs) / costs.length)} nats per gap, ${counted(costs.length, "gap")}.`,
      );
  }
  return said.join(" ");
}

/** Write what is said, beside the button that ends the guessing. */
function told({ guessFirst, revealed }, said) {
  if (!guessFirst) return status(said);
  const reveal = button("Reveal", "reveal", {
    class: "primary",
    "aria-disabled": revealed || null,
  });
  return element("div", { class: "row" }, reveal, status(said));
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
  const listed = [["", "choose one"], ...examples.map(({ name }) => [name, name])];
  const chosen = examples.length ? select("Examples", "example", listed) : null;
  return element(
    "div",
    { class: "controls" },
    element("div", { class: "row" }, ...buttons),
    element("div", { class: "row" }, typed, chosen),
  );
}

/** Write the choice of a view. */
function views(state) {
  const buttons = Object.entries(VIEWS).map(([view, label]) =>
    button(label, "view", { "data-with-view": view, "aria-pressed": view === state.view }),
  );
  return element("div", { role: "group", "aria-label": "View", class: "row views" }, ...buttons);
}
