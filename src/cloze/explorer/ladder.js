// Inside as it is drawn: a ladder of rungs from the embedding up to the answer. Heads and feed-forward
// parts are switched off or swapped by a click.

import { button, choice, element, join, lineForm } from "../widgets/browser/element.js";
import { capitalised, counted, fixed, inNats, visible } from "../widgets/browser/words.js";
import { arcs, placeOf, widthOf } from "./arcs.js";
import { howToRead, NOTES, nameOf, rungInWords } from "./inside_words.js";
import { paragraph, titleOf, written } from "./parts.js";

/**
 * @import { Markup, Option } from "../widgets/browser/element.js"
 * @import { Inside, Rung, Settings } from "./inside.js"
 * @import { Cost, Guess, Seen, State } from "./parts.js"
 */

const SUMMARY = element("summary", null, "What this shows, and what it doesn't");
/** @type {Option[]} */
const WEIGHTS = ["trained", ["untrained", "before training"]];
/** @type {Option[]} */
const DOING = [
  ["off", "switches it off"],
  ["swap", "swaps it in"],
];
/** @type {Option[]} */
const WHERE = [["gap", "at the gap"], "everywhere"];

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
function costOf(cost, before) {
  if (cost === null) return null;
  const now = inNats(Number(cost));
  const was = before === null ? now : inNats(Number(before));
  return join([
    element("b", { class: "number" }, now),
    was === now ? "" : element("small", { class: "number" }, ` was ${was}`),
  ]);
}

/**
 * Write a part that a click changes.
 * @param {Settings} settings
 * @param {string} key
 * @param {string | Markup} label
 * @param {string} description
 * @param {Record<string, string | number | boolean | null>} [attributes]
 */
function toggle({ parts, doing }, key, label, description, attributes) {
  const change = parts[key] ?? "";
  const state = { off: "switched off", swap: "taken from the second line", "": "as it is" }[change];
  return button(label, "change", {
    class: change || null,
    "data-with-part": key,
    "aria-pressed": Boolean(change),
    "aria-label": `${description}, ${state}`,
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
function whatItReads(state, { looks }, settings, rung, most) {
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
      toggle(settings, `${layer}`, labelOf(settings, `${layer}`), `feed-forward ${layer + 1}`),
    ]);
  const shown = held.map((symbol, at) => (open.includes(at) ? "?" : symbol));
  const [pointedLayer, pointedHead] = settings.pointed.split(".").map(Number);
  const changed = heads.map((_, head) => settings.parts[`${layer}.${head}`] ?? "");
  const here = pointedLayer === layer && pointedHead < heads.length ? pointedHead : -1;
  const picture = arcs({ line: shown, at: focus, looks, heads, changed, pointed: here, most });
  const buttons = heads.map((read, head) => {
    const [best] = [...read].sort(([, a], [, b]) => b - a);
    const place = placeOf(held, focus, best);
    const from = best ? (best[0] === focus ? "?" : visible(held[best[0]])) : "·";
    const moves = best ? fixed(best[1], 1) : "0";
    const label = join([
      element("b", null, head + 1),
      element("span", null, from),
      element("small", { class: "number" }, moves),
    ]);
    const description = place
      ? `moves ${moves} from ${place}, weight ${fixed(best?.[2] ?? 0, 2)}`
      : "moves next to nothing";
    const key = `${layer}.${head}`;
    return toggle(settings, key, label, `layer ${layer + 1}, head ${head + 1}, ${description}`, {
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
function labelOf({ parts, doing }, key) {
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
 * @param {number} most  What the thickest arc moves.
 */
function rungOf(state, answer, settings, n, most) {
  const rung = answer.rungs[n];
  const truth = state.truthAt(state.focus);
  const { own, translated, before, part } = rung;
  const last = n === answer.rungs.length - 1;
  return element(
    "li",
    {
      class: `rung ${part}`,
      "data-key": `rung ${n}`,
      "aria-current": settings.played === n ? "step" : null,
    },
    element("span", { class: "spoken" }, rungInWords(state, answer, n)),
    element("div", { class: "name" }, element("b", null, nameOf(rung))),
    element("div", { class: "does" }, whatItReads(state, answer, settings, rung, most)),
    element("div", { class: "own", "aria-hidden": true }, ...bars(own.guesses, truth)),
    element("div", { class: "cost", "aria-hidden": true }, costOf(own.cost, before)),
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
  const moved = rungs.flatMap(({ heads }) => heads.flat().map(([, moves]) => moves));
  const most = Math.max(1e-9, ...moved);
  const translates = rungs.some(({ translated }) => translated);
  const heads = [
    ["name", "part"],
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
 * Write what changes the model, and what is looked at.
 * @param {State} state
 * @param {Inside} answer
 * @param {string[]} readers
 * @param {Markup[]} player
 */
function controls(state, answer, readers, player) {
  const { doing, untrained, everywhere, parts, other, reader } = state.settings;
  const { truth, symbols } = state;
  const weights = untrained ? "untrained" : "trained";
  const last = readers[readers.length - 1];
  return element(
    "div",
    { class: "hands-on" },
    element(
      "div",
      { class: "row" },
      readers.length > 1 ? choice("Model", "reader", readers, reader || last) : null,
      answer.untrained ? choice("Weights", "weights", WEIGHTS, weights) : null,
      choice("A click on a part", "doing", DOING, doing),
      choice("Where", "where", WHERE, everywhere ? "everywhere" : "gap"),
      button("Put all back", "restore", { "aria-disabled": !Object.keys(parts).length || null }),
      ...player,
    ),
    doing === "swap"
      ? lineForm("other", "Second line", "Take this one", {
          size: 24,
          value: other.length === truth.length ? written(symbols, other) : "",
          placeholder: `${counted(truth.length, symbols.unit)}, one of them another`,
        })
      : null,
  );
}

/**
 * Write the buttons that walk through it.
 * @param {Settings} settings
 * @param {number} n
 */
function player({ played }, n) {
  const next = { class: "primary", "data-with-rung": played + 1 };
  if (played < 0) return [button("Play", "play", next)];
  return [
    button("Next rung", "play", { ...next, "aria-disabled": played === n - 1 || null }),
    button("Back", "play", { "data-with-rung": played - 1, "aria-disabled": !played || null }),
    button("Stop", "play", { "data-with-rung": -1 }),
  ];
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
  const { played } = settings;
  return element(
    "div",
    { class: symbols.wide ? "inside words" : "inside" },
    controls(
      state,
      more,
      answer.readers.map(({ name }) => name),
      present ? [] : player(settings, more.rungs.length),
    ),
    more.rungs[played]
      ? element("p", { class: "in-words" }, rungInWords(state, more, played))
      : null,
    ladder(state, more, settings),
    present ? null : element("p", { class: "quiet" }, howToRead(state, more)),
    present ? null : element("details", { "data-key": "notes" }, SUMMARY, ...NOTES.map(paragraph)),
  );
}
