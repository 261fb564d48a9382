// The training of the page: what answers the widget of the loss curve, where Python does elsewhere.
//
// A worker trains. What it has trained is handed over every few seconds, and stored here and by the
// browser, so whatever becomes of the worker, or of the page, the next one goes on from there.

import { mean } from "../src/cloze/explorer/parts.js";
import { Model, ValueError } from "../src/cloze/widgets/browser/widget.js";
import { run } from "./engine/crew.js";
import { clear, load, store } from "./storage.js";

/** @import { Moment } from "../src/cloze/widgets/browser/curve.js" */
/** @import { Own, Progress, Trained } from "./engine/worker.js" */

/**
 * What build.py writes into the page about it.
 * @typedef {object} Settings
 * @property {any} config
 * @property {any} recipe
 * @property {Record<string, number>} baselines
 * @property {[string, boolean][][]} line  By word: symbols, and whether they are hidden.
 * @property {string} masked  The line as the model reads it, _ for a gap.
 * @property {Moment[]} recorded  What another run has been through.
 * @property {string} corpus  The digest of the text.
 * @property {string | null} text  What is trained on and what is held out; null for corpus.gz.
 * @property {number} heldOut  How many characters at the end of the text are held out.
 *
 * What there is to play with: what has been trained or loaded, the name of its text or file, and how
 * frequent each symbol is in a text of one's own.
 * @typedef {Trained & { text: string, frequencies?: number[] }} Yours
 *
 * What the worker finds in a text of one's own: also a line of it, as in the settings.
 * @typedef {{ sha256: string, baselines: Record<string, number>, frequencies: number[] } & Pick<Settings, "line" | "masked">} Found
 *
 * What is stored of a training: its file, and how far it has come.
 * @typedef {{ file: Blob, done: number, steps: number }} Run
 */

const POINTS = 150;
const SILENCE = 60; // seconds without a word after which a worker that has something to do counts as dead
export const SERIES = "the series’ text";
const NO_SEAL = "A browser seals files only on pages that came over https.";
const ENDED =
  "What ran in the background has ended; press Train mine or Resume, or reload the page.";
const NOTHING = { note: "", own: "", kept: false, offered: "" };

/** A worker that trains, or answers for the words' encoder, and what is expected of it. */
export class Thread {
  #hear;
  #ended;
  /** @type {Worker | undefined} */
  #worker;
  /** @type {Map<number, PromiseWithResolvers<any>>} */
  #waiting = new Map(); // for answers
  #asked = 0;
  #silent = 0; // seconds
  /** Whether the worker has something to go on with. */
  begun = false;
  /** Whether it is to train. */
  wanted = false;

