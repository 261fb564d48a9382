// Models from safetensors files, as src/cloze/checkpoint.py writes and reads them.

import { ValueError } from "../../src/cloze/widgets/browser/widget.js";
import { Engine, parametersOf } from "../engine/engine.js";
import { isWhole, readSafetensors } from "./safetensors.js";
import { VOCABULARY, Vocabulary } from "./vocabulary.js";

/** @import { Config } from "../engine/engine.js" */
/** @import { RawTensors } from "./safetensors.js" */

/**
 * What a file says of itself, under "cloze" of its metadata.
 * @typedef {object} Metadata
 * @property {string} kind  "model", for what can be read here.
 * @property {string} [model]
 * @property {string} [objective]
 * @property {Config} config
 * @property {{ ordinary: string[], specials: string[] }} [vocabulary]
 * @property {{ probabilities: number[], text: string }} [baseline]
 */

/** A checkpoint that cannot be used; the message says why and what to do. */
export class CheckpointError extends ValueError {
  name = "CheckpointError";
}

/**
 * Read a model, ready for inference, and its metadata from the bytes of a file.
 * @param {ArrayBuffer} buffer
 * @param {string} name  What errors call the file.
 * @param {WebAssembly.Module} module  The engine.
 * @returns {Promise<{ engine: Engine, vocabulary: Vocabulary, metadata: Metadata }>}
 * @throws {CheckpointError} It is damaged, or holds something else.
 */
export async function readModel(buffer, name, module) {
  /** @type {Float32Array | undefined} */
  let parameters;
  /** @type {Metadata | undefined} */
  let metadata;
  let whole = false;
  try {
    const { tensors, metadata: said } = readSafetensors(buffer);
    metadata = JSON.parse(said.cloze);
    whole = await isWhole(tensors, said.cloze);
    parameters = parametersIn(tensors, /** @type {Metadata} */ (metadata).config);
  } catch {
    // whatever is missing from it, or not what it should be
  }
  const kindOfModel = metadata?.model ?? metadata?.objective ?? "masked";
  const isMasked = metadata?.kind === "model" && kindOfModel === "masked";
  if (whole && !isMasked) {
    throw new CheckpointError(`${name} holds no masked language model; name another file.`);
  }
  if (!whole || !parameters || !metadata) {
    throw new CheckpointError(
      `${name} is damaged: it is not what was written; reload the page, or build it again.`,
    );
  }
  const vocabulary = metadata.vocabulary ? new Vocabulary(metadata.vocabulary) : VOCABULARY;
  const engine = new Engine(await WebAssembly.instantiate(module), metadata.config);
  engine.parameters.set(parameters);
  return { engine, vocabulary, metadata };
}

/**
 * Read what is kept about the inside of a model: src/cloze/lenses.py's Kept, by the names of its tensors.
 * @param {ArrayBuffer} buffer
 * @param {string} name  What errors call the file.
 * @returns {Promise<Map<string, Float32Array>>}
 * @throws {CheckpointError} It is damaged.
 */
export async function readKept(buffer, name) {
  const { tensors, metadata } = readSafetensors(buffer);
  if (!(await isWhole(tensors, metadata.cloze)))
    throw new CheckpointError(
      `${name} is damaged: it is not what was written; reload the page, or build it again.`,
    );
  return new Map([...tensors].map(([key, { dtype, bytes }]) => [key, FROM[dtype](bytes)]));
}

/** @type {Record<string, (bytes: ArrayBuffer) => Float32Array>} */
const FROM = {
  F16: (bytes) => fromHalves(new Uint16Array(bytes)),
  F32: (bytes) => new Float32Array(bytes),
};

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
export function parametersIn(tensors, config, prefix = "") {
  const expected = parametersOf(config);
  const sizes = expected.map(([, shape]) => shape.reduce((product, each) => product * each));
  const all = new Float32Array(sizes.reduce((sum, each) => sum + each));
  let at = 0;
  for (const [i, [name, shape]] of expected.entries()) {
    const tensor = tensors.get(prefix + name);
    if (!tensor || `${tensor.shape}` !== `${shape}`) return undefined;
    const values = FROM[tensor.dtype]?.(tensor.bytes);
    if (values?.length !== sizes[i]) return undefined;
    all.set(values, at);
    at += sizes[i];
  }
  return all.every(Number.isFinite) ? all : undefined;
}
