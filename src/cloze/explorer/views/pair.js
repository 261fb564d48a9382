// The guesses at two gaps, apart and together.

import { button, element, join } from "../../widgets/browser/element.js";
import { visible } from "../../widgets/browser/words.js";
import { bar, paragraph } from "../parts.js";

/**
 * @import { Markup } from "../../widgets/browser/element.js"
 * @import { Pairs, Seen, State, View } from "../parts.js"
 */

/** @param {Seen} seen */
function panel({ state, more }) {
  if (state.hidden) return paragraph("Reveal first: this view shows guesses.");
  if (state.open.length < 2) return fewer(state);
  if (!more) return null;
  const { first, second, apart, together } = more;
  const between = state.symbols.wide ? " " : "";
  /** @type {(heading: string, pairs: Pairs) => Markup} */
  const table = (heading, pairs) => {
    const rows = pairs.map(([symbols, p]) =>
      element(
        "tr",
        { "data-key": symbols.join(" ") },
        element("th", { scope: "row", class: "middle" }, symbols.map(visible).join(between)),
        element("td", { class: "both" }, bar(p)),
      ),
    );
    const caption = element("caption", null, element("b", null, heading));
    return element("table", { class: "chart both" }, caption, element("tbody", null, ...rows));
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

/**
 * Say that it takes two gaps, and offer one beside the selected position.
 * @param {State} state
 */
function fewer({ focus: at, truth, masked, open }) {
  const beside = [at + 1, at - 1].filter((i) => i >= 0 && i < truth.length);
  const [free] = beside.filter((i) => !masked.includes(i));
  const hint = "Mask two positions, preferably side by side, to compare their guesses. ";
  if (!open.length || free === undefined) return paragraph(hint);
  return element("p", null, hint, button("Mask a neighbour", "toggle", { "data-with-at": free }));
}

/** @type {View} */
export default {
  title: "Two gaps",
  place: 1,
  asks: ({ hidden, open }) => (!hidden && open.length > 1 ? "pair" : null),
  panel,
  sums: true,
};
