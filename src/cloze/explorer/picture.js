// Inside as one picture: the line, above its gap a column of steps from the embedding up to the answer,
// and a dot for each head. It plays upwards, and a step that it has not reached yet is empty.

import { button, choice, element, join, lineForm } from "../widgets/browser/element.js";
import { capitalised, counted, fixed, inNats, spoken, visible } from "../widgets/browser/words.js";
import { arcs, middle, placeOf, widths } from "./arcs.js";
import { moves, relevant } from "./inside.js";
import { followed, NOTES, nameOf, rungInWords, unread } from "./inside_words.js";
import { paragraph, titleOf, written } from "./parts.js";

/**
 * @import { Attributes, Markup, Option } from "../widgets/browser/element.js"
 * @import { Inside, Reading, Rung, Settings } from "./inside.js"
 * @import { Seen, Shade, State } from "./parts.js"
 */

/**
 * Return what is guessed at a step, by the output head or its translator.
 * @param {Rung} rung
 * @param {Settings} settings
 * @returns {Reading}
 */
const readingOf = ({ own, translated }, { guesses }) =>
  (guesses === "translator" && translated) || own;

/**
 * Return how wide each symbol of the line is; the gap has room for every guess.
 * @param {State} state
 * @param {Inside} answer
 */
function widthsOf({ held, focus, symbols, settings }, { rungs }) {
  const guesses = rungs.map((rung) => readingOf(rung, settings).guesses[0][0]);
  const longest = guesses.reduce((long, each) => (each.length > long.length ? each : long), "?");
  return widths(held.with(focus, longest), symbols.wide);
}

// ── the line ────────────────────────────────────────────────────────────────────────────────────

/**
 * Show in the gap what is guessed there so far, and what of the line is read.
 * @param {Seen} seen
 * @param {number} at
 * @returns {Shade | null}
 */
export function shade({ state, more: answer }, at) {
  const { settings, focus, truth, open } = state;
  /** @type {Inside | null} */
  const more = answer;
  if (!more?.rungs.length) return null;
  const wide = widthsOf(state, more)[at];
  const { played, pointed } = settings;
  const rung = more.rungs[played];
  if (at === focus) {
    const guess = rung && readingOf(rung, settings).guesses[0][0];
    const ends = played === more.rungs.length - 1;
    const label = guess && `the guess is ${spoken(guess)}`;
    return { kind: "guessed", heat: 0, wide, shown: guess, label, below: ends ? undefined : "" };
  }
  if (unread(more.looks, focus, at)) return { kind: "blind", heat: 0, wide, label: "not read" };
  const [layer, head] = pointed.split(".").map(Number);
  const reading = pointed ? more.rungs[2 * layer + 1]?.heads.slice(head, head + 1) : rung?.heads;
  const read = reading?.some((places) => places.some(([place]) => place === at));
  const { other, parts } = relevant(settings, truth);
  const swapped = Object.values(parts).includes("swap") && other[at] !== truth[at];
  const below = swapped && !open.includes(at) ? visible(other[at]) : undefined;
  return { kind: read ? "read" : "unread", heat: 0, wide, below };
}

/**
 * Draw the arcs of what has been reached; those of the step that is told, or of the head that is
 * pointed at, stand out.
 * @param {State} state
 * @param {Inside} answer
 */
function arcsOf(state, answer) {
  const { settings, focus } = state;
  const { played, pointed, parts } = settings;
  const curves = answer.rungs.flatMap(({ heads, layer }, n) =>
    heads.flatMap((read, head) => {
      const key = `${layer}.${head}`;
      const shown = pointed ? pointed === key : played === n;
      const look = shown ? "now" : n > played ? "later" : "past";
      return read.map((arc) => ({ layer, arc, look: `${look} ${parts[key] ?? ""}` }));
    }),
  );
  const most = Math.max(1e-9, ...curves.map(({ arc: [, moved] }) => moved));
  return arcs(curves, widthsOf(state, answer), focus, most);
}

// ── the column ──────────────────────────────────────────────────────────────────────────────────

