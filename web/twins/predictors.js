// What the page asks: a line of characters or pieces and its gaps in, plain numbers out; what
// predictors.py and answers.py of src/cloze/prediction are in Python, with the same names.
//
//   const predictors = await loadPredictors(bytes, module);
//   const { line } = CHARACTERS.read("The wom_n", predictors.both.maxLen);
//   const answer = predictors.both.predict(line, [6]);
//   answer.at(6);                                      // 28 probabilities, as CHARACTERS.known
//   await predictors.both.surprise(line, { signal });  // long, so it runs in pieces

import { largest } from "../../src/cloze/explorer/parts.js";
import { readMeasurements, readModel } from "./checkpoint.js";
import { CHARACTERS, wordPieces } from "./symbols.js";

/**
 * @import { Engine } from "../engine/engine.js"
 * @import { Measurements } from "./inside.js"
 * @import { Pairs } from "../../src/cloze/explorer/parts.js"
 * @import { Line, Symbols } from "./symbols.js"
 *
 * @typedef {number[]} Positions  Ascending; they count from 0.
 * @typedef {{ signal?: AbortSignal }} Options  A newer question aborts what runs: its
 *   promise is then rejected with an AbortError.
 * @typedef {{ probabilities: number[], text: string }} Baseline  How frequent each symbol is in some text,
 *   which is named in words that follow "in".
 * @typedef {Record<string, MaskedPredictor>} Predictors  By name: "left", "right" and "both".
 */

const PIECE = 8; // milliseconds: half a frame, so that a page stays responsive meanwhile
const TRIED_FIRST = 256; // how many symbols at the first of two gaps are tried to find the likeliest pairs

/** A masked language model. All costs are −log P in nats. */
export class MaskedPredictor {
  /** @type {Measurements | null} Loaded when somebody looks inside. */
  measured = null;

  /**
   * @param {Engine} engine
   * @param {string} name
   * @param {Symbols} symbols
   * @param {Baseline | null} [baseline]
   * @param {() => Promise<Measurements | null>} [measurements]  Loads what was measured inside it.
   */
  constructor(engine, name, symbols, baseline = null, measurements = async () => null) {
    this.engine = engine;
    this.name = name;
    this.symbols = symbols;
    this.baseline = baseline;
    this.maxLen = engine.config.max_len - 2 * symbols.framed;
    this.measurements = measurements;
  }

  /**
   * Guess all gaps from one look at the line, each without knowing what the others hold.
   * @param {Line} line
   * @param {Positions} gaps
   */
  predict(line, gaps) {
    const { known, maskId, framed } = this.symbols;
    const masked = this.masked(line, gaps);
    const hidden = [...line.keys()].filter((at) => masked[at + framed] === maskId);
    const logProbs = hidden.length ? this.#logProbs([masked], hidden) : [];
    const probabilities = logProbs.map((row) => row.map(Math.exp));
    const costs = logProbs.map((row, r) => {
      const truth = known.indexOf(line[hidden[r]]);
      return truth < 0 ? null : -row[truth];
    });
    return {
      positions: hidden,
      /** The distribution at a gap, in the order of `known`. */
      at: (/** @type {number} */ position) => probabilities[hidden.indexOf(position)],
      /** −log P of the truth at a gap; null when it is not known. */
      cost: (/** @type {number} */ position) => costs[hidden.indexOf(position)],
    };
  }

