// The gap on a page: it is there before the models have come, which answer when they are.

import { Model } from "../src/cloze/widgets/browser/widget.js";
import { beginning, Readers } from "./twins/answers.js";
import { CHARACTERS } from "./twins/symbols.js";

/**
 * @import { Predictors } from "./twins/predictors.js"
 * @import { Words } from "./words.js"
 */

/**
 * @param {any} state  What `Gap.alone` in Python returns.
 * @param {Promise<{ predictors: Predictors, words: Words }>} loading
 */
export function gapModel(state, loading) {
  const [{ truth, masked }] = state.examples;
  const begins = beginning(
    { symbols: CHARACTERS, maxLen: truth.length },
    {},
    {
      line: truth.join(""),
      masked,
      focus: masked[0],
      view: "guesses",
      guess_first: "once",
      tools: false,
    },
  );
  /** @type {Predictors} */
  let letters;
  const readers = new Readers(() => letters);
  const ask = async (/** @type {string} */ what, /** @type {any} */ sent) => {
    const { predictors, words } = await loading;
    letters = predictors;
    if (what === "words") return words.load();
    const wide = sent.truth.some((/** @type {string} */ symbol) => symbol.length > 1);
    return (wide ? words : readers).ask(what, sent);
  };
  return new Model({ ...begins, ...state }, ask);
}