/**
 * Write a part that a click changes.
 * @param {Settings} settings
 * @param {string} key
 * @param {string | number} label
 * @param {string} description
 * @param {Attributes} attributes
 */
function dot({ parts, doing, pointed }, key, label, description, attributes) {
  const change = parts[key] ?? "";
  const state = { off: "switched off", swap: "taken from the second line", "": "as it is" }[change];
  return button(label, "change", {
    "data-with-part": key,
    "data-with-at": key,
    tabindex: key === (pointed || "0.0") ? 0 : -1,
    "aria-pressed": Boolean(change),
    "aria-label": `${description}, ${state}`,
    title: doing === "off" ? "switch off" : "take from the second line",
    ...attributes,
    class: `dot ${attributes?.class} ${change}`,
  });
}

/**
 * Write the parts of a step: a dot for each head, or one for the feed-forward part.
 * @param {State} state
 * @param {Rung} rung
 */
function dots({ settings, held, focus }, { part, layer, heads }) {
  if (part === "embedding") return null;
  const of = `layer ${layer + 1}`;
  if (part === "feed-forward")
    return dot(settings, `${layer}`, "", `feed-forward ${layer + 1}`, { class: "whole" });
  const each = heads.map((read, head) => {
    const [best] = [...read].sort(([, a], [, b]) => b - a);
    const description = best
      ? `moves ${fixed(best[1], 1)} from ${placeOf(held, focus, best)}, weight ${fixed(best[2], 2)}`
      : "moves next to nothing";
    const side = !best || best[0] === focus ? "both" : best[0] < focus ? "left" : "right";
    const name = `${of}, head ${head + 1}, ${description}`;
    return dot(settings, `${layer}.${head}`, head + 1, name, { class: side });
  });
  const group = { role: "group", "aria-label": `Heads of ${of}`, class: "heads" };
  return element("span", group, ...each);
}

/**
 * Write one step: its parts, and right of them the guess if the model ended there.
 * @param {State} state
 * @param {Inside} answer
 * @param {number} n
 */
function step(state, answer, n) {
  const { settings, focus, truthAt, symbols } = state;
  const rung = answer.rungs[n];
  const label = element("span", null, nameOf(rung));
  const name = element("div", { class: "part" }, label, dots(state, rung));
  if (n > settings.played) {
    const tile = element("div", { class: "tile" });
    return element("li", { class: "step" }, null, name, tile, element("div", { class: "told" }));
  }
  const { guesses, cost } = readingOf(rung, settings);
  const [[symbol, p], ...others] = guesses;
  const truth = settings.played === answer.rungs.length - 1 ? truthAt(focus) : null; // it comes last
  const right = symbol === truth ? "truth" : "";
  const now = inNats(Number(cost));
  const was = guesses === rung.own.guesses ? inNats(Number(rung.before)) : now;
  const look = { class: right, style: `--p: ${fixed(p, 2)}`, "data-key": symbol };
  const rest = others.map(([other, q]) =>
    element("span", { class: "other" }, visible(other), element("i", null, fixed(q, 2))),
  );
  const costs = truth && [
    `${symbols.wide ? "truth" : visible(truth)} costs ${now}`,
    was === now ? null : element("i", null, `was ${was}`),
  ];
  return element(
    "li",
    { class: "step reached", "aria-current": settings.played === n ? "step" : null },
    element("span", { class: "spoken" }, rungInWords(state, answer, n)),
    name,
    element("div", { class: "tile", "aria-hidden": true }, element("b", look, visible(symbol))),
    element(
      "div",
      { class: "told", "aria-hidden": true },
      element("b", { class: right }, fixed(p, 2)),
      ...rest,
      costs ? element("span", { class: "cost" }, ...costs) : null,
    ),
  );
}

// ── what plays, and what changes ────────────────────────────────────────────────────────────────

/**
 * Write what walks through it, and what puts all back.
 * @param {State} state
 * @param {Inside} answer
 * @param {boolean} playing
 */
