// The gap on a page: it is there before the models have come, which answer when they are.

import { Model } from "../src/cloze/widgets/browser/widget.js";
import { Readers } from "./twins/answers.js";

/**
 * @import { Answers, Traits } from "../src/cloze/explorer/parts.js"
 * @import { Predictors } from "./twins/predictors.js"
 * @import { Words } from "./words.js"
 */

/**
 * @param {Traits} state  What `Gap.alone` in Python returns.
 * @param {Promise<{ predictors: Predictors, words: Words }>} loading
 * @returns {Model<Traits, Answers>}
 */
export function gapModel(state, loading) {
  /** @type {Predictors} */
  let letters;
  const readers = new Readers(() => letters);
  let asked = 0;
  return new Model(state, async (/** @type {string} */ what, /** @type {any} */ sent) => {
    const { predictors, words } = await loading;
    letters = predictors;
    const comes = asked++ && words.load(); // while the second line is played
    const wide = sent.truth.some((/** @type {string} */ symbol) => symbol.length > 1);
    if (!wide) return readers.ask(what, sent);
    await comes;
    return words.ask(what, sent);
  });
}
