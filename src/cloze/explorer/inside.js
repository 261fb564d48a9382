// The inside of a model at one gap of a line, for the explorer's view and the widget Inside: a ladder
// of rungs from the embedding up to the answer; heads and feed-forward parts are switched off or
// swapped by a click. What is answered says src/cloze/explorer/inside.py.

import { button, element, form, join } from "../widgets/browser/element.js";
import { ValueError } from "../widgets/browser/widget.js";
import {
  capitalised,
  counted,
  fixed,
  inNats,
  signed,
  spoken,
  visible,
} from "../widgets/browser/words.js";
import { arcs, placeOf, strip, widthOf } from "./arcs.js";
import { paragraph, titleOf, written } from "./parts.js";

/**
 * @import { Markup } from "../widgets/browser/element.js"
 * @import { Cost, Guess, Seen, State, View } from "./parts.js"
 *
 * @typedef {"off" | "swap"} Change  Replaced by a mean, or by what the second line gives there.
 *
 * @typedef {object} Settings  How the inside is looked at, and what is changed in it.
 * @property {string} reader  The name of the model; "" for the last.
 * @property {boolean} untrained  Whether it is shown as it was before training.
 * @property {Change} doing  What a click on a part does.
 * @property {boolean} everywhere  Whether parts are changed at all positions, or at the gap only.
 * @property {string[]} other  The second line; empty while there is none.
 * @property {Record<string, Change>} parts  What is changed: "0.3" is head 4 of layer 1, "0" the
 *   feed-forward part of layer 1.
 * @property {string} pointed  The head that is pointed at.
 * @property {number} played  The rung that is told; -1 while nothing is played.
 *
 * @typedef {Pick<Settings, "reader" | "untrained" | "everywhere" | "other" | "parts">} Asked
 *
 * @typedef {[place: number, moves: number, weight: number]} Arc
 *
 * @typedef {object} Head
 * @property {Arc[]} arcs  Where it reads from the gap, by place; what moves next to nothing is left out.
 * @property {number} frame  What it moves from the special symbols around the line.
 *
 * @typedef {{ guesses: Guess[], cost: Cost }} Said
 *
 * @typedef {object} Rung
 * @property {"embedding" | "attention" | "feed-forward"} part
 * @property {number} layer
 * @property {Said} own  What the model's head would answer here.
 * @property {Said | null} translated  What the translator of this rung answers; null where there is none.
 * @property {Cost} before  What the truth costs here when nothing is changed.
 * @property {number[]} added  What the part adds, as few numbers as can be drawn.
 * @property {Head[]} heads  Of an attention part.
 *
 * @typedef {object} Effect  How far the answer follows, in logits of `here` less those of `there`.
 * @property {string} here  What is right in this line.
 * @property {string} there  And in the second.
 * @property {number} before
 * @property {number} after
 * @property {number | null} direct  What is reached without the parts that come later.
 * @property {number} other  In the second line.
 *
 * @typedef {object} Inside  What the explorer asks for it.
 * @property {Rung[]} rungs  From the embedding up.
 * @property {string} looks
 * @property {boolean} means  Whether a part that is off is replaced by its mean, or by zero.
 * @property {boolean} untrained  Whether the model can be shown as it was before training.
 * @property {Effect | null} effect
 */

/** @type {Settings} */
export const UNTOUCHED = {
  reader: "",
  untrained: false,
  doing: "off",
  everywhere: false,
  other: [],
  parts: {},
  pointed: "",
  played: -1,
};

const SOURCES = [
  "Guesses on lower rungs, the logit lens: nostalgebraist 2020, interpreting GPT.",
  "Translators, the tuned lens: Belrose et al. 2023, arXiv 2303.08112.",
  "Weight times value: Kobayashi et al. 2020, Attention is Not Only a Weight, arXiv 2004.10102.",
  "What weights do not tell: Jain and Wallace 2019, Attention is not Explanation, arXiv 1902.10186.",
  "Direct and indirect effects: Vig et al. 2020, arXiv 2004.12265.",
  "Swapping in, causal tracing: Meng et al. 2022, arXiv 2202.05262.",
];

// ── what is asked ───────────────────────────────────────────────────────────────────────────────

/**
 * Return the settings that change an answer; a second line of another length is none.
 * @param {Settings} settings
 * @param {string[]} truth
 * @returns {Asked}
 */
