// What the guessing game asks where there is no Python: which gaps a seed hides, as Python has drawn
// them, and what everybody pays; src/cloze/lessons/the_explorer/guessing_rules.py.

import { largest } from "../src/cloze/explorer/parts.js";
import { Model } from "../src/cloze/widgets/browser/widget.js";
import { sum } from "../src/cloze/widgets/browser/words.js";
import { neighbourTables } from "./baselines.js";

/**
 * @import { Bet, State } from "../src/cloze/lessons/the_explorer/widget.js"
 * @import { Predictors } from "./predictor.js"
 *
 * @typedef {{ text: string, games: string[], counts: string }} Game  What build.py has written.
 * @typedef {Record<string, number>} Frequencies  By symbol.
 */

const SIDES = ["left", "both"]; // first only what stands left of the gap, then all
const GUESSES = 3; // how many of the model's are shown
const DAY = 24 * 60 * 60 * 1000; // milliseconds

/**
 * Read the games that build.py has written: for each seed the puzzles, {line, at}.
 * @param {Game} game
 * @returns {(seed: number) => {line: string, at: number}[]}
 */
function gamesOf({ text, games }) {
  return (seed) =>
    (games[seed].match(/.{6}/g) ?? []).map((digits) => {
      const number = parseInt(digits, 36);
      const [start, length, at] = [number >> 12, (number >> 6) & 63, number & 63];
      return { line: text.slice(start, start + length), at };
    });
}

/**
 * Return −log2 P(truth): what a bet costs in bits. What it leaves is shared by frequency.
 * @param {Bet} bet
 * @param {string} truth
 * @param {Frequencies} frequencies
 */
function bits([letter, percent], truth, frequencies) {
  if (letter === null) return -Math.log2(frequencies[truth]);
  const sure = percent / 100;
  const others = 1 - frequencies[letter];
  return -Math.log2(letter === truth ? sure : ((1 - sure) * frequencies[truth]) / others);
}

/** P(character) given its neighbours, by the counts that build.py has written. */
class Neighbours {
  #left;
  #both;
  #symbols;

  /** The place of what stands beyond the ends of a line. */
  get edge() {
    return this.#symbols;
  }

  /**
   * @param {string} packed  The counts by left neighbour, right neighbour and character, in base 36.
   * @param {number} nSymbols
   */
  constructor(packed, nSymbols) {
    const counts = packed.split(",").map((each) => (each ? parseInt(each, 36) : 0));
    [, this.#left, this.#both] = neighbourTables(counts, nSymbols);
    this.#symbols = nSymbols;
  }

  /**
   * Return P(character) by its place given the left neighbour and, if it is named, the right.
   * @param {number} left
   * @param {number | null} right
   */
  given(left, right) {
    const [table, row] =
      right === null ? [this.#left, left] : [this.#both, left * (this.#symbols + 1) + right];
    return Array.from(table.subarray(row * this.#symbols, (row + 1) * this.#symbols));
  }
}

/**
 * Let model and baselines guess the same gap, and say what everybody pays: {bits, guesses}, by side.
 * On the left side they all see what the guesser sees.
 * @param {{ line: string, at: number, bets: Record<string, Bet> }} sent
 * @param {Predictors} predictors
 * @param {Neighbours} neighbours
 */
function judge({ line, at, bets }, predictors, neighbours) {
  const truth = line[at];
  /** @type {Record<string, Record<string, number>>} */
  const paid = {};
  /** @type {Record<string, [symbol: string, probability: number][]>} */
  const guesses = {};
  for (const side of SIDES) {
    const predictor = predictors[side];
    const { known } = predictor.symbols;
    const { probabilities } = predictor.baseline;
    const frequencies = Object.fromEntries(known.map((symbol, i) => [symbol, probabilities[i]]));
    const answer = predictor.predict([...line], [at]);
    const said = Array.from(answer.at(at));
    const place = (/** @type {string} */ symbol) => known.indexOf(symbol);
    const beside = (/** @type {string | undefined} */ symbol) =>
      symbol === undefined ? neighbours.edge : place(symbol);
    const right = side === "both" ? beside(line[at + 1]) : null;
    const counted = neighbours.given(beside(line[at - 1]), right).slice(0, known.length);
    paid[side] = {
      you: bits(bets[side], truth, frequencies),
      model: Number(answer.cost(at)) / Math.LN2,
      neighbours: -Math.log2(counted[place(truth)] / sum(counted)),
      unigram: -Math.log2(frequencies[truth]),
    };
    guesses[side] = largest(said, GUESSES).map((i) => [known[i], said[i]]);
  }
  return { bits: paid, guesses };
}

/**
 * Return the seed and the date of a day. The seeds go backwards, so that whoever goes on to the next
 * seed plays the gaps of the day before.
 * @param {Date} now
 * @param {number} seeds
 */
function day(now, seeds) {
  const number = Math.floor((now.getTime() - now.getTimezoneOffset() * 60_000) / DAY);
  const date = now.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  return { seed: seeds - 1 - (number % seeds), date };
}

/**
 * Return the model of a `GuessingGame` that `predictors` play: with the gaps of a seed or, where an
 * address or "" is given that is told with a game's end, with those of the day.
 * @param {Predictors} predictors
 * @param {Game} game
 * @param {{ seed?: number, gaps?: number, address?: string | null, now?: Date }} begins
 */
export function playing(predictors, game, { seed, gaps = 10, address = null, now = new Date() }) {
  const puzzles = gamesOf(game);
  const neighbours = new Neighbours(game.counts, predictors.both.symbols.size);
  const seeds = game.games.length;
  const engine = {
    puzzles: (/** @type {{ seed: number, gaps: number }} */ asked) => {
      const known = asked.seed % seeds; // after the last comes the first
      return { seed: known, puzzles: puzzles(known).slice(0, asked.gaps) };
    },
    judge: (/** @type {Parameters<typeof judge>[0]} */ asked) =>
      judge(asked, predictors, neighbours),
  };
  const today = address === null ? null : { ...day(now, seeds), address };
  const begun = engine.puzzles({ seed: seed ?? today?.seed ?? 0, gaps });
  /** @type {State} */
  const state = { ...begun, rounds: [], bets: {}, letter: "", today };
  return new Model(state, engine);
}
