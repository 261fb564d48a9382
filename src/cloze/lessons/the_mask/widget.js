// Masks drawn again and again: a line changes each time, and the shares close in on 80/10/10.

import { numberRow, row, strip } from "../../widgets/browser/cells.js";
import { button, element, join, status, tableOf } from "../../widgets/browser/element.js";
import { randomOf } from "../../widgets/browser/random.js";
import { Widget } from "../../widgets/browser/widget.js";
import { fixed, sum, visible } from "../../widgets/browser/words.js";

const ALPHABET = "\n abcdefghijklmnopqrstuvwxyz";
const SELECTED = 0.15;
const PROMISED = { M: 0.8, R: 0.1, K: 0.1 }; // of the selected positions, which fate each meets
const NAMES = { M: "masked", R: "random", K: "kept" };
const FATES = /** @type {const} */ (["M", "R", "K"]);
const NUMBERS = 3; // drawn for each position
const FEW = 40; // up to so many selected positions, a pile shows each of them
const STEPS = 10; // in which many draws pile up
const PAUSE = 80; // milliseconds between two of them
const UNTOUCHED = "Nothing has been drawn yet.";

/**
 * @typedef {keyof typeof NAMES} Fate
 * @typedef {{ symbol: string, fate?: Fate }} Drawn  What is read at a position.
 *
 * @typedef {object} State
 * @property {string[]} symbols
 * @property {number} draws  How many there have been.
 * @property {Record<Fate, number>} counts  Over all draws.
 */

const inPercent = (/** @type {number} */ share) => `${fixed(100 * share, 1)}%`;

/** @extends {Widget<State>} */
export default class MaskDraws extends Widget {
  announcement = UNTOUCHED;

  /**
   * Mask the line a number of times and count; where motion is welcome, the counts pile up.
   * @param {{ times: string }} sent
   */
  async do_draw({ times }) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = still ? Number(times) : Math.ceil(Number(times) / STEPS);
    for (let done = 0; done < Number(times); done += step) {
      if (done) await new Promise((resolve) => setTimeout(resolve, PAUSE));
      const counts = { ...this.get("counts") };
      const draws = this.get("draws") + step;
      for (let number = draws - step + 1; number <= draws; number += 1)
        for (const { fate } of this.drawn(number)) if (fate) counts[fate] += 1;
      this.set({ draws, counts });
    }
    const draws = this.get("draws");
    const own = this.drawn(draws).flatMap(({ fate }) => fate ?? []);
    const fates = FATES.map(
      (fate) => `${own.filter((each) => each === fate).length} ${NAMES[fate]}`,
    );
    const shares = this.rows().map(({ share, fate }) => `${inPercent(share)} ${NAMES[fate]}`);
    this.announcement =
      `Draw ${draws}: ${own.length} of ${this.get("symbols").length} selected ` +
      `(${fates.join(", ")}). All draws: ${shares.join(", ")}.`;
  }

  /** Forget all draws; the next ones repeat them. */
  do_restart() {
    this.announcement = UNTOUCHED;
    this.set({ draws: 0, counts: { M: 0, R: 0, K: 0 } });
  }

  /**
   * Return for each position what is read in draw number 1, 2, …, and its fate if it is selected.
   * @param {number} number
   * @returns {Drawn[]}
   */
  drawn(number) {
    const symbols = this.get("symbols");
    const next = randomOf(0, NUMBERS * symbols.length * (number - 1));
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
    const n = sum(Object.values(counts)) || 1;
    return FATES.map((fate) => {
      const p = PROMISED[fate];
      const [count, margin] = [counts[fate], 2 * Math.sqrt((p * (1 - p)) / n)];
      return { fate, count, share: count / n, p, margin };
    });
  }

  markup() {
    const draws = this.get("draws");
    const again = [10, 1000].map((n) => button(`${n} times`, "draw", { "data-with-times": n }));
    return join([
      this.#strip(),
      element("p", { class: "quiet" }, "M masked, R random, K kept"),
      row(
        button("Draw once", "draw", { class: "primary", "data-with-times": 1 }),
        ...again,
        button("Start over", "restart", { "aria-disabled": !draws || null }),
      ),
      element("div", { class: "piled" }, this.#piles(), this.#table()),
      status(this.announcement),
    ]);
  }

  #strip() {
    const [symbols, draws] = [this.get("symbols"), this.get("draws")];
    /** @type {Drawn[]} */
    const drawn = draws ? this.drawn(draws) : symbols.map((symbol) => ({ symbol }));
    const line = drawn.map(({ symbol }) => (symbol === "[MASK]" ? "▒" : symbol)).join("");
    const cells = drawn.map(({ symbol, fate }, at) => ({
      symbol: visible(symbol),
      look: fate && `fate-${fate}`,
      notes: [fate],
      ends: symbols[at] === " ",
    }));
    return strip(`The model reads: ${line}`, cells);
  }

  /** Draw a pile per fate, as high as its share, before the band in which it belongs. */
  #piles() {
    const n = sum(Object.values(this.get("counts")));
    const piles = this.rows().map(({ fate, count, share, p, margin }) => {
      const [low, high] = n ? [Math.max(0, p - margin), Math.min(1, p + margin)] : [p, p];
      const band = `bottom: ${fixed(100 * low, 2)}%; height: ${fixed(100 * (high - low), 2)}%`;
      const unit = count && n <= FEW ? 100 / count : 100;
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

  #table() {
    const heads = ["fate", "count", "share", "promised ± 2 standard errors", "verdict"];
    const some = sum(Object.values(this.get("counts"))) > 0;
    const rows = this.rows().map(({ fate, count, share, p, margin }) => {
      const promised = fixed(100 * p, 0);
      const verdict = Math.abs(share - p) <= margin ? "inside" : "outside";
      const compared = [inPercent(share), `${promised}% ± ${inPercent(margin)}`, verdict];
      const before = ["–", `${promised}%`, "–"];
      const numbers = [count.toLocaleString("en"), ...(some ? compared : before)];
      return numberRow(`${fate} ${NAMES[fate]}`, numbers);
    });
    return element("div", { class: "scroll" }, tableOf(heads, rows, "draws"));
  }
}
