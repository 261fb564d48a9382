// Works in a thread of its own, so that the page stays responsive. It answers requests: read a text,
// look into a file, begin, save the run or the model, have the words' encoder answer. On {go: true} it
// trains and reports its progress, on {go: false} it stops. The workers that it hires run this script, too: they are asked to help, and
// then for one piece of work after the other.

import { largest } from "../../src/cloze/explorer/parts.js";
import { ValueError } from "../../src/cloze/widgets/browser/widget.js";
import { beginning, Readers } from "../twins/answers.js";
import { baselineLosses } from "../twins/baselines.js";
import { bytesOf, corpusOf, idsOf, readText } from "../twins/corpus.js";
import { loadWords, MaskedPredictor } from "../twins/predictors.js";
import { CHARACTERS } from "../twins/symbols.js";
import { ALPHABET, GAP } from "../twins/vocabulary.js";
import { run as hired, work } from "./crew.js";
import { Engine } from "./engine.js";
import { Generator } from "./generator.js";
import { readFile, takeOver, written, writtenModel } from "./run_file.js";
import { cut, mask, SHARDS, Training } from "./training.js";

/** @import { Config } from "./engine.js" */
/** @import { Examples } from "../twins/answers.js" */
/** @import { Corpus } from "../twins/corpus.js" */
/** @import { Result } from "./crew.js" */
/** @import { Step } from "./run_file.js" */
/** @import { Batch, Recipe } from "./training.js" */

/**
 * A text that came with the page, as it is or compressed: what to train on and then windows that are
 * held out.
 * @typedef {{ text: string | ArrayBuffer, heldOut: number, sha256: string }} Series
 *
 * A text of one's own.
 * @typedef {{ file: Blob, name: string }} Own
 *
 * What is trained.
 * @typedef {object} Begin
 * @property {ArrayBuffer} module  engine.wasm.
 * @property {Config} config
 * @property {Recipe} recipe
 * @property {string} line  What the model fills as it learns, _ for a gap.
 * @property {number} workers  How many may compute at the same time.
 * @property {string | Blob} script  This one, or its address.
 * @property {Blob} [run]  The file of a run to go on with, which has its own config and recipe.
 *
 * How far it has come.
 * @typedef {object} Progress
 * @property {number} done  Steps.
 * @property {number} seconds  In steps.
 * @property {number[]} losses  Of the steps since the last message, in nats.
 * @property {[step: number, nats: number][]} measured  The held-out losses since the last message.
 * @property {string[]} filled  The model's first choice at each gap.
 * @property {boolean} ended  Whether nothing is being done any more.
 *
 * What has been trained: parameters in the order of `parametersOf`, steps, held-out loss in nats, or
 * null before it has been measured.
 * @typedef {{ config: Config, parameters: Float32Array, steps: number, heldOut: number | null }} Trained
 */

const MASKED = 0.15; // what is asked of held-out text, always the same
const BETWEEN = 200; // milliseconds from one message to the next
const KEEP_EVERY = 5000; // milliseconds of training that the end of this thread may cost
const TOO_OLD = "This browser is too old to train in; open the page in a newer one.";
const NO_MEMORY =
  "This device has too little memory for that; close other tabs, or choose something smaller.";

/** @type {Corpus} */
let corpus;
/** @type {Batch} All held-out questions. */
let heldOut;
/** @type {Batch[]} The same, cut into what the engine reads at once. */
let batches;
/** @type {Training} */
let training;
/** @type {string[]} What the model fills as it learns. */
let line;
/** @type {Set<number>} After which steps held-out loss is measured. */
let due;
/** @type {Step[]} */
let history;
/** @type {Promise<void> | undefined} The step that is being taken, or was last. */
let stepping;
let wanted = false;
let active = false;
const { port1, port2 } = new MessageChannel();

/**
 * Read the text to train on, and of one's own say what the page must know of it.
 * @param {{ series?: Series, own?: Own, length: number, module: ArrayBuffer }} given
 */