export function asked({ reader, untrained, everywhere, other, parts }, truth) {
  const second = other.length === truth.length ? other : [];
  const kept = Object.entries(parts).filter(([, change]) => change === "off" || second.length);
  return { reader, untrained, everywhere, other: second, parts: Object.fromEntries(kept) };
}

// ── words ───────────────────────────────────────────────────────────────────────────────────────

/** @param {Rung} rung */
function nameOf({ part, layer }) {
  return part === "embedding" ? part : `${part} ${layer + 1}`;
}

/** @param {string} key */
function partName(key) {
  const [layer, head] = key.split(".").map(Number);
  return head === undefined
    ? `feed-forward ${layer + 1}`
    : `head ${head + 1} of layer ${layer + 1}`;
}

/** @param {Guess[]} guesses */
const listed = (guesses) =>
  guesses.map(([symbol, p]) => `${spoken(symbol)} ${fixed(p, 2)}`).join(", ");

/**
 * Say what a rung does, and what comes of it.
 * @param {State} state
 * @param {Inside} answer
 * @param {number} n
 */
export function toldOf(state, { rungs }, n) {
  const rung = rungs[n];
  const { own, translated, heads } = rung;
  const truth = state.truthAt(state.focus);
  const { unit } = state.symbols;
  const before = rungs[n - 1];
  const name = capitalised(nameOf(rung));
  let does = `${name}: the gap begins as the vector of the mask. Nothing else has been read.`;
  if (rung.part === "attention") {
    const most = heads.map(({ arcs: read }, head) => {
      const [best] = [...read].sort(([, a], [, b]) => b - a);
      return best ? `head ${head + 1} ${placeOf(state.held, state.focus, best)}` : "";
    });
    const named = most.filter(Boolean).join(", ");
    does = `${name} reads other ${unit}s and adds what its heads bring: ${named || "next to nothing"}.`;
  } else if (rung.part === "feed-forward") {
    does = `${name} reads no other ${unit}: it works on what the gap has gathered so far.`;
  }
  const said = [does, `If the model ended here, it would say ${listed(own.guesses)}.`];
  if (truth !== null && own.cost !== null) {
    const cost = Number(own.cost);
    const change = before ? `, ${signed(cost - Number(before.own.cost))}` : "";
    said.push(`The truth, ${spoken(truth)}, costs ${inNats(cost)} nats${change}.`);
  }
  if (translated) said.push(`A translator would say ${listed(translated.guesses)}.`);
  if (n === rungs.length - 1) said.push("This is the model's answer.");
  return said.join(" ");
}

/**
 * Return the first rung from which on a symbol is the first guess; -1 if it is not in the end.
 * @param {(Said | null)[]} said
 * @param {string} symbol
 */
function settledAt(said, symbol) {
  let first = -1;
  for (let n = said.length - 1; n >= 0 && said[n]?.guesses[0][0] === symbol; n--) first = n;
  return first;
}

/**
 * Say where the answer appears, and what the changes have cost.
 * @param {State} state
 * @param {Inside} answer
 */
export function summary(state, { rungs, means, effect }) {
  const { settings } = state;
  const last = rungs[rungs.length - 1];
  const truth = state.truthAt(state.focus);
  const [[best, p]] = last.own.guesses;
  const own = rungs.map((rung) => rung.own);
  const translated = rungs.map((rung) => rung.translated ?? rung.own);
  const first = rungs[settledAt(own, best)];
  const from = (/** @type {Rung} */ rung) =>
    rung.part === "embedding" ? "the embedding" : nameOf(rung);
  const said = [
    `${settings.untrained ? "Before training, the" : "The"} model answers ${visible(best)} (${fixed(p, 2)}). It is the first guess from ${from(first)} on` +
      (first === last ? ", the last rung." : "."),
  ];
  const sooner = rungs[settledAt(translated, best)];
  if (sooner !== first) said.push(`A translator has it from ${from(sooner)} on.`);
  if (settings.untrained && truth !== null)
    said.push(`The truth, ${visible(truth)}, costs ${inNats(Number(last.own.cost))} nats.`);
  const changes = Object.entries(asked(settings, state.truth).parts);
  if (!changes.length) return said.join(" ");
  const where = settings.everywhere ? "at every position" : "at the gap";
  /** @param {Change} which */
  const named = (which) =>
    changes
      .filter(([, change]) => change === which)
      .map(([key]) => partName(key))
      .join(", ");
  const off = named("off");
  const swapped = named("swap");
  if (off) said.push(`Off ${where}, with ${means ? "the mean" : "zero"} in its place: ${off}.`);
  if (swapped) said.push(`Taken from the second line ${where}: ${swapped}.`);
  if (truth !== null && last.before !== null)
    said.push(
      `The truth, ${visible(truth)}, costs ${inNats(Number(last.own.cost))} nats instead of ` +
        `${inNats(Number(last.before))}.`,
    );
  if (effect && swapped) said.push(followed(effect));
  return said.join(" ");
}

