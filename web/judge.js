// What the guessing game asks where there is no Python: which gaps a seed hides, as Python has drawn
// them, and what everybody pays; src/cloze/lessons/the_explorer/guessing_rules.py.

import { largest } from "./answers.js";
import { Model } from "../src/cloze/widgets/browser/widget.js";
import { sum } from "../src/cloze/widgets/browser/words.js";

const SIDES = ["left", "both"]; // first only what stands left of the gap, then all
const GUESSES = 3; // how many of the model's are shown
const DAY = 24 * 60 * 60 * 1000; // milliseconds

/**
 * Read the games that build.py has written: for each seed the puzzles, {line, at}.
 * @returns {(seed: number) => {line: string, at: number}[]}
 */
function gamesOf({ text, games }) {
  return (seed) =>
    games[seed].match(/.{6}/g).map((digits) => {
      const number = parseInt(digits, 36);
      const [start, length, at] = [number >> 12, (number >> 6) & 63, number & 63];
      return { line: text.slice(start, start + length), at };
    });
}

/** Return −log2 P(truth): what a bet costs in bits. What it leaves is shared by frequency. */
function bits([letter, percent], truth, frequencies) {
  if (letter === null) return -Math.log2(frequencies[truth]);
  const sure = percent / 100;
  const others = 1 - frequencies[letter];
  return -Math.log2(letter === truth ? sure : ((1 - sure) * frequencies[truth]) / others);
}

/**
 * Counts of characters given their neighbours, smoothed as cloze.baselines.NeighbourBaseline does:
 * each towards what is known with one neighbour less.
 */
class Neighbours {
  #counts;
  #contexts; // of one neighbour: all symbols, [MASK] among them, and the end of a line
  #symbols;
  static #STRENGTH = 2; // imaginary observations

  /** The place of what stands beyond the ends of a line. */
  get edge() {
    return this.#symbols;
  }

  /** `packed` are the counts by left neighbour, right neighbour and character, in base 36. */
  constructor(packed, nSymbols) {
    this.#counts = packed.split(",").map((each) => (each ? parseInt(each, 36) : 0));
    this.#symbols = nSymbols;
    this.#contexts = nSymbols + 1;
  }

  /** Return P(character) by its place given the left neighbour and, if it is named, the right. */
  given(left, right = null) {
    const all = Array.from({ length: this.#contexts }, (_, i) => i);
    let said = Array(this.#symbols).fill(1 / this.#symbols);
    said = this.#smoothed(all, all, said);
    said = this.#smoothed([left], all, said);
    return right === null ? said : this.#smoothed([left], [right], said);
  }

  #smoothed(lefts, rights, shorter) {
    const counts = shorter.map((p) => Neighbours.#STRENGTH * p);
    for (const left of lefts)
      for (const right of rights) {
        const row = (left * this.#contexts + right) * this.#symbols;
        for (let i = 0; i < counts.length; i++) counts[i] += this.#counts[row + i];
      }
    const total = sum(counts);
    return counts.map((count) => count / total);
  }
}

/**
 * Let model and baselines guess the same gap, and say what everybody pays: {bits, guesses}, by side.
 * On the left side they all see what the guesser sees.
 */
function judge({ line, at, bets }, predictors, neighbours) {
  const truth = line[at];
  const paid = {};
  const guesses = {};
  for (const side of SIDES) {
    const predictor = predictors[side];
    const { known } = predictor.symbols;
    const { probabilities } = predictor.baseline;
    const frequencies = Object.fromEntries(known.map((symbol, i) => [symbol, probabilities[i]]));
    const answer = predictor.predict([...line], [at]);
    const said = Array.from(answer.at(at));
    const place = (symbol) => known.indexOf(symbol);
    const beside = (symbol) => (symbol === undefined ? neighbours.edge : place(symbol));
    const right = side === "both" ? beside(line[at + 1]) : null;
    const counted = neighbours.given(beside(line[at - 1]), right).slice(0, known.length);
    paid[side] = {
      you: bits(bets[side], truth, frequencies),
      model: answer.cost(at) / Math.LN2,
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
 */
function day(now, seeds) {
  const number = Math.floor((now - now.getTimezoneOffset() * 60_000) / DAY);
  const date = now.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  return { seed: seeds - 1 - (number % seeds), date };
}

/**
 * Return the model of a `GuessingGame` that `predictors` play: with the gaps of a seed or, where an
 * address or "" is given that is told with a game's end, with those of the day.
 */
export function playing(predictors, game, { seed, gaps = 10, address = null, now = new Date() }) {
  const puzzles = gamesOf(game);
  const neighbours = new Neighbours(game.counts, predictors.both.symbols.size);
  const seeds = game.games.length;
  const engine = {
    puzzles: (asked) => {
      const known = asked.seed % seeds; // after the last comes the first
      return { seed: known, puzzles: puzzles(known).slice(0, asked.gaps) };
    },
    judge: (asked) => judge(asked, predictors, neighbours),
  };
  const today = address === null ? null : { ...day(now, seeds), address };
  const begun = engine.puzzles({ seed: seed ?? today.seed, gaps });
  return new Model({ ...begun, rounds: [], bets: {}, letter: "", today }, engine);
}