function player({ settings }, { rungs }, playing) {
  const { played, parts } = settings;
  const ends = played === rungs.length - 1;
  const [go, again] = moves() ? ["Play", "Play again"] : ["Next step", "Start again"];
  const reached = rungs[played] ? nameOf(rungs[played]) : "before the first step";
  const said = { "data-do": "seek", "aria-label": "Step", "aria-valuetext": reached };
  return element(
    "div",
    { class: "player row" },
    button(playing ? "Pause" : ends ? again : go, "play", { class: "primary" }),
    element("input", { type: "range", min: 0, max: rungs.length, value: played + 1, ...said }),
    button("Put all back", "restore", { "aria-disabled": !Object.keys(parts).length || null }),
  );
}

/**
 * Write everything else that can be chosen.
 * @param {State} state
 * @param {Inside} answer
 * @param {string[]} readers
 */
function drawer({ settings, truth, symbols }, { untrained: drawn, rungs }, readers) {
  const { untrained, everywhere, guesses, doing, other, reader } = settings;
  const translates = untrained || rungs.some(({ translated }) => translated);
  /** @type {(name: keyof Settings, label: string, options: Option[], chosen: string) => Markup} */
  const one = (name, label, options, chosen) =>
    choice(label, "choose", options, chosen, { "data-with-name": name });
  const weights = { "": "trained", yes: "before training" };
  const says = { head: "by the output head", translator: "by a translator" };
  const does = { off: "switches it off", swap: "swaps it in" };
  const where = { "": "at the gap", yes: "everywhere" };
  const choices = [
    readers[1] ? one("reader", "Model", readers, reader || readers[readers.length - 1]) : null,
    drawn ? one("untrained", "Weights", Object.entries(weights), untrained ? "yes" : "") : null,
    translates ? one("guesses", "Guesses", Object.entries(says), guesses) : null,
    one("doing", "A click on a dot", Object.entries(does), doing),
    one("everywhere", "Where", Object.entries(where), everywhere ? "yes" : ""),
  ];
  return element(
    "details",
    { class: "drawer", "data-key": "drawer" },
    element("summary", null, "Model, weights, a second line, notes"),
    element("div", { class: "row" }, ...choices),
    lineForm("other", "Second line", "Take this one", {
      size: 24,
      value: other.length === truth.length ? written(symbols, other) : "",
      placeholder: `${counted(truth.length, symbols.unit)}, one of them another`,
    }),
    ...NOTES.map(paragraph),
  );
}

/**
 * Write all of it.
 * @param {Seen} seen
 * @returns {Markup | null}
 */
export function picture({ state, answer, more, present, playing, line }) {
  const { focus, open, hidden, symbols } = state;
  const alone = (/** @type {string} */ text) => join([line, paragraph(text)]);
  if (hidden) return alone("Reveal first: the inside of a model shows its guesses.");
  if (!open.includes(focus))
    return alone(`Position ${focus} is no gap. Mask it to see how the model gets to its answer.`);
  if (!answer || !more) return null;
  const readers = answer.readers.map(({ name }) => name);
  const last = capitalised(titleOf(readers[readers.length - 1]));
  if (!more.rungs.length) return alone(`${last}: this model has no inside that can be shown.`);
  const ended = state.settings.played === more.rungs.length - 1;
  const points = { "data-arrows": "point", "data-hover": "point", "data-leave": "point" };
  const wide = widthsOf(state, more);
  const before = fixed(middle(wide, focus), 2);
  const after = fixed(wide.reduce((total, each) => total + each) - Number(before), 2);
  return element(
    "div",
    { class: symbols.wide ? "picture words" : "picture", "data-space": "play" },
    element(
      "ol",
      { class: more.rungs.length > 7 ? "steps many" : "steps", ...points },
      ...[...more.rungs.keys()].map((n) => step(state, more, n)),
    ),
    element(
      "div",
      {
        class: state.settings.played < 0 ? "ground scroll" : "ground scroll begun",
        style: `--before: ${before}; --after: ${after}`,
        "data-middle": before,
      },
      element("div", null, arcsOf(state, more), line),
    ),
    player(state, more, playing),
    ended && more.effect ? element("p", { class: "quiet" }, followed(more.effect)) : null,
    present ? null : drawer(state, more, readers),
  );
}
