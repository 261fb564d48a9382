// What a line is made of, how text becomes a line, and how a line is written again:
// src/cloze/prediction/symbols.py, with the same sentences for the learner.

import { counted } from "../../src/cloze/widgets/browser/words.js";
import { named, plainWords, tokenizerOf } from "./tokenizer.js";
import { ALPHABET, GAP, readLine, TextError, withGaps } from "./vocabulary.js";

/**
 * @typedef {string[]} Line  One symbol per position; GAP where nobody knows it.
 *
 * @typedef {object} Symbols  Bad input throws a TextError.
 * @property {string[]} known  What may stand in a gap, in the order of the probabilities.
 * @property {number} size  |V|: the number of symbols, special ones included.
 * @property {number} maskId
 * @property {string} unit  What one of them is called.
 * @property {boolean} wide  Whether some are longer than a character.
 * @property {number} framed  How many special symbols the model reads on either side of the line.
 * @property {(text: string, maxLen: number) => { line: Line, note: string }} read  A line as it is
 *   typed, _ or [MASK] for a gap; the note says what reading changed ("" if nothing).
 * @property {(typed: string) => string} readSymbol  What somebody puts into a gap.
 * @property {(line: Line) => string} write
 * @property {(line: Line) => number[][]} words  The positions of each word.
 * @property {(line: Line) => number[]} ids  What the model reads, [MASK] for a gap.
 */

/** @type {Symbols} The 28 characters. */
export const CHARACTERS = {
  known: [...ALPHABET],
  size: ALPHABET.length + 1,
  maskId: ALPHABET.length,
  unit: "character",
  wide: false,
  framed: 0,
  read: readLine,
  readSymbol(typed) {
    const lower = typed.toLowerCase();
    if (CHARACTERS.known.includes(lower)) return lower;
    throw new TextError("A gap holds one letter, a space or a newline.");
  },
  write: (line) => line.join(""),
  words: (line) =>
    [...line.join("").matchAll(/\S+/g)].map(({ index, 0: word }) =>
      Array.from(word, (_, i) => index + i),
    ),
  ids: (line) =>
    line.map((symbol) => (symbol === GAP ? ALPHABET.length : ALPHABET.indexOf(symbol))),
};

/**
 * The pieces of a tokenizer, written as BERT does; a line stands between two [SEP].
 * @param {{ ordinary: string[], specials: string[] }} vocabulary
 * @returns {Symbols}
 */
export function wordPieces({ ordinary, specials }) {
  const known = ordinary.map(named);
  const places = new Map([...known, ...specials].map((symbol, id) => [symbol, id]));
  const id = (/** @type {string} */ symbol) => Number(places.get(symbol));
  places.set(GAP, id("[MASK]"));
  const cut = tokenizerOf(ordinary);
  /** @param {string[]} words */
  const pieces = (words) => words.flatMap((word) => (word === GAP ? [GAP] : cut(word).map(named)));
  return {
    known,
    size: known.length + specials.length,
    maskId: id(GAP),
    unit: "piece",
    wide: true,
    framed: 1,
    read(text, maxLen) {
      const line = pieces(plainWords(withGaps(text).replace(/_+/g, GAP)));
      if (!line.length)
        throw new TextError("The line is empty; type some words, and _ for every gap.");
      if (line.length > maxLen) {
        const length = counted(line.length, "piece");
        throw new TextError(`The line has ${length} and the model reads ${maxLen}; shorten it.`);
      }
      return { line, note: "" };
    },
    readSymbol(typed) {
      const lower = typed.toLowerCase();
      if (known.includes(lower)) return lower;
      const line = pieces(plainWords(lower.replaceAll(GAP, " ")));
      if (line.length === 1) return line[0];
      const parts = line.length ? `: it is cut into ${line.join(" ")}` : "";
      throw new TextError(`A gap holds one piece, not ${typed.slice(0, 60)}${parts}.`);
    },
    write: (line) =>
      line
        .join(" ")
        .replaceAll(" ##", "")
        .replace(/ (?=[.,;:!?)])|(?<=\() /g, ""),
    words(line) {
      const starts = [...line.keys()].filter((at) => at === 0 || !line[at].startsWith("##"));
      return starts.map((start, i) => {
        const { length } = line.slice(start, starts[i + 1] ?? line.length);
        return Array.from({ length }, (_, j) => start + j);
      });
    },
    ids: (line) => [id("[SEP]"), ...line.map(id), id("[SEP]")],
  };
}
