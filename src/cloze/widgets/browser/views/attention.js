// Where each head looks from the selected position: all of them small, the chosen one large.

import { button, element, join } from "../element.js";
import { columns, heat, LEAST_CHANGE, largest, paragraph } from "../explorer_parts.js";
import { capitalised, fixed, visible } from "../words.js";

/** @import { Seen, Shade, View } from "../explorer_parts.js" */

/**
 * What the explorer asks for it: the weights by layer and head.
 * @typedef {number[][][]} Weights
 */

/** @param {Seen} seen */
function panel({ state, answer, more }) {
  if (!answer || !more) return null;
  const { layer, head, focus, open } = state;
  /** @type {Weights} */
  const attention = more;
  const weights = attention[layer]?.[head];
  if (!weights) {
    const { title } = answer.readers[answer.readers.length - 1];
    return paragraph(`${capitalised(title)}: this model has no attention to show.`);
  }
  /** @param {number} at */
  const symbol = (at) => (open.includes(at) ? "?" : visible(state.held[at]));
  const places = largest(weights, 4).map(
    (at) => `position ${at} (${symbol(at)}) ${fixed(weights[at], 2)}`,
  );
  const rows = attention.map((heads, l) => {
    const cells = heads.map((each, h) => {
      const [most] = largest(each, 1);
      const pressed = l === layer && h === head;
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
    columns(state, {
      kind: "attention",
      amounts: weights,
      most: Math.max(...weights),
      hidden: open,
      from: focus,
    }),
    paragraph(
      `Layer ${layer + 1}, head ${head + 1}: from position ${focus} it looks at ${places.join(", ")}.`,
    ),
    element(
      "p",
      { class: "quiet" },
      "Attention shows where a head reads, not why the model guesses as it does: what a " +
        "head reads may matter little, and later layers change it again.",
    ),
  ]);
}

/**
 * Draw where a head looks, small: a bar for each position, and a mark where it looks from.
 * @param {number[]} weights
 * @param {number} focus
 */
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

/**
 * @param {Seen} seen
 * @param {number} at
 * @returns {Shade | null}
 */
function shade({ state: { layer, head }, more }, at) {
  const amount = more?.[layer]?.[head]?.[at];
  if (amount === undefined) return null;
  return {
    kind: "attention",
    heat: heat(amount, 1),
    said: `attention ${fixed(amount, 2)}`,
    below: amount >= LEAST_CHANGE ? fixed(amount, 2).replace(/^0|\.00$/g, "") : "",
  };
}

/** @type {View} */
export default {
  title: "Attention",
  place: 2,
  asks: () => "attention",
  panel,
  shade,
  actions: {
    /** Look at another head; layers and heads count from 0. */
    do_head({ layer: l, head: h }) {
      const [layer, head] = [Number(l), Number(h)];
      this.become({ layer, head }, `Layer ${layer + 1}, head ${head + 1}.`);
    },
  },
};
