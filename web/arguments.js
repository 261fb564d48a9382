// What is sent from a page, a link or a file, read at its border and refused in one sentence:
// src/cloze/arguments.py, with the same sentences.

/** What is wrong with what was given, and what to do, in one sentence for the learner. */
export class ValueError extends Error {
  name = "ValueError";
}

const LONGEST = 60; // the most characters of a value that a sentence repeats
const ENDS = [28, 29]; // how many of its first and last are kept where it is longer

/** Write a value as a message repeats it: as Python would, on one line, and shortened. */
export function shown(value) {
  const written = typeof value === "string" ? quoted(value) : plain(value);
  return written.split(/\s+/u).filter(Boolean).join(" ");
}

function plain(value) {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Number.isNaN(value)) return "nan";
  return String(value).replace("Infinity", "inf");
}

function quoted(text) {
  const characters = [...text];
  const whole = escaped(characters.slice(0, LONGEST));
  if (whole.length <= LONGEST) return whole.join("");
  const [first, last] = ENDS;
  const tail = characters.slice(characters.length - last);
  const ends = escaped([...characters.slice(0, first), ...tail]);
  return [...ends.slice(0, first), "...", ...ends.slice(-last)].join("");
}

/** Write characters as Python's repr does; the quotation marks are the first and the last. */
function escaped(characters) {
  const single = !characters.includes("'") || characters.includes('"');
  const named = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  if (single) named["'"] = "\\'";
  const quote = single ? "'" : '"';
  const written = characters.map((character) => {
    if (named[character]) return named[character];
    if (character === " " || !/[\p{C}\p{Z}]/u.test(character)) return character;
    const code = character.codePointAt(0);
    const hex = (letter, digits) => `\\${letter}${code.toString(16).padStart(digits, "0")}`;
    return code < 0x100 ? hex("x", 2) : code < 0x10000 ? hex("u", 4) : hex("U", 8);
  });
  return [...[quote, ...written, quote].join("")];
}

/** Return what Python calls the type of a value. */
export function typeOf(value) {
  if (value === null || value === undefined) return "NoneType";
  const named = { string: "str", boolean: "bool", number: Number.isInteger(value) ? "int" : "float" };
  return named[typeof value] ?? "dict";
}

/**
 * Read a whole number from `low` to `high`; one that came as text is read, too.
 * `what` it is begins the sentence that refuses it.
 */
export function wholeNumber(value, low, high, what) {
  const text = typeof value === "string" ? value.trim().replace(/(?<=\d)_(?=\d)/g, "") : "";
  const read = typeof value === "number" ? value : /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
  if (Number.isInteger(read) && read >= low && read <= high) return read + 0; // never -0
  throw new ValueError(`${what} is a whole number from ${low} to ${high}, not ${shown(value)}.`);
}

/** Read positions in a line of `length` symbols. */
export function positions(values, length) {
  return values.map((value) => wholeNumber(value, 0, length - 1, "A position in this line"));
}

/** Read a word of a few. */
export function oneOf(value, choices, what) {
  if (typeof value === "string" && choices.includes(value)) return value;
  throw new ValueError(`${what} is one of ${choices.join(", ")}, not ${shown(value)}.`);
}
