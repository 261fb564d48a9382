// A training and a model in a file: what TrainingRun.save of src/cloze/training.py and save_model of
// checkpoint.py write, so that `python -m cloze train --resume` and `evaluate` go on with what was
// trained on the page, and the page the other way round.

import { ValueError } from "../../src/cloze/widgets/browser/widget.js";
import { misfit, readMasked } from "../twins/checkpoint.js";
import { writeSafetensors } from "../twins/safetensors.js";
import { isMatrix, parametersOf } from "./engine.js";
import { STATE_BYTES } from "./generator.js";

/** @import { Config } from "./engine.js" */
/** @import { Raw, RawTensors } from "../twins/safetensors.js" */
/** @import { Recipe, Training } from "./training.js" */

/**
 * One step done, as Python's Record: step, characters, seconds, loss, held-out loss or null.
 * @typedef {[number, number, number, number, number | null]} Step
 *
 * What a file says of a run, or of a model, which has no recipe, corpus and history.
 * @typedef {object} About
 * @property {"run" | "model"} kind
 * @property {Config} config
 * @property {Recipe} recipe
 * @property {string} corpus  The digest of the text.
 * @property {Step[]} history
 * @property {{ steps?: number, held_out_nats?: number }} [provenance]
 *
 * @typedef {{ about: About, tensors: RawTensors, parameters: Float32Array }} File
 */

/** Begins the names of the model's own tensors in a run. */
const MODEL = "model.";
/** How many numbers a run may have in the engine's memory: a gigabyte of them. */
const MOST_NUMBERS = 2 ** 28;

/**
 * Which numbers of the engine's memory belong to each tensor of a file: parameters, and what the
 * three optimizers remember of them, by the names that torch gives.
 * @param {Config} config
 * @returns {[string, number[], "parameters" | "first" | "second", number, number][]}
 */
function places(config) {
  /** @type {[string, number[], "parameters" | "first" | "second", number, number][]} */
  const all = [];
  const count = [0, 0, 0]; // of queries and keys, of the other matrices of layers, of all the rest
  for (const [name, shape, at, size] of parametersOf(config)) {
    const matrix = isMatrix(name, shape);
    const optimizer = matrix ? (/query|key/.test(name) ? 0 : 1) : 2;
    const mine = `optimizer.${optimizer}.${count[optimizer]++}`;
    all.push([MODEL + name, shape, "parameters", at, size]);
    all.push([`${mine}.${matrix ? "momentum_buffer" : "exp_avg"}`, shape, "first", at, size]);
    if (!matrix) all.push([`${mine}.exp_avg_sq`, shape, "second", at, size]);
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
  const state = /** @type {ArrayBuffer} */ (training.generator.state.buffer);
  /** @type {[string, Raw][]} */
  const all = [["generator", { dtype: "U8", shape: [STATE_BYTES], bytes: state }]];
  for (const [name, shape, kind, at, size] of places(training.engine.config)) {
    if (kind !== "parameters" && !training.done) continue;
    const values = numbers[kind].slice(at, at + size);
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
  if (typeof value === "number" && value && Math.abs(value) < 1e-4)
    return value.toExponential().replace(/e-(\d)$/, "e-0$1");
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${json(each)}`)
    .join(", ")}}`;
}

/**
 * Write a training, with all that is needed to go on exactly here.
 * @param {Training} training
 * @param {string} corpus  The digest of its text.
 * @param {Step[]} history
 * @returns {Promise<Uint8Array<ArrayBuffer>>}  The bytes of a safetensors file.
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
 * Write the model alone, with what made it.
 * @param {Training} training
 * @param {string} corpus  The digest of its text.
 * @param {number} heldOut  Its loss on the held-out text, in nats.
 */
export async function writtenModel(training, corpus, heldOut) {
  const own = [...tensorsOf(training)].filter(([name]) => name.startsWith(MODEL));
  const tensors = own.map(([name, raw]) => /** @type {const} */ ([name.slice(MODEL.length), raw]));
  const provenance = {
    command: "Train on the page",
    seed: training.recipe.seed,
    steps: training.done,
    corpus_sha256: corpus,
    held_out_nats: heldOut,
  };
  const about = { kind: "model", config: training.engine.config, provenance };
  return writeSafetensors(new Map(tensors), json(about));
}

/**
 * Read a file of either kind, by Python or by the page.
 * @param {ArrayBuffer} bytes
 * @param {string} name  What errors call it.
 * @returns {Promise<File>}
 * @throws {ValueError} It is damaged, holds something else, or more than the page can train.
 */
export async function readFile(bytes, name) {
  const file = await readMasked(bytes, name);
  const { kind, config, recipe } = file.about;
  if (kind === "run") mustBeRun(file, name);
  const { d_model, d_ff, n_heads, n_layers, max_len } = config;
  const row = 8 * d_model + 4 * d_ff + n_heads * max_len;
  if ((recipe?.batch_size ?? 1) * max_len * (n_layers + 1) * row > MOST_NUMBERS) {
    throw new ValueError(`${name} needs more memory than a page has; use it in Python.`);
  }
  return file;
}

/**
 * @param {File} file
 * @param {string} name
 * @throws {ValueError} Something of the run is missing, or the page has other windows.
 */
function mustBeRun({ about, tensors }, name) {
  const { config, recipe, history } = about;
  if (!history?.every?.(Array.isArray)) throw misfit(name, "its history is not that of a run");
  if (recipe.length > config.max_len) throw misfit(name, "its windows are too long for it");
  if (tensors.get("generator")?.bytes.byteLength !== STATE_BYTES) throw misfit(name);
  for (const [tensor, , kind, , size] of places(config)) {
    const { byteLength } = tensors.get(tensor)?.bytes ?? {};
    if ((kind === "parameters" || history.length) && byteLength !== 4 * size) throw misfit(name);
  }
  if (recipe.length !== 64) {
    throw new ValueError(
      `${name} trains on windows of ${recipe.length} characters, and the page on 64; continue it ` +
        "in Python with --resume.",
    );
  }
}

/**
 * Let a new training go on where the one of a file stopped.
 * @param {Training} training  Of the same config and recipe.
 * @param {File} file
 */
export function takeOver(training, { about, tensors }) {
  training.done = about.history.length;
  const numbers = memory(training);
  /** @param {string} name */
  const bytesOf = (name) => tensors.get(name)?.bytes ?? new ArrayBuffer(0);
  for (const [name, , kind, at] of places(about.config)) {
    if (kind === "parameters" || training.done)
      numbers[kind].set(new Float32Array(bytesOf(name)), at);
  }
  training.generator.state = new Uint8Array(bytesOf("generator"));
}
