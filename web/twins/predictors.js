// What the page asks: a line of characters and its gaps in, plain numbers out. Here is what
// src/cloze/vocabulary.py and prediction.py are in Python, for characters, with the same names and the
// same sentences for the learner.
//
//   const predictors = await loadPredictors(bytes, module);
//   const { line, note } = CHARACTERS.read("The wom_n", predictors.both.maxLen);
//   const answer = predictors.both.predict(line, [6]);
//   answer.at(6);                                      // 28 probabilities, as CHARACTERS.known
//   await predictors.both.surprise(line, { signal });  // long, so it runs in pieces
/**
 * @typedef {string[]} Line  One character per position; GAP where nobody knows it.
 * @typedef {number[]} Positions  Ascending; they count from 0.
 * @typedef {{ signal?: AbortSignal }} Options  A newer question aborts what runs: its
 *   promise is then rejected with an AbortError.
 *
 * @typedef {object} Symbols  CHARACTERS is one; bad input throws a TextError.
 * @property {string[]} known  What may stand in a gap, in the order of the probabilities.
 * @property {number} size  |V|: the number of symbols, special ones included.
 * @property {string} unit  "character".
 * @property {(text: string, maxLen: number) => { line: Line, note: string }} read  A line as it is
 *   typed, _ or [MASK] for a gap; the note says what normalising changed ("" if nothing).
 * @property {(typed: string) => string} readSymbol  What somebody puts into a gap.
 * @property {(line: Line) => string} write
 * @property {(line: Line) => Positions[]} words  The positions of each word.
 *
 * @typedef {Record<string, MaskedPredictor>} Predictors  By name: "left", "right" and "both".
 *
 * A predictor has
 *   name      "left", "right" or "both"
 *   symbols   CHARACTERS
 *   maxLen    the most symbols of a line
 *   baseline  Baseline, the unigram: { probabilities, text, cost(i) }
 *   predict(line, gaps) → Answer: { positions, probabilities, costs, at(i), cost(i) }
 *   engine, measurements()  for inside.js, which looks into the model
 *   masked(line, gaps) → number[]: what the model reads
 *   joint(line, gaps, first, second, options) → Promise<number[][]>
 *   surprise(line, options) → Promise<number[]>
 *   occlusion(line, gaps, position, options) → Promise<number[]>
 * All costs are −log P in nats. Errors with a sentence for the learner are ValueErrors.
 */
import { readMeasurements, readModel } from "./checkpoint.js";
import { GAP, readLine, TextError, VOCABULARY } from "./vocabulary.js";

/** @import { Engine } from "../engine/engine.js" */
/** @import { Measurements } from "./inside.js" */

/** @type {Symbols} The 28 characters. */
export const CHARACTERS = {
  known: VOCABULARY.ordinary,
  size: VOCABULARY.symbols.length,
  unit: "character",
  read: readLine,
  readSymbol(typed) {
    const lower = typed.toLowerCase();
    if (CHARACTERS.known.includes(lower)) return lower;
    throw new TextError("A gap holds one letter, a space or a newline.");
  },
  write: (line) => line.join(""),
  words: (line) =>
    [...line.join("").matchAll(/\S+/g)].map(({ index, 0: word }) =>
      Array.from(word, (_, i) => index + i),
    ),
};

// ── answers ──

/** What one predictor answers at the gaps of one line. */
export class Answer {
  /**
   * @param {Positions} positions  The gaps.
   * @param {number[][]} probabilities  P(x_i | x̃), a row per gap in the order of `known`.
   * @param {(number | null)[]} costs  −log P of the truth in nats; null where nobody knows it.
   */
  constructor(positions, probabilities, costs) {
    this.positions = positions;
    this.probabilities = probabilities;
    this.costs = costs;
  }

  /**
   * The distribution at a gap.
   * @param {number} position
   */
  at(position) {
    return this.probabilities[this.positions.indexOf(position)];
  }

  /**
   * −log P of the truth at a gap in nats; null when it is not known.
   * @param {number} position
   */
  cost(position) {
    return this.costs[this.positions.indexOf(position)];
  }
}

/** What one knows without looking at the line: how frequent each symbol is in some text. */
export class Baseline {
  /**
   * @param {number[]} probabilities
   * @param {string} text  Which text, in words that follow "in".
   */
  constructor(probabilities, text) {
    this.probabilities = probabilities;
    this.text = text;
  }

  /**
   * −log P of a symbol, given by its place in `known`, in nats; infinite if it never occurred.
   * @param {number} symbol
   */
  cost(symbol) {
    return -Math.log(this.probabilities[symbol]);
  }
}

// ── predictors ──

const PIECE = 8; // milliseconds: half a frame, so that a page stays responsive meanwhile

/** A masked language model. */
export class MaskedPredictor {
  /**
   * @param {Engine} engine
   * @param {string} name
   * @param {Baseline} baseline
   */
  constructor(engine, name, baseline) {
    this.engine = engine;
    this.name = name;
    this.baseline = baseline;
    this.symbols = CHARACTERS;
    this.maxLen = engine.config.max_len;
    /** @type {() => Promise<Measurements | null>} Loads what was measured inside it. */
    this.measurements = async () => null;
  }

