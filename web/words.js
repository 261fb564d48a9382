// The words' encoder of the page, which answers in a worker: loaded when somebody asks for it.

import { Thread } from "./train.js";

/** @import { Traits } from "../src/cloze/explorer/parts.js" */
/** @import { Bytes } from "./load.js" */
/** @import { Examples } from "./twins/answers.js" */

export class Words {
  #bytes;
  #examples;
  #thread;
  /** @type {Promise<Traits> | undefined} */
  #loaded;

  /**
   * @param {Bytes} bytes
   * @param {string | Blob} script  The worker's, or its address.
   * @param {Examples} examples
   * @param {(n: number) => void} [told]
   */
  constructor(bytes, script, examples, told) {
    this.#bytes = (/** @type {string} */ name) => bytes(name, told);
    this.#examples = examples;
    this.#thread = new Thread(script);
  }

  /** Have it loaded; what an explorer begins with is returned. */
  load() {
    this.#loaded ??= this.#load().catch((error) => {
      this.#loaded = undefined; // the next time may be luckier
      this.#thread.dismiss();
      throw error;
    });
    return this.#loaded;
  }

  async #load() {
    const [bytes, module] = await Promise.all(
      ["words.safetensors", "engine.wasm"].map((name) => this.#bytes(name)),
    );
    this.#thread.hire();
    return this.#thread.ask("words", { bytes, module, examples: this.#examples });
  }

  /**
   * Have it answer as `Readers` do.
   * @param {string} what
   * @param {unknown} sent
   */
  ask(what, sent) {
    return this.#thread.ask("tell", { what, sent });
  }
}
