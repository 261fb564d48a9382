// Generation: a line written by a model that fills gaps, in any order. The port of
// src/cloze/prediction/generation.py for one line, and what answers the widget that shows it.
//
// Each policy is a generator of steps. A reader is a predictor. What is drawn at a temperature above
// 0 is drawn by other numbers than in Python.

import { randomOf } from "../../src/cloze/widgets/browser/random.js";
import { Model, ValueError } from "../../src/cloze/widgets/browser/widget.js";
import { GAP } from "./vocabulary.js";

/**
 * @import { MaskedPredictor } from "./predictors.js"
 *
 * @typedef {Record<number, number[]>} Distributions  The model's distribution by position.
 * @typedef {{ temperature: number, chance: () => number }} Options
 * @typedef {{ line: string, policy: string, temperature: number, seed: number }} Chosen
 * @typedef {{ line: string[], fates: string[], probabilities: number[] }} Frame  A symbol, what has become of
 *   it, and where it is new its probability.
 *
 * @typedef {object} Step
 * @property {string[]} line  After the step.
 * @property {number[]} filled  The positions that were written in it.
 * @property {number[]} remasked  Those that are open again though they had been written.
 * @property {Distributions} distributions  The model's distribution at each filled position when it was written.
 */

/**
 * Draw the place of a symbol; of temperature 0 the likeliest is always taken.
 * @param {number[]} probabilities
 * @param {number} temperature
 * @param {() => number} chance
 */
function draw(probabilities, temperature, chance) {
  if (!temperature) return probabilities.indexOf(Math.max(...probabilities));
  const most = Math.max(...probabilities);
  const bent = probabilities.map((p) => (p / most) ** (1 / temperature));
  const total = bent.reduce((sum, p) => sum + p);
  let left = chance() * total;
  const drawn = bent.findIndex((p) => {
    left -= p;
    return left < 0;
  });
  return drawn < 0 ? probabilities.indexOf(most) : drawn;
}

/**
 * Choose the `count` positions of highest priority; of equals the leftmost.
 * @param {Record<number, number>} priority
 * @param {number[]} among
 * @param {number} count
 */
function first(priority, among, count) {
  const order = [...among].sort((a, b) => priority[b] - priority[a] || a - b);
  return order.slice(0, count).sort((a, b) => a - b);
}

const gapsOf = (/** @type {string[]} */ line) => [...line.keys()].filter((at) => line[at] === GAP);

/**
 * Read the distributions at some of the gaps of a line, by position.
 * @param {MaskedPredictor} reader
 * @param {string[]} line
 * @param {number[]} positions
 * @returns {Distributions}
 */
function distributionsAt(reader, line, positions) {
  if (!positions.length) return {};
  const answer = reader.predict(line, positions);
  return Object.fromEntries(positions.map((at) => [at, Array.from(answer.at(at))]));
}

/**
 * Write a symbol into each position that has a distribution.
 * @param {MaskedPredictor} reader
 * @param {string[]} line
 * @param {Distributions} distributions
 * @param {Options} options
 */
function write(reader, line, distributions, { temperature, chance }) {
  const written = [...line];
  for (const [at, p] of Object.entries(distributions))
    written[Number(at)] = reader.symbols.known[draw(p, temperature, chance)];
  return written;
}

/**
 * Fill gaps one after the other, or several in one forward pass; what is written stays.
 * @param {MaskedPredictor} reader
 * @param {string[]} line
 * @param {Options} options
 * @param {string} order
 * @param {number | null} steps
 * @returns {Generator<Step>}
 */
function* unmask(reader, line, options, order, steps = null) {
  let gaps = gapsOf(line);
  const total = gaps.length;
  const passes = steps ?? total;
  for (let step = 1; step <= passes; step++) {
    const count = gaps.length - (total - Math.floor((total * step) / passes));
    let chosen;
    /** @type {Distributions} */
    let distributions;
    if (order === "easiest first") {
      const all = distributionsAt(reader, line, gaps);
      const sure = Object.fromEntries(gaps.map((at) => [at, Math.max(...all[at])]));
      chosen = first(sure, gaps, count);
      distributions = Object.fromEntries(chosen.map((at) => [at, all[at]]));
    } else {
      const random = order === "random order";
      const priority = line.map((_, at) => (random ? options.chance() : -at));
      chosen = first(priority, gaps, count);
      distributions = distributionsAt(reader, line, chosen);
    }
    line = write(reader, line, distributions, options);
    gaps = gaps.filter((at) => !chosen.includes(at));
    yield { line, filled: chosen, remasked: [], distributions };
  }
}

/**
 * Fill all gaps in one forward pass, remask what the model is least sure of, and fill again.
 * @param {MaskedPredictor} reader
 * @param {string[]} line
 * @param {Options} options
 * @returns {Generator<Step>}
 */
