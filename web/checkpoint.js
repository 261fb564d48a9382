// Models from safetensors files, as src/cloze/checkpoint.py writes and reads them.

import { ValueError } from "../src/cloze/widgets/browser/widget.js";
import { MaskedLM } from "./encoder.js";
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
    file = readSafetensors(buffer);
    metadata = JSON.parse(file.metadata.cloze);
    whole = await isWhole(file);
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

/**
 * The tensors of a file by name, and its metadata.
 * @param {ArrayBuffer} buffer
 * @returns {File}
 */
function readSafetensors(buffer) {
  const start = new DataView(buffer);
  const size = start.getUint32(0, true) + 2 ** 32 * start.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const { __metadata__: metadata, ...layout } = header;
  const data = buffer.slice(8 + size);
  /** @type {Tensors} */
  const tensors = new Map();
  let read = 0;
  for (const name of Object.keys(layout).sort()) {
    const {
      dtype,
      shape,
      data_offsets: [first, end],
    } = layout[name];
    const bytes = data.slice(first, end);
    tensors.set(name, { dtype, shape, bytes, values: FROM[dtype](bytes) });
    read += bytes.byteLength;
  }
  if (read !== data.byteLength)
    throw new RangeError("The tensors are not all that is in the file.");
  return { tensors, metadata };
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

/** @type {Record<string, string>} */
const TORCH = { F16: "torch.float16", F32: "torch.float32" };

/**
 * Whether the digest in the metadata is that of metadata and tensors, as checkpoint.py makes it.
 * Browsers digest only what came encrypted, from this machine or from a folder; a page that came
 * otherwise must do without.
 * @param {File} file
 */
async function isWhole({ tensors, metadata }) {
  if (!globalThis.crypto?.subtle) return true;
  const [, digest, rest] = metadata.cloze.match(/^\{"sha256": "(\w{64})", (.*)$/s) ?? [];
  const layout = [...tensors].map(
    ([name, { dtype, shape }]) => `["${name}", "${TORCH[dtype]}", [${shape.join(", ")}]]`,
  );
  const said = `[{${rest}, [${layout.join(", ")}]]`;
  const whole = new Blob([said, ...[...tensors.values()].map(({ bytes }) => bytes)]);
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", await whole.arrayBuffer()));
  return digest === Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Whether the tensors are those of a masked language model of this config.
 * @param {Tensors} tensors
 * @param {Config} config
 */
function fits(tensors, { vocab_size: symbols, d_model: width, d_ff: wide, n_layers: layers }) {
  /** @type {Record<string, number[]>} */
  const expected = { "encoder.embedding.weight": [symbols, width] };
  /** @type {(name: string, out: number, into: number) => void} */
  const linear = (name, out, into) => {
    expected[`${name}.weight`] = [out, into];
    expected[`${name}.bias`] = [out];
  };
  const norm = (/** @type {string} */ name) => {
    expected[`${name}.weight`] = [width];
    expected[`${name}.bias`] = [width];
  };
  for (let l = 0; l < layers; l++) {
    const layer = `encoder.layers.${l}`;
    norm(`${layer}.attention_norm`);
    for (const each of ["query", "key", "value", "output"]) {
      linear(`${layer}.attention.${each}`, width, width);
    }
    norm(`${layer}.feed_forward_norm`);
    linear(`${layer}.feed_forward.0`, wide, width);
    linear(`${layer}.feed_forward.2`, width, wide);
  }
  norm("encoder.norm");
  linear("head", symbols, width);
  const same = (/** @type {string} */ name) => {
    const tensor = tensors.get(name);
    if (!tensor || `${tensor.shape}` !== `${expected[name]}`) return false;
    const size = expected[name].reduce((product, each) => product * each, 1);
    return tensor.values.length === size && tensor.values.every(Number.isFinite);
  };
  return tensors.size === Object.keys(expected).length && Object.keys(expected).every(same);
}
