// What all widgets share. A subclass writes its appearance as markup (`markup`) and has a method
// do_… for each thing a learner can do; the markup names them: a button with data-do="give" calls
// do_give. What a widget knows is in its model, {get, set, save_changes, on, ask}: in a notebook the
// traits of an object in Python (notebook.js), elsewhere a `Model`. view.js shows the markup.

import { button, element, join, problemOf } from "./element.js";

/** @import { Markup } from "./element.js" */

/**
 * What every widget knows.
 * @typedef {{ present: boolean }} Shared
 */

/**
 * What is sent along with a question, and what is answered.
 * @template Answer
 * @typedef {Answer extends (sent: infer Sent) => unknown ? Sent : never} SentTo
 */

/**
 * @template Answer
 * @typedef {Answer extends (sent: never) => infer Result ? Awaited<Result> : never} AnswerTo
 */

/**
 * What a widget knows by name, and who answers its questions: in `Answers` is a method for each.
 * @template {object} State
 * @template {object} [Answers=object]
 * @typedef {object} WidgetModel
 * @property {<K extends keyof (State & Shared) & string>(name: K) => (State & Shared)[K]} get
 * @property {<K extends keyof (State & Shared) & string>(name: K, value: (State & Shared)[K]) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, listener: () => void) => void} on
 * @property {<Q extends keyof Answers & string>(what: Q, sent: SentTo<Answers[Q]>) => Promise<AnswerTo<Answers[Q]>>} ask
 */

/**
 * The part of a widget that view.js shows.
 * @typedef {Pick<Widget<object>, "html" | "gone" | "act" | "listen">} Shown
 */

const LONGEST_PROBLEM = 400; // the most characters of what went wrong that are shown

/** What was asked for cannot be done; the message says why, in one sentence for the learner. */
export class ValueError extends Error {
  name = "ValueError";
}

/** Nobody answers any more: what would have answered has ended. */
export class Gone extends Error {
  name = "Gone";
}

/**
 * The model of a widget that lives without Python; `engine` answers what it asks, if anything.
 * @template {object} State
 * @template {object} [Answers=object]
 * @implements {WidgetModel<State, Answers>}
 */
export class Model {
  /** @type {State & Shared} */
  #values;
  #engine;
  /** @type {Map<string, Set<() => void>>} */
  #listeners = new Map();

  /**
   * @param {State} values
   * @param {Answers | ((what: string, sent: any) => unknown)} [engine]
   */
  constructor(values, engine) {
    this.#values = { present: false, ...values };
    this.#engine = engine;
  }

  /**
   * @template {keyof (State & Shared) & string} K
   * @param {K} name
   * @returns {(State & Shared)[K]}
   */
  get(name) {
    return this.#values[name];
  }

  /**
   * @template {keyof (State & Shared) & string} K
   * @param {K} name
   * @param {(State & Shared)[K]} value
   */
  set(name, value) {
    this.#values[name] = value;
    this.#notify("change");
    this.#notify(`change:${name}`);
  }

