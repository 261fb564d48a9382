// A training in progress, as src/cloze/training.py has it: sample, mask, predict and compare, improve.
//
// It draws what Python draws, in the same order, so that either can go on where the other stopped.

import { ValueError } from "../../src/cloze/widgets/browser/widget.js";
import { Crew } from "./crew.js";
import { Engine } from "./engine.js";
import { Generator } from "./generator.js";

/** @import { Config } from "./engine.js" */

/**
 * How to train, by the names of Python's Recipe.
 * @typedef {object} Recipe
 * @property {number} steps
 * @property {number} batch_size
 * @property {number} length
 * @property {number} mask_prob
 * @property {number} learning_rate
 * @property {number} matrix_learning_rate
 * @property {number} query_key_learning_rate
 * @property {number} warmup
 * @property {number} weight_decay
 * @property {number} evaluations
 * @property {number} seed
 */

const NOT_FINITE =
  "The loss is not finite any more: training went astray; train with smaller learning rates or less " +
  "weight decay.";
/** Into how many shards a batch is cut, however many workers there are: three share eight better than four. */
export const SHARDS = 8;

/**
 * Questions about lines of one length: what the model reads, and what was at the selected rows.
 * @typedef {{ ids: Int32Array, selected: Int32Array, labels: Int32Array }} Batch
 */

/**
 * The factor on the step sizes at `step` = 0, 1, …: up to 1, then down to 0.
 * @param {Recipe} recipe
 * @param {number} step
 */
export function schedule({ steps, warmup }, step) {
  const warm = warmup * steps;
  return Math.min(1, (step + 1) / Math.max(1, warm), (steps - step) / (steps - warm));
}

/**
 * Windows at random places of a text.
 * @param {Int32Array | Uint8Array} text
 * @param {Recipe} recipe
 * @param {Generator} generator
 */
export function sample(text, { batch_size, length }, generator) {
  const windows = new Int32Array(batch_size * length);
  for (let at = 0; at < windows.length; at += length) {
    const start = generator.c.below(text.length - length + 1);
    windows.set(text.subarray(start, start + length), at);
  }
  return windows;
}

/**
 * Select characters and corrupt them by BERT's rule, as mask_tokens of src/cloze/masking.py.
 * @param {Int32Array} windows  Ordinary symbols only.
 * @param {number} rate
 * @param {number} ordinary  How many symbols are ordinary; the next one is `[MASK]`.
 * @param {Generator} generator
 * @returns {Batch}
 */
export function mask(windows, rate, ordinary, generator) {
  const { c } = generator;
  const n = windows.length;
  const at = c.windows_at(n);
  const part = (/** @type {number} */ k, /** @type {number} */ count) =>
    new Int32Array(c.memory.buffer, at + 4 * n * k, count);
  part(0, n).set(windows);
  const count = c.mask(n, rate, ordinary);
  const [ids, selected, labels] = [n, count, count].map((count, k) => part(k, count).slice());
  return { ids, selected, labels };
}

/**
 * Cut questions into pieces of so many rows; those in which nothing is asked are left out.
 * @param {Batch} batch
 * @param {number} rows
 */
export function cut({ ids, selected, labels }, rows) {
  const pieces = [];
  for (let from = 0, first = 0, end = 0; from < ids.length; from += rows, first = end) {
    while (selected[end] < from + rows) end++;
    if (end === first) continue;
    pieces.push({
      ids: ids.slice(from, from + rows),
      selected: selected.slice(first, end).map((row) => row - from),
      labels: labels.slice(first, end),
    });
  }
  return pieces;
}

export class Training {
  /**
   * @param {WebAssembly.Instance} instance
   * @param {Config} config
   * @param {Int32Array | Uint8Array} text  Ids to train on.
   * @param {Recipe} recipe
   */
  constructor(instance, config, text, recipe) {
    this.text = text;
    this.recipe = recipe;
    this.engine = new Engine(instance, config, recipe.batch_size);
    this.engine.c.begin(recipe.seed, config.neighbour_focus);
    this.generator = new Generator(this.engine.c, recipe.seed);
    this.crew = new Crew();
    /** How many lines a shard has. */
    this.lines = Math.ceil(recipe.batch_size / SHARDS);
    /** How many steps are done. */
    this.done = 0;
  }

  get finished() {
    return this.done >= this.recipe.steps;
  }

  /**
   * Take one step and return its loss, in nats.
   * @throws {ValueError} The loss is not finite.
   */
  async step() {
    const { engine, crew, recipe, generator } = this;
    const windows = sample(this.text, recipe, generator);
    const ordinary = engine.config.vocab_size - 1;
    const batch = mask(windows, recipe.mask_prob, ordinary, generator);
    const { length } = recipe;
    const given = { length, among: batch.labels.length };
    const shards = cut(batch, this.lines * length).map((shard) => ({ shard, ...given }));
    // Added in the order of the shards, whoever was first, so that the sum always has the same bytes.
    let nats = 0;
    const sum = new Float32Array(engine.size);
    for (const part of await crew.all(engine, shards)) {
      nats += part.nats;
      for (let i = 0; i < sum.length; i++) sum[i] += part.numbers[i];
      crew.spare.push(part.numbers);
    }
    engine.gradients.set(sum);
    if (!Number.isFinite(nats)) throw new ValueError(NOT_FINITE); // the weights stay as they were
    for (const { at, numbers } of await crew.all(engine, engine.ahead()))
      engine.gradients.set(numbers, at);
    const now = schedule(recipe, this.done);
    this.done += 1;
    engine.step(this.done, {
      rate: recipe.learning_rate * now,
      matrix: recipe.matrix_learning_rate * now,
      queryKey: recipe.query_key_learning_rate * now,
      decay: recipe.weight_decay,
    });
    return nats;
  }
}