  /**
   * Guess all gaps from one look at the line, each without knowing what the others hold.
   * @param {Line} line
   * @param {Positions} gaps
   */
  predict(line, gaps) {
    const masked = this.masked(line, gaps);
    const hidden = [...masked.keys()].filter((at) => masked[at] === this.#mask);
    const logProbs = hidden.length ? this.#logProbs(masked, hidden) : [];
    const costs = logProbs.map((row, r) => {
      const truth = this.symbols.known.indexOf(line[hidden[r]]);
      return truth < 0 ? null : -row[truth];
    });
    return new Answer(
      hidden,
      logProbs.map((row) => row.map(Math.exp)),
      costs,
    );
  }

  /**
   * Guess two gaps together: P(a | x̃) · P(b | x̃ with a filled in), row a, column b.
   * @param {Line} line
   * @param {Positions} gaps
   * @param {number} first
   * @param {number} second
   * @param {Options} [options]
   */
  async joint(line, gaps, first, second, { signal } = {}) {
    const masked = this.masked(line, [...gaps, first, second]);
    const [before] = this.#logProbs(masked, [first]);
    return inPieces(before.keys(), signal, (symbol) => {
      const [after] = this.#logProbs(masked.with(first, symbol), [second]);
      return after.map((logProb) => Math.exp(before[symbol] + logProb));
    });
  }

  /**
   * −log P of each symbol of a line without gaps when it alone is hidden, in nats.
   * @param {Line} line
   * @param {Options} [options]
   */
  async surprise(line, { signal } = {}) {
    const ids = this.masked(line, []);
    const known = [...ids.keys()].filter((at) => ids[at] !== this.#mask);
    return inPieces(known, signal, (at) => {
      const [logProbs] = this.#logProbs(ids.with(at, this.#mask), [at]);
      return -logProbs[ids[at]];
    });
  }

  /**
   * What it costs the answer at one of the gaps to hide each symbol as well, in nats: the rise of
   * −log P of the truth, below 0 where the symbol misled; if the truth is unknown, the divergence
   * of the answer from the one without the symbol. Gaps cost nothing.
   * @param {Line} line
   * @param {Positions} gaps
   * @param {number} at
   * @param {Options} [options]
   */
  async occlusion(line, gaps, at, { signal } = {}) {
    const masked = this.masked(line, gaps);
    const [before] = this.#logProbs(masked, [at]);
    const truth = this.symbols.known.indexOf(line[at]);
    return inPieces(masked.keys(), signal, (other) => {
      if (masked[other] === this.#mask) return 0;
      const [after] = this.#logProbs(masked.with(other, this.#mask), [at]);
      if (truth >= 0) return before[truth] - after[truth];
      return before.reduce((sum, each, i) => sum + Math.exp(each) * (each - after[i]), 0);
    });
  }

  get #mask() {
    return VOCABULARY.maskId;
  }

  /**
   * What the model reads: ids, with [MASK] at every gap.
   * @param {Line} line
   * @param {Positions} gaps
   */
  masked(line, gaps) {
    const ids = line.map((symbol) =>
      symbol === GAP ? this.#mask : this.symbols.known.indexOf(symbol),
    );
    for (const at of gaps) ids[at] = this.#mask;
    return ids;
  }

  /**
   * log P of every ordinary symbol at some positions; special symbols are never an answer.
   * @param {number[]} masked
   * @param {Positions} selected
   */
  #logProbs(masked, selected) {
    const { size, known } = this.symbols;
    const ids = Int32Array.from(masked);
    const logits = this.engine.logits(ids, ids.length, Int32Array.from(selected));
    return selected.map((_, row) => {
      return logSoftmax(logits.subarray(row * size, row * size + known.length));
    });
  }
}

/** @param {Float32Array} logits */
export function logSoftmax(logits) {
  const most = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return Array.from(logits, (logit) => logit - most - Math.log(sum));
}

/**
 * Work through items, giving the page a turn whenever a piece of time is over.
 * @template Result
 * @param {Iterable<number>} items
 * @param {AbortSignal | undefined} signal
 * @param {(item: number) => Result} work
 */
async function inPieces(items, signal, work) {
  /** @type {Result[]} */
  const results = [];
  let started = performance.now();
  for (const item of items) {
    if (performance.now() - started > PIECE) {
      await turn();
      started = performance.now();
    }
    signal?.throwIfAborted();
    results.push(work(item));
  }
  return results;
}

function turn() {
  return globalThis.scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve));
}

/**
 * The predictors of the page: one that reads to the left, one to the right, one on both sides.
 * @param {(name: string) => Promise<ArrayBuffer>} bytes  Gives a file of the page by its name.
 * @param {WebAssembly.Module} module  The engine.
 * @returns {Promise<Predictors>}
 * @throws {CheckpointError} A file is damaged or holds something else.
 */
export async function loadPredictors(bytes, module) {
  const models = await Promise.all(
    ["left", "right", "both"].map(async (name) => {
      const file = `${name}.safetensors`;
      return { name, ...(await readModel(await bytes(file), file, module)) };
    }),
  );
  const { probabilities, text } = models[2].about.baseline;
  const baseline = new Baseline(probabilities, text);
  /** @type {Predictors} */
  const predictors = {};
  for (const { name, engine } of models) {
    const file = `inside-${name}.safetensors`;
    /** @type {Measurements | undefined} */
    let measurements;
    predictors[name] = new MaskedPredictor(engine, name, baseline);
    predictors[name].measurements = async () => {
      measurements ??= await readMeasurements(await bytes(file), file);
      return measurements;
    };
  }
  return predictors;
}