  /**
   * Set several values, and tell it once.
   * @param {Partial<State & Shared>} values
   */
  assign(values) {
    Object.assign(this.#values, values);
    this.#notify("change");
    for (const name of Object.keys(values)) this.#notify(`change:${name}`);
  }

  save_changes() {}

  /**
   * @param {string} event
   * @param {() => void} listener
   */
  on(event, listener) {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
  }

  /**
   * Have the engine answer: `ask("predict", {line})` calls its `predict({line})`, or what it is with
   * "predict" and that.
   * @template {keyof Answers & string} Q
   * @param {Q} what
   * @param {SentTo<Answers[Q]>} sent
   * @returns {Promise<AnswerTo<Answers[Q]>>}
   */
  async ask(what, sent) {
    const engine = /** @type {any} */ (this.#engine);
    return typeof engine === "function" ? engine(what, sent) : engine[what](sent);
  }

  /** @param {string} event */
  #notify(event) {
    for (const listener of this.#listeners.get(event) ?? []) listener();
  }
}

/**
 * @template {object} State  What its model knows.
 * @template {object} [Answers=object]  What answers its model.
 */
export class Widget {
  static presents = true; // whether it has a button for a lecture hall

  problem = ""; // what went wrong in the last action, in words; "" when nothing did
  /** @type {string | Markup} */
  announcement = ""; // what happened last, in words, for `status`
  gone = false; // whether nobody answers any more
  settled = Promise.resolve(); // until what is under way is done, where a widget asks by itself
  /** @type {Set<() => void>} */
  #listeners = new Set();
  #queue = Promise.resolve(); // actions are done one after the other
  #action = ""; // the last action
  #html = "";
  #shown = join([]);
  #stale = true; // whether it shows what is past
  #setting = false;

  /** @param {WidgetModel<State, Answers>} model */
  constructor(model) {
    this.model = model;
    // Its own changes it hears of once, when all are made.
    model.on("change", () => this.#setting || this.changed());
  }

  // ── what subclasses define and call ───────────────────────────────────────────────────────────

  /**
   * Write the widget's whole appearance.
   * @returns {Markup}
   */
  markup() {
    throw new Error("A widget writes its markup.");
  }

  /** The model is not what it was, by an action or from Python: show it. */
  changed() {
    this.refresh();
  }

  /**
   * @template {keyof (State & Shared) & string} K
   * @param {K} name
   */
  get(name) {
    return this.model.get(name);
  }

  /**
   * Change the model, all at once.
   * @param {Partial<State & Shared>} values
   */
  set(values) {
    this.#setting = true;
    for (const [name, value] of Object.entries(values))
      this.model.set(/** @type {keyof (State & Shared) & string} */ (name), value);
    this.#setting = false;
    this.model.save_changes();
    this.changed();
  }

  /**
   * Have Python, or what stands in for it, answer.
   * @template {keyof Answers & string} Q
   * @param {Q} what
   * @param {SentTo<Answers[Q]>} [sent]
   */
  ask(what, sent = /** @type {SentTo<Answers[Q]>} */ ({})) {
    return this.model.ask(what, sent);
  }

  /** Whether it is written for a lecture hall, large and with less. */
  get present() {
    return this.get("present");
  }

  /** Write for a lecture hall, or no longer; the button fills the screen as well. */
  do_present() {
    this.set(/** @type {Partial<State & Shared>} */ ({ present: !this.present }));
  }

  /** Have the state shown as it is now. */
  refresh() {
    this.#stale = true;
    for (const listener of this.#listeners) listener();
  }

  // ── what view.js and tests call ───────────────────────────────────────────────────────────────

  /** What is to be seen: written when somebody looks, however often it has changed. */
  get html() {
    if (!this.#stale) return this.#html;
    this.#stale = false;
    try {
      this.#shown = this.markup();
    } catch (error) {
      this.#fail(error);
    }
    this.#html = this.#written();
    return this.#html;
  }

  /**
   * Call `listener` whenever `html` or `gone` may have changed; return how to end that.
   * @param {() => void} listener
   */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Do what a click does; a failure is shown in the widget.
   * @param {string} action
   * @param {object} [sent]
   */
  act(action, sent = {}) {
    this.#queue = this.#queue.then(() =>
      this.attempt(async () => {
        this.#action = action;
        const actions = /** @type {Record<string, (sent: object) => unknown>} */ (
          /** @type {unknown} */ (this)
        );
        await actions[`do_${action}`](sent);
      }),
    );
    return this.#queue;
  }

  /**
   * Take a step; what goes wrong is shown where the last action has its place.
   * @template Result
   * @param {() => Promise<Result>} step
   * @returns {Promise<Result | undefined>}  Nothing if it went wrong.
   */
  async attempt(step) {
    let result;
    try {
      result = await step();
      this.gone = false;
      this.problem = "";
    } catch (error) {
      this.gone = error instanceof Gone;
      this.#fail(this.gone ? "" : error);
    }
    this.refresh();
    return result;
  }

  /** @param {unknown} error */
  #fail(error) {
    // A ValueError is ours: a sentence that says what to do.
    const signs = [...(error instanceof ValueError ? error.message : `${error}`)];
    const more = signs.length > LONGEST_PROBLEM ? " …" : "";
    this.problem = signs.slice(0, LONGEST_PROBLEM).join("") + more;
  }

  #written() {
    const alert = element("p", { role: "alert", class: "problem" }, this.problem || null);
    const place = problemOf(this.#action).text;
    const { text } = this.#shown;
    const parts = text.split(place);
    const shown = parts.length > 1 ? parts.join(alert.text) : text + alert.text;
    const large = { "aria-pressed": this.present, "data-full": true };
    const { presents } = /** @type {typeof Widget} */ (this.constructor);
    const present = presents ? button("Present", "present", large) : "";
    const look = this.present ? "cloze present" : "cloze";
    return `<div class="${look}">${present}${shown}</div>`;
  }
}
