// What all widgets share. A subclass writes its appearance as markup (`markup`) and has a method
// do_… for each thing a learner can do; the markup names them: a button with data-do="give" calls
// do_give. What a widget knows is in its model, {get, set, save_changes, on, ask}: in a notebook the
// traits of an object in Python (notebook.js), elsewhere a `Model`. view.js shows the markup.

import { button, element, join, problemOf } from "./element.js";

const LONGEST_PROBLEM = 400; // the most characters of what went wrong that are shown

/** What was asked for cannot be done; the message says why, in one sentence for the learner. */
export class ValueError extends Error {
  name = "ValueError";
}

/** Nobody answers any more: what would have answered has ended. */
export class Gone extends Error {
  name = "Gone";
}

/** The model of a widget that lives without Python; `engine` answers what it asks, if anything. */
export class Model {
  #values;
  #engine;
  #listeners = new Map();

  constructor(values, engine = {}) {
    this.#values = { present: false, ...values };
    this.#engine = engine;
  }

  get(name) {
    return this.#values[name];
  }

  set(name, value) {
    this.#values[name] = value;
    this.#tell("change");
    this.#tell(`change:${name}`);
  }

  save_changes() {}

  on(event, listener) {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event).add(listener);
  }

  /** Have the engine answer: `ask("predict", {line})` calls its `predict({line})`. */
  async ask(what, sent) {
    return this.#engine[what](sent);
  }

  #tell(event) {
    for (const listener of this.#listeners.get(event) ?? []) listener();
  }
}

export class Widget {
  static presents = true; // whether it has a button for a lecture hall

  html = "";
  problem = ""; // what went wrong in the last action, in words; "" when nothing did
  announcement = ""; // what happened last, in words, for `status`
  gone = false; // whether nobody answers any more
  settled = Promise.resolve(); // until what is under way is done, where a widget asks by itself
  #listeners = new Set();
  #queue = Promise.resolve(); // actions are done one after the other
  #done = ""; // the last action
  #shown = join([]);
  #held = false;

  constructor(model) {
    this.model = model;
    // Its own changes it hears of once, when all are made.
    model.on("change", () => this.#held || this.changed());
  }

  // ── what subclasses define and call ───────────────────────────────────────────────────────────

  /** Write the widget's whole appearance. */
  markup() {
    throw new Error("A widget writes its markup.");
  }

  /** The model is not what it was, by an action or from Python: show it. */
  changed() {
    this.refresh();
  }

  get(name) {
    return this.model.get(name);
  }

  /** Change the model, all at once. */
  set(values) {
    this.#held = true;
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    this.#held = false;
    this.model.save_changes();
    this.changed();
  }

  /** Have Python, or what stands in for it, answer. */
  ask(what, sent = {}) {
    return this.model.ask(what, sent);
  }

  /** Whether it is written for a lecture hall, large and with less. */
  get present() {
    return this.get("present");
  }

  /** Write for a lecture hall, or no longer; the button fills the screen as well. */
  do_present() {
    this.set({ present: !this.present });
  }

  /** Show the state as it is now. */
  refresh() {
    this.#shown = this.markup();
    this.#write();
  }

  // ── what view.js and tests call ───────────────────────────────────────────────────────────────

  /** Call `listener` whenever `html` or `gone` changes; return how to end that. */
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Do what a click does; a failure is shown in the widget. */
  act(action, sent = {}) {
    this.#queue = this.#queue.then(() =>
      this.attempt(async () => {
        this.#done = action;
        await this[`do_${action}`](sent);
        this.#shown = this.markup(); // `attempt` writes it
      }),
    );
    return this.#queue;
  }

  /** Take a step; what goes wrong is shown where the last action has its place. */
  async attempt(step) {
    let problem = "";
    try {
      await step();
      this.gone = false;
    } catch (error) {
      this.gone = error instanceof Gone;
      // A ValueError is ours: a sentence that says what to do.
      if (!this.gone) problem = error instanceof ValueError ? error.message : `${error}`;
    }
    const said = [...problem];
    this.problem =
      said.length <= LONGEST_PROBLEM ? problem : `${said.slice(0, LONGEST_PROBLEM).join("")} …`;
    this.#write();
  }

  #write() {
    const alert = element("p", { role: "alert", class: "problem" }, this.problem || null);
    const place = problemOf(this.#done).text;
    const parts = this.#shown.text.split(place);
    const told = parts.length > 1 ? parts.join(alert.text) : this.#shown.text + alert.text;
    const large = { "aria-pressed": this.present, "data-full": true };
    const present = this.constructor.presents ? button("Present", "present", large) : "";
    const look = this.present ? "cloze present" : "cloze";
    this.html = `<div class="${look}">${present}${told}</div>`;
    for (const listener of this.#listeners) listener();
  }
}
