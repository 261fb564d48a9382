// torch's random numbers, which the engine draws.

/** @import { Exports } from "./engine.js" */

/** Bytes of torch.Generator.get_state(). */
export const STATE_BYTES = 5056;

export class Generator {
  /**
   * @param {Exports} c  Of an engine, which draws from one generator at a time.
   * @param {number} [seed]  As torch.Generator().manual_seed(seed), below 2³².
   */
  constructor(c, seed = 0) {
    this.c = c;
    c.seed(seed);
  }

  get #bytes() {
    return new Uint8Array(this.c.memory.buffer, this.c.generator_at(), STATE_BYTES);
  }

  /** As torch.Generator.get_state(). */
  get state() {
    return this.#bytes.slice();
  }

  /** @param {Uint8Array} bytes */
  set state(bytes) {
    this.#bytes.set(bytes);
  }
}
