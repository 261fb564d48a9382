// A search: a line, and the passages that Python finds by vectors and by counted terms.

import { button, element, form, join, select, status } from "../../widgets/browser/element.js";
import { Widget } from "../../widgets/browser/widget.js";

const LABELS = { vectors: "Vectors ", terms: "Terms " };

export default class Search extends Widget {
  /** Look for another line. */
  do_search({ line }) {
    return this.ask("search", { line });
  }

  do_vectors({ value }) {
    return this.ask("search", { vectors: value });
  }

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
    const selects = Object.entries(this.get("choices")).map(([what, names]) =>
      select(
        LABELS[what],
        what,
        names.map((name) => [name, name]),
        chosen[what],
      ),
    );
    const tables = Object.entries(ways).map(([way, hits]) => this.#table(way, hits));
    return join([
      form("search", { class: "row" }, element("label", null, "Look for ", field), go),
      element("div", { class: "row" }, ...selects),
      element("div", { class: "tables" }, ...tables),
      status(this.#told()),
    ]);
  }

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
