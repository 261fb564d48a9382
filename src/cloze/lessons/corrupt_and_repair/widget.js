// A line that Python spoils: what is read, what is to be written, and what is lost.

import { strip } from "../../widgets/browser/cells.js";
import { choice, element, join, lineForm, status } from "../../widgets/browser/element.js";
import { Widget } from "../../widgets/browser/widget.js";
import { counted, percent } from "../../widgets/browser/words.js";

/**
 * @typedef {object} State
 * @property {string} line
 * @property {string} corruption
 * @property {number} share
 * @property {number} draws
 * @property {[original: string[], read: string[], written: string[]]} spoilt
 * @property {Record<string, { has_share: boolean, loses: string }>} corruptions
 *
 * @typedef {object} Answers
 * @property {(sent: { line?: string, corruption?: string, share?: number }) => void} spoil
 */

const SHARES = [0.15, 0.3, 0.5];
const what = (/** @type {string} */ name) => ({ "data-with-what": name });
const NAMES = ["The original", "What is read", "What is to be written"];

/** @extends {Widget<State, Answers>} */
export default class LineSpoiler extends Widget {
  /** @param {{ text: string }} sent */
  do_line({ text }) {
    return this.ask("spoil", { line: text });
  }

  /** @param {{ what: string, value: string }} sent */
  do_choose({ what, value }) {
    return this.ask("spoil", { [what]: what === "share" ? Number(value) : value });
  }

  markup() {
    const [corruption, corruptions] = [this.get("corruption"), this.get("corruptions")];
    const { has_share, loses } = corruptions[corruption];
    const kinds = Object.keys(corruptions).map((value) => {
      const checked = value === corruption;
      const radio = { type: "radio", name: "corruption", "data-do": "choose", value, checked };
      return element("label", null, element("input", { ...radio, ...what("corruption") }), value);
    });
    /** @type {[number, string][]} */
    const shares = SHARES.map((share) => [share, percent(share)]);
    const fixed = { "aria-disabled": !has_share || null };
    const [original, read, written] = this.get("spoilt");
    const field = { size: 50, value: this.get("line") };
    return join([
      lineForm("line", "Your line", "Corrupt it", field, "primary"),
      element("div", { role: "radiogroup", "aria-label": "Corruption", class: "row" }, ...kinds),
      choice("corrupted", "choose", shares, this.get("share"), { ...fixed, ...what("share") }),
      ...this.get("spoilt").flatMap((words, which) => this.#line(NAMES[which], words)),
      status(
        `Draw ${this.get("draws")}, ${corruption}: ${counted(original.length, "symbol")} became ` +
          `${read.length} to read and ${written.length} to write. ${loses}`,
      ),
    ]);
  }

  /**
   * @param {string} name
   * @param {string[]} words
   */
  #line(name, words) {
    const [original] = this.get("spoilt");
    const cells = words.map((word) => {
      const sign =
        word === "[MASK]" || word.startsWith("<extra_id_") ? "fate-sign" : "fate-stranger";
      return { symbol: word, look: original.includes(word) ? "" : sign, ends: true };
    });
    return [
      element("p", { class: "quiet" }, `${name}: ${counted(words.length, "symbol")}`),
      strip(`${name}: ${words.join(" ") || "nothing"}`, cells, "spoilt"),
    ];
  }
}
