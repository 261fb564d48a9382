// What text becomes: symbols and their ids, and how any text is reduced to 28 characters;
// src/cloze/vocabulary.py, with the same sentences.

import { ValueError } from "../../src/cloze/widgets/browser/widget.js";
import { counted } from "../../src/cloze/widgets/browser/words.js";

/** Text that cannot be used as it is; the message says why and what to do. */
export class TextError extends ValueError {
  name = "TextError";
}

/** The 28 characters of normalised text, in the order of their ids. */
export const ALPHABET = "\n abcdefghijklmnopqrstuvwxyz";
/** How a learner types a gap: one key instead of [MASK]. */
export const GAP = "_";

// What Python counts as white space; JavaScript's \s is another set.
// biome-ignore lint/suspicious/noControlCharactersInRegex: to Python, four of them are white space
export const SPACE = /[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with control characters
const BEYOND_ASCII = /[^\x00-\x7f]+/gu;
// Letters that Unicode does not decompose into a base letter and an accent.
/** @type {Record<string, string>} */
const WRITTEN_OUT = {
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  ħ: "h",
  ß: "ss",
};

/**
 * Reduce any text to the 28 characters: newline, space, a–z; characters in `keep` pass unchanged.
 * @param {string} text
 * @param {string} keep
 * @returns {{ text: string, folded: number, dropped: number }} folded: how many letters lost an
 *   accent or were written out; dropped: how many characters became a space or vanished.
 */
export function normalise(text, keep = "") {
  const plain = text.replace(/\r\n?/g, "\n").replaceAll("\t", " ").normalize("NFC");
  let folded = 0;
  /** @type {Map<string, string>} */
  const known = new Map();
  /** @param {string} character */
  const written = (character) => {
    const letters = known.get(character) ?? inAscii(character);
    known.set(character, letters);
    folded += Number(/^[a-z]/.test(letters));
    return letters;
  };
  const raw = plain.replace(BEYOND_ASCII, (run) => Array.from(run, written).join("")).toLowerCase();
  const dropped = raw.replace(new RegExp(`[${ALPHABET}${keep}]+`, "g"), "").length;
  const usable = raw.replaceAll("'", "").replace(new RegExp(`[^${ALPHABET}${keep}]`, "g"), " ");
  const tidy = usable.replace(/ {2,}/g, " ").replace(/ ?\n[\n ]*/g, "\n");
  return { text: tidy.replace(/^[ \n]+|[ \n]+$/g, ""), folded, dropped };
}

/**
 * The letters a–z that a character stands for, or what else is put in its place.
 * @param {string} character
 */
function inAscii(character) {
  if (/\p{L}/u.test(character)) {
    const decomposed = [...character.normalize("NFKD").toLowerCase()];
    const letters = decomposed.map((letter) => WRITTEN_OUT[letter] ?? letter).join("");
    const kept = letters.replace(/[^a-z]/g, "");
    if (kept) return kept;
  }
  if (character === "’" || isCombining(character)) return "'"; // vanishes
  return SPACE.test(character) ? " " : "?"; // becomes a space, as all punctuation does
}

/**
 * Whether Unicode gives a character a combining class: then, and only then, it changes places with
 * a mark of a lower class before it (the highest is that of U+0345, the lowest that of U+0334).
 * @param {string} character
 */
export function isCombining(character) {
  const behind = `a${character}\u0334`.normalize("NFD");
  const before = `a\u0345${character}`.normalize("NFD");
  return behind.startsWith("a\u0334") || !before.startsWith("a\u0345") || character === "\u0345";
}

/**
 * Write [MASK] and <mask> as the gaps that they stand for.
 * @param {string} text
 */
export const withGaps = (text) => text.replace(/\[mask\]|<mask>/giu, GAP);

/**
 * Read a line as a learner types it: _, [MASK] or <mask> marks a gap.
 * @param {string} text
 * @param {number} maxLen
 * @returns {{ line: string[], note: string }} note: what normalising changed ("" if nothing).
 * @throws {TextError} Nothing usable is left, or more than `maxLen` characters.
 */
export function readLine(text, maxLen) {
  const typed = withGaps(text);
  const clean = normalise(typed, GAP);
  if (!clean.text) {
    const why = `: ${unknown(typed)} are not among the ${ALPHABET.length} characters`;
    throw new TextError(
      `The line is empty${clean.dropped ? why : ""}; type some letters, and _ for every gap.`,
    );
  }
  if (clean.text.length > maxLen) {
    throw new TextError(
      `The line has ${clean.text.length} characters and the model reads ${maxLen}; shorten it.`,
    );
  }
  const notes = [];
  if (clean.folded) notes.push(`${counted(clean.folded, "accent")} folded`);
  if (clean.dropped) notes.push(`${counted(clean.dropped, "character")} dropped`);
  return { line: [...clean.text], note: notes.join(", ") };
}

/**
 * What kinds of characters of a text, none of which is usable, are in it.
 * @param {string} text
 */
function unknown(text) {
  /** @type {Record<string, (character: string) => boolean>} */
  const kinds = {
    digits: (c) => /\p{Nd}/u.test(c),
    "letters of other scripts": (c) => /\p{L}/u.test(c),
    signs: (c) => !/[\p{L}\p{N}]/u.test(c) && !SPACE.test(c),
  };
  const found = Object.keys(kinds).filter((kind) => [...text].some(kinds[kind]));
  return found.join(" and ") || "such characters";
}
