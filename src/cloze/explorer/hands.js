// The room's bet: a show of hands as probabilities, and how an hour of it went.

import { sum } from "../widgets/browser/words.js";

/**
 * @typedef {Record<string, number>} Hands  How many were raised, by symbol.
 *
 * @typedef {object} Paid  What one gap has cost.
 * @property {string} line
 * @property {number} at  Its position.
 * @property {number} n_hands
 * @property {Record<string, number | string | null>} costs  −log P of the truth in nats, by the
 *   name of who guessed; Python writes an infinite one as text.
 */

export const ROOM = "room"; // the room's name among those who guess
export const MOST_HANDS = 10_000;

/**
 * Return how many hands were raised in all.
 * @param {Hands} hands
 */
export function raised(hands) {
  return sum(Object.values(hands));
}

/**
 * Return the probability that a show of hands gives one of `n` symbols. All symbols share one hand
 * more than were raised. It keeps every cost finite, and few hands from being a sure bet: of one hand
 * the named symbol has about a half, of thirty nearly all. A fixed share, say 1%, would sell a single
 * hand as 99% sure, and one miss, 8.0 nats, would outweigh the hour. This is additive smoothing with
 * α = 1 / |V|.
 * @param {Hands} hands
 * @param {string} symbol
 * @param {number} n
 */
export function bet(hands, symbol, n) {
  return ((hands[symbol] ?? 0) + 1 / n) / (raised(hands) + 1);
}

/**
 * Return −log P of the truth in nats.
 * @param {Hands} hands
 * @param {string} truth
 * @param {number} n
 */
export const cost = (hands, truth, n) => -Math.log(bet(hands, truth, n));

/**
 * Return "you" for one hand, "the room" for more.
 * @param {number} nHands
 */
export function guesserName(nHands) {
  return nHands === 1 ? "you" : "the room";
}

/**
 * Return how everybody stands, by name, in the order in which they were first asked.
 * @param {Paid[]} paid  For each gap.
 * @returns {Record<string, { mean: number, nGaps: number }>}  The mean in nats.
 */
export function standings(paid) {
  const names = [...new Set(paid.flatMap(({ costs }) => Object.keys(costs)))];
  const of = (/** @type {string} */ name) =>
    paid.filter(({ costs }) => name in costs).map(({ costs }) => Number(costs[name]));
  return Object.fromEntries(
    names.map((name) => [name, { mean: sum(of(name)) / of(name).length, nGaps: of(name).length }]),
  );
}

/**
 * Return who paid least, of those who were asked at every gap; several if they paid alike.
 * @param {Paid[]} paid
 */
export function best(paid) {
  const everywhere = Object.entries(standings(paid)).filter(
    ([, each]) => each.nGaps === paid.length,
  );
  const least = Math.min(...everywhere.map(([, { mean }]) => mean));
  return everywhere.filter(([, { mean }]) => mean === least).map(([name]) => name);
}
