// What a loss is judged against: src/cloze/baselines.py, counted on any text.

import { mask } from "../engine/training.js";

/** @import { Generator } from "../engine/generator.js" */
/** @import { Batch } from "../engine/training.js" */

const EPOCHS = 10;
const MOST_IN_EPOCH = 2 ** 20;
const STRENGTH = 2; // imaginary observations of what the baseline with one neighbour less says
const RATE = 0.15;

/**
 * P(symbol) given neither neighbour, the left one, and both: counted, and smoothed towards what is
 * known with one neighbour less.
 * @param {ArrayLike<number>} counts  (contexts · contexts · symbols), by left neighbour, right
 *   neighbour and symbol. A context is a symbol or, the last of them, the end of a line.
 * @param {number} symbols
 * @returns {Float64Array[]}  (symbols), (contexts · symbols), and as long as `counts`.
 */
export function neighbourTables(counts, symbols) {
  const pairs = (symbols + 1) ** 2;
  /** @type {Float64Array[]} */
  const tables = [];
  for (const contexts of [1, symbols + 1, pairs]) {
    const shorter = tables.at(-1) ?? new Float64Array(symbols).fill(1 / symbols);
    const table = new Float64Array(contexts * symbols);
    for (let i = 0; i < counts.length; i++) {
      const context = Math.floor((Math.floor(i / symbols) * contexts) / pairs);
      table[context * symbols + (i % symbols)] += counts[i];
    }
    for (let from = 0; from < table.length; from += symbols) {
      const known = Math.floor((from * shorter.length) / table.length / symbols) * symbols;
      const row = table.subarray(from, from + symbols);
      for (let i = 0; i < symbols; i++) row[i] += STRENGTH * shorter[known + i];
      const total = row.reduce((a, b) => a + b);
      for (let i = 0; i < symbols; i++) row[i] /= total;
    }
    tables.push(table);
  }
  return tables;
}

/**
 * The losses in nats of knowing nothing, of knowing how frequent each character is, and of seeing
 * both neighbours too.
 *
 * The unigram of Python counts under the same masks, so the table that the neighbours are smoothed
 * towards is the unigram's.
 * @param {Uint8Array} text  Ids to count.
 * @param {Batch} heldOut  The questions.
 * @param {number} length  Of the windows of both.
 * @param {number} ordinary  How many symbols are ordinary; the next one is `[MASK]`.
 * @param {Generator} generator
 */
export function baselineLosses(text, heldOut, length, ordinary, generator) {
  const symbols = ordinary + 1;
  const contexts = symbols + 1; // beyond the edge of a window is a symbol of its own
  /**
   * The number of the left neighbour, of both, or 0 for neither.
   * @param {Int32Array} ids
   * @param {number} row
   */
  const neighbours = (ids, row) => {
    const at = row % length;
    const left = at > 0 ? ids[row - 1] : symbols;
    const right = at < length - 1 ? ids[row + 1] : symbols;
    return [0, left, left * contexts + right];
  };
  const counts = new Float64Array(contexts ** 2 * symbols);
  const windows = Math.floor(text.length / length);
  const inPart = Math.max(1, Math.floor(MOST_IN_EPOCH / length));
  const parts = Math.ceil(windows / inPart);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const part = Math.floor((epoch * parts) / EPOCHS);
    const end = Math.min(windows, (part + 1) * inPart);
    const counted = Int32Array.from(text.subarray(part * inPart * length, end * length));
    const { ids, selected, labels } = mask(counted, RATE, ordinary, generator);
    for (let i = 0; i < selected.length; i++) {
      const [, , both] = neighbours(ids, selected[i]);
      counts[both * symbols + labels[i]] += 1;
    }
  }

  const tables = neighbourTables(counts, symbols);
  /** @param {number} k  How many neighbours are seen. */
  const loss = (k) => {
    const nats = Array.from(heldOut.selected, (row, i) => {
      const context = neighbours(heldOut.ids, row)[k];
      return -Math.log(tables[k][context * symbols + heldOut.labels[i]]);
    });
    return nats.reduce((a, b) => a + b) / nats.length;
  };
  return { uniform: Math.log(symbols), unigram: loss(0), "both neighbours": loss(2) };
}