/**
 * Say how far the answer follows the second line, directly and in all.
 * @param {Effect} effect
 */
function followed({ here, there, before, after, direct, other }) {
  const [a, b] = [visible(here), visible(there)];
  const total = before - after;
  const straight = direct === null ? null : before - direct;
  const said =
    `Logit of ${a} less that of ${b}: ${signed(before)} before, ${signed(after)} now, ` +
    `${signed(other)} in the second line. The total effect is ${signed(-total)}`;
  if (straight === null) return `${said}.`;
  return `${said}; the direct effect, past all later parts, is ${signed(-straight)}.`;
}

// ── the ladder ──────────────────────────────────────────────────────────────────────────────────

/**
 * Write three guesses as bars; the truth is marked.
 * @param {Guess[]} guesses
 * @param {string | null} truth
 */
function bars(guesses, truth) {
  return guesses.map(([symbol, p]) =>
    element(
      "span",
      { class: symbol === truth ? "guess truth" : "guess", "data-key": symbol },
      element("b", null, visible(symbol)),
      element("i", { style: `--p: ${fixed(p, 2)}` }),
      element("span", { class: "number" }, fixed(p, 2)),
    ),
  );
}

/**
 * Write what the truth costs, and what it did before a change.
 * @param {Cost} cost
 * @param {Cost} before
 */
function paid(cost, before) {
  if (cost === null) return null;
  const now = inNats(Number(cost));
  const was = before === null ? now : inNats(Number(before));
  return join(
    [
      element("b", { class: "number" }, now),
      was === now ? null : element("small", { class: "number" }, ` was ${was}`),
    ].filter((each) => each !== null),
  );
}

/**
 * Write a part that a click changes.
 * @param {Settings} settings
 * @param {string} key
 * @param {string | Markup} label
 * @param {string} said
 * @param {Record<string, string | number | boolean | null>} [attributes]
 */
function toggle({ parts, doing }, key, label, said, attributes) {
  const change = parts[key] ?? "";
  const state = { off: "switched off", swap: "taken from the second line", "": "as it is" }[change];
  return button(label, "change", {
    class: change || null,
    "data-with-part": key,
    "aria-pressed": Boolean(change),
    "aria-label": `${said}, ${state}`,
    title: doing === "off" ? "switch off" : "take from the second line",
    ...attributes,
  });
}

/**
 * Write what a rung reads, and what of it can be changed.
 * @param {State} state
 * @param {Inside} answer
 * @param {Settings} settings
 * @param {Rung} rung
 * @param {number} most
 */
function does(state, { looks }, settings, rung, most) {
  const { part, layer, heads } = rung;
  const { focus, held, open, symbols } = state;
  if (part === "embedding")
    return element(
      "span",
      { class: "quiet" },
      `the gap holds the mask; no other ${symbols.unit} is read`,
    );
  if (part === "feed-forward")
    return join([
      element("span", { class: "quiet" }, `reads no other ${symbols.unit} `),
      toggle(settings, `${layer}`, changeLabel(settings, `${layer}`), `feed-forward ${layer + 1}`),
    ]);
  const shown = held.map((symbol, at) => (open.includes(at) ? "?" : symbol));
  const [pointedLayer, pointedHead] = settings.pointed.split(".").map(Number);
  const changed = heads.map((_, head) => settings.parts[`${layer}.${head}`] ?? "");
  const here = pointedLayer === layer && pointedHead < heads.length ? pointedHead : -1;
  const picture = arcs({ line: shown, at: focus, looks, heads, changed, pointed: here, most });
  const buttons = heads.map(({ arcs: read, frame }, head) => {
    const [best] = [...read].sort(([, a], [, b]) => b - a);
    const place = placeOf(held, focus, best);
    const from = best ? (best[0] === focus ? "?" : visible(held[best[0]])) : frame ? "[ ]" : "·";
    const moves = best ? fixed(best[1], 1) : "0";
    const label = join([
      element("b", null, head + 1),
      element("span", null, from),
      element("small", { class: "number" }, moves),
    ]);
    const said = place
      ? `moves ${moves} from ${place}, weight ${fixed(best?.[2] ?? 0, 2)}`
      : "moves next to nothing";
    const key = `${layer}.${head}`;
    return toggle(settings, key, label, `layer ${layer + 1}, head ${head + 1}, ${said}`, {
      "data-with-at": key,
      tabindex: head === Math.max(here, 0) ? 0 : -1,
    });
  });
  const group = { role: "group", "aria-label": `Heads of layer ${layer + 1}` };
  return join([
    picture,
    element(
      "div",
      { class: "heads", "data-arrows": "point", "data-hover": "point", ...group },
      ...buttons,
    ),
  ]);
}

