// The training of the page: what answers the widget of the loss curve, where Python does elsewhere.
//
// A worker trains. What it has trained is handed over every few seconds, and kept here and by the
// browser, so whatever becomes of the worker, or of the page, the next one goes on from there.

import { Model, ValueError } from "../src/cloze/widgets/browser/widget.js";
import { forget, keep, kept } from "./storage.js";

/** @import { Own, Progress, Trained } from "./engine/worker.js" */

/**
 * What the page is told of it by build.py.
 * @typedef {object} Settings
 * @property {any} config
 * @property {any} recipe
 * @property {Record<string, number>} baselines
 * @property {[string, boolean][][]} line  By word: symbols, and whether they are hidden.
 * @property {string} masked  The line as the model reads it, _ for a gap.
 * @property {number | null} plateau
 * @property {any} examples
 * @property {string} corpus  The digest of the text.
 * @property {string | null} text  What is trained on and what is held out; null for corpus.gz.
 * @property {number} heldOut  How many characters at the end of the text are held out.
 *
 * What there is to play with: what has been trained or loaded, the name of its text or file, and how
 * frequent each symbol is in a text of one's own.
 * @typedef {Trained & { text: string, frequencies?: number[] }} Yours
 *
 * What is kept of a training: its file, and how far it has come.
 * @typedef {{ file: Blob, done: number, steps: number }} Run
 */

const POINTS = 150;
const SILENCE = 15; // seconds without a word after which a worker that trains counts as dead
const LONG_SILENCE = 180; // and one that reads a text or a file
const SERIES = "the series’ text";
const NO_SEAL = "A browser seals files only on pages that came over https.";

/**
 * @param {Settings} settings
 * @param {(name: string) => Promise<ArrayBuffer>} bytes
 * @param {() => Worker} start  Make the thread that trains.
 * @param {(yours: Yours) => void} onModel  Is given what there is to play with whenever a training
 *   has stopped, finished or been loaded, and whenever a model has been loaded.
 */
