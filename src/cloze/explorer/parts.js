// What the explorer and its views share: what they are given, and how they draw it. A view is a file
// in the folder views.

import { element } from "../widgets/browser/element.js";
import { fixed, sum } from "../widgets/browser/words.js";

/**
 * @import { Markup } from "../widgets/browser/element.js"
 * @import { Changes, Inside, Settings as InsideSettings } from "./inside.js"
 * @import { Hands, Paid } from "./hands.js"
 *
 * @typedef {number | string | null} Cost  −log P in nats, null where nobody knows the truth; Python
 *   writes an infinite one as text.
 * @typedef {[symbol: string, p: number]} Guess
 * @typedef {[symbols: [string, string], p: number][]} Pairs
 *
 * @typedef {object} Line
 * @property {string[]} truth  Its symbols, GAP where not even the line knows the truth.
 * @property {[start: number, stop: number][]} words
 *
 * @typedef {object} Question  A line, what of it is hidden, and which position is selected.
 * @property {string[]} truth
 * @property {number[]} masked  Ascending.
 * @property {Record<number, string>} filled  What somebody has put into masked positions.
 * @property {Record<number, Hands>} hands
 * @property {number} focus  The selected position.
 * @property {Changes} inside  What is changed inside the model.
 *
 * @typedef {object} Looks  How a line is looked at.
 * @property {string} view
 * @property {{ unit: string, known: string[] | null, n: number, size: number, wide: boolean }} symbols
 * @property {boolean} revealed
 *
 * @typedef {object} Settings
 * @property {boolean | "once"} guess_first  "once": only until the guesses for a line were revealed.
 * @property {(Line & { name: string, masked: number[], symbols?: Looks["symbols"] })[]} examples
 * @property {boolean} [stakes]  Whether a gap is played for stakes.
 * @property {Paid[]} paid
 * @property {boolean} tools
 * @property {number} revision  How often the models have changed.
 *
 * @typedef {Line & Omit<Question, "inside"> & Looks & Settings & { inside: InsideSettings }} Traits
 *   What an explorer's model knows.
 *
 * @typedef {object} Derived  What follows from the traits.
 * @property {boolean} guessFirst  Whether a new gap is guessed before its answer is shown.
 * @property {boolean} once  Whether one person guesses, once for a line.
 * @property {InsideSettings} settings  How the inside is looked at.
 * @property {boolean} hidden  Whether truth and guesses are kept back.
 * @property {number[]} gaps  Positions whose truth nobody knows.
 * @property {number[]} open  Masked positions still open: what is predicted, ascending.
 * @property {string[]} held  The line with what was filled in.
 * @property {(at: number) => string | null} truthAt  The true symbol; null where nobody knows it.
 *
 * @typedef {Line & Omit<Question, "inside"> & Looks & Derived} State
 *
 * @typedef {{ name: string, costs: Record<number, Cost> }} Reader
 *
 * @typedef {object} Guesses  What is guessed at the open positions.
 * @property {Reader[]} readers  The last is the one that is spoken of.
 * @property {{ text: string, costs: Record<number, Cost> } | null} baseline
 * @property {Record<number, Guess[]>} best  The likeliest symbols of the last reader, by position.
 * @property {{ symbol: string, p: number[] }[] | null} candidates  For the chart of the selected position,
 *   with their probabilities by reader; null if it is no open gap.
 *
 * @typedef {object} Answers  What an explorer asks, and what is answered.
 * @property {(question: Question) => Promise<Guesses>} guesses
 * @property {(question: Question) => Promise<Cost[]>} occlusion
 * @property {(question: Question) => Promise<{ first: number, second: number, apart: Pairs, together: Pairs }>} pair
 * @property {(question: Question) => Promise<Inside> | Inside} inside
 * @property {(question: Question) => Promise<Cost[]>} surprise
 * @property {(sent: { text: string }) => Line & { note: string, n: number }} read
 * @property {(sent: { typed: string }) => string} symbol
 * @property {(sent: { at: number, typed: string, sure: number }) => Record<string, number>} [pay]
 *
 * @typedef {object} Seen  What a view is given.
 * @property {State} state
 * @property {Guesses | null} answer  null while it is awaited.
 * @property {any} more  The answer to what the view itself asks; null while it is awaited.
 * @property {boolean} present  Whether it is written for a lecture hall.
 * @property {boolean} playing  Whether Inside plays.
 * @property {Markup} line  The line, for a view that holds it.
 *
 * @typedef {object} Shade  How a position of the line is shaded.
 * @property {string} kind  Which colour it has.
 * @property {number} heat  How dark it is, in percent.
 * @property {string} [label]  What a screen reader says of it.
 * @property {string} [below]  What is written beneath it.
 * @property {string} [shown]  What is seen in a gap instead of a question mark.
 * @property {number} [wide]  How wide it is, in characters.
 * @property {number} [high]  How high a bar grows from it, as a share of the highest.
 *
 * @typedef {object} View  A view of the explorer: what a file in the folder views has as its default.
 * @property {string} title  What its button says.
 * @property {number} place  Where its button stands among the others.
 * @property {(state: State) => keyof Answers | null} [asks]  What it asks in addition to the guesses, if
 *   anything: "pair" calls answer_pair in Python and pair() of web/twins/answers.js.
 * @property {(seen: Seen) => Markup | null} panel  What stands below the line; null while it waits.
 * @property {(seen: Seen) => string | null} [summary]  The answer in a sentence or two; null while it waits.
 * @property {(seen: Seen, at: number) => Shade | null} [shade]
 * @property {boolean} [holds]  Whether its panel has the line in it.
 * @property {boolean} [bare]  Whether the line is shown as it is, shaded ones without their gaps.
 * @property {boolean} [sides]  Whether the line is tinted by who sees which side of the gap.
 * @property {boolean} [sums]  Whether the loss of the whole line stands below it.
 * @property {Record<string, (this: any, sent: any) => void>} [actions]  What its own buttons do.
 */