async function read({ series, own, length, module }) {
  const ordinary = ALPHABET.length;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module));
  const generator = () => new Generator(/** @type {any} */ (exports));
  const masked = () => mask(corpus.heldOut, MASKED, ordinary, generator());
  if (own) {
    const raw = await readText(own.file, own.name);
    const { normalised, report, ...found } = await corpusOf(raw, own.name, length);
    corpus = found;
    heldOut = masked();
    const baselines = baselineLosses(corpus.text, heldOut, length, ordinary, generator());
    const counts = Array(ordinary).fill(0);
    for (const id of corpus.text) counts[id] += 1;
    const frequencies = counts.map((count) => count / corpus.text.length);
    const file = new Blob([normalised]);
    return { report, baselines, frequencies, sha256: corpus.sha256, file, ...watched(length) };
  }
  if (!series) return undefined;
  const stream = new Blob([series.text]).stream();
  const packed = typeof series.text !== "string";
  const unpacked = packed ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
  const ids = idsOf(await new Response(unpacked).arrayBuffer());
  const text = ids.subarray(0, -series.heldOut);
  const windows = Int32Array.from(ids.subarray(-series.heldOut));
  corpus = { text, heldOut: windows, sha256: series.sha256 };
  heldOut = masked();
  return undefined;
}

/**
 * The first held-out line, in whole words where it has several; of its letters some five apart are hidden.
 * @param {number} length  Of the windows.
 */
function watched(length) {
  const window = Array.from(corpus.heldOut.subarray(0, length), (id) => ALPHABET[id]).join("");
  const symbols = [...window.replace(/^\S*\s|\s\S*$/g, "")];
  const masked = symbols.map((symbol, i) => (i % 5 === 2 && symbol > " " ? GAP : symbol));
  const of = (/** @type {number} */ at) => [symbols[at], masked[at] === GAP];
  const line = CHARACTERS.words(masked).map((word) => word.map(of));
  return { line, masked: masked.join("") };
}

/**
 * Look into a file: a run of some text, or a model to play with.
 * @param {Own} given
 */
async function look({ file, name }) {
  const { about, parameters } = await readFile(await bytesOf(file, name), name);
  const { kind, config } = about;
  const { steps, held_out_nats: nats } = about.provenance ?? {};
  const made = {
    steps: Number.isInteger(steps) ? Number(steps) : 0,
    heldOut: Number.isFinite(nats) ? Number(nats) : null,
  };
  return kind === "model"
    ? { trained: { config, parameters, ...made } }
    : { corpus: about.corpus, done: about.history.length, steps: about.recipe.steps };
}

/** @param {Begin} given */
async function begin({ module: bytes, workers, script, run, ...given }) {
  const file = run && (await readFile(await bytesOf(run, "The run"), "The run"));
  const { config, recipe } = file?.about ?? given;
  const module = new WebAssembly.Module(bytes);
  training = new Training(new WebAssembly.Instance(module), config, corpus.text, recipe);
  if (file) takeOver(training, file);
  history = file?.about.history ?? [];
  line = [...given.line];
  const shares = Array.from({ length: recipe.evaluations }, (_, k) => (k + 1) / recipe.evaluations);
  due = new Set(shares.map((share) => Math.max(1, Math.round(recipe.steps * share ** 2))));
  batches = cut(heldOut, recipe.batch_size * recipe.length);
  try {
    for (let n = workers > 1 ? Math.min(workers, SHARDS) : 0; n > 0; n--)
      training.crew.hire(hired(script), { module, config, lines: training.lines });
  } catch {
    // In a browser where a worker may start none, this one does it all.
  }
  return { recipe, trained: trained(), progress: progressed(0, true) };
}

/**
 * Be one of those who compute for the thread that trains.
 * @param {{ module: WebAssembly.Module, config: Config, lines: number }} given
 */
async function help({ module, config, lines }) {
  const engine = new Engine(new WebAssembly.Instance(module), config, lines);
  answers.work = async (order) => ({ results: work(engine, order) });
  return true;
}

/**
 * Have the words' encoder answer in this thread.
 * @param {{ bytes: ArrayBuffer, module: ArrayBuffer, examples: Examples }} given
 * @returns  What an explorer begins with.
 */
async function words({ bytes, module, examples }) {
  const predictor = await loadWords(bytes, new WebAssembly.Module(module));
  const readers = new Readers(() => ({ both: predictor }));
  answers.tell = async ({ what, sent }) => readers.ask(what, sent);
  return beginning(predictor, examples);
}

