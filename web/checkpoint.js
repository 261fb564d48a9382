// Models from safetensors files, as src/cloze/checkpoint.py writes and reads them.

import { ValueError } from "../src/cloze/widgets/browser/widget.js";
import { MaskedLM } from "./encoder.js";
import { VOCABULARY, Vocabulary } from "./vocabulary.js";

/** A checkpoint that cannot be used; the message says why and what to do. */
export class CheckpointError extends ValueError {
  name = "CheckpointError";
}

/**
 * Read a model, ready for inference, and its metadata from the bytes of a file.
 * @param {ArrayBuffer} buffer
 * @param {string} name  What errors call the file.
 * @throws {CheckpointError} It is damaged, or holds something else.
 */
export async function readModel(buffer, name) {
  let file, metadata, whole;
  try {
    file = readSafetensors(buffer);
    metadata = JSON.parse(file.metadata.cloze);
    whole = await isWhole(file);
  } catch {
    whole = false; // whatever is missing from it, or not what it should be
  }
  const isMasked = metadata?.kind === "model" && (metadata.objective ?? "masked") === "masked";
  if (whole && !isMasked) {
    throw new CheckpointError(`${name} holds no masked language model; name another file.`);
  }
  if (!whole || !fits(file.tensors, metadata.config)) {
    throw new CheckpointError(
      `${name} is damaged: it is not what was written; reload the page, or build it again.`,
    );
  }
  const vocabulary = metadata.vocabulary ? new Vocabulary(metadata.vocabulary) : VOCABULARY;
  return { model: new MaskedLM(metadata.config, vocabulary, file.tensors), metadata };
}

// The tensors of a file by name, {dtype, shape, bytes, values}, and its metadata.
function readSafetensors(buffer) {
  const start = new DataView(buffer);
  const size = start.getUint32(0, true) + 2 ** 32 * start.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const { __metadata__: metadata, ...layout } = header;
  const data = buffer.slice(8 + size);
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

const FROM = {
  F16: (bytes) => fromHalves(new Uint16Array(bytes)),
  F32: (bytes) => Float64Array.from(new Float32Array(bytes)),
};

// Fraction and exponent of a half, moved to where a single has them, are the number times 2^−112,
// for the exponent counts from −15 in the one and from −127 in the other.
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

// Whether the digest in the metadata is that of metadata and tensors, as checkpoint.py makes it.
// Browsers digest only what came encrypted, from this machine or from a folder; a page that came
// otherwise must do without.
async function isWhole({ tensors, metadata }) {
  if (!globalThis.crypto?.subtle) return true;
  const [, digest, rest] = metadata.cloze.match(/^\{"sha256": "(\w{64})", (.*)$/s);
  const layout = [...tensors].map(([name, { dtype, shape }]) => {
    const type = { F16: "torch.float16", F32: "torch.float32" }[dtype];
    return `["${name}", "${type}", [${shape.join(", ")}]]`;
  });
  const said = `[{${rest}, [${layout.join(", ")}]]`;
  const whole = new Blob([said, ...[...tensors.values()].map(({ bytes }) => bytes)]);
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", await whole.arrayBuffer()));
  return digest === Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Whether the tensors are those of a masked language model of this config.
function fits(tensors, { vocab_size: symbols, d_model: width, d_ff: wide, n_layers: layers }) {
  const expected = { "encoder.embedding.weight": [symbols, width] };
  const linear = (name, out, into) => {
    expected[`${name}.weight`] = [out, into];
    expected[`${name}.bias`] = [out];
  };
  const norm = (name) => {
    expected[`${name}.weight`] = expected[`${name}.bias`] = [width];
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
  const same = (name) => {
    const { shape, values } = tensors.get(name) ?? {};
    const size = expected[name].reduce((product, each) => product * each, 1);
    return `${shape}` === `${expected[name]}` && values.length === size && values.every(isFinite);
  };
  return tensors.size === Object.keys(expected).length && Object.keys(expected).every(same);
}