export function training(settings, bytes, start, onModel = () => {}) {
  let { recipe } = settings;
  const keeps = settings.text === null; // what reads a few lines is soon begun anew
  /** @type {Worker | undefined} */
  let worker;
  let begun = false; // whether the worker has something to go on with
  let wanted = false; // whether it is to train
  /** @type {{ resolve(answer: any): void, reject(error: Error): void } | undefined} */
  let waiting; // for an answer of the worker
  let silent = 0; // seconds
  /**
   * @typedef {{ sha256: string, baselines: Record<string, number>, frequencies: number[] }} Found
   * @type {(Own & Partial<Found>) | undefined}
   */
  let own;
  /** @type {Run | undefined} */
  let run;
  /** @type {number[]} */
  let losses = [];
  /** @type {[number, number][]} */
  let measured = [];

  const name = () => own?.name ?? SERIES;
  const rest = () => (run ? "Resume" : "Start");
  const over = () => {
    const how = run ? `Resume goes on from step ${run.done}` : "press Start to begin anew";
    return new ValueError(`What trained in the background has ended; ${how}.`);
  };

  // ── the worker ────────────────────────────────────────────────────────────────────────────────

  function hire() {
    const made = start();
    made.onmessage = ({ data }) => {
      silent = 0;
      if (made !== worker) return;
      if (data.progress) show(data.progress);
      else if (data.kept) store(data.kept);
      else if ("answer" in data) waiting?.resolve(data.answer);
      else if (data.asked) waiting?.reject(new ValueError(data.failure));
      else ended(data.failure);
    };
    made.onerror = () => made === worker && died();
    worker = made;
  }

  function dismiss() {
    worker?.terminate();
    worker = undefined;
    begun = false;
    wanted = false;
  }

  /**
   * @param {string} what
   * @param {object} [given]
   * @returns {Promise<any>}
   */
  async function ask(what, given) {
    if (!worker) throw over();
    silent = 0;
    const answer = new Promise((resolve, reject) => {
      waiting = { resolve, reject };
    });
    worker.postMessage({ ask: what, given });
    return answer.finally(() => {
      waiting = undefined;
    });
  }

  /** @param {string} failure */
  function ended(failure) {
    dismiss();
    curve.assign({ action: rest(), failure });
  }

  function died() {
    if (!waiting) return ended(over().message);
    dismiss();
    waiting.reject(over());
  }

  // By counting seconds, because a device that was asleep has only been silent for one.
  setInterval(() => {
    const trains = begun && wanted && !document.hidden;
    silent = worker && (waiting || trains) ? silent + 1 : 0;
    if (silent > (waiting ? LONG_SILENCE : SILENCE)) died();
  }, 1000);

  document.addEventListener("visibilitychange", () => {
    if (begun && wanted) worker?.postMessage({ go: !document.hidden });
  });

  /** Have a worker that has read the text and can go on, or begin. */
  async function ready() {
    if (begun) return;
    const module = await bytes("engine.wasm");
    try {
      if (!worker) await read();
      const { config, recipe: usual, masked: line } = settings;
      const given = { module, config, recipe: usual, line, run: run?.file };
      const { recipe: its, progress, trained } = await ask("begin", given);
      [recipe, losses, measured] = [its, [], []];
      begun = true;
      show(progress);
      if (keeps) await keep("text", own);
      if (run) onModel({ ...trained, text: name(), frequencies: own?.frequencies });
    } catch (error) {
      dismiss();
      throw error;
    }
  }

  /** Hire a worker and have it read the text, at once, so that its end is noticed as a failure to. */
  async function read() {
    const { heldOut, corpus: sha256, recipe: usual } = settings;
    const { length } = usual;
    if (!own) {
      const text = settings.text ?? (await bytes("corpus.gz"));
      hire();
      return ask("read", { series: { text, heldOut, sha256 }, length });
    }
    const { name } = own;
    hire();
    const { report, ...found } = await ask("read", { own, length });
    own = { name, ...found };
    curve.assign({ baselines: found.baselines, plateau: null });
    files.assign({ own: name, note: `${name}: ${report}.` });
  }

  // ── what is seen and kept ─────────────────────────────────────────────────────────────────────

  /** @param {Progress} progress */
  function show({ done, seconds, losses: more, measured: news, filled, ended }) {
    losses.push(...more);
    measured.push(...news);
    const finished = ended && done >= recipe.steps;
    if (finished) wanted = false;
    const recent = losses.slice(-20);
    const words = [`step ${done} of ${recipe.steps}`];
    if (done) words.push(`training loss ${(sum(recent) / recent.length).toFixed(2)} nats`);
    if (measured.length)
      words.push(`held-out loss ${measured[measured.length - 1][1].toFixed(2)} nats`);
    if (done)
      words.push(
        done < recipe.steps
          ? `about ${((seconds / done) * (recipe.steps - done)).toFixed(0)} seconds left`
          : `${seconds.toFixed(0)} seconds`,
      );
    const stopped = done ? "Resume" : "Start";
    curve.assign({
      steps: recipe.steps,
      points: averaged(losses, recipe.steps),
      measured: [...measured],
      words: words.join(", "),
      action: finished ? "Finished" : wanted || !ended ? "Stop" : stopped,
      filled,
    });
  }

  /** @param {{ run: Blob, steps: number, trained: Trained, active: boolean }} kept */
  function store({ run: file, steps, trained, active }) {
    if (!trained.steps) return;
    run = { file, done: trained.steps, steps };
    if (!files.get("kept")) files.assign({ kept: true });
    if (keeps) keep("run", run);
    if (!active) onModel({ ...trained, text: name(), frequencies: own?.frequencies });
  }

  /** Nothing is put in the place of what has been trained. */
  function mustBeFree() {
    if (run || begun)
      throw new ValueError("There is a run already; save it, forget it, and try again.");
  }

  const fresh = () => ({
    steps: settings.recipe.steps,
    points: /** @type {[number, number][]} */ ([]),
    measured: /** @type {[number, number][]} */ ([]),
    baselines: settings.baselines,
    plateau: settings.plateau,
    examples: settings.examples,
    action: "Start",
    words: `step 0 of ${settings.recipe.steps}`,
    line: settings.line,
    filled: /** @type {string[]} */ ([]),
    failure: "",
  });
  const nothing = { note: "", own: "", kept: false };

  let turn = Promise.resolve();
  /**
   * Do one thing after the other, whichever widget asks for it.
   * @template T
   * @param {() => T | Promise<T>} work
   * @returns {Promise<T>}
   */
  function inTurn(work) {
    const done = turn.then(work);
    turn = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  const curve = new Model(fresh(), {
    start: () =>
      inTurn(async () => {
        curve.assign({ action: "Stop", failure: "" });
        wanted = true;
        try {
          await ready();
        } catch (error) {
          curve.assign({ action: rest() });
          throw error;
        }
        silent = 0;
        if (!document.hidden) worker?.postMessage({ go: true });
      }),
    async stop() {
      wanted = false;
      worker?.postMessage({ go: false });
    },
  });

  const files = new Model(nothing, {
    /** @param {Own} given  A text. */
    read: (given) =>
      inTurn(async () => {
        mustBeFree();
        dismiss();
        own = given;
        curve.assign(fresh());
        files.assign({ ...nothing, note: `Reading ${given.name} …` });
        try {
          await read();
        } catch (error) {
          own = undefined;
          dismiss();
          files.assign(nothing);
          throw error;
        }
      }),
    /** @param {Own} given  A run or a model. */
    load: (given) =>
      inTurn(async () => {
        if (!globalThis.crypto?.subtle) throw new ValueError(NO_SEAL);
        mustBeFree();
        dismiss();
        hire();
        try {
          const { trained, corpus, ...found } = await ask("look", given);
          if (trained) {
            onModel({ ...trained, text: given.name });
            files.assign({ note: `${given.name} is loaded, a model to play with.` });
            return;
          }
          if (corpus !== settings.corpus && corpus !== own?.sha256)
            throw new ValueError(
              `${given.name} was trained on another text; open that text first, then ` +
                `${given.name} again.`,
            );
          if (corpus === settings.corpus) own = undefined;
          run = { file: given.file, ...found };
        } finally {
          dismiss(); // what begins is another
        }
        if (!own) curve.assign(fresh());
        try {
          await ready();
        } catch (error) {
          run = undefined;
          throw error;
        }
        files.assign({
          own: own?.name ?? "",
          kept: true,
          note: `${given.name} is loaded; Resume goes on with it.`,
        });
        await keep("run", run);
      }),
    /** @param {{ what: "run" | "model" | "text" }} wanted */
    save: ({ what }) =>
      inTurn(async () => {
        if (what === "text" && own) return { file: own.file, name: "mine.txt" };
        if (!run && !begun) throw new ValueError("Nothing has been trained yet; press Start.");
        if (!globalThis.crypto?.subtle) throw new ValueError(NO_SEAL);
        if (what === "run" && begun) await ask("keep");
        if (what === "run" && run) return { file: run.file, name: "mine.run.safetensors" };
        await ready();
        return { file: /** @type {Blob} */ (await ask("model")), name: "mine.safetensors" };
      }),
    forget: () =>
      inTurn(async () => {
        dismiss();
        [own, run, recipe] = [undefined, undefined, settings.recipe];
        curve.assign(fresh());
        files.assign(nothing);
        await forget();
      }),
  });

  inTurn(async () => {
    const [its, text] = keeps ? await Promise.all([kept("run"), kept("text")]) : [];
    if (!its) return;
    [run, own] = [its, text];
    const { done, steps } = its;
    const { baselines, plateau = null } = text ?? settings;
    curve.assign({ action: "Resume", words: `step ${done} of ${steps}`, baselines, plateau });
    files.assign({
      own: text?.name ?? "",
      kept: true,
      note: `A run of ${done} steps on ${name()} is kept from your last visit; Resume brings it back.`,
    });
  });
  return { curve, files };
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

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
  return groups.map((group, i) => [i * size + group.length, sum(group) / group.length]);
}
