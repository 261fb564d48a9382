// Which models guess on the page: the three that came with it or, once one has been trained or loaded
// there, that one.

import { select } from "../src/cloze/widgets/browser/element.js";
import { Model, Widget } from "../src/cloze/widgets/browser/widget.js";
import { counted } from "../src/cloze/widgets/browser/words.js";
import { Engine } from "./engine/engine.js";
import { Baseline, MaskedPredictor } from "./twins/predictors.js";

/**
 * @import { Predictors } from "./twins/predictors.js"
 * @import { Yours } from "./train.js"
 */

const SERIES = "series";
const YOURS = "yours";

/** The models that can guess, and which of them do. */
export class ModelChoice {
  /** @type {Predictors | undefined} */
  #yours;

  /**
   * @param {Predictors} series
   * @param {WebAssembly.Module} module  The engine.
   */
  constructor(series, module) {
    this.series = series;
    this.module = module;
    this.model = new Model({ who: SERIES, words: "" });
  }

  /**
   * Take in a model that has been trained, and let it guess. The series' models have learned another
   * text, so they are not asked beside it.
   * @param {Yours} yours
   */
  async take({ config, parameters, steps, heldOut, text, frequencies }) {
    const engine = new Engine(await WebAssembly.instantiate(this.module), config);
    engine.parameters.set(parameters);
    const baseline = frequencies
      ? new Baseline(frequencies, "your text")
      : this.series.both.baseline;
    this.#yours = { [YOURS]: new MaskedPredictor(engine, YOURS, baseline) };
    const loss = heldOut === null ? "" : `, held-out loss ${heldOut.toFixed(2)} nats`;
    this.model.set("words", `${counted(steps, "step")} on ${text}${loss}`);
    this.model.set("who", YOURS);
  }

  /** The models that guess in the explorer, by name. */
  get predictors() {
    return (this.model.get("who") === YOURS && this.#yours) || this.series;
  }

  /** The model that fills the gaps of a line. */
  get writer() {
    return this.predictors[YOURS] ?? this.series.both;
  }
}

/**
 * A list to choose from, once there is a choice.
 * @extends {Widget<{ who: string, words: string }>}
 */
export class ModelList extends Widget {
  static presents = false;

  markup() {
    const words = this.get("words");
    /** @type {[string, string][]} */
    const choices = [
      [SERIES, "the models of the series"],
      [YOURS, `yours: ${words}`],
    ];
    return select("Who guesses", "choose", choices, this.get("who"));
  }

  /** @param {{ value: string }} sent */
  do_choose({ value }) {
    this.set({ who: value });
  }
}