/**
 * @param {Settings} settings
 * @param {string} key
 */
function changeLabel({ parts, doing }, key) {
  if (parts[key] === "off") return "is off";
  if (parts[key] === "swap") return "is from the second line";
  return doing === "off" ? "switch it off" : "swap it in";
}

/**
 * Write one rung.
 * @param {State} state
 * @param {Inside} answer
 * @param {Settings} settings
 * @param {number} n
 * @param {{ arc: number, added: number }} most
 */
function rungOf(state, answer, settings, n, most) {
  const rung = answer.rungs[n];
  const truth = state.truthAt(state.focus);
  const { own, translated, before, added, part } = rung;
  const last = n === answer.rungs.length - 1;
  return element(
    "li",
    {
      class: `rung ${part}`,
      "data-key": `rung ${n}`,
      "aria-current": settings.played === n ? "step" : null,
    },
    element("span", { class: "spoken" }, toldOf(state, answer, n)),
    element("div", { class: "name" }, element("b", null, nameOf(rung)), strip(added, most.added)),
    element("div", { class: "does" }, does(state, answer, settings, rung, most.arc)),
    element("div", { class: "own", "aria-hidden": true }, ...bars(own.guesses, truth)),
    element("div", { class: "cost", "aria-hidden": true }, paid(own.cost, before)),
    element(
      "div",
      { class: "translated", "aria-hidden": true },
      ...(translated ? bars(translated.guesses.slice(0, 2), truth) : []),
      last ? element("span", { class: "quiet" }, "the answer") : null,
    ),
  );
}

/**
 * Write the ladder, the answer on top.
 * @param {State} state
 * @param {Inside} answer
 * @param {Settings} settings
 */
function ladder(state, answer, settings) {
  const { rungs } = answer;
  const truth = state.truthAt(state.focus);
  const moved = rungs.flatMap(({ heads }) =>
    heads.flatMap(({ arcs: read }) => read.map(([, m]) => m)),
  );
  const sizes = rungs.flatMap(({ added }) => added.map(Math.abs));
  const most = { arc: Math.max(1e-9, ...moved), added: Math.max(1e-9, ...sizes) / 2 };
  const translates = rungs.some(({ translated }) => translated);
  const heads = [
    ["name", "part, and what it adds"],
    ["does", "what it reads"],
    ["own", "guess, if it ended here"],
    ["cost", truth === null ? "" : `cost of ${visible(truth)}`],
    ["translated", translates ? "a translator's guess" : ""],
  ];
  const order = [...rungs.keys()].reverse();
  return element(
    "div",
    {
      // Before training nothing is translated; its place stays, so that nothing else moves.
      class: translates || settings.untrained ? "ladder" : "ladder untranslated",
      style: `--units: ${fixed(widthOf(state.held), 1)}`,
    },
    element(
      "div",
      { class: "rung headings", "aria-hidden": true },
      ...heads.map(([name, text]) => element("div", { class: name }, text)),
    ),
    element(
      "ol",
      { reversed: true },
      ...order.map((n) => rungOf(state, answer, settings, n, most)),
    ),
  );
}

/**
 * Count what the heads read.
 * @param {State} state
 * @param {Inside} answer
 */
