// One attention rung of Inside as a picture: the line, and an arc from the gap to each place that a
// head reads, as thick as what it moves.

import { element } from "../widgets/browser/element.js";
import { fixed, visible } from "../widgets/browser/words.js";

/**
 * @import { Markup } from "../widgets/browser/element.js"
 * @import { Arc } from "./inside.js"
 *
 * @typedef {object} Drawn
 * @property {string[]} line  What is seen at each position.
 * @property {number} at  The gap.
 * @property {string} looks  "left", "right" or "both": where the model may look; the arcs that may
 *   not be are dotted.
 * @property {Arc[][]} heads
 * @property {string[]} changed  For each head "off", "swap" or "".
 * @property {number} pointed  The head that is pointed at; -1 for none.
 * @property {number} most  What the thickest arc moves.
 */

const UNIT = 20; // the width of a character, in the picture's own units
const BASE = 27; // from the foot of the arcs to the letters' line
const STEP = 12; // between the numbers of two heads below one letter
const THICKEST = 7;
const HIGHEST = 88;
const FITS = 24; // a line of so many characters fits a phone; a longer one scrolls

/**
 * Where each symbol of a line has its middle, and how wide the line is; a character is one wide.
 * @param {string[]} line
 */
function middles(line) {
  const wide = line.some((symbol) => symbol.length > 1);
  let end = 0;
  const places = line.map((symbol) => {
    const width = wide ? Math.max(symbol.length, 1) * 0.62 + 0.7 : 1;
    end += width;
    return end - width / 2;
  });
  return { places, width: end };
}

/**
 * How wide a line is, in characters.
 * @param {string[]} line
 */
export const widthOf = (line) => middles(line).width;

/**
 * How high an arc is: the farther the higher, and one more than the last to the same place.
 * @param {number} distance
 * @param {number} before  How many arcs lead to the same place already.
 */
const height = (distance, before) => Math.min(8 + 15 * Math.sqrt(distance), HIGHEST) + 8 * before;

/**
 * Draw it; a screen reader is told by the sentence of the rung.
 * @param {Drawn} drawn
 * @returns {Markup}
 */
export function arcs({ line, at, looks, heads, changed, pointed, most }) {
  const { places, width } = middles(line);
  const x = (/** @type {number} */ place) => UNIT * places[place];
  const blind = [...line.keys()].filter(
    (place) => (looks === "left" && place > at) || (looks === "right" && place < at),
  );
  const distance = (/** @type {number} */ place) => Math.abs(places[place] - places[at]);
  /** @type {Map<number, number[]>} */
  const readers = new Map(); // by place, the heads that read there
  const curves = heads.flatMap((read, head) =>
    read.map(([place, moves]) => {
      const there = readers.get(place) ?? [];
      readers.set(place, [...there, head]);
      return { head, place, moves, high: height(distance(place), there.length) };
    }),
  );
  const barred = blind.map((place) => ({ place, high: height(distance(place), 0) }));
  const top = Math.max(20, ...[...curves, ...barred].map(({ high }) => high)) + THICKEST / 2;
  const shape = (/** @type {{ place: number, high: number }} */ { place, high }) => {
    const controls = top - high / 0.75;
    const [from, to] = place === at ? [x(at) - 9, x(at) + 9] : [x(at), x(place)];
    return `M${fixed(from, 1)} ${fixed(top, 1)}C${fixed(from, 1)} ${fixed(controls, 1)} ${fixed(to, 1)} ${fixed(controls, 1)} ${fixed(to, 1)} ${fixed(top, 1)}`;
  };
  const mayNotBe = barred.map((curve) => element("path", { class: "arc barred", d: shape(curve) }));
  const drawn = curves.map(({ head, place, moves, high }) => {
    const side = place < at ? "left" : place > at ? "right" : "itself";
    const dimmed = pointed >= 0 && pointed !== head ? "dimmed" : "";
    return element("path", {
      class: ["arc", side, changed[head], dimmed].filter(Boolean).join(" "),
      d: shape({ place, high }),
      "stroke-width": fixed(Math.max((THICKEST * moves) / most, 0.75), 1),
    });
  });
  const letters = line.map((symbol, place) => {
    const barredHere = blind.includes(place);
    const name = place === at ? "gap" : barredHere ? "blind" : readers.has(place) ? "read" : null;
    const shown = place === at ? "?" : visible(symbol);
    return element(
      "text",
      { class: name, x: fixed(x(place), 1), y: fixed(top + BASE - 8, 1) },
      shown,
    );
  });
  const numbers = [...readers].flatMap(([place, there]) =>
    there.map((head, i) => {
      const side = place < at ? "left" : place > at ? "right" : "itself";
      const where = { x: fixed(x(place), 1), y: fixed(top + BASE + 8 + STEP * i, 1) };
      return element("text", { class: `head ${side}`, ...where }, head + 1);
    }),
  );
  const long = width > FITS;
  const rows = Math.max(1, ...[...readers.values()].map((there) => there.length));
  const box = [UNIT * width, top + BASE + STEP * rows + 2].map((size) => fixed(size, 1));
  const gap = element("rect", {
    class: "gap",
    x: fixed(x(at) - UNIT / 2, 1),
    y: fixed(top + 1, 1),
    width: UNIT,
    height: BASE - 3,
  });
  return element(
    "div",
    {
      class: "scroll arcs",
      role: "img",
      "aria-label": "Where the heads read",
      tabindex: long ? 0 : null, // what scrolls is reached by the keyboard, too
      style: `--least: ${long ? 16 : 12}px`,
      "data-middle": fixed(places[at] / width, 3),
    },
    element(
      "svg",
      { viewBox: `0 0 ${box.join(" ")}`, "aria-hidden": true },
      gap,
      ...mayNotBe,
      ...drawn,
      ...letters,
      ...numbers,
    ),
  );
}

/**
 * Name the place of an arc.
 * @param {string[]} line
 * @param {number} at  The gap.
 * @param {Arc | undefined} arc
 */
export function placeOf(line, at, arc) {
  if (!arc) return "";
  return arc[0] === at ? "the gap itself" : `${visible(line[arc[0]])} at ${arc[0]}`;
}
