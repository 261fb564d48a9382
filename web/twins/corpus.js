// A text of one's own as what to train on and what to measure on: Corpus.from_file of
// src/cloze/corpus.py, with the same split, the same digest and the same sentences.

import { counted } from "../../src/cloze/widgets/browser/words.js";
import { ALPHABET, normalise, SPACE, TextError } from "./vocabulary.js";

/** The largest text that is read: Python takes four times as much, but a telephone has less memory. */
const MOST_BYTES = 50_000_000;
const MOST_HELD_OUT = 2 ** 17;
const NO_SPACE = new RegExp(SPACE.source.replace("[", "[^"));

/**
 * What a training reads.
 * @typedef {object} Corpus
 * @property {Uint8Array} text  Ids to train on.
 * @property {Int32Array} heldOut  Windows to measure on, one after the other.
 * @property {string} sha256  The fingerprint by which a saved run knows its text.
 */

/**
 * Read a file of text in UTF-8.
 * @param {Blob} file
 * @param {string} name  What errors call it.
 * @throws {TextError} It is too large or empty, is not UTF-8, holds NULs, or cannot be read.
 */
export async function readText(file, name) {
  if (file.size > MOST_BYTES) {
    throw new TextError(`${name} holds more than ${MOST_BYTES / 1e6} MB of text; take a part.`);
  }
  const bytes = await bytesOf(file, name);
  let text = "";
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new TextError(
      `${name} is not text in UTF-8; open it and save it as plain text in UTF-8.`,
    );
  }
  if (text.includes("\0")) {
    throw new TextError(`${name} holds NULs, as UTF-16 does; save it as plain text in UTF-8.`);
  }
  if (!NO_SPACE.test(text)) {
    throw new TextError(`${name} is empty; choose a file with text in it.`);
  }
  return text;
}

/**
 * @param {Blob} file
 * @param {string} name
 */
export function bytesOf(file, name) {
  return file.arrayBuffer().catch(() => {
    throw new TextError(`${name} cannot be read; choose a file that is on this device.`);
  });
}

/**
 * Normalise a text, cut it at ends of lines into up to 100 stretches, and hold out every tenth.
 * @param {string} raw
 * @param {string} name  What errors call it.
 * @param {number} window  The length of the windows to train on.
 * @returns {Promise<Corpus & { normalised: string, report: string }>}
 * @throws {TextError} It holds too little that the model can read.
 */
export async function corpusOf(raw, name, window) {
  const { text, folded, dropped } = normalise(raw);
  if (text.length < 2 * window) {
    throw new TextError(
      `${name} holds ${counted(text.length, "usable character")}; training needs at least ` +
        `${2 * window}: one window of ${window} to learn from and one to hold out.`,
    );
  }
  const pieces = cut(text, window);
  const step = Math.min(10, pieces.length);
  const train = pieces.filter((_, k) => (k + 1) % step);
  let heldOut = pieces.filter((_, k) => !((k + 1) % step));
  const notes = [`${counted(text.length, "character")} kept`];
  notes.push(`${counted(folded, "accent")} folded, ${counted(dropped, "character")} dropped`);
  const total = heldOut.join("").length;
  if (total > MOST_HELD_OUT) {
    const share = Math.max(window, Math.floor(MOST_HELD_OUT / heldOut.length));
    heldOut = heldOut.map((piece) => piece.slice(0, share));
    const kept = heldOut.join("").length.toLocaleString("en");
    const all = counted(total, "held-out character");
    notes.push(`of ${all} ${kept} are measured on, no others used`);
  }
  const windows = heldOut.map((piece) => piece.slice(0, piece.length - (piece.length % window)));
  return {
    text: idsOf(train.map((piece) => `${piece}\n`).join("")),
    heldOut: Int32Array.from(idsOf(windows.join(""))),
    sha256: await fingerprint(train, heldOut),
    normalised: text,
    report: notes.join("; "),
  };
}

/**
 * Cut a normalised text into stretches of about equal length, each at least one window long.
 * @param {string} text
 * @param {number} window
 */
function cut(text, window) {
  const { length } = text;
  const n = Math.max(2, Math.min(100, Math.floor(length / (2 * window))));
  const pieces = [];
  let last = 0;
  for (let k = 1; k < n; k++) {
    const target = Math.max(Math.floor((length * k) / n), last + window);
    if (target > length - window) break;
    const until = Math.min(target, length - 2 * window) + window;
    const endOfLine = text.slice(target, until).indexOf("\n");
    const next = target + endOfLine + 1; // or the target itself, because -1 says that there is none
    pieces.push(text.slice(last, next));
    last = next;
  }
  return [...pieces, text.slice(last)];
}

/**
 * The ids of normalised text.
 * @param {string | ArrayBuffer} text
 */
export function idsOf(text) {
  const table = new Uint8Array(128);
  for (const [id, character] of [...ALPHABET].entries()) table[character.charCodeAt(0)] = id;
  const ids = typeof text === "string" ? new TextEncoder().encode(text) : new Uint8Array(text);
  for (let i = 0; i < ids.length; i++) ids[i] = table[ids[i]];
  return ids;
}

/**
 * The digest of the texts and their split; "" on a page that came without https, where browsers make
 * none.
 * @param {string[]} train
 * @param {string[]} heldOut
 */
async function fingerprint(train, heldOut) {
  if (!globalThis.crypto?.subtle) return "";
  const whole = [train, heldOut].map(
    (pieces) => `${pieces.map((each) => `${each}\0`).join("")}\x01`,
  );
  return sha256(new TextEncoder().encode(whole.join("")));
}

/** @param {BufferSource} bytes */
export async function sha256(bytes) {
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
