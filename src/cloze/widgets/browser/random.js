// A source of chance that gives the same numbers for the same seed.

/**
 * Return a function that draws numbers from 0 to 1 (Mulberry32), after the first `skipped` ones.
 * @param {number} seed
 * @returns {() => number}
 */
export function randomOf(seed, skipped = 0) {
  let state = seed + Math.imul(skipped, 0x6d2b79f5);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