function counts({ focus, truth, symbols }, { rungs, looks }) {
  const places = rungs.flatMap(({ heads }) =>
    heads.flatMap(({ arcs: read }) => read.map(([at]) => at)),
  );
  const left = places.filter((at) => at < focus).length;
  const right = places.filter((at) => at > focus).length;
  const heads = rungs.reduce((n, rung) => n + rung.heads.length, 0);
  const itself = places.length - left - right;
  const own = itself ? `, ${itself} to the gap itself` : "";
  const said = `${counted(heads, "head")}, ${counted(places.length, "arc")}: ${left} to the left, ${right} to the right${own}.`;
  if (looks === "both") return said;
  const hidden = looks === "left" ? truth.length - 1 - focus : focus;
  const side = looks === "left" ? "right" : "left";
  return `${said} This model may not read the ${counted(hidden, symbols.unit)} to the ${side}: those arcs are dotted.`;
}

// ── what a hand does ────────────────────────────────────────────────────────────────────────────

/**
 * Write what changes the model, and what is looked at.
 * @param {State} state
 * @param {Inside} answer
 * @param {string[]} readers
 * @param {Markup[]} player
 */
function controls(state, answer, readers, player) {
  const { settings } = state;
  const { doing, untrained, everywhere, parts, other } = settings;
  const changes = Object.keys(parts).length;
  /** @type {(label: string, action: string, value: string, pressed: boolean) => Markup} */
  const choice = (label, action, value, pressed) =>
    button(label, action, { "data-with-value": value, "aria-pressed": pressed });
  /** @type {(label: string, ...buttons: Markup[]) => Markup} */
  const group = (label, ...buttons) =>
    element(
      "div",
      { role: "group", "aria-label": label, class: "row" },
      element("span", null, label),
      ...buttons,
    );
  const field = element("input", {
    type: "text",
    name: "text",
    size: 24,
    autocomplete: "off",
    value: other.length === state.truth.length ? written(state.symbols, other) : "",
    placeholder: `${counted(state.truth.length, state.symbols.unit)}, one of them another`,
  });
  const reader = settings.reader || readers[readers.length - 1];
  return element(
    "div",
    { class: "hands-on" },
    element(
      "div",
      { class: "row" },
      readers.length > 1
        ? group("Model", ...readers.map((name) => choice(name, "reader", name, name === reader)))
        : null,
      answer.untrained
        ? group(
            "Weights",
            choice("trained", "weights", "trained", !untrained),
            choice("before training", "weights", "untrained", untrained),
          )
        : null,
      group(
        "A click on a part",
        choice("switches it off", "doing", "off", doing === "off"),
        choice("swaps it in", "doing", "swap", doing === "swap"),
      ),
      group(
        "Where",
        choice("at the gap", "where", "gap", !everywhere),
        choice("everywhere", "where", "everywhere", everywhere),
      ),
      button("Put all back", "restore", { "aria-disabled": changes ? null : true }),
      ...player,
    ),
    doing === "swap"
      ? form(
          "other",
          { class: "row" },
          element("label", null, "Second line", field),
          element("button", { type: "submit" }, "Take this one"),
        )
      : null,
  );
}

/**
 * Write the buttons that walk through it.
 * @param {Settings} settings
 * @param {number} n
 */
function player({ played }, n) {
  const end = played === n - 1 || null;
  if (played < 0) return [button("Play", "play", { class: "primary" })];
  return [
    button("Next rung", "play", { class: "primary", "aria-disabled": end }),
    button("Back", "back", { "aria-disabled": played === 0 || null }),
    button("Stop", "stop"),
  ];
}

/** Write what the numbers mean and do not mean, with the sources. */
function meaning() {
  const sources = SOURCES.map((source) => element("li", null, source));
  return element(
    "details",
    { "data-key": "meaning" },
    element("summary", null, "What this shows, and what it doesn't"),
    paragraph(
      "The output head, which turns a vector into guesses, was trained on the last rung only. Its guess " +
        "on a lower rung shows how far the vector already points to an answer in that head's language; " +
        "the model itself says nothing there. A translator is one small matrix for each rung, trained to say from there what the " +
        "model will answer. What it finds is there to be found; whether the model uses it, only a " +
        "change can show.",
    ),
    paragraph(
      "An arc is as thick as what a head moves to the gap: its attention weight times the length of " +
        "the value that it carries. That is more than the weight alone tells, and still no proof that the " +
        "answer needs it. Switch the head off and see what the truth costs.",
    ),
    paragraph(
      "Before training, the weights are drawn at random. Only where the heads look is no accident: " +
        "they begin by looking at neighbours, so arcs are there before there is anything to say. " +
        "Such a model has no translators, and a part that is off adds zero.",
    ),
    paragraph(
      "A late part that is swapped in flips the answer merely because everything passes through it. " +
        "The direct effect is what a part tells the output head itself; the rest of the total effect goes " +
        "through the parts above it.",
    ),
    element("ul", null, ...sources),
  );
}