/** The mean loss on held-out text, in nats. */
function heldOutLoss() {
  const { engine, recipe } = training;
  let nats = 0;
  for (const batch of batches) nats += engine.loss(batch, recipe.length, heldOut.labels.length);
  return decimals(nats);
}

/** The model's first choice at each gap of the line. */
function filled() {
  const { at, positions } = new MaskedPredictor(training.engine, "", CHARACTERS).predict(line, []);
  return positions.flatMap((gap) => largest(at(gap), 1).map((i) => CHARACTERS.known[i]));
}

/**
 * @param {number} from  How many steps have been reported before.
 * @param {boolean} ended
 * @returns {Progress}
 */
function progressed(from, ended) {
  const steps = history.slice(from);
  return {
    done: training.done,
    seconds: history.at(-1)?.[2] ?? 0,
    losses: steps.map(([, , , loss]) => loss),
    measured: steps.flatMap(([step, , , , nats]) => (nats === null ? [] : [[step, nats]])),
    filled: filled(),
    ended,
  };
}

/** @returns {Trained} */
function trained() {
  const { engine, done } = training;
  const nats = history.findLast(([, , , , nats]) => nats !== null)?.[4] ?? null;
  return {
    config: engine.config,
    parameters: engine.parameters.slice(),
    steps: done,
    heldOut: nats,
  };
}

/** Send all that is needed to go on exactly here. */
async function keep() {
  const now = trained();
  const run = new Blob([await written(training, corpus.sha256, history)]);
  postMessage({ kept: { run, steps: training.recipe.steps, trained: now, active } });
}

/** The model alone. */
async function model() {
  const nats = history.at(-1)?.[4] ?? heldOutLoss();
  return new Blob([await writtenModel(training, corpus.sha256, nats)]);
}

/**
 * A number that is short enough to be stored for every step.
 * @param {number} number
 */
const decimals = (number) => Math.round(number * 1e4) / 1e4;

/** Let messages in before the next step. */
const breath = () =>
  new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(null);
  });

/** Take a step, and measure where that is due. */
async function takeStep() {
  const started = performance.now();
  const loss = await training.step();
  const seconds = (history.at(-1)?.[2] ?? 0) + (performance.now() - started) / 1000;
  const characters = training.done * training.recipe.batch_size * training.recipe.length;
  const nats = due.has(training.done) ? heldOutLoss() : null;
  history.push([training.done, characters, decimals(seconds), decimals(loss), nats]);
}

async function go() {
  wanted = true;
  if (active) return;
  active = true;
  let reported = training.done;
  let reportedAt = performance.now();
  let keptAt = reportedAt;
  try {
    const last = history.at(-1);
    if (last && due.has(training.done)) last[4] ??= heldOutLoss(); // Python was stopped before it
    while (wanted && !training.finished) {
      stepping = takeStep();
      await stepping;
      if (due.has(training.done) || performance.now() - reportedAt > BETWEEN) {
        postMessage({ progress: progressed(reported, false) });
        reported = training.done;
        reportedAt = performance.now();
      }
      if (performance.now() - keptAt > KEEP_EVERY) {
        await keep();
        keptAt = performance.now();
      }
      await breath();
    }
  } finally {
    active = false;
  }
  await keep(); // before the page is told that training has stopped
  postMessage({ progress: progressed(reported, true) });
}

/**
 * An error in one sentence for the learner; those that are not ours come of too little memory, or of
 * an old browser.
 * @param {any} error
 */
function sentence(error) {
  if (error instanceof ValueError) return error.message;
  if (error instanceof WebAssembly.CompileError || error instanceof ReferenceError) return TOO_OLD;
  const full = error instanceof RangeError || error instanceof WebAssembly.RuntimeError;
  return full ? NO_MEMORY : `${error}`;
}

/** @type {Record<string, (given: any) => Promise<unknown>>} */
const answers = { read, look, begin, keep, model, help, words };

addEventListener("message", async ({ data: { ask, given, id, go: goes } }) => {
  try {
    if (ask) {
      await stepping; // half a step is nothing to go on from
      const answer = /** @type {any} */ (await answers[ask](given));
      const results = /** @type {Result[]} */ (answer?.results ?? []);
      postMessage({ answer, id }, { transfer: results.map(({ numbers }) => numbers.buffer) });
    } else if (goes) await go();
    else wanted = false;
  } catch (error) {
    postMessage({ failure: sentence(error), id });
  }
});
