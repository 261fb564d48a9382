// Links that carry a line: #line=…&mask=4,7&view=surprise, where mask and view may be missing.

import { ValueError } from "./arguments.js";
import { join, problemOf } from "./element.js";
import { Explorer } from "./explorer.js";

/** Return the part of an address, from # on, that shows what a state shows. */
export function written(state) {
  const gaps = new Set(state.gaps);
  const mask = state.masked.filter((at) => !gaps.has(at)); // the line shows its own gaps
  const carried = new URLSearchParams({ line: state.line });
  if (mask.length) carried.set("mask", mask);
  if (state.view !== "guesses") carried.set("view", state.view);
  return `#${carried.toString().replaceAll("%2C", ",")}`;
}

/**
 * Return the state that a link asks for; null when it carries no line.
 * How one looks at the line otherwise is taken from the state `before`.
 */
function read(hash, before, maxLen) {
  const carried = new URLSearchParams(hash.replace(/^#/, ""));
  if (![...carried.keys()].some((name) => ["line", "mask", "view"].includes(name))) return null;
  try {
    const line = carried.get("line");
    if (line === null) throw new ValueError("It carries no line.");
    const mask = carried.get("mask") || null;
    const state = before.withLine(line, maxLen).withMasked(mask?.split(",") ?? []);
    const shows = state.withView(carried.get("view") ?? "guesses");
    return shows.with({ focus: state.masked[0] ?? 0, event: "From a link." });
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const [first, ...rest] = error.message;
    throw new ValueError(`This link cannot be shown: ${first.toLowerCase()}${rest.join("")}`);
  }
}

/** The explorer of a page that can be opened with a link; what is wrong with one stands above it. */
export class LinkedExplorer extends Explorer {
  static actions = { ...Explorer.actions, link: ["hash"] };

  markup() {
    return join([problemOf("link"), super.markup()]);
  }

  do_link({ hash }) {
    const state = read(hash, this.state, this.maxLen);
    return state && this.become(state);
  }
}
