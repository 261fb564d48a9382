// Files of tensors, as src/cloze/checkpoint.py writes and reads them: safetensors, sealed by a digest.

import { sha256 } from "./corpus.js";

/**
 * @typedef {{ dtype: string, shape: number[], bytes: ArrayBuffer }} Raw
 * @typedef {Map<string, Raw>} RawTensors  By name, sorted.
 */

/**
 * The tensors of a file by name, and its metadata.
 * @param {ArrayBuffer} buffer
 * @returns {{ tensors: RawTensors, metadata: { cloze: string } }}
 */
export function readSafetensors(buffer) {
  const start = new DataView(buffer);
  const size = start.getUint32(0, true) + 2 ** 32 * start.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const { __metadata__: metadata, ...layout } = header;
  const data = buffer.slice(8 + size);
  /** @type {RawTensors} */
  const tensors = new Map();
  let read = 0;
  for (const name of Object.keys(layout).sort()) {
    const { dtype, shape, data_offsets } = layout[name];
    const [first, end] = data_offsets;
    tensors.set(name, { dtype, shape, bytes: data.slice(first, end) });
    read += end - first;
  }
  if (read !== data.byteLength)
    throw new RangeError("The tensors are not all that is in the file.");
  return { tensors, metadata };
}

/**
 * Write a file.
 * @param {RawTensors} tensors
 * @param {string} metadata  JSON as Python writes it, without the digest.
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function writeSafetensors(tensors, metadata) {
  const seal = await digest(tensors, metadata);
  /** @type {Record<string, unknown>} */
  const header = { __metadata__: { cloze: `{"sha256": "${seal}", ${metadata.slice(1)}` } };
  let size = 0;
  for (const [name, { dtype, shape, bytes }] of tensors) {
    header[name] = { dtype, shape, data_offsets: [size, size + bytes.byteLength] };
    size += bytes.byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = 8 + Math.ceil(text.length / 8) * 8;
  const file = new Uint8Array(start + size).fill(0x20, 8, start);
  new DataView(file.buffer).setBigUint64(0, BigInt(start - 8), true);
  file.set(text, 8);
  let at = start;
  for (const { bytes } of tensors.values()) {
    file.set(new Uint8Array(bytes), at);
    at += bytes.byteLength;
  }
  return file;
}

/** @type {Record<string, string>} */
const TORCH = { F16: "torch.float16", F32: "torch.float32", I8: "torch.int8", U8: "torch.uint8" };

/**
 * The digest of tensors and metadata, as checkpoint.py makes it; "" where browsers make none, which
 * is on a page that came neither encrypted, nor from this machine, nor from a folder.
 * @param {RawTensors} tensors
 * @param {string} metadata  Without the digest.
 */
async function digest(tensors, metadata) {
  const layout = [...tensors].map(
    ([name, { dtype, shape }]) => `["${name}", "${TORCH[dtype]}", [${shape.join(", ")}]]`,
  );
  if (!globalThis.crypto?.subtle) return "";
  const layoutAndMetadata = `[${metadata}, [${layout.join(", ")}]]`;
  const whole = new Blob([layoutAndMetadata, ...[...tensors.values()].map(({ bytes }) => bytes)]);
  return sha256(await whole.arrayBuffer());
}

/**
 * Whether the digest in the metadata is that of metadata and tensors; where browsers make none, the
 * page must do without.
 * @param {RawTensors} tensors
 * @param {string} sealed
 */
export async function isWhole(tensors, sealed) {
  if (!globalThis.crypto?.subtle) return true;
  const [, seal, rest] = sealed.match(/^\{"sha256": "(\w{64})", (.*)$/s) ?? [];
  return seal === (await digest(tensors, `{${rest}`));
}
