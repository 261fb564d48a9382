// A widget without Python: what class View of src/cloze/widgets/view.py does for its subclasses,
// so that view.js can show it unchanged. A subclass names its `actions` with what they take, a
// question mark behind what may be missing, has a method do_… for each, and defines `markup`.

import { ValueError, shown } from "./arguments.js";
import { button, element, join, problemOf } from "./element.js";

const LONGEST_PROBLEM = 400; // the most characters of what went wrong that are shown

export class Widget {
  static actions = {};
  static presents = true; // whether it has a button for a lecture hall

  html = "";
  problem = ""; // what went wrong in the last action, in words; "" when nothing did
  present = false; // whether it is written for a lecture hall, large and with less
  #listeners = new Set();
  #queue = Promise.resolve(); // actions are done one after the other
  #settling = new AbortController();
  #done = ""; // the last action
  #shown = join([]);

  // ── what view.js asks of a model ──────────────────────────────────────────────────────────────

  get() {
    return this.html;
  }

  on(name, listener) {
    if (name === "change:html") this.#listeners.add(listener);
  }

  off(name, listener) {
    if (name === "change:html") this.#listeners.delete(listener);
  }

  send({ do: action, ...sent }) {
    return this.act(action, sent);
  }

  // ── what subclasses define and call ───────────────────────────────────────────────────────────

  /** Write the widget's whole appearance. */
  markup() {
    throw new Error("A widget writes its markup.");
  }

  /** Write for a lecture hall, or no longer; the button fills the screen as well. */
  do_present() {
    this.present = !this.present;
  }

  /** Do what takes longer once the answer is shown, unless `signal` calls it off. */
  async settle(signal) {}

  /** Show the state for the first time. */
  open() {
    this.refresh();
    this.settled = this.#settle();
    return this;
  }

  /** Show the state as it is now. */
  refresh() {
    this.#shown = this.markup();
    this.#write();
  }

  /** Do what a click does; a failure is shown in the widget. */
  act(action, sent = {}) {
    this.#settling.abort(); // it is about a question that stands no longer
    this.#queue = this.#queue.then(() => this.#act(action, sent));
    return this.#queue;
  }

  /** What has settled when all that was begun is done: for those who wait for it. */
  settled = Promise.resolve();

  async #act(action, sent) {
    this.#done = action;
    this.problem = await attempt(() => this.#do(action, sent));
    // When it cannot be drawn, what stood there stays, beside the reason.
    const failed = await attempt(() => this.refresh());
    if (failed) this.#fail(failed);
    else this.settled = this.#settle();
  }

  async #settle() {
    this.#settling = new AbortController();
    const { signal } = this.#settling;
    const failed = await attempt(() => this.settle(signal));
    if (failed && !signal.aborted) this.#fail(failed);
  }

  async #do(action, sent) {
    const actions = { present: [], ...this.constructor.actions };
    if (!Object.hasOwn(actions, action))
      throw new ValueError(`This widget has no action ${shown(action)}.`);
    const takes = actions[action].map((name) => name.replace("?", ""));
    const needs = actions[action].filter((name) => !name.endsWith("?"));
    const names = Object.keys(sent);
    if (!names.every((name) => takes.includes(name)) || !needs.every((name) => name in sent)) {
      const [wanted, given] = [takes, names].map((each) => each.join(", ") || "nothing");
      throw new ValueError(
        `The action ${shown(action)} takes ${wanted}; it was sent ${given}.`,
      );
    }
    await this[`do_${action}`](sent);
  }

  #fail(problem) {
    this.problem = problem;
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

/** Take a step and return what went wrong, in words; "" when nothing did. */
async function attempt(step) {
  try {
    await step();
    return "";
  } catch (error) {
    const ours = error instanceof ValueError; // a sentence that says what to do
    const said = [...(ours ? error.message : `${error.name}: ${error.message}`)];
    const short = said.slice(0, LONGEST_PROBLEM).join("");
    return said.length <= LONGEST_PROBLEM ? short : `${short} …`;
  }
}
