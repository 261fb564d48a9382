// Models from safetensors files, as src/cloze/checkpoint.py writes and reads them.

import { ValueError } from "../src/cloze/widgets/browser/widget.js";
import { MaskedLM } from "./encoder.js";
import { parametersOf } from "./engine/engine.js";
import { isWhole, readSafetensors } from "./safetensors.js";
import { VOCABULARY, Vocabulary } from "./vocabulary.js";

/** @import { Config, Tensors } from "./encoder.js" */

/**
 * What a file says of itself, under "cloze" of its metadata.
 * @typedef {object} Metadata
 * @property {string} kind  "model", for what can be read here.
 * @property {string} [model]
 * @property {string} [objective]
 * @property {Config} config
 * @property {{ ordinary: string[], specials: string[] }} [vocabulary]
 * @property {{ probabilities: number[], text: string }} [baseline]
 *
 * @typedef {{ tensors: Tensors, metadata: { cloze: string } }} File
 */

/** A checkpoint that cannot be used; the message says why and what to do. */
export class CheckpointError extends ValueError {
  name = "CheckpointError";
}

/**
 * Read a model, ready for inference, and its metadata from the bytes of a file.
 * @param {ArrayBuffer} buffer
 * @param {string} name  What errors call the file.
 * @returns {Promise<{ model: MaskedLM, metadata: Metadata }>}
 * @throws {CheckpointError} It is damaged, or holds something else.
 */
export async function readModel(buffer, name) {
  /** @type {File | undefined} */
  let file;
  /** @type {Metadata | undefined} */
  let metadata;
  let whole = false;
  try {
    const { tensors: raw, metadata: said } = readSafetensors(buffer);
    const tensors = new Map(
      [...raw].map(([name, each]) => [name, { ...each, values: FROM[each.dtype](each.bytes) }]),
    );
    file = { tensors, metadata: said };
    metadata = JSON.parse(said.cloze);
    whole = await isWhole(raw, said.cloze);
  } catch {
    // whatever is missing from it, or not what it should be
  }
  const kindOfModel = metadata?.model ?? metadata?.objective ?? "masked";
  const isMasked = metadata?.kind === "model" && kindOfModel === "masked";
  if (whole && !isMasked) {
    throw new CheckpointError(`${name} holds no masked language model; name another file.`);
  }
  if (!whole || !file || !metadata || !fits(file.tensors, metadata.config)) {
    throw new CheckpointError(
      `${name} is damaged: it is not what was written; reload the page, or build it again.`,
    );
  }
  const vocabulary = metadata.vocabulary ? new Vocabulary(metadata.vocabulary) : VOCABULARY;
  return { model: new MaskedLM(metadata.config, vocabulary, file.tensors), metadata };
}

/** @type {Record<string, (bytes: ArrayBuffer) => Float64Array>} */
const FROM = {
  F16: (bytes) => fromHalves(new Uint16Array(bytes)),
  F32: (bytes) => Float64Array.from(new Float32Array(bytes)),
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
  const values = Float64Array.from(new Float32Array(bits.buffer));
  for (let i = 0; i < values.length; i++) {
    values[i] *= (halves[i] & 0x7c00) === 0x7c00 ? NaN : 2 ** 112; // infinite, or no number
  }
  return values;
}

/**
 * Whether the tensors are those of a masked language model of this config.
 * @param {Tensors} tensors
 * @param {Config} config
 */
function fits(tensors, config) {
  const expected = parametersOf(config);
  return (
    tensors.size === expected.length &&
    expected.every(([name, shape]) => {
      const tensor = tensors.get(name);
      if (!tensor || `${tensor.shape}` !== `${shape}`) return false;
      const size = shape.reduce((product, each) => product * each, 1);
      return tensor.values.length === size && tensor.values.every(Number.isFinite);
    })
  );
}
