// The room's bet: a show of hands as probabilities, and how an hour of it went. Hands are
// {symbol: how many were raised}; why one is shared by all says src/cloze/widgets/explorer/tally.py.

import { sum } from "./words.js";

export const ROOM = "room"; // the room's name among those who guess
export const MOST_HANDS = 10_000;

/** Return how many hands were raised in all. */
export function raised(hands) {
  return sum(Object.values(hands));
}

/** Return the probability that a show of hands gives one of `n` symbols. */
export function bet(hands, symbol, n) {
  return ((hands[symbol] ?? 0) + 1 / n) / (raised(hands) + 1);
}

/** Return −log P of the truth in nats; null where nobody knows it. */
export function cost(hands, truth, n) {
  return truth === null ? null : -Math.log(bet(hands, truth, n));
}

/** Return what those are called who raised so many hands. */
export function who(nHands) {
  return nHands === 1 ? "you" : "the room";
}

/**
 * Return how everybody stands, {mean, nGaps} by name, in the order in which they were first asked.
 * What was `paid` is {n_hands, costs} for each gap; costs are −log P in nats by name.
 */
export function standings(paid) {
  const names = [...new Set(paid.flatMap(({ costs }) => Object.keys(costs)))];
  const of = (name) =>
    paid.filter(({ costs }) => name in costs).map(({ costs }) => Number(costs[name]));
  return Object.fromEntries(
    names.map((name) => [name, { mean: sum(of(name)) / of(name).length, nGaps: of(name).length }]),
  );
}

/** Return who paid least, of those who were asked at every gap; several if they paid alike. */
export function best(paid) {
  const everywhere = Object.entries(standings(paid)).filter(
    ([, each]) => each.nGaps === paid.length,
  );
  const least = Math.min(...everywhere.map(([, { mean }]) => mean));
  return everywhere.filter(([, { mean }]) => mean === least).map(([name]) => name);
}
