// Which models guess on the page: the three that came with it, the words' encoder or, once one has been
// trained or loaded there, that one.

import { choice, element } from "../src/cloze/widgets/browser/element.js";
import { Model, Widget } from "../src/cloze/widgets/browser/widget.js";
import { counted, percent } from "../src/cloze/widgets/browser/words.js";
import { engineOf } from "./engine/engine.js";
import { SERIES as SERIES_TEXT } from "./train.js";
import { Readers } from "./twins/answers.js";
import { MaskedPredictor } from "./twins/predictors.js";
import { CHARACTERS } from "./twins/symbols.js";
import { Words } from "./words.js";

/**
 * @import { Traits } from "../src/cloze/explorer/parts.js"
 * @import { Examples } from "./twins/answers.js"
 * @import { Predictors } from "./twins/predictors.js"
 * @import { Yours } from "./train.js"
 */

const SERIES = "series";
const WORDS = "words";
const YOURS = "yours";

/** What begins anew with what is read. */
export const OF_A_LINE = /** @type {(keyof Traits)[]} */ (
  "truth words masked filled hands focus revealed inside symbols examples".split(" ")
);

/** The models that can guess, and which of them do. */
export class ModelChoice {
  /** @type {Predictors | undefined} */
  #yours;
  /** @type {Partial<Traits>} What the explorer begins with where words are read. */
  begins = {};
  #readers = new Readers(() => (this.model.get("who") === YOURS && this.#yours) || this.series);

  /**
   * @param {Predictors} series
   * @param {WebAssembly.Module} module  The engine.
   * @param {ConstructorParameters<typeof Words>[0]} bytes
   * @param {string | Blob} script  What runs in a worker, or its address.
   * @param {{ size: number, examples: Examples }} words  Of the words' encoder.
   */
  constructor(series, module, bytes, script, { size, examples }) {
    this.series = series;
    this.module = module;
    this.words = new Words(bytes, script, examples);
    this.model = new Model(
      { who: SERIES, yours: "", size, loading: 0 },
      { choose: (/** @type {{ who: string }} */ { who }) => this.choose(who) },
    );
  }

  /**
   * Let others guess, once they are here.
   * @param {string} who
   */
  async choose(who) {
    if (who === this.model.get("who")) return;
    if (who === WORDS) {
      const told = (/** @type {number} */ n) =>
        this.model.set("loading", n / this.model.get("size"));
      const begins = await this.words.load(told).finally(() => told(0));
      this.begins = Object.fromEntries(OF_A_LINE.map((name) => [name, begins[name]]));
    }
    this.model.set("who", who);
  }

  /** @param {boolean} words  Whether they are to be read, and not letters. */
  async read(words) {
    if (words !== this.reads) await this.choose(words ? WORDS : SERIES);
  }

  /**
   * Take in a model that has been trained, and let it guess. The series' models are asked beside it if
   * it has learned the same text; of another text they know nothing.
   * @param {Yours} yours
   */
  async take({ config, parameters, steps, heldOut, text, frequencies }) {
    const engine = await engineOf(this.module, config, parameters);
    const baseline = frequencies
      ? { probabilities: frequencies, text: "your text" }
      : this.series.both.baseline;
    const beside = text === SERIES_TEXT ? this.series : {};
    this.#yours = { ...beside, [YOURS]: new MaskedPredictor(engine, YOURS, CHARACTERS, baseline) };
    const loss = heldOut === null ? "" : `, held-out loss ${heldOut.toFixed(2)} nats`;
    this.model.set("yours", `${counted(steps, "step")} on ${text}${loss}`);
    this.model.set("who", YOURS);
  }

  /** Whether words are read, and not letters. */
  get reads() {
    return this.model.get("who") === WORDS;
  }

  /**
   * Have those answer that guess now.
   * @param {string} what
   * @param {any} sent
   */
  ask(what, sent) {
    return (this.reads ? this.words : this.#readers).ask(what, sent);
  }
}

/**
 * A list to choose from.
 * @extends {Widget<{ who: string, yours: string, size: number, loading: number }, { choose(sent: { who: string }): Promise<void> }>}
 */
export class ModelList extends Widget {
  static presents = false;

  markup() {
    const [yours, loading] = [this.get("yours"), this.get("loading")];
    const choices = Object.entries({ [SERIES]: "letters", [WORDS]: "words" });
    if (yours) choices.push([YOURS, `yours: ${yours}`]);
    const size = `${(this.get("size") / 1e6).toFixed(1)} MB`;
    const bar = element("progress", { value: loading }, percent(loading));
    return element(
      "div",
      null,
      choice("Who guesses", "choose", choices, this.get("who")),
      loading ? element("label", null, `Loading the words’ encoder, ${size}: `, bar) : null,
    );
  }

  /** @param {{ value: string }} sent */
  do_choose({ value }) {
    return this.ask("choose", { who: value });
  }
}
