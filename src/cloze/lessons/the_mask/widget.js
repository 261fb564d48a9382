// Masks drawn again and again: a line changes each time, and the shares close in on 80/10/10.

import { button, element, join, status, tableOf } from "../../widgets/browser/element.js";
import { randomOf } from "../../widgets/browser/random.js";
import { Widget } from "../../widgets/browser/widget.js";
import { fixed, sum, visible } from "../../widgets/browser/words.js";

const ALPHABET = "\n abcdefghijklmnopqrstuvwxyz";
const SELECTED = 0.15;
const PROMISED = { M: 0.8, R: 0.1, K: 0.1 }; // of the selected positions, which fate each meets
const FATES = /** @type {const} */ (["M", "R", "K"]);
const NAMES = { M: "masked", R: "random", K: "kept" };
const NUMBERS = 3; // drawn for each position
const FEW = 40; // up to so many selected positions, a pile shows each of them
const STEPS = 10; // in which many draws pile up
const PAUSE = 80; // milliseconds between two of them

/**
 * @import { Markup } from "../../widgets/browser/element.js"
 *
 * @typedef {keyof typeof NAMES} Fate
 * @typedef {{ symbol: string, fate?: Fate }} Cell  What is read at a position.
 *
 * @typedef {object} State
 * @property {string[]} symbols
 * @property {number} seed
 * @property {number} draws  How many there have been.
 * @property {Record<Fate, number>} counts  Over all draws.
 */

const inPercent = (/** @type {number} */ share) => `${fixed(100 * share, 1)}%`;

/** @extends {Widget<State>} */
export default class MaskDraws extends Widget {
  announcement = "Nothing has been drawn yet.";

