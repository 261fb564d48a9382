// A training in a file: what TrainingRun.save of src/cloze/training.py writes and load reads, so that
// `python -m cloze train --resume` goes on with what was begun on the page, and the page the other
// way round.

import { isWhole, readSafetensors, writeSafetensors } from "../safetensors.js";
import { STATE_BYTES } from "./chance.js";
import { parametersOf } from "./engine.js";
import { Training } from "./training.js";

/** @import { Config } from "./engine.js" */
/** @import { Raw, RawTensors } from "../safetensors.js" */
/** @import { Recipe } from "./training.js" */

/**
 * One step done, as Python's Record: step, characters, seconds, loss, held-out loss or null.
 * @typedef {[number, number, number, number, number | null]} Step
 *
 * What a file says of a run.
 * @typedef {object} About
 * @property {Config & { neighbour_focus: number }} config
 * @property {Recipe} recipe
 * @property {string} corpus  The digest of the text.
 * @property {Step[]} history
 */

/**
 * Which numbers of the engine's memory belong to each tensor of a file: parameters, and what the
 * three optimizers remember of them, by the names that torch gives.
 * @param {Config} config
 * @returns {[string, number[], "parameters" | "first" | "second", number][]}
 */
function places(config) {
  /** @type {[string, number[], "parameters" | "first" | "second", number][]} */
  const all = [];
  const count = [0, 0, 0]; // of queries and keys, of the other matrices of layers, of all the rest
  let at = 0;
  for (const [name, shape] of parametersOf(config)) {
    const matrix = name.includes("layers") && shape.length === 2;
    const optimizer = matrix ? (/query|key/.test(name) ? 0 : 1) : 2;
    const mine = `optimizer.${optimizer}.${count[optimizer]++}`;
    all.push([`model.${name}`, shape, "parameters", at]);
    if (matrix) all.push([`${mine}.momentum_buffer`, shape, "first", at]);
    else
      all.push(
        [`${mine}.exp_avg`, shape, "first", at],
        [`${mine}.exp_avg_sq`, shape, "second", at],
      );
    at += shape.reduce((a, b) => a * b);
  }
  return all;
}

/** @param {Training} training */
function memory({ engine }) {
  const [first, second] = engine.moments;
  return { parameters: engine.parameters, first, second };
}

/**
 * All tensors of a training by name, sorted.
 * @param {Training} training
 */
function tensorsOf(training) {
  const numbers = memory(training);
  const state = /** @type {ArrayBuffer} */ (training.chance.state.buffer);
  /** @type {[string, Raw][]} */
  const all = [["generator", { dtype: "U8", shape: [STATE_BYTES], bytes: state }]];
  for (const [name, shape, kind, at] of places(training.engine.config)) {
    if (kind !== "parameters" && !training.done) continue;
    const values = numbers[kind].slice(at, at + shape.reduce((a, b) => a * b));
    all.push([name, { dtype: "F32", shape, bytes: values.buffer }]);
    if (name.endsWith("exp_avg")) {
      const bytes = new Float32Array([training.done]).buffer;
      all.push([name.replace("exp_avg", "step"), { dtype: "F32", shape: [], bytes }]);
    }
  }
  return new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * JSON as Python writes it.
 * @param {unknown} value
 * @returns {string}
 */
function json(value) {
  if (Array.isArray(value)) return `[${value.map(json).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${json(each)}`)
    .join(", ")}}`;
}

/**
 * Write a training, with all that is needed to go on exactly here.
 * @param {Training} training
 * @param {string} corpus  The digest of its text.
 * @param {Step[]} history  Numbers of at most four decimals, which Python writes as JavaScript does.
 * @returns {Promise<Uint8Array>}  The bytes of a safetensors file.
 */
export async function written(training, corpus, history) {
  const { engine, recipe } = training;
  const about = {
    kind: "run",
    config: engine.config,
    recipe,
    objective: "masked",
    corpus,
    history,
  };
  return writeSafetensors(tensorsOf(training), json(about));
}

/**
 * Read a training back, ready to go on.
 * @param {ArrayBuffer} file
 * @param {WebAssembly.Instance} instance
 * @param {Int32Array} text  What it was trained on.
 * @param {string} corpus  The digest of that text.
 * @returns {Promise<{ training: Training, history: Step[] } | undefined>}  Nothing if the file is no
 *   such run of the default objective, is damaged, or was trained on another text.
 */
export async function readRun(file, instance, text, corpus) {
  try {
    const { tensors, metadata } = readSafetensors(file);
    if (!(await isWhole(tensors, metadata.cloze))) return undefined;
    /** @type {About & { kind: string, objective: string }} */
    const about = JSON.parse(metadata.cloze);
    const fitting = about.kind === "run" && about.objective === "masked" && about.corpus === corpus;
    if (!fitting) return undefined;
    return { training: takenOver(about, tensors, instance, text), history: about.history };
  } catch {
    return undefined; // whatever is missing from it, or not what it should be
  }
}

/**
 * @param {About} about
 * @param {RawTensors} tensors
 * @param {WebAssembly.Instance} instance
 * @param {Int32Array} text
 */
function takenOver({ config, recipe, history }, tensors, instance, text) {
  const training = new Training(instance, config, text, recipe);
  training.done = history.length;
  const numbers = memory(training);
  /** @param {string} name */
  const bytesOf = (name) => {
    const tensor = tensors.get(name);
    if (!tensor) throw new RangeError(`${name} is missing.`);
    return tensor.bytes;
  };
  for (const [name, , kind, at] of places(config)) {
    if (kind === "parameters" || training.done)
      numbers[kind].set(new Float32Array(bytesOf(name)), at);
  }
  training.chance.state = new Uint8Array(bytesOf("generator"));
  return training;
}
