// How numbers and symbols are written: what vocabulary.py and markup.py of src/cloze say in words.

/**
 * Write a number with so many decimals as Python does: what lies exactly between goes to even.
 * @param {number} number
 * @param {number} decimals
 */
export function fixed(number, decimals) {
  if (!Number.isFinite(number)) return `${number}`.replace("Infinity", "inf");
  const written = number.toFixed(decimals); // exact, but for ties, which it writes away from zero
  const scaled = Math.abs(number) * 10 ** decimals;
  // Eighths and the like: only of them are twice as many exactly whole, and odd.
  const tied = scaled % 1 === 0.5 && Number.isInteger(number * 2 ** (decimals + 1));
  if (!tied || Math.floor(scaled) % 2) return Object.is(number, -0) ? `-${written}` : written;
  return `${number < 0 ? "-" : ""}${(Math.floor(scaled) / 10 ** decimals).toFixed(decimals)}`;
}

/**
 * Write a number with one significant digit, as Python's ".1g".
 * @param {number} number
 */
export function oneDigit(number) {
  const [digit, exponent] = number.toExponential(0).split("e");
  if (Number(exponent) >= -4) return number.toPrecision(1);
  return `${digit}e-${exponent.slice(1).padStart(2, "0")}`;
}

/**
 * Round to a whole number; what lies exactly between goes to the even one.
 * @param {number} number
 */
export function rounded(number) {
  return Number(fixed(number, 0));
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
  return cost === Infinity ? "∞" : fixed(cost + 0, 2);
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
  const sign = amount < 0 || Object.is(amount, -0) ? "−" : "+";
  return sign + fixed(Math.abs(amount), 2).replace("inf", "∞");
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
