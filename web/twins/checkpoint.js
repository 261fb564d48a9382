// Models from safetensors files, as src/cloze/checkpoint.py writes and reads them.

import { ValueError } from "../../src/cloze/widgets/browser/widget.js";
import { engineOf, LOOKS, parametersOf } from "../engine/engine.js";
import { isWhole, readSafetensors } from "./safetensors.js";
import { ALPHABET } from "./vocabulary.js";

/** @import { Config, Engine } from "../engine/engine.js" */
/** @import { RawTensors } from "./safetensors.js" */

/** What of a config is a number above 0, as in EncoderConfig of src/cloze. */
const NUMBERS = "vocab_size max_len d_model n_heads n_layers d_ff rotary_base".split(" ");

/** A checkpoint that cannot be used; the message says why and what to do. */
export class CheckpointError extends ValueError {
  name = "CheckpointError";
}

/**
 * Read the tensors of a file, by name, and what it says of itself.
 * @param {ArrayBuffer} bytes
 * @param {string} name  What errors call the file.
 * @returns {Promise<{ tensors: RawTensors, about: any }>}
 * @throws {CheckpointError} It is damaged, or something else.
 */
export async function readCheckpoint(bytes, name) {
  let file;
  let about;
  try {
    file = readSafetensors(bytes);
    about = JSON.parse(file.metadata.cloze);
  } catch {
    throw new CheckpointError(
      `${name} is not a checkpoint of Cloze, or only a part of one; choose another file.`,
    );
  }
  const { tensors, metadata } = file;
  if (!(await isWhole(tensors, metadata.cloze).catch(() => false)))
    throw new CheckpointError(
      `${name} is damaged: it is not what was written; restore it, or train it again.`,
    );
  return { tensors, about };
}

/**
 * @param {string} name  What errors call the file.
 * @param {string} [why]
 */
export const misfit = (name, why) =>
  new CheckpointError(
    `${name} does not fit this version of Cloze${why ? `: ${why}` : ""}; train it again.`,
  );

/**
 * Read a masked language model, or a run that trains one.
 * @param {ArrayBuffer} bytes
 * @param {string} name  What errors call the file.
 * @param {boolean} [words]  Whether it reads pieces of words, and not characters.
 * @returns {Promise<{ tensors: RawTensors, about: any, parameters: Float32Array }>}
 * @throws {CheckpointError} It is damaged, or holds something else.
 */
export async function readMasked(bytes, name, words = false) {
  const { tensors, about } = await readCheckpoint(bytes, name);
  const { kind, config } = about ?? {};
  const objective = about?.model ?? about?.objective ?? "masked";
  if ((kind !== "run" && kind !== "model") || objective !== "masked")
    throw new CheckpointError(`${name} holds no masked language model; choose another file.`);
  const { ordinary, specials } = about?.vocabulary ?? { ordinary: ALPHABET, specials: [MASK] };
  if (config?.vocab_size !== ordinary.length + specials.length || !about.vocabulary === words)
    throw new CheckpointError(`${name} reads other symbols than the page; use it in Python.`);
  // Nothing is taken memory for that is not there.
  const shaped =
    NUMBERS.every((each) => Number.isFinite(config[each]) && config[each] > 0) &&
    config.n_layers < tensors.size &&
    config.d_model % (2 * config.n_heads) === 0 &&
    config.direction in LOOKS;
  const parameters = shaped && parametersIn(tensors, config, kind === "run" ? "model." : "");
  if (!parameters) throw misfit(name);
  return { tensors, about, parameters };
}

/**
 * Read a model, ready for inference, and what its file says of it.
 * @param {ArrayBuffer} bytes
 * @param {string} name  What errors call the file.
 * @param {WebAssembly.Module} module  The engine.
 * @param {boolean} [words]
 * @returns {Promise<{ engine: Engine, about: any }>}
 * @throws {CheckpointError} It is damaged, or holds something else.
 */
export async function readModel(bytes, name, module, words) {
  const { about, parameters } = await readMasked(bytes, name, words);
  return { engine: await engineOf(module, about.config, parameters), about };
}

/**
 * Read what was measured inside a model, by the names of its tensors; src/cloze/lenses.py has the same.
 * @param {ArrayBuffer} bytes
 * @param {string} name  What errors call the file.
 * @returns {Promise<Map<string, Float32Array>>}
 * @throws {CheckpointError} It is damaged.
 */
export async function readMeasurements(bytes, name) {
  const { tensors } = await readCheckpoint(bytes, name);
  return new Map([...tensors].map(([key, { dtype, bytes }]) => [key, FROM[dtype](bytes)]));
}

/** @type {Record<string, (bytes: ArrayBuffer) => Float32Array>} */
const FROM = {
  F16: (bytes) => fromHalves(new Uint16Array(bytes)),
  F32: (bytes) => new Float32Array(bytes),
  I8: (bytes) => Float32Array.from(new Int8Array(bytes)),
};
const MASK = "[MASK]";
const SCALE = ".scale"; // ends the name of what the rows of an 8-bit matrix are multiplied with

/**
 * Fraction and exponent of a half, moved to where a single has them, are the number times 2^−112,
 * because the exponent counts from −15 in the one and from −127 in the other.
 * @param {Uint16Array} halves
 */
function fromHalves(halves) {
  const bits = new Uint32Array(halves.length);
  for (let i = 0; i < bits.length; i++) {
    bits[i] = ((halves[i] & 0x8000) << 16) | ((halves[i] & 0x7fff) << 13);
  }
  const values = new Float32Array(bits.buffer);
  for (let i = 0; i < values.length; i++) {
    values[i] *= (halves[i] & 0x7c00) === 0x7c00 ? NaN : 2 ** 112; // infinite, or no number
  }
  return values;
}

/**
 * The parameters of a masked language model one after the other, in the order of `parametersOf`;
 * nothing if they are not all there, and numbers.
 * @param {RawTensors} tensors
 * @param {Config} config
 * @param {string} [prefix]  Of their names.
 */
function parametersIn(tensors, config, prefix = "") {
  const found = [];
  for (const [name, shape, , size] of parametersOf(config)) {
    const tensor = tensors.get(prefix + name);
    if (!tensor || `${tensor.shape}` !== `${shape}`) return undefined;
    const values = FROM[tensor.dtype]?.(tensor.bytes);
    if (values?.length !== size) return undefined;
    const scale = tensors.get(prefix + name + SCALE);
    if (scale) {
      const factors = FROM[scale.dtype](scale.bytes);
      for (let i = 0; i < size; i++) values[i] *= factors[Math.floor((i * shape[0]) / size)];
    }
    found.push(values);
  }
  // Memory is taken only for what is really there.
  const all = new Float32Array(found.reduce((sum, { length }) => sum + length, 0));
  for (const [i, [, , at]] of parametersOf(config).entries()) all.set(found[i], at);
  return all.every(Number.isFinite) ? all : undefined;
}
