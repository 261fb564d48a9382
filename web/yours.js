// Who guesses on the page: the three models that it brought along or, once one has been trained or
// loaded there, that one.

import { select } from "../src/cloze/widgets/browser/element.js";
import { Model, Widget } from "../src/cloze/widgets/browser/widget.js";
import { counted } from "../src/cloze/widgets/browser/words.js";
import { Engine } from "./engine/engine.js";
import { Baseline, MaskedPredictor } from "./predictor.js";

/**
 * @import { Line, Positions, Predictors } from "./predictor.js"
 * @import { Yours } from "./train.js"
 */

const SERIES = "series";
const YOURS = "yours";

/** A model of both sides that is shown a line up to its last gap only. */
class LeftOnly extends MaskedPredictor {
  /**
   * @param {Line} line
   * @param {Positions} gaps
   */
  predict(line, gaps) {
    return super.predict(line.slice(0, Math.max(...gaps) + 1), gaps);
  }
}

/** The models that can guess, and which of them do. */
export class Casting {
  /** @type {{ explore: Predictors, play: Predictors } | undefined} */
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
   * Take in a model that has been trained, and let it guess. Left and right have learned another
   * text, so they are not asked beside it.
   * @param {Yours} yours
   */
  async take({ config, parameters, steps, heldOut, text, frequencies }) {
    const engine = new Engine(await WebAssembly.instantiate(this.module), config);
    engine.parameters.set(parameters);
    // Bets in the game leave the rest to the letters' frequencies; those of the series have all letters.
    const usual = this.series.both.baseline;
    const own = frequencies ? new Baseline(frequencies, "your text") : usual;
    this.#yours = {
      explore: { [YOURS]: new MaskedPredictor(engine, YOURS, own) },
      play: {
        left: new LeftOnly(engine, YOURS, usual),
        both: new MaskedPredictor(engine, YOURS, usual),
      },
    };
    const loss = heldOut === null ? "" : `, held-out loss ${heldOut.toFixed(2)} nats`;
    this.model.set("words", `${counted(steps, "step")} on ${text}${loss}`);
    this.model.set("who", YOURS);
  }

  get #chosen() {
    return this.model.get("who") === YOURS ? this.#yours : undefined;
  }

  /** Who guesses in the explorer, by name. */
  get explorers() {
    return this.#chosen?.explore ?? this.series;
  }

  /** Who plays and writes: "both", and "left" where only the left side is in sight. */
  get players() {
    return this.#chosen?.play ?? this.series;
  }
}

/**
 * A list from which one chooses who guesses, once there is a choice.
 * @extends {Widget<{ who: string, words: string }>}
 */
export class WhoGuesses extends Widget {
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
