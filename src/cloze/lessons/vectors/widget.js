// A search: a line, and the passages that Python finds by vectors and by counted terms.

import { row } from "../../widgets/browser/cells.js";
import {
  button,
  element,
  join,
  lineForm,
  select,
  status,
  tableOf,
} from "../../widgets/browser/element.js";
import { Widget } from "../../widgets/browser/widget.js";
import { fixed } from "../../widgets/browser/words.js";

/**
 * @typedef {keyof typeof LABELS} Way
 * @typedef {[passage: [piece: string, text: string], similarity: number, shared: string[]]} Hit
 *
 * @typedef {object} State
 * @property {[line: string, ways: Record<string, Hit[]>]} found
 * @property {Record<Way, string>} chosen
 * @property {Record<Way, string[]>} choices
 *
 * @typedef {object} Answers
 * @property {(sent: Record<string, string>) => void} search
 */

const LABELS = { vectors: "Vectors ", terms: "Terms " };
const WAYS = /** @type {const} */ (["vectors", "terms"]);

/** @extends {Widget<State, Answers>} */
export default class Search extends Widget {
  /** @param {{ text: string }} sent */
  do_search({ text }) {
    return this.ask("search", { line: text });
  }

  /** @param {{ way: string, value: string }} sent */
  do_choose({ way, value }) {
    return this.ask("search", { [way]: value });
  }

  markup() {
    const [line, ways] = this.get("found");
    const [choices, chosen] = [this.get("choices"), this.get("chosen")];
    const selects = WAYS.map((way) =>
      select(LABELS[way], "choose", choices[way], chosen[way], { "data-with-way": way }),
    );
    const nearest = Object.entries(ways).map(([way, [hit]]) =>
      hit ? `By ${way}: ${hit[0][1]}, ${fixed(hit[1], 2)}.` : `By ${way}: no passage matches.`,
    );
    const tables = Object.entries(ways).map(([way, hits]) => this.#table(way, hits));
    const field = { value: line, maxlength: 400, size: 40 };
    return join([
      lineForm("search", "Look for ", "Search", field, "primary"),
      row(...selects),
      element("div", { class: "tables" }, ...tables),
      status(`Looked for ${line}. ${nearest.join(" ")}`),
    ]);
  }

  /**
   * @param {string} way
   * @param {Hit[]} hits
   */
  #table(way, hits) {
    const rows = hits.map(([[piece, text], similarity, shared], at) => {
      const words = text
        .split(" ")
        .flatMap((word) => [shared.includes(word) ? element("mark", null, word) : word, " "]);
      const more = button("more like this", "search", {
        "data-with-text": text,
        "aria-label": `more like number ${at + 1} by ${way}`,
      });
      const source = row(element("small", { class: "quiet" }, piece), more);
      return element(
        "tr",
        null,
        element("td", { class: "number" }, fixed(similarity, 2)),
        element("td", null, "… ", ...words, "…", source),
      );
    });
    const none = element("tr", null, element("td", { colspan: 2 }, "No passage matches."));
    return tableOf(["cosine", "passage"], rows.length ? rows : [none], "hits", `By ${way}`);
  }
}