  /**
   * Mask the line a number of times and count; where motion is welcome, the counts pile up.
   * @param {{ times: string }} sent
   */
  async do_draw({ times }) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const [first, last] = [this.get("draws"), this.get("draws") + Number(times)];
    const step = still ? Number(times) : Math.ceil(Number(times) / STEPS);
    let counts = this.get("counts");
    for (let draws = first + step; draws <= last; draws += step) {
      if (draws > first + step) await new Promise((resolve) => setTimeout(resolve, PAUSE));
      counts = { ...counts };
      for (let number = draws - step + 1; number <= draws; number += 1)
        for (const { fate } of this.drawn(number)) if (fate) counts[fate] += 1;
      this.set({ draws, counts });
    }
    const own = this.drawn(last).filter(({ fate }) => fate);
    const fates = FATES.map(
      (fate) => `${own.filter((each) => each.fate === fate).length} ${NAMES[fate]}`,
    );
    const shares = this.rows().map(({ share, name }) => `${inPercent(share)} ${name}`);
    this.announcement =
      `Draw ${last}: ${own.length} of ${this.get("symbols").length} selected ` +
      `(${fates.join(", ")}). All draws: ${shares.join(", ") || "nothing selected"}.`;
  }

  /** Forget all draws; the next ones repeat them. */
  do_restart() {
    this.announcement = "Nothing has been drawn yet.";
    this.set({ draws: 0, counts: { M: 0, R: 0, K: 0 } });
  }

  /**
   * Return for each position what is read in draw number 1, 2, …, and its fate if it is selected.
   * @param {number} number
   * @returns {Cell[]}
   */
  drawn(number) {
    const symbols = this.get("symbols");
    const next = randomOf(this.get("seed"), NUMBERS * symbols.length * (number - 1));
    return symbols.map((symbol) => {
      const [selects, acts, swaps] = [next(), next(), next()];
      if (selects >= SELECTED) return { symbol };
      if (acts < PROMISED.M) return { symbol: "[MASK]", fate: "M" };
      if (acts >= PROMISED.M + PROMISED.R) return { symbol, fate: "K" };
      return { symbol: ALPHABET[Math.floor(swaps * ALPHABET.length)], fate: "R" };
    });
  }

  /** Compare the counts with what is promised; a margin is two standard errors. */
  rows() {
    const counts = this.get("counts");
    const n = sum(Object.values(counts));
    return (n ? FATES : []).map((fate) => {
      const p = PROMISED[fate];
      const [share, margin] = [counts[fate] / n, 2 * Math.sqrt((p * (1 - p)) / n)];
      return { fate, name: NAMES[fate], count: counts[fate], share, p, margin };
    });
  }

  markup() {
    const labels = { 1: "Draw once", 10: "10 times", 1000: "1000 times" };
    const buttons = Object.entries(labels).map(([n, text]) =>
      button(text, "draw", { class: n === "1" ? "primary" : null, "data-with-times": n }),
    );
    const untouched = this.get("draws") === 0 || null;
    return join([
      this.strip(),
      element("p", { class: "quiet" }, "M masked, R random, K kept"),
      element(
        "div",
        { class: "row" },
        ...buttons,
        button("Start over", "restart", { "aria-disabled": untouched }),
      ),
      element("div", { class: "piled" }, this.piles(), this.table()),
      status(this.announcement),
    ]);
  }

  strip() {
    const draws = this.get("draws");
    /** @type {Cell[]} */
    const cells = draws ? this.drawn(draws) : this.get("symbols").map((symbol) => ({ symbol }));
    const line = cells.map(({ symbol }) => (symbol === "[MASK]" ? "▒" : symbol)).join("");
    /** @type {Markup[]} */
    let word = [];
    const words = [word];
    cells.forEach(({ symbol, fate }, at) => {
      const look = fate ? `cell fate-${fate}` : "cell";
      const sign = element("small", null, fate ?? "\xa0");
      word.push(element("span", { class: look }, visible(symbol), sign));
      if (this.get("symbols")[at] === " ") {
        word = [];
        words.push(word);
      }
    });
    return element(
      "div",
      { role: "img", "aria-label": `The model reads: ${line}`, class: "drawn" },
      ...words.map((word) => element("span", { class: "word" }, ...word)),
    );
  }

  /** Draw a pile per fate, as high as its share, before the band in which it belongs. */
  piles() {
    const rows = this.rows();
    const few = sum(rows.map(({ count }) => count)) <= FEW;
    const piles = FATES.map((fate, i) => {
      const p = PROMISED[fate];
      const { share, margin, count } = rows[i] ?? { share: 0, margin: 0, count: 0 };
      const low = Math.max(0, p - margin);
      const high = Math.min(1, p + margin);
      const band = `bottom: ${fixed(100 * low, 2)}%; height: ${fixed(100 * (high - low), 2)}%`;
      const unit = few && count ? 100 / count : 100;
      const pile = `height: ${fixed(100 * share, 2)}%; --unit: ${fixed(unit, 3)}%`;
      return element(
        "span",
        { class: `pile fate-${fate}` },
        element("span", { class: "band", style: band }),
        element("span", { class: "all", style: pile }),
        element("span", { class: "promised", style: `bottom: ${100 * p}%` }),
        element("small", null, fate),
      );
    });
    return element("div", { class: "piles", "aria-hidden": true }, ...piles);
  }

  table() {
    const heads = ["fate", "count", "share", "promised ± 2 standard errors", "verdict"];
    const rows = this.rows().map(({ fate, name, count, share, p, margin }) => {
      const inside = Math.abs(share - p) <= margin ? "inside" : "outside";
      const promised = `${fixed(100 * p, 0)}% ± ${inPercent(margin)}`;
      return row(`${fate} ${name}`, count.toLocaleString("en"), inPercent(share), promised, inside);
    });
    const before = FATES.map((fate) =>
      row(`${fate} ${NAMES[fate]}`, "0", "–", `${fixed(100 * PROMISED[fate], 0)}%`, "–"),
    );
    const table = tableOf(heads, rows.length ? rows : before, "draws");
    return element("div", { class: "scroll" }, table);
  }
}

/**
 * @param {string} name
 * @param {...string} cells
 */
function row(name, ...cells) {
  const numbers = cells.map((cell) => element("td", { class: "number" }, cell));
  return element("tr", null, element("th", { scope: "row" }, name), ...numbers);
}