export const LEAST = 0.005; // a probability below this is written 0.00
export const LEAST_CHANGE = 0.05; // the least change or share that is written beneath a position

/**
 * Write a paragraph.
 * @param {string} text
 */
export const paragraph = (text) => element("p", null, text);

/** @type {Record<string, string>} */
const TITLES = { left: "from the left", right: "from the right", both: "from both sides" };

/** @param {string} name  Of a reader. */
export const titleOf = (name) => TITLES[name] ?? name;

/**
 * Return the places of the `k` largest values, largest first.
 * @param {number[]} values
 * @param {number} k
 */
export function largest(values, k) {
  /** @type {number[]} */
  const best = [];
  values.forEach((value, i) => {
    if (best.length === k && !(value > values[best[k - 1]])) return;
    const place = best.findIndex((each) => value > values[each]);
    best.splice(place < 0 ? best.length : place, 0, i);
    best.length = Math.min(best.length, k);
  });
  return best;
}

/**
 * Return how dark an amount is, in percent: in tens, so that nothing changes for nothing.
 * @param {number} amount
 * @param {number} darkest
 */
export function heat(amount, darkest) {
  return 10 * Math.round(10 * Math.min(Math.max(amount / darkest, 0), 1));
}

/**
 * Return the costs that are known.
 * @param {{ costs: Record<number, Cost> }} of
 */
export function costsOf({ costs }) {
  return Object.values(costs)
    .filter((cost) => cost !== null)
    .map(Number);
}

/**
 * Return the mean of costs.
 * @param {number[]} costs
 */
export const mean = (costs) => sum(costs) / costs.length;

/**
 * Write a bar and its number.
 * @param {number} probability
 */
export function bar(probability) {
  const written = fixed(probability, 2);
  return element(
    "div",
    { class: probability >= LEAST ? "track" : "track none" },
    element("span", { class: "bar", style: `--p: ${written}` }),
    element("span", { class: "number" }, written),
  );
}

/**
 * Return the positions of the line in parts: each begins with a word and ends before the next.
 * @param {State} state
 */
export function parts({ truth, words }) {
  const starts = [0, ...words.slice(1).map(([start]) => start)];
  return starts.map((start, i) => {
    const length = (starts[i + 1] ?? truth.length) - start;
    return Array.from({ length }, (_, j) => start + j);
  });
}

/** @type {(symbols: State["symbols"], line: string[]) => string} */
export const written = ({ wide }, line) => line.join(wide ? " " : "").replaceAll(" ##", "");
