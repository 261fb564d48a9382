// The guesses at the selected position as a table: candidates down the middle, bars to the sides.

import { button, element } from "../widgets/browser/element.js";
import { counted, inNats, spoken, sum, visible } from "../widgets/browser/words.js";
import { bet, cost, guesserName, ROOM, raised } from "./hands.js";
import { bar, LEAST, largest, titleOf } from "./parts.js";

/**
 * @import { Attributes, Child, Markup } from "../widgets/browser/element.js"
 * @import { Cost, Guesses, State } from "./parts.js"
 *
 * @typedef {object} Column  A guesser and its answer at the selected position.
 * @property {string} name
 * @property {string} title
 * @property {Cost} cost  Of the truth.
 * @property {number[]} p  By candidate.
 */

const SHOWN = 5; // how many candidates are shown; the truth is added
/** @type {Record<string, string>} */
const SIDES = { left: "before", right: "after" }; // what a reader sees of the line; its head dims the rest
/** @type {Record<string, number>} */
const PLACES = { left: 0, right: 1, truth: 3 }; // left of the candidates; first and last on their right
const placeOf = (/** @type {{ name: string }} */ { name }) => PLACES[name.split(" ")[0]] ?? 2;

/**
 * Return who guesses, from left to right, the candidates in the order of the last reader, each with
 * its probabilities by column, and what is left for all other symbols.
 * @param {State} state
 * @param {Guesses} answer
 */
function chart({ focus, hands: handsAt, once, symbols, truthAt }, { readers, candidates }) {
  const all = candidates ?? [];
  const truth = truthAt(focus);
  /** @type {Column[]} */
  const columns = readers.map(({ name, costs }, i) => {
    return { name, title: titleOf(name), cost: costs[focus], p: all.map(({ p }) => p[i]) };
  });
  const last = columns[columns.length - 1].p;
  const own = (once && handsAt[focus]) || {};
  const hands = once ? undefined : handsAt[focus];
  const most = all.map(({ symbol, p }) =>
    Math.max(...p, hands ? (hands[symbol] ?? 0) / raised(hands) : 0),
  );
  if (hands) {
    const p = all.map(({ symbol }) => bet(hands, symbol, symbols.n));
    const title = guesserName(raised(hands));
    columns.push({ name: ROOM, title, cost: truth && cost(hands, truth, symbols.n), p });
  }
  columns.sort((one, other) => placeOf(one) - placeOf(other));
  const likeliest = largest(most, SHOWN).filter((i) => most[i] >= LEAST);
  const named = [truth, ...Object.keys(own)];
  const shown = [...all.keys()].filter(
    (i) => likeliest.includes(i) || named.includes(all[i].symbol),
  );
  shown.sort((i, j) => last[j] - last[i]);
  return {
    columns,
    rows: shown.map((i) => {
      const { symbol } = all[i];
      const mine = symbol in own;
      return { symbol, mine, truth: symbol === truth, p: columns.map(({ p }) => p[i]) };
    }),
    rest: {
      n: symbols.n - shown.length,
      p: columns.map(({ p }) => Math.max(0, 1 - sum(shown.map((i) => p[i])))),
    },
  };
}

/**
 * Draw the guesses at the selected position.
 * @param {State} state
 * @param {Guesses} answer
 */
export function drawn(state, answer) {
  const { columns, rows, rest } = chart(state, answer);
  const at = state.focus;
  const middle = columns.filter((each) => !placeOf(each)).length;
  /** @type {(attributes: Attributes, first: Markup, cells: Markup[]) => Markup} */
  const row = (attributes, first, cells) =>
    element("tr", attributes, ...cells.slice(0, middle), first, ...cells.slice(middle));
  /** @type {(attributes: Attributes, label: Child[], p: number[]) => Markup} */
  const bars = (attributes, label, p) => {
    const cells = columns.map(({ name }, i) => element("td", { class: name }, bar(p[i])));
    return row(attributes, element("th", { scope: "row" }, ...label), cells);
  };
  const drawnRows = rows.map(({ symbol, mine, truth, p }) => {
    const label = button(visible(symbol), "fill", {
      class: "candidate",
      "data-with-at": at,
      "data-with-symbol": symbol,
      "aria-label": `fill position ${at} with ${spoken(symbol)}${truth ? ", the truth" : ""}`,
    });
    const tick = truth ? element("span", { class: "tick", title: "the truth" }, "✓") : null;
    const you = mine ? element("span", { class: "mine" }, "you") : null;
    return bars({ class: truth ? "truth" : null, "data-key": symbol }, [label, you, tick], p);
  });
  if (rest.n) {
    const label = element("span", { class: "quiet" }, counted(rest.n, "other"));
    drawnRows.push(bars({ class: "rest", "data-key": "rest of" }, [label], rest.p));
  }
  const middleHead = element(
    "th",
    { scope: "col", class: "middle" },
    element("span", { class: "spoken" }, state.symbols.unit),
  );
  return element(
    "table",
    { class: "chart" },
    element("caption", { class: "spoken" }, `What is at position ${at}?`),
    element("thead", null, row(null, middleHead, columns.map(head))),
    element("tbody", null, ...drawnRows),
  );
}

/**
 * Write the heading of a column: whose it is, and what the truth costs.
 * @param {Column} column
 */
function head({ name, title, cost }) {
  const paid = `costs ${inNats(Number(cost))} nats`;
  const written = cost === null ? null : element("span", { class: "number" }, paid);
  const side = SIDES[name];
  const seen = side
    ? element("span", { class: "spoken" }, `, sees only what is ${side} the gap, `)
    : null;
  const named = element("b", { tabindex: side ? 0 : null }, title, seen);
  return element("th", { scope: "col", class: name }, named, " ", written);
}
