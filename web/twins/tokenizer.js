// Word pieces by byte-pair encoding: src/cloze/tokenizer.py, for pieces that are known already.

import { GAP, isCombining } from "./vocabulary.js";

const START = "▁"; // in front of every word
/** @type {Record<string, string>} */
const QUOTES = { "’": "'", "‘": "'", "“": '"', "”": '"', "—": "-", "–": "-", "‐": "-" };
const WORD = new RegExp(`[a-z]+(?:'[a-z]+)*|[0-9]+|[.,;:!?"()-]|${GAP}`, "g");

/**
 * Cut a text into words, numbers, signs and gaps, in small letters and without accents.
 * @param {string} text
 * @returns {string[]}
 */
export function plainWords(text) {
  const plain = text.replace(/[’‘“”—–‐]/g, (sign) => QUOTES[sign]).normalize("NFKD");
  const bare = Array.from(plain, (each) => (each > "~" && isCombining(each) ? "" : each)).join("");
  return bare.toLowerCase().match(WORD) ?? [];
}

/**
 * Merge neighbouring pieces as long as there is a merge for them, the oldest first.
 * @param {string[]} pieces
 * @param {Map<string, number>} ranks
 */
function cut(pieces, ranks) {
  const rank = (/** @type {number} */ i) => ranks.get(pieces.slice(i, i + 2).join(" ")) ?? Infinity;
  for (;;) {
    const oldest = Math.min(...pieces.map((_, i) => rank(i)));
    if (oldest === Infinity) return pieces;
    const joined = [];
    for (let i = 0; i < pieces.length; i++)
      joined.push(rank(i) === oldest ? pieces[i] + pieces[++i] : pieces[i]);
    pieces = joined;
  }
}

/**
 * Return what cuts a word into some pieces. They are in the order in which they came, so those before a
 * piece say which two it was merged from.
 * @param {string[]} ordinary
 * @returns {(word: string) => string[]}
 */
export function tokenizerOf(ordinary) {
  /** @type {Map<string, number>} */
  const ranks = new Map();
  for (const piece of ordinary)
    if (piece.length > 1) ranks.set(cut([...piece], ranks).join(" "), ranks.size);
  return (word) => cut([...(START + word)], ranks);
}

/**
 * Write a piece as BERT does: `##` in front of what goes on with a word, no `▁`.
 * @param {string} piece
 */
export function named(piece) {
  if (piece === START) return piece;
  return piece.startsWith(START) ? piece.slice(START.length) : `##${piece}`;
}