/**
 * Write all of it.
 * @param {Seen & { more: Inside | null }} seen
 * @returns {Markup | null}
 */
export function inside({ state, answer, more, present }) {
  const { focus, open, hidden, settings, symbols } = state;
  if (hidden) return paragraph("Reveal first: the inside of a model shows its guesses.");
  if (!open.includes(focus))
    return paragraph(
      `Position ${focus} is no gap. Hide it to see how the model gets to its answer.`,
    );
  if (!answer || !more) return null;
  if (!more.rungs.length) {
    const { name } = answer.readers[answer.readers.length - 1];
    return paragraph(`${capitalised(titleOf(name))}: this model has no inside that can be shown.`);
  }
  const told = settings.played >= 0 && settings.played < more.rungs.length;
  return element(
    "div",
    { class: symbols.wide ? "inside words" : "inside" },
    controls(
      state,
      more,
      answer.readers.map(({ name }) => name),
      present ? [] : player(settings, more.rungs.length),
    ),
    told ? element("p", { class: "told" }, toldOf(state, more, settings.played)) : null,
    ladder(state, more, settings),
    present
      ? null
      : element(
          "p",
          { class: "quiet" },
          `Read it from the bottom up. ${counts(state, more)} ` +
            `${capitalised(more.means ? "a part that is off is replaced by its mean over held-out gaps" : "there are no means for this model, so a part that is off adds zero")}.`,
        ),
    present ? null : meaning(),
  );
}

/**
 * What the buttons do, for an explorer.
 * @type {View["actions"]}
 */
export const ACTIONS = {
  /**
   * Switch a part off, swap it in, or put it back.
   * @param {{ part: string }} sent
   */
  do_change({ part }) {
    const { settings, truth } = this.state;
    const { parts, doing, other } = settings;
    if (doing === "swap" && other.length !== truth.length)
      throw new ValueError(
        "Type a second line first, of the same length; it differs in a letter, say.",
      );
    const { [part]: before, ...others } = parts;
    const after = before === doing ? others : { ...others, [part]: doing };
    const said = before === doing ? "as it was" : doing === "off" ? "off" : "from the second line";
    this.look({ parts: after }, `${capitalised(partName(part))}: ${said}.`);
  },
  do_restore() {
    this.look({ parts: {} }, "All parts are as they were.");
  },
  /** @param {{ at: string }} sent */
  do_point({ at }) {
    if (at !== this.state.settings.pointed) this.look({ pointed: at }, this.announcement);
  },
  /** @param {{ value: string }} sent */
  do_reader({ value }) {
    this.look({ reader: value }, `Model: ${value}.`);
  },
  /** @param {{ value: string }} sent */
  do_weights({ value }) {
    const untrained = value === "untrained";
    const said = untrained ? "Weights as they are drawn, before the first step." : "Trained.";
    this.look({ untrained }, said);
  },
  /** @param {{ value: Change }} sent */
  do_doing({ value }) {
    const does = value === "off" ? "switches it off" : "takes it from the second line";
    this.look({ doing: value }, `A click on a part ${does}.`);
  },
  /** @param {{ value: string }} sent */
  do_where({ value }) {
    const everywhere = value === "everywhere";
    this.look({ everywhere }, `Parts are changed ${everywhere ? "everywhere" : "at the gap"}.`);
  },
  /**
   * Take a second line.
   * @param {{ text: string }} sent
   */
  async do_other({ text }) {
    const { truth, n } = await this.ask("read", { text });
    const { length } = this.state.truth;
    const { unit } = this.state.symbols;
    if (n !== length)
      throw new ValueError(
        `The second line has ${counted(n, unit)} and the first ${length}; make them equally long.`,
      );
    this.look({ other: truth }, "Second line taken.");
  },
  do_play() {
    const { played } = this.state.settings;
    const most = this.more?.rungs?.length ?? 0;
    if (played + 1 < most) this.look({ played: played + 1 }, "");
  },
  do_back() {
    const { played } = this.state.settings;
    if (played > 0) this.look({ played: played - 1 }, "");
  },
  do_stop() {
    this.look({ played: -1 }, "");
  },
};
