// The gap on a page: it is there before the models have come, which answer when they are.

import { Model } from "../src/cloze/widgets/browser/widget.js";

/**
 * @import { Answers, Traits } from "../src/cloze/explorer/parts.js"
 * @import { Readers } from "./twins/answers.js"
 * @import { Words } from "./words.js"
 */

/**
 * @param {Traits} state  What `Gap.alone` in Python returns.
 * @param {Promise<{ letters: Readers, words: Words }>} loading
 * @returns {Model<Traits, Answers>}
 */
export function gapModel(state, loading) {
  let asked = 0;
  return new Model(state, async (/** @type {string} */ what, /** @type {any} */ sent) => {
    const { letters, words } = await loading;
    const comes = asked++ && words.load(); // while the second line is played
    const wide = sent.truth.some((/** @type {string} */ symbol) => symbol.length > 1);
    if (!wide) return letters.ask(what, sent);
    await comes;
    return words.ask(what, sent);
  });
}
