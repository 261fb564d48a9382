// torch's random numbers, draw by draw: the Mersenne Twister of its CPU generator.
//
// A training that is begun here and goes on in Python, or the other way round, must draw the same
// windows and masks; so this is what torch.Generator does, down to how it writes its state.

const N = 624;
const M = 397;
/** Bytes of torch.Generator.get_state(): a struct of C, with gaps. */
export const STATE_BYTES = 5056;

export class Generator {
  /** @param {number} [seed]  As torch.Generator().manual_seed(seed), below 2³². */
  constructor(seed = 0) {
    this.seed = seed;
    this.words = new Uint32Array(N);
    this.words[0] = seed;
    for (let i = 1; i < N; i++) {
      const before = this.words[i - 1] ^ (this.words[i - 1] >>> 30);
      this.words[i] = Math.imul(1812433253, before) + i;
    }
    this.left = 1;
    this.next = 0;
  }

  /** A whole number from 0 to 2³² − 1. */
  word() {
    if (--this.left === 0) this.#mix();
    let y = this.words[this.next++];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** As torch.rand: a number from 0 up to 1, a multiple of 2⁻²⁴. */
  uniform() {
    return (this.word() & 0xffffff) / 0x1000000;
  }

  /**
   * As torch.randint(range): a whole number from 0 to range − 1.
   * @param {number} range  Below 2²⁸.
   */
  below(range) {
    return this.word() % range;
  }

  #mix() {
    const { words } = this;
    for (let i = 0; i < N; i++) {
      const y = (words[i] & 0x80000000) | (words[(i + 1) % N] & 0x7fffffff);
      words[i] = words[(i + M) % N] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.left = N;
    this.next = 0;
  }

  /** As torch.Generator.get_state(). */
  get state() {
    const bytes = new Uint8Array(STATE_BYTES);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, this.seed, true);
    view.setInt32(8, this.left, true);
    view.setInt32(12, 1, true); // it has been given a seed
    view.setUint32(16, this.next, true);
    for (const [i, word] of this.words.entries()) view.setUint32(24 + 8 * i, word, true);
    return bytes;
  }

  /** @param {Uint8Array} bytes */
  set state(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.seed = view.getUint32(0, true);
    this.left = view.getInt32(8, true);
    this.next = view.getUint32(16, true);
    this.words.forEach((_, i) => {
      this.words[i] = view.getUint32(24 + 8 * i, true);
    });
  }
}
