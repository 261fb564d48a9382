// A search: a line, and the passages that Python finds by vectors and by counted terms.

import { button, element, form, join, select, status } from "../../widgets/browser/element.js";
import { Widget } from "../../widgets/browser/widget.js";

/**
 * @typedef {keyof typeof LABELS} Way
 * @typedef {[passage: [piece: string, text: string], similarity: number, shared: string[]]} Hit
 * @typedef {[line: string, ways: Record<string, Hit[]>]} Found
 *
 * @typedef {object} State
 * @property {Found} found
 * @property {Record<Way, string>} chosen
 * @property {Record<Way, string[]>} choices
 *
 * @typedef {object} Answers
 * @property {(sent: { line?: string, vectors?: string, terms?: string }) => void} search
 */

const LABELS = { vectors: "Vectors ", terms: "Terms " };
const WAYS = /** @type {const} */ (["vectors", "terms"]);

/** @extends {Widget<State, Answers>} */
export default class Search extends Widget {
  /**
   * Look for another line.
   * @param {{ line: string }} sent
   */
  do_search({ line }) {
    return this.ask("search", { line });
  }

  /** @param {{ value: string }} sent */
  do_vectors({ value }) {
    return this.ask("search", { vectors: value });
  }

  /** @param {{ value: string }} sent */
  do_terms({ value }) {
    return this.ask("search", { terms: value });
  }

  markup() {
    const [line, ways] = this.get("found");
    const field = element("input", {
      type: "text",
      name: "line",
      value: line,
      maxlength: 400,
      size: 40,
    });
    const go = element("button", { type: "submit", class: "primary" }, "Search");
    const chosen = this.get("chosen");
    const choices = this.get("choices");
    const selects = WAYS.map((way) => select(LABELS[way], way, choices[way], chosen[way]));
    const tables = Object.entries(ways).map(([way, hits]) => this.#table(way, hits));
    return join([
      form("search", { class: "row" }, element("label", null, "Look for ", field), go),
      element("div", { class: "row" }, ...selects),
      element("div", { class: "tables" }, ...tables),
      status(this.#told()),
    ]);
  }

  /**
   * @param {string} way
   * @param {Hit[]} hits
   */
  #table(way, hits) {
    const rows = hits.map((hit, at) => this.#row(way, at + 1, hit));
    const none = element("tr", null, element("td", { colspan: 2 }, "No passage matches."));
    const heads = ["cosine", "passage"].map((head) => element("th", { scope: "col" }, head));
    return element(
      "table",
      { class: "hits" },
      element("caption", null, `By ${way}`),
      element("thead", null, element("tr", null, ...heads)),
      element("tbody", null, ...(rows.length ? rows : [none])),
    );
  }

  /**
   * @param {string} way
   * @param {number} n
   * @param {Hit} hit
   */
  #row(way, n, [[piece, text], similarity, shared]) {
    const words = text
      .split(" ")
      .flatMap((word) => [element(shared.includes(word) ? "mark" : "span", null, word), " "]);
    const more = button("more like this", "search", {
      "data-with-line": text,
      "aria-label": `more like number ${n} by ${way}`,
    });
    return element(
      "tr",
      null,
      element("td", { class: "number" }, similarity.toFixed(2)),
      element(
        "td",
        null,
        "… ",
        ...words,
        "…",
        element("div", { class: "row" }, element("small", { class: "quiet" }, piece), more),
      ),
    );
  }

  /** The nearest passage by either way. */
  #told() {
    const [line, ways] = this.get("found");
    const nearest = Object.entries(ways).map(([way, [hit]]) =>
      hit ? `By ${way}: ${hit[0][1]}, ${hit[1].toFixed(2)}.` : `By ${way}: no passage matches.`,
    );
    return `Looked for ${line}. ${nearest.join(" ")}`;
  }
}
