// The room's bet: a show of hands as probabilities, what it costs, and how an hour of it went. The
// port of src/cloze/widgets/explorer/room.py. Hands are {symbol: how many were raised}.

import { sum } from "./words.js";

export const ROOM = "room"; // the room's name among those who guess
export const MOST_HANDS = 10_000;
const SHARED = 1; // hands that all symbols share alike, so that every price is finite

/** Return how many hands were raised in all. */
export function raised(hands) {
  return sum(Object.values(hands));
}

/** Turn a show of hands into a probability for each symbol; they sum to 1 and none is 0. */
export function bet(hands, known) {
  const total = raised(hands) + SHARED;
  return known.map((symbol) => ((hands[symbol] ?? 0) + SHARED / known.length) / total);
}

/** Return −log P of the truth in nats; null where nobody knows it. */
export function cost(hands, known, truth) {
  return truth === null ? null : -Math.log(bet(hands, known)[known.indexOf(truth)]);
}

/** Return the probability of each symbol that nobody named. */
export function unnamed(hands, known) {
  return SHARED / known.length / (raised(hands) + SHARED);
}

/** Return what those are called who raised so many hands. */
export function who(nHands) {
  return nHands === 1 ? "you" : "the room";
}

/**
 * Return how everybody stands, {mean, nGaps} by name, in the order in which they were first asked.
 * What was `paid` is {nHands, costs} for each gap; costs are −log P in nats by name.
 */
export function standings(paid) {
  const names = [...new Set(paid.flatMap(({ costs }) => Object.keys(costs)))];
  const of = (name) => paid.map(({ costs }) => costs[name]).filter((cost) => cost !== undefined);
  return Object.fromEntries(
    names.map((name) => [name, { mean: sum(of(name)) / of(name).length, nGaps: of(name).length }]),
  );
}

/** Return who paid least, of those who were asked at every gap; several if they paid alike. */
export function best(paid) {
  const everywhere = Object.entries(standings(paid)).filter(([, each]) => each.nGaps === paid.length);
  const least = Math.min(...everywhere.map(([, { mean }]) => mean));
  return everywhere.filter(([, { mean }]) => mean === least).map(([name]) => name);
}
