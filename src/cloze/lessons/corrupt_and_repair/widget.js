// A line that Python spoils: what is read, what is to be written, and what is lost.

import { button, element, form, join, status } from "../../widgets/browser/element.js";
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
const NAMES = ["The original", "What is read", "What is to be written"];

/** @extends {Widget<State, Answers>} */
export default class LineSpoiler extends Widget {
  /**
   * Spoil the line that was typed.
   * @param {{ line: string }} sent
   */
  do_spoil({ line }) {
    return this.ask("spoil", { line });
  }

  /**
   * Choose a corruption.
   * @param {{ value: string }} sent
   */
  do_choose({ value }) {
    return this.ask("spoil", { corruption: value });
  }

  /**
   * Choose how much is corrupted.
   * @param {{ share: string }} sent
   */
  do_share({ share }) {
    return this.ask("spoil", { share: Number(share) });
  }

  markup() {
    const corruption = this.get("corruption");
    const kinds = Object.keys(this.get("corruptions")).map((name) => {
      const checked = name === corruption;
      const radio = {
        type: "radio",
        name: "corruption",
        value: name,
        "data-do": "choose",
        checked,
      };
      return element("label", null, element("input", radio), name);
    });
    const shares = SHARES.map((share) =>
      button(percent(share), "share", {
        "data-with-share": share,
        "aria-pressed": share === this.get("share"),
        "aria-disabled": !this.get("corruptions")[corruption].has_share || null,
      }),
    );
    const field = element("input", { name: "line", value: this.get("line"), size: 50 });
    const typed = element("label", null, "Your line", field);
    const go = element("button", { type: "submit", class: "primary" }, "Spoil it");
    const group = { role: "radiogroup", "aria-label": "Corruption", class: "row" };
    return join([
      form("spoil", { class: "row" }, typed, go),
      element("div", group, ...kinds),
      element("div", { class: "row" }, "corrupted: ", ...shares),
      ...this.get("spoilt").map((words, which) => this.#line(NAMES[which], words)),
      status(this.#told()),
    ]);
  }

  /**
   * @param {string} name
   * @param {string[]} words
   */
  #line(name, words) {
    const [original] = this.get("spoilt");
    const look = (/** @type {string} */ word) => {
      if (original.includes(word)) return "cell";
      return word === "[MASK]" || word.startsWith("<extra_id_")
        ? "cell fate-sign"
        : "cell fate-stranger";
    };
    const shown = words.flatMap((word) => [element("span", { class: look(word) }, word), " "]);
    const told = `${name}: ${words.join(" ") || "nothing"}`;
    return element(
      "div",
      null,
      element("p", { class: "quiet" }, `${name}: ${counted(words.length, "symbol")}`),
      element("div", { role: "img", "aria-label": told, class: "spoilt" }, ...shown),
    );
  }

  #told() {
    const [original, read, written] = this.get("spoilt");
    const corruption = this.get("corruption");
    const { loses } = this.get("corruptions")[corruption];
    return (
      `Draw ${this.get("draws")}, ${corruption}: ${counted(original.length, "symbol")} became ` +
      `${read.length} to read and ${written.length} to write. ${loses}`
    );
  }
}
