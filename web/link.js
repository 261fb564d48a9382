// Links that carry a line: #line=…&mask=4,7&view=surprise, where mask and view may be missing; and
// #words=… for a line that is read in pieces of words. Of Inside they also carry what is changed
// there, as in &second=…&swap=1.2&step=5.

import { fromAddress, toAddress } from "../src/cloze/explorer/inside.js";
import { written as line } from "../src/cloze/explorer/parts.js";
import { VIEWS } from "../src/cloze/explorer/views.js";
import Explorer from "../src/cloze/explorer/widget.js";
import { join, problemOf } from "../src/cloze/widgets/browser/element.js";
import { ValueError } from "../src/cloze/widgets/browser/widget.js";

/**
 * Return the part of an address, from # on, that shows what an explorer shows.
 * @param {Pick<Explorer, "state">} explorer
 */
export function written({ state }) {
  const { truth, masked, gaps, view, symbols } = state;
  const mask = masked.filter((at) => !gaps.includes(at)); // the line shows its own gaps
  const carried = new URLSearchParams({ [symbols.wide ? "words" : "line"]: line(symbols, truth) });
  if (mask.length) carried.set("mask", `${mask}`);
  if (view !== "guesses") carried.set("view", view);
  if (view === "inside")
    for (const [name, value] of toAddress(state)) if (value) carried.set(name, value);
  return `#${carried.toString().replaceAll("%2C", ",")}`;
}

/** The explorer of a page that can be opened with a link; what is wrong with one stands above it. */
export class LinkedExplorer extends Explorer {
  /** @type {(words: boolean) => Promise<void>} Has words read, or letters. */
  read = async () => {};

  markup() {
    return join([problemOf("link"), super.markup()]);
  }

  /**
   * Show the line that a link carries, if it does.
   * @param {{ hash: string }} sent
   */
  async do_link({ hash }) {
    const carried = new URLSearchParams(hash.replace(/^#/, ""));
    if (!["line", "words", "mask", "view"].some((name) => carried.has(name))) return;
    try {
      const text = carried.get("words") ?? carried.get("line");
      if (text === null) throw new ValueError("It carries no line.");
      await this.read(carried.has("words"));
      const { truth, words, n } = await this.ask("read", { text });
      if (n > truth.length)
        throw new ValueError(
          `The line has ${n} characters and the model reads ${truth.length}; shorten it.`,
        );
      const masked = (carried.get("mask") || null)?.split(",").map(Number) ?? [];
      if (!masked.every((at) => Number.isInteger(at) && at >= 0 && at < truth.length))
        throw new ValueError(
          `A position in this line is a whole number from 0 to ${truth.length - 1}.`,
        );
      const view = carried.get("view") ?? "guesses";
      if (!Object.hasOwn(VIEWS, view))
        throw new ValueError(`A view is one of ${Object.keys(VIEWS).join(", ")}.`);
      const second = carried.get("second");
      const other = second ? (await this.ask("read", { text: second })).truth : [];
      const inside = view === "inside" ? fromAddress(carried, other) : null;
      this.take({ truth, words, masked: masked.sort((a, b) => a - b) }, "");
      // The way to an answer cannot be looked at before the answer is shown.
      this.become(inside ? { view, revealed: true, inside } : { view }, "");
      if (!inside) return;
      this.problem = "";
      await this.settled; // a part that is changed may not be there
      if (this.problem) throw new ValueError(this.problem);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      const [first, ...rest] = error.message;
      throw new ValueError(`This link cannot be shown: ${first.toLowerCase()}${rest.join("")}`);
    }
  }
}
