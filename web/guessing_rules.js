// The rules of the guessing game: what is hidden, what a guess costs, and the line that says how a
// game went. The port of src/cloze/lessons/the_explorer/guessing_rules.py.

import { ValueError, shown } from "./arguments.js";
import { largest } from "./answers.js";
import { Chance } from "./chance.js";
import { fixed, sum, visible } from "./words.js";

export const SIDES = ["left", "both"]; // first only what stands left of the gap, then all
export const SIGHT = { left: "from the left", both: "from both sides" };
export const LETTERS = [..."abcdefghijklmnopqrstuvwxyz "]; // what may be hidden
export const SURENESS = [20, 40, 60, 80, 95]; // how sure one can be of a letter, in percent
export const RIVALS = {
  you: ["you"],
  model: ["left twin", "encoder"],
  neighbours: ["left bigram", "both neighbours"],
  unigram: ["unigram"],
};
const LONGEST = 60; // the most characters of a line
const GUESSES = 3; // how many of the model's are shown

// ── what is hidden ──────────────────────────────────────────────────────────────────────────────

/**
 * Draw lines from texts and hide one character of each: {before, truth, after}. The same seed gives
 * the same lines and gaps, here and in Python.
 */
export function drawPuzzles(texts, n, seed) {
  const chance = new Chance(seed);
  const drawn = [];
  while (drawn.length < n) {
    // A round takes one line of each text, so lines repeat as late as possible.
    for (const i of chance.permutation(texts.length)) {
      const line = drawLine(texts[i], chance);
      const edge = Math.floor(line.length / 4);
      const at = chance.below(edge, line.length - edge);
      drawn.push({ before: line.slice(0, at), truth: line[at], after: line.slice(at + 1) });
    }
  }
  return drawn.slice(0, n);
}

/** Draw whole words from within one paragraph. */
function drawLine(text, chance) {
  const some = text.split("\n").filter((each) => each.trim());
  const long = some.filter((each) => each.length > LONGEST);
  const paragraphs = long.length ? long : some;
  const paragraph = paragraphs[chance.below(0, paragraphs.length)];
  const latest = Math.max(0, paragraph.length - LONGEST);
  const spaces = [...paragraph.matchAll(/ /g)].map(({ index }) => index + 1);
  const starts = [0, ...spaces].filter((start) => start <= latest);
  const start = starts[chance.below(0, starts.length)];
  const line = paragraph.slice(start, start + LONGEST + 1);
  if (line.length <= LONGEST) return line;
  // A word may be longer than a line.
  return line.slice(0, Math.max(0, line.lastIndexOf(" "))) || line.slice(0, LONGEST);
}

// ── what a guess costs ──────────────────────────────────────────────────────────────────────────

/** Read a letter or a space; capitals become small. */
export function readLetter(typed) {
  const lower = typeof typed === "string" ? typed.toLowerCase() : "";
  if (LETTERS.includes(lower)) return lower;
  throw new ValueError(`A gap hides a letter from a to z or a space, not ${shown(typed)}.`);
}

/** Read a bet, {letter, percent}; with 0 percent there is no letter: no idea. */
export function readBet(letter, percent) {
  const said = percent ?? "";
  if (said === "")
    throw new ValueError("Say how sure you are: choose one of the percentages, or “no idea”.");
  const sure = [0, ...SURENESS].find((each) => String(each) === String(said));
  if (sure === undefined)
    throw new ValueError(
      `How sure you are is ${SURENESS.join(", ")} %, or 0 for no idea, not ${shown(percent)}.`,
    );
  if (!sure) return { letter: null, percent: 0 };
  if (!letter) throw new ValueError("Also choose a letter, or choose “no idea”.");
  return { letter: readLetter(letter), percent: sure };
}

/** Write a bet. */
export function inWords({ letter, percent }) {
  return letter === null ? "no idea" : `${visible(letter)}, ${percent} %`;
}

/** Return −log2 P(truth): what a bet costs in bits. What it leaves is shared by frequency. */
function bits({ letter, percent }, truth, frequencies) {
  if (letter === null) return -Math.log2(frequencies[truth]);
  const sure = percent / 100;
  const others = 1 - frequencies[letter];
  return -Math.log2(letter === truth ? sure : ((1 - sure) * frequencies[truth]) / others);
}

/**
 * Counts of characters given their neighbours, smoothed as cloze.baselines.NeighbourBaseline does:
 * each towards what is known with one neighbour less.
 */
export class Neighbours {
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
 * Let model and baselines guess the same gap, and say what everybody pays: {puzzle, bets, bits,
 * guesses}, by side. On the left side they all see what the guesser sees.
 */
export function judge(puzzle, bets, predictors, neighbours) {
  const { before, truth, after } = puzzle;
  const line = [...before, truth, ...after];
  const at = before.length;
  const paid = {};
  const guesses = {};
  for (const side of SIDES) {
    const predictor = predictors[side];
    const { known } = predictor.symbols;
    const { probabilities } = predictor.baseline;
    const frequencies = Object.fromEntries(known.map((symbol, i) => [symbol, probabilities[i]]));
    const answer = predictor.predict(line, [at]);
    const said = Array.from(answer.at(at));
    const place = (symbol) => known.indexOf(symbol);
    const beside = (symbol) => (symbol === undefined ? neighbours.edge : place(symbol));
    const right = side === "both" ? beside(after[0]) : null;
    const counted = neighbours.given(beside(before.at(-1)), right).slice(0, known.length);
    paid[side] = {
      you: bits(bets[side], truth, frequencies),
      model: answer.cost(at) / Math.LN2,
      neighbours: -Math.log2(counted[place(truth)] / sum(counted)),
      unigram: -Math.log2(frequencies[truth]),
    };
    guesses[side] = largest(said, GUESSES).map((i) => [known[i], said[i]]);
  }
  return { puzzle, bets, bits: paid, guesses };
}

// ── a whole game ────────────────────────────────────────────────────────────────────────────────

/** Return the mean cost of a rival in bits per gap. */
export function mean(rounds, side, rival = "you") {
  return sum(rounds.map(({ bits: paid }) => paid[side][rival])) / rounds.length;
}

/** Return one line that says how the game went, to be copied; "" before the first round. */
export function result(rounds, seed) {
  if (!rounds.length) return "";
  const scores = SIDES.map((side) => {
    const [you, model] = ["you", "model"].map((rival) => fixed(mean(rounds, side, rival), 2));
    return `${side}=${rounds.length}:${you}/${model}`;
  });
  const line = `cloze 1 seed=${seed} ${scores.join(" ")}`;
  return `${line} check=${(crc32(line) & 0xffff).toString(16).padStart(4, "0")}`;
}

/** Return the checksum of ASCII text that zlib has by the same name. */
function crc32(text) {
  let crc = -1;
  for (const character of text) {
    crc ^= character.charCodeAt(0);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}