function* maskPredict(reader, line, options) {
  const all = gapsOf(line);
  const steps = Math.min(10, all.length);
  /** @type {Record<number, number>} */
  const doubt = {};
  let open = all;
  for (let step = 1; step <= steps; step++) {
    const distributions = distributionsAt(reader, line, open);
    const written = write(reader, line, distributions, options);
    for (const at of open)
      doubt[at] = -distributions[at][reader.symbols.known.indexOf(written[at])];
    const again = first(doubt, all, all.length - Math.floor((all.length * step) / steps));
    line = written.map((symbol, at) => (again.includes(at) ? GAP : symbol));
    yield { line, filled: open, remasked: again, distributions };
    open = again;
  }
}

const ROUNDS = 3; // how often every symbol is drawn again

/**
 * Fill all gaps in one forward pass; then remask one symbol after the other and draw it again.
 * @param {MaskedPredictor} reader
 * @param {string[]} line
 * @param {Options} options
 * @returns {Generator<Step>}
 */
function* gibbs(reader, line, options) {
  const gaps = gapsOf(line);
  for (const step of unmask(reader, line, options, "left to right", 1)) {
    ({ line } = step);
    yield step;
  }
  for (let round = 0; round < ROUNDS; round++) {
    let left = gaps;
    while (left.length) {
      const priority = line.map(() => options.chance());
      const chosen = first(priority, left, 1);
      const hidden = line.map((symbol, at) => (chosen.includes(at) ? GAP : symbol));
      const distributions = distributionsAt(reader, hidden, chosen);
      line = write(reader, hidden, distributions, options);
      left = left.filter((at) => !chosen.includes(at));
      yield { line, filled: chosen, remasked: [], distributions };
    }
  }
}

/**
 * Every way to fill gaps by its name.
 * @type {Record<string, (reader: MaskedPredictor, line: string[], options: Options) => Generator<Step>>}
 */
const POLICIES = {
  "all at once": (reader, line, options) => unmask(reader, line, options, "left to right", 1),
  "left to right": (reader, line, options) => unmask(reader, line, options, "left to right"),
  "easiest first": (reader, line, options) => unmask(reader, line, options, "easiest first"),
  "random order": (reader, line, options) => unmask(reader, line, options, "random order"),
  "mask-predict": maskPredict,
  Gibbs: gibbs,
};

/**
 * Yield a line as it was typed, and then after each step in which its gaps are filled.
 * @param {MaskedPredictor} reader
 * @param {string[]} shown
 * @param {Omit<Chosen, "line">} chosen
 * @returns {Generator<Frame>}
 */
function* framesOf(reader, shown, { policy, temperature, seed }) {
  const gaps = shown.map((symbol) => symbol === GAP);
  const fates = gaps.map((gap) => (gap ? "open" : "given"));
  yield { line: shown, fates, probabilities: shown.map(() => 0) };
  const options = { temperature, chance: randomOf(seed) };
  for (const { line, filled, remasked, distributions } of POLICIES[policy](
    reader,
    shown,
    options,
  )) {
    const fate = (/** @type {string} */ symbol, /** @type {number} */ at) => {
      if (remasked.includes(at)) return "remasked";
      if (filled.includes(at)) return "new";
      if (!gaps[at]) return "given";
      return symbol === GAP ? "open" : "written";
    };
    const p = (/** @type {string} */ symbol, /** @type {number} */ at) =>
      distributions[at]?.[reader.symbols.known.indexOf(symbol)] ?? 0;
    yield { line, fates: line.map(fate), probabilities: line.map(p) };
  }
}

/**
 * Write a line: all that an `Unmasking` shows of it.
 * @param {MaskedPredictor} reader
 * @param {Chosen} chosen
 */
export function unmasked(reader, chosen) {
  const { read, unit, wide } = reader.symbols;
  const { line, note } = read(chosen.line, reader.maxLen);
  if (!line.includes(GAP))
    throw new ValueError("The line has no gap; put a _ wherever something is missing.");
  const frames = [...framesOf(reader, line, chosen)];
  const policies = Object.keys(POLICIES);
  return { ...chosen, note, at: 0, frames, policies, unit, separator: wide ? " " : "" };
}

/**
 * Return the model of an `Unmasking`.
 * @param {(chosen: Chosen) => ReturnType<typeof unmasked> | Promise<ReturnType<typeof unmasked>>} write
 * @param {Partial<Chosen> & { line: string }} begins
 */
export async function writing(write, begins) {
  let now = { policy: "easiest first", temperature: 1, seed: 0, ...begins };
  const model = new Model(await write(now), {
    async write(/** @type {Partial<Chosen>} */ chosen) {
      now = { ...now, ...chosen };
      model.assign(await write(now));
    },
  });
  return model;
}
