// What each symbol of the line costs when it alone is masked.

import { join } from "../../widgets/browser/element.js";
import { counted, fixed, inNats, spoken } from "../../widgets/browser/words.js";
import { heat, largest, mean, paragraph } from "../parts.js";

/** @import { Seen, Shade, State, View } from "../parts.js" */

const DARKEST = 6; // the cost, in nats, that is shaded darkest, and whose bar is highest

/** @param {Seen} seen */
function panel({ state, more }) {
  const { unit } = state.symbols;
  if (state.hidden) return paragraph(`Reveal first: this view shows what each ${unit} costs.`);
  if (state.gaps.length)
    return paragraph("Surprise needs a line without typed gaps, because it asks for the truth.");
  if (!more) return null;
  const costs = more.map(Number);
  const places = largest(costs, 5).map(
    (at) => `${spoken(state.truth[at])} at ${at} (${inNats(costs[at])})`,
  );
  return join([
    paragraph(
      `What each ${unit} costs, in nats, when only it is masked. The higher, the more surprising.`,
    ),
    paragraph(`Most surprising: ${places.join(", ")}.`),
  ]);
}

/**
 * @param {Seen} seen
 * @param {number} at
 * @returns {Shade | null}
 */
function shade({ more }, at) {
  if (!more) return null;
  const amount = Number(more[at]);
  const below = amount > 1 ? fixed(amount, 1) : "";
  const high = Math.min(amount / DARKEST, 1);
  const label = `${inNats(amount)} nats`;
  return { kind: "surprise", heat: heat(amount, DARKEST), label, below, high };
}

/** @type {View} */
export default {
  title: "Surprise",
  place: 3,
  asks: ({ hidden, gaps }) => (hidden || gaps.length ? null : "surprise"),
  panel,
  summary: ({ state, more }) =>
    more &&
    `Mean ${inNats(mean(more.map(Number)))} nats over ${counted(more.length, state.symbols.unit)}.`,
  shade,
  bare: true,
};