  /**
   * @param {string | Blob} script
   * @param {(data: any) => void} [hear]  Is given what the worker sends unasked.
   * @param {(failure: string) => void} [ended]  Is told why the worker can do no more, where nobody waits
   *   for an answer.
   */
  constructor(script, hear = () => {}, ended = () => {}) {
    this.script = script;
    this.#hear = hear;
    this.#ended = ended;
    // By counting seconds, because a device that was asleep has only been silent for one.
    setInterval(() => {
      const busy = this.#worker && (this.#waiting.size || this.wanted);
      this.#silent = busy ? this.#silent + 1 : 0;
      if (this.#silent > SILENCE) this.#end();
    }, 1000);
  }

  get hired() {
    return this.#worker !== undefined;
  }

  hire() {
    const worker = run(this.script);
    worker.onmessage = ({ data }) => {
      if (worker !== this.#worker) return;
      this.#silent = 0;
      const waiting = this.#waiting.get(data.id);
      if ("answer" in data) waiting?.resolve(data.answer);
      else if (waiting) waiting.reject(new ValueError(data.failure));
      else if (data.failure) this.#end(data.failure);
      else this.#hear(data);
    };
    worker.onerror = () => worker === this.#worker && this.#end();
    this.#worker = worker;
  }

  dismiss() {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.begun = false;
    this.wanted = false;
  }

  #end(failure = ENDED) {
    this.dismiss();
    if (!this.#waiting.size) this.#ended(failure);
    for (const waiting of this.#waiting.values()) waiting.reject(new ValueError(failure));
  }

  /**
   * @param {string} what
   * @param {object} [given]
   * @returns {Promise<any>}
   */
  async ask(what, given) {
    if (!this.#worker) throw new ValueError(ENDED);
    const answer = Promise.withResolvers();
    const id = ++this.#asked;
    this.#waiting.set(id, answer);
    this.#silent = 0;
    this.#worker.postMessage({ ask: what, given, id });
    return answer.promise.finally(() => this.#waiting.delete(id));
  }

  /** @param {boolean} wanted  Whether to train, or to stop. */
  go(wanted) {
    this.wanted = wanted;
    this.#silent = 0;
    this.#worker?.postMessage({ go: wanted });
  }
}

/** What answers the widgets of the loss curve and of the files beside it. */
export class PageTraining {
  #settings;
  #bytes;
  #onModel;
  #recipe;
  #stored;
  /** @type {(Own & Partial<Found>) | undefined} */
  #own;
  /** @type {Run | undefined} */
  #run;
  /** @type {number[]} */
  #losses = [];
  /** @type {[number, number][]} */
  #measured = [];
  /** @type {Promise<unknown>} */
  #turn = Promise.resolve();
  /** @type {() => Promise<void>} */
  #offered = async () => {}; // takes in what would take the place of a run

  /**
   * @param {Settings} settings
   * @param {(name: string) => Promise<ArrayBuffer>} bytes
   * @param {string | Blob} script  The worker's, or its address.
   * @param {(yours: Yours) => unknown} onModel  Is given what there is to play with whenever a training
   *   has stopped, finished or been loaded, and whenever a model has been loaded.
   * @param {() => unknown} onTry  Goes to where one plays with it.
   */
  constructor(settings, bytes, script, onModel, onTry) {
    this.#settings = settings;
    this.#bytes = bytes;
    this.#onModel = onModel;
    this.#recipe = settings.recipe;
    this.#stored = settings.text === null; // what reads a few lines is soon begun again
    this.thread = new Thread(
      script,
      ({ progress, kept }) => (progress ? this.#show(progress) : this.#keep(kept)),
      (failure) => this.curve.assign({ action: this.#rest, failure }),
    );
    this.curve = new Model(this.#fresh(), {
      start: () => this.#inTurn(() => this.#begin()),
      stop: () => this.thread.go(false),
      try: onTry,
    });
    this.files = new Model(NOTHING, {
      /** @param {Own} given  A text. */
      read: (given) => this.#inTurn(() => this.#unless(given, () => this.#readOwn(given))),
      /** @param {Own} given  A run or a model. */
      load: (given) => this.#inTurn(() => this.#unless(given, () => this.#load(given))),
      again: () => this.#inTurn(() => this.#forget().then(this.#offered)),
      /** @param {{ what: "run" | "model" | "text" }} wanted */
      save: ({ what }) => this.#inTurn(() => this.#save(what)),
      forget: () => this.#inTurn(() => this.#forget()),
    });
    if (this.#stored) this.#inTurn(() => this.#restore());
  }

  /**
   * Do one thing after the other, whichever widget asks for it.
   * @template T
   * @param {() => T | Promise<T>} work
   * @returns {Promise<T>}
   */
  #inTurn(work) {
    const done = this.#turn.then(work);
    this.#turn = Promise.allSettled([done]);
    return done;
  }

  /** What the button does next. */
  get #rest() {
    return this.#run ? "Resume" : "Train mine";
  }

  #fresh() {
    const { recipe, baselines, recorded, line } = { ...this.#settings, ...this.#own };
    return {
      steps: recipe.steps,
      points: /** @type {[number, number][]} */ ([]),
      measured: /** @type {[number, number][]} */ ([]),
      baselines,
      recorded: this.#own ? [] : recorded,
      action: this.#rest,
      words: `step ${this.#run?.done ?? 0} of ${this.#run?.steps ?? recipe.steps}`,
      line,
      filled: /** @type {string[]} */ ([]),
      failure: "",
    };
  }

  // ── the worker ────────────────────────────────────────────────────────────────────────────────

  async #begin() {
    this.curve.assign({ action: "Stop", failure: "" });
    this.thread.wanted = true;
    await this.#ready();
    this.thread.go(this.thread.wanted);
  }

  /** Have a worker that has read the text and can go on, or begin. */
  async #ready() {
    const { thread } = this;
    if (thread.begun) return;
    try {
      const module = await this.#bytes("engine.wasm");
      if (!thread.hired) await this.#read();
      const { config, recipe, masked: line } = { ...this.#settings, ...this.#own };
      const crew = { workers: await most(), script: thread.script };
      const given = { module, config, recipe, line, run: this.#run?.file, ...crew };
      const { recipe: its, progress, trained } = await thread.ask("begin", given);
      [this.#recipe, this.#losses, this.#measured] = [its, [], []];
      thread.begun = true;
      this.#show(progress);
      if (this.#stored) await store("text", this.#own);
      if (this.#run) this.#give(trained);
    } catch (error) {
      thread.dismiss();
      this.curve.assign({ action: this.#rest });
      throw error;
    }
  }

  /** Hire a worker and have it read the text, at once, so that its end is noticed as a failure to. */
  async #read() {
    const { heldOut, corpus: sha256, text, recipe } = this.#settings;
    const { length } = recipe;
    const module = await this.#bytes("engine.wasm");
    const own = this.#own;
    if (!own) {
      const given = text ?? (await this.#bytes("corpus.gz"));
      this.thread.hire();
      return this.thread.ask("read", { series: { text: given, heldOut, sha256 }, length, module });
    }
    const { name } = own;
    this.thread.hire();
    const { report, ...found } = await this.thread.ask("read", { own, length, module });
    this.#own = { name, ...found };
    this.curve.assign({ ...this.#fresh(), action: this.curve.get("action") });
    this.files.assign({ own: name, note: `${name}: ${report}.` });
  }

  // ── what is shown and stored ──────────────────────────────────────────────────────────────────

  /** @param {Progress} progress */
  #show({ done, seconds, losses, measured, filled, ended }) {
    const { steps } = this.#recipe;
    this.#losses.push(...losses);
    this.#measured.push(...measured);
    const finished = ended && done >= steps;
    if (finished) this.thread.wanted = false;
    const words = [`step ${done} of ${steps}`];
    if (done) words.push(`training loss ${mean(this.#losses.slice(-20)).toFixed(2)} nats`);
    const heldOut = this.#measured.at(-1);
    if (heldOut) words.push(`held-out loss ${heldOut[1].toFixed(2)} nats`);
    const left = (seconds / done) * (steps - done);
    if (!ended && done) words.push(`about ${left.toFixed(0)} seconds left`);
    else if (done) words.push(`${seconds.toFixed(0)} seconds`);
    const stopped = done ? "Resume" : "Train mine";
    const end = this.#stored ? "Try yours" : "Finished";
    this.curve.assign({
      steps,
      points: averaged(this.#losses, steps),
      measured: [...this.#measured],
      words: words.join(", "),
      action: finished ? end : this.thread.wanted || !ended ? "Stop" : stopped,
      filled,
    });
  }

  /** @param {{ run: Blob, steps: number, trained: Trained, active: boolean }} kept */
  #keep({ run: file, steps, trained, active }) {
    if (!trained.steps) return;
    this.#run = { file, done: trained.steps, steps };
    if (!this.files.get("kept")) this.files.assign({ kept: true });
    if (this.#stored) store("run", this.#run);
    if (!active) this.#give(trained);
  }

  /** @param {Trained} trained */
  #give(trained) {
    const { name: text = SERIES, frequencies } = this.#own ?? {};
    this.#onModel({ ...trained, text, frequencies });
  }

  async #restore() {
    const [run, own] = await Promise.all([load("run"), load("text")]);
    if (!run) return;
    [this.#run, this.#own] = [run, own];
    this.curve.assign(this.#fresh());
    this.files.assign({
      own: own?.name ?? "",
      kept: true,
      note: `A run of ${run.done} steps on ${own?.name ?? SERIES} is kept from your last visit; Resume brings it back.`,
    });
    if (location.hash === "#yours") await this.#ready(); // from another page, to play with it
  }

  // ── what the files' widget asks for ───────────────────────────────────────────────────────────

  /**
   * Take in a text or a file, or offer to where a run would be lost.
   * @param {Own} given
   * @param {() => Promise<void>} take
   */
  #unless({ name }, take) {
    this.#offered = take;
    if (this.#run || this.thread.begun) this.files.assign({ offered: name });
    else return take();
  }

  /** @param {Own} given */
  async #readOwn(given) {
    this.thread.dismiss();
    this.files.assign({ ...NOTHING, note: `Reading ${given.name} …` });
    this.#own = given;
    try {
      await this.#read();
    } catch (error) {
      await this.#forget();
      throw error;
    }
  }

  /** @param {Own} given */
  async #load(given) {
    if (!globalThis.crypto?.subtle) throw new ValueError(NO_SEAL);
    this.thread.dismiss();
    const { corpus: series } = this.#settings;
    const own = this.#own;
    this.thread.hire();
    try {
      const { trained, corpus, ...found } = await this.thread.ask("look", given);
      if (trained) {
        await this.#onModel({ ...trained, text: given.name });
        this.files.assign({ note: `${given.name} is loaded, a model to play with.` });
        return;
      }
      if (corpus !== series && corpus !== this.#own?.sha256)
        throw new ValueError(`${given.name} was trained on another text; open that first.`);
      if (corpus === series) this.#own = undefined;
      this.#run = { file: given.file, ...found };
    } finally {
      this.thread.dismiss(); // what begins is another
    }
    if (!this.#own) this.curve.assign(this.#fresh());
    try {
      await this.#ready();
    } catch (error) {
      [this.#own, this.#run] = [own, undefined];
      this.curve.assign(this.#fresh());
      throw error;
    }
    const note = `${given.name} is loaded; Resume goes on with it.`;
    this.files.assign({ own: this.#own?.name ?? "", kept: true, note });
    await store("run", this.#run);
  }

  /** @param {"run" | "model" | "text"} what */
  async #save(what) {
    if (what === "text" && this.#own) return { file: this.#own.file, name: "mine.txt" };
    const { begun } = this.thread;
    if (!this.#run && !begun) throw new ValueError("Nothing is trained yet; press Train mine.");
    if (!globalThis.crypto?.subtle) throw new ValueError(NO_SEAL);
    if (what === "run" && begun) await this.thread.ask("keep");
    if (what === "run" && this.#run) return { file: this.#run.file, name: "mine.run.safetensors" };
    await this.#ready();
    return { file: /** @type {Blob} */ (await this.thread.ask("model")), name: "mine.safetensors" };
  }

  async #forget() {
    this.thread.dismiss();
    [this.#own, this.#run, this.#recipe] = [undefined, undefined, this.#settings.recipe];
    this.curve.assign(this.#fresh());
    this.files.assign(NOTHING);
    await clear();
  }
}

/** How many workers may train: one core is the page's, and on battery half of the others rest. */
async function most() {
  const battery = await /** @type {any} */ (navigator).getBattery?.().catch(() => null);
  return Math.ceil((navigator.hardwareConcurrency - 1) / (battery?.charging === false ? 2 : 1));
}

/**
 * Neighbouring steps averaged into some 150 points, because one batch is a noisy sample.
 * @param {number[]} losses
 * @param {number} steps
 * @returns {[number, number][]}
 */
function averaged(losses, steps) {
  const size = Math.max(1, Math.floor(steps / POINTS));
  const groups = Array.from({ length: Math.ceil(losses.length / size) }, (_, i) =>
    losses.slice(i * size, (i + 1) * size),
  );
  return groups.map((group, i) => [i * size + group.length, mean(group)]);
}
