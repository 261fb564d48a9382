// How numbers and symbols are written: what vocabulary.py and markup.py of src/cloze say in words.

/**
 * Write a number with so many decimals.
 * @param {number} number
 * @param {number} decimals
 */
export function fixed(number, decimals) {
  return Number.isFinite(number) ? number.toFixed(decimals) : "∞";
}

/**
 * Write a probability in percent, without decimals.
 * @param {number} probability
 */
export function percent(probability) {
  return `${fixed(probability * 100, 0)}%`;
}

/**
 * Write a cost in nats, which may be infinite.
 * @param {number} cost
 */
export function inNats(cost) {
  return fixed(cost, 2);
}

/**
 * Write a cost in nats as bits.
 * @param {number} cost
 */
export function inBits(cost) {
  return inNats(cost / Math.LN2);
}

/**
 * Write a change: "+0.96", "−0.11".
 * @param {number} amount
 */
export function signed(amount) {
  return (amount < 0 ? "−" : "+") + fixed(Math.abs(amount), 2);
}

/**
 * Write a number with its noun: "1 gap", "2 gaps".
 * @param {number} n
 * @param {string} what
 */
export function counted(n, what) {
  return `${`${n}`.replace(/\B(?=(\d{3})+$)/g, ",")} ${what}${n === 1 ? "" : "s"}`;
}

/** @type {Record<string, string>} */
const SIGNS = { " ": "␣", "\n": "↵", "[MASK]": "▒" };

/**
 * Return a sign for a symbol that could not be seen otherwise.
 * @param {string} symbol
 */
export function visible(symbol) {
  return SIGNS[symbol] ?? symbol;
}

/** @type {Record<string, string>} */
const NAMES = { " ": "space", "\n": "new line" };

/**
 * Return how a screen reader is to say a symbol.
 * @param {string} symbol
 */
export function spoken(symbol) {
  return NAMES[symbol] ?? symbol;
}

/**
 * Begin with a capital and leave the rest.
 * @param {string} text
 */
export function capitalised(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/**
 * Return the sum of numbers.
 * @param {number[]} numbers
 */
export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
