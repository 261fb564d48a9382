// What a loss is judged against: src/cloze/baselines.py, counted on any text.

import { Chance } from "./engine/chance.js";
import { mask } from "./engine/training.js";

/** @import { Batch } from "./engine/training.js" */

const EPOCHS = 10;
const MOST_IN_EPOCH = 2 ** 20;
const STRENGTH = 2; // imaginary observations of what the baseline with one neighbour less says
const RATE = 0.15;

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
 */
export function baselineLosses(text, heldOut, length, ordinary) {
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
  const counts = [1, contexts, contexts ** 2].map((n) => new Float64Array(n * symbols));
  const chance = new Chance();
  const windows = Math.floor(text.length / length);
  const inPart = Math.max(1, Math.floor(MOST_IN_EPOCH / length));
  const parts = Math.ceil(windows / inPart);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const part = Math.floor((epoch * parts) / EPOCHS);
    const end = Math.min(windows, (part + 1) * inPart);
    const counted = Int32Array.from(text.subarray(part * inPart * length, end * length));
    const { ids, selected, labels } = mask(counted, RATE, ordinary, chance);
    for (let i = 0; i < selected.length; i++) {
      const seen = neighbours(ids, selected[i]);
      for (let k = 0; k < counts.length; k++) counts[k][seen[k] * symbols + labels[i]] += 1;
    }
  }

  /** @type {Float64Array[]} */
  const tables = [];
  for (const count of counts) {
    const shorter = tables.at(-1) ?? new Float64Array(symbols).fill(1 / symbols);
    const runs = count.length / shorter.length; // of longer contexts that a shorter one covers
    const table = count.map((seen, i) => {
      const context = Math.floor(Math.floor(i / symbols) / runs);
      return seen + STRENGTH * shorter[context * symbols + (i % symbols)];
    });
    for (let from = 0; from < table.length; from += symbols) {
      const row = table.subarray(from, from + symbols);
      const total = row.reduce((a, b) => a + b);
      for (let i = 0; i < symbols; i++) row[i] /= total;
    }
    tables.push(table);
  }
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
