// A source of chance that gives the same numbers for the same seed, and the same as torch's
// generator does: Matsumoto and Nishimura's MT19937.

const SIZE = 624;

export class Chance {
  #state = new Uint32Array(SIZE);
  #next = SIZE;

  constructor(seed) {
    this.#state[0] = seed;
    for (let i = 1; i < SIZE; i++) {
      const before = this.#state[i - 1];
      this.#state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
  }

  /** Return 32 random bits. */
  bits() {
    if (this.#next === SIZE) this.#turn();
    let y = this.#state[this.#next++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** Return a number from 0 to 1, as torch.rand draws it in float32. */
  uniform() {
    return (this.bits() & 0xffffff) / 2 ** 24;
  }

  /** Return a whole number from `low` to below `high`, as torch.randint draws it. */
  below(low, high) {
    return low + (this.bits() % (high - low));
  }

  /** Return the numbers from 0 to below `n` in random order, as torch.randperm draws it. */
  permutation(n) {
    const order = Array.from({ length: n }, (_, i) => i);
    for (let i = 0; i < n - 1; i++) {
      const other = i + this.below(0, n - i);
      [order[i], order[other]] = [order[other], order[i]];
    }
    return order;
  }

  #turn() {
    const state = this.#state;
    for (let i = 0; i < SIZE; i++) {
      const mixed = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
      const twist = mixed & 1 ? 0x9908b0df : 0;
      state[i] = state[(i + 397) % SIZE] ^ (mixed >>> 1) ^ twist;
    }
    this.#next = 0;
  }
}
