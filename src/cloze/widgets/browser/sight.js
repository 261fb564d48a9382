// Who may look where: one position of a line, in readers of both sides, one side, or a prefix.

import { button, element, join, status } from "./element.js";
import { Widget } from "./widget.js";

/**
 * @typedef {object} State
 * @property {string[]} symbols
 * @property {number} position
 * @property {Record<string, string[]>} masks  By reader, for each position: "1" where it may look.
 * @property {Record<string, string>} kinds  How each reader is coloured.
 */

/** @extends {Widget<State>} */
export default class Sight extends Widget {
  /**
   * Pick a position.
   * @param {{ at: string }} sent
   */
  do_look({ at }) {
    this.set({ position: Number(at) });
  }

  markup() {
    const symbols = this.get("symbols");
    const position = this.get("position");
    const buttons = symbols.map((symbol, at) =>
      element(
        "td",
        null,
        button(symbol, "look", {
          "data-with-at": at,
          "aria-label": `position ${at}, ${symbol}`,
          "aria-pressed": at === position,
          tabindex: at === position ? 0 : -1,
        }),
      ),
    );
    const group = { "data-arrows": "look", "data-hover": "look" };
    const first = element("tr", group, element("th", { scope: "row" }, "looking from"), ...buttons);
    const readers = Object.entries(this.get("masks")).map(([name, masks]) => ({
      name,
      mask: masks[position],
    }));
    const rows = readers.map(({ name, mask }) => {
      const cells = symbols.map((symbol, at) =>
        mask[at] === "1"
          ? element("td", { class: "sees" }, symbol)
          : element("td", { class: "blind" }, "×"),
      );
      const kind = { class: `looks-${this.get("kinds")[name]}` };
      return element("tr", kind, element("th", { scope: "row" }, name), ...cells);
    });
    const counts = readers.map(({ name, mask }) => {
      const n = mask.replaceAll("0", "").length;
      return `${n} of ${symbols.length} in the ${name}`;
    });
    const hint = "Point at a position, or move with the arrow keys. × marks what it cannot see.";
    return join([
      element("p", { class: "quiet" }, hint),
      element(
        "div",
        { class: "scroll" },
        element("table", { class: "sight" }, element("tbody", null, first, ...rows)),
      ),
      status(`Position ${position}, ${symbols[position]}, sees ${counts.join(", ")}.`),
    ]);
  }
}
