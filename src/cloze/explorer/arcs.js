// Where the heads of Inside read, as a picture that stands on the line: an arc from each symbol that is
// read into the gap, as thick as what it moves there.

import { element } from "../widgets/browser/element.js";
import { fixed, spoken } from "../widgets/browser/words.js";

/**
 * @import { Arc } from "./inside.js"
 *
 * @typedef {object} Curve  One arc.
 * @property {number} layer
 * @property {Arc} arc
 * @property {string} look  Its classes.
 */

const UNIT = 20; // the width of a character, in the picture's own units
const THICKEST = 7;
const HIGH = 76;

/**
 * Return how wide each symbol of a line is, in characters; in a line of characters each is one wide.
 * @param {string[]} line
 * @param {boolean} wide  Whether symbols are longer than a character.
 */
export const widths = (line, wide) =>
  line.map((symbol) => (wide ? Math.max(0.4 * symbol.length + 0.55, 1) : 1));

/**
 * Return where something in the middle of a symbol is, in characters from the start of the line.
 * @param {number[]} wide  The width of each symbol.
 * @param {number} at
 */
export const middle = (wide, at) =>
  wide.slice(0, at).reduce((total, each) => total + each, wide[at] / 2);

/**
 * Draw the arcs; they grow out of what is read. A screen reader is told by the step's sentence.
 * @param {Curve[]} curves
 * @param {number[]} wide  The width of each symbol.
 * @param {number} at  The gap.
 * @param {number} most  What the thickest arc moves.
 */
export function arcs(curves, wide, at, most) {
  const x = (/** @type {number} */ place) => UNIT * middle(wide, place);
  /** @type {Record<string, number>} */
  const there = {}; // by layer and place, how many arcs lead there already
  const drawn = curves.map(({ layer, arc: [place, moves], look }) => {
    const before = there[`${layer} ${place}`] ?? 0;
    there[`${layer} ${place}`] = before + 1;
    // The farther the higher, and one more than the last to the same place.
    const far = Math.abs(x(place) - x(at)) / UNIT;
    const high = Math.min(16 + 15 * Math.sqrt(far) + 7 * before, HIGH - THICKEST);
    const top = fixed(HIGH - high / 0.75, 1);
    const [from, to] = (place === at ? [x(at) + 9, x(at) - 9] : [x(place), x(at)]).map((each) =>
      fixed(each, 1),
    );
    const side = place < at ? "left" : place > at ? "right" : "both";
    return element("path", {
      class: `arc ${side} ${look}`,
      d: `M${from} ${HIGH}C${from} ${top} ${to} ${top} ${to} ${HIGH}`,
      pathLength: 1,
      "stroke-width": fixed(Math.max((THICKEST * moves) / most, 0.75), 1),
    });
  });
  const size = UNIT * wide.reduce((total, each) => total + each);
  const stem = { class: "stem", d: `M${fixed(x(at), 1)} ${HIGH}V0` };
  return element(
    "svg",
    { class: "arcs", viewBox: `0 0 ${fixed(size, 1)} ${HIGH}`, "aria-hidden": true },
    element("path", stem),
    ...drawn,
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
  return arc[0] === at ? "the gap itself" : `${spoken(line[arc[0]])} at ${arc[0]}`;
}