  /**
   * The likeliest pairs at two of the gaps: guessed apart, and together, P(a | x̃) · P(b | x̃ with a
   * filled in).
   * @param {Line} line
   * @param {Positions} gaps
   * @param {number} first
   * @param {number} second
   * @param {number} k  How many.
   * @param {Options} [options]
   */
  async pairs(line, gaps, first, second, k, options) {
    const { known, framed } = this.symbols;
    const masked = this.masked(line, [...gaps, first, second]);
    const answer = this.predict(line, [...gaps, first, second]);
    const [p, q] = [answer.at(first), answer.at(second)];
    const likely = largest(p, TRIED_FIRST);
    /** @type {(a: number, after: number[]) => Pairs} */
    const best = (a, after) =>
      largest(after, k).map((b) => [[known[a], known[b]], p[a] * after[b]]);
    const reads = (/** @type {number} */ a) => masked.with(first + framed, a);
    const together = await this.#inPieces(likely, options, reads, second, (a, after) =>
      best(a, after.map(Math.exp)),
    );
    return [likely.slice(0, k).map((a) => best(a, q)), together].map((pairs) =>
      pairs
        .flat()
        .sort(([, one], [, other]) => other - one)
        .slice(0, k),
    );
  }

  /**
   * −log P of each symbol of a line without gaps when it alone is hidden.
   * @param {Line} line
   * @param {Options} [options]
   */
  async surprise(line, options) {
    const { maskId, framed } = this.symbols;
    const ids = this.masked(line, []);
    const known = [...line.keys()].filter((at) => ids[at + framed] !== maskId);
    const reads = (/** @type {number} */ at) => ids.with(at + framed, maskId);
    return this.#inPieces(
      known,
      options,
      reads,
      null,
      (at, logProbs) => -logProbs[ids[at + framed]],
    );
  }

  /**
   * What it costs the answer at one of the gaps to hide each symbol as well: the rise of −log P of the
   * truth, below 0 where the symbol misled; if the truth is unknown, the divergence of the answer from
   * the one without the symbol. Gaps cost nothing.
   * @param {Line} line
   * @param {Positions} gaps
   * @param {number} at
   * @param {Options} [options]
   */
  async occlusion(line, gaps, at, options) {
    const { known, maskId, framed } = this.symbols;
    const masked = this.masked(line, gaps);
    const [before] = this.#logProbs([masked], [at]);
    const truth = known.indexOf(line[at]);
    const isGap = (/** @type {number} */ other) => masked[other + framed] === maskId;
    const others = [...line.keys()].filter((other) => !isGap(other));
    const reads = (/** @type {number} */ other) => masked.with(other + framed, maskId);
    const costs = await this.#inPieces(others, options, reads, at, (_, after) =>
      truth >= 0
        ? before[truth] - after[truth]
        : before.reduce((sum, each, i) => sum + Math.exp(each) * (each - after[i]), 0),
    );
    return line.map((_, other) => (isGap(other) ? 0 : Number(costs.shift())));
  }

  /**
   * What the model reads: ids, with [MASK] at every gap.
   * @param {Line} line
   * @param {Positions} gaps
   */
  masked(line, gaps) {
    const { maskId, framed } = this.symbols;
    const ids = this.symbols.ids(line);
    for (const at of gaps) ids[at + framed] = maskId;
    return ids;
  }

  /**
   * log P of every ordinary symbol at some positions of a line, or at one of each of several.
   * @param {number[][]} lines  Of one length, as the model reads them.
   * @param {Positions} positions
   */
  #logProbs(lines, positions) {
    const { size, known, framed } = this.symbols;
    const [{ length }] = lines;
    const rows = positions.map((at, i) => at + framed + (lines.length > 1 ? i * length : 0));
    const logits = this.engine.logits(Int32Array.from(lines.flat()), length, Int32Array.from(rows));
    return rows.map((_, row) => {
      return logSoftmax(logits.subarray(row * size, row * size + known.length));
    });
  }

  /**
   * Have variants of a line read, a few at a time, giving the page a turn whenever a piece of time is
   * over.
   * @template Result
   * @param {number[]} items
   * @param {Options | undefined} options
   * @param {(item: number) => number[]} reads  What the model reads for each.
   * @param {number | null} at  Where it is asked; null if each item is a position itself.
   * @param {(item: number, logProbs: number[]) => Result} result
   */
  async #inPieces(items, { signal } = {}, reads, at, result) {
    /** @type {Result[]} */
    const results = [];
    let started = performance.now();
    for (let from = 0; from < items.length; from += this.engine.lines) {
      if (performance.now() - started > PIECE) {
        await turn();
        started = performance.now();
      }
      signal?.throwIfAborted();
      const some = items.slice(from, from + this.engine.lines);
      const answers = this.#logProbs(
        some.map(reads),
        some.map((item) => at ?? item),
      );
      results.push(...answers.map((logProbs, i) => result(some[i], logProbs)));
    }
    return results;
  }
}

/** @param {Float32Array} logits */
export function logSoftmax(logits) {
  const most = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return Array.from(logits, (logit) => logit - most - Math.log(sum));
}

/** Let others in. In a worker, questions would wait until `scheduler.yield` has had all its turns. */
const turn = () =>
  (globalThis.document && globalThis.scheduler?.yield?.()) ??
  new Promise((resolve) => setTimeout(resolve));

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
  const { baseline } = models[2].about;
  /** @type {Predictors} */
  const predictors = {};
  for (const { name, engine } of models) {
    const file = `inside-${name}.safetensors`;
    const measured = async () => readMeasurements(await bytes(file), file);
    predictors[name] = new MaskedPredictor(engine, name, CHARACTERS, baseline, measured);
  }
  return predictors;
}

/**
 * The predictor of pieces of words.
 * @param {ArrayBuffer} bytes  Of its file.
 * @param {WebAssembly.Module} module  The engine.
 * @throws {CheckpointError} The file is damaged or holds something else.
 */
export async function loadWords(bytes, module) {
  const { engine, about } = await readModel(bytes, "words.safetensors", module, true);
  return new MaskedPredictor(engine, "both", wordPieces(about.vocabulary));
}
