// The words' encoder of the page, which answers in a worker: loaded when somebody asks for it.

import { Thread } from "./train.js";

/** @import { Traits } from "../src/cloze/explorer/parts.js" */
/** @import { Bytes } from "./load.js" */
/** @import { Examples } from "./twins/answers.js" */

const FILE = "words.safetensors";

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
   */
  constructor(bytes, script, examples) {
    this.#bytes = bytes;
    this.#examples = examples;
    this.#thread = new Thread(script);
  }

  /**
   * Have it loaded; what an explorer begins with is returned.
   * @param {(n: number) => void} [told]  Is told how many bytes have come.
   */
  load(told) {
    this.#loaded ??= this.#load(told).catch((error) => {
      this.#loaded = undefined; // the next time may be luckier
      this.#thread.dismiss();
      throw error;
    });
    return this.#loaded;
  }

  /** @param {(n: number) => void} [told] */
  async #load(told) {
    const module = await this.#bytes("engine.wasm");
    // What keeps files for later may itself come later, on a first visit: it is shown this one then.
    const again = () => this.#loaded?.then(() => this.#bytes(FILE));
    navigator.serviceWorker?.addEventListener("controllerchange", again, { once: true });
    const bytes = await this.#bytes(FILE, told);
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
