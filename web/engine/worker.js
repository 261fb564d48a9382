// Trains in a thread of its own, so that the page stays awake: told "begin", "go" and "stop", it
// answers with how far it has come; told "save", with a file that Python reads.

import { Chance } from "./chance.js";
import { written } from "./run.js";
import { mask, Training } from "./training.js";

/** @import { Config } from "./engine.js" */
/** @import { Step } from "./run.js" */
/** @import { Batch, Recipe } from "./training.js" */

/**
 * What is trained, and on what.
 * @typedef {object} Begin
 * @property {ArrayBuffer} module  engine.wasm.
 * @property {Config & { neighbour_focus: number }} config
 * @property {Recipe} recipe
 * @property {Int32Array} text
 * @property {Int32Array} heldOut  Windows of the recipe's length, one after the other.
 * @property {Int32Array} line  What the model fills as it learns, with `[MASK]` at its gaps.
 *
 * How far it has come.
 * @typedef {object} Progress
 * @property {number} done  Steps.
 * @property {number} seconds  In steps.
 * @property {number[]} losses  Of the steps since the last message, in nats.
 * @property {number | null} heldOut  In nats, if it has just been measured.
 * @property {number[]} filled  The ids of the model's first choice at each gap.
 * @property {boolean} ended  Whether nothing is being done any more.
 */

const MASKED = 0.15; // what is asked of held-out text, always the same
const BETWEEN = 200; // milliseconds from one message to the next

/** @type {Training} */
let training;
/** @type {Batch[]} */
let questions;
/** @type {Int32Array} */
let line;
/** @type {Set<number>} */
let due;
/** @type {Step[]} */
let history;
let running = false;
let seconds = 0;

/** @param {Begin} given */
function begin({ module, config, recipe, text, heldOut, ...more }) {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module));
  training = new Training(instance, config, text, recipe);
  line = more.line;
  history = [];
  const shares = Array.from({ length: recipe.evaluations }, (_, k) => (k + 1) / recipe.evaluations);
  due = new Set(shares.map((share) => Math.max(1, Math.round(recipe.steps * share ** 2))));
  const { selected, labels, ids } = mask(heldOut, MASKED, config.vocab_size - 1, new Chance());
  const rows = recipe.batch_size * recipe.length;
  questions = [];
  for (let from = 0; from < ids.length; from += rows) {
    const inside = [...selected.keys()].filter(
      (i) => selected[i] >= from && selected[i] < from + rows,
    );
    questions.push({
      ids: ids.slice(from, from + rows),
      selected: Int32Array.from(inside, (i) => selected[i] - from),
      labels: Int32Array.from(inside, (i) => labels[i]),
    });
  }
}

/** The mean loss on held-out text, in nats. */
function measured() {
  const { engine, recipe } = training;
  let sum = 0;
  let count = 0;
  for (const { ids, selected, labels } of questions) {
    sum += engine.loss(ids, recipe.length, selected, labels) * labels.length;
    count += labels.length;
  }
  return sum / count;
}

/** The model's first choice at each gap of the line. */
function filled() {
  const { engine } = training;
  const ordinary = engine.config.vocab_size - 1;
  const gaps = [...line.keys()].filter((i) => line[i] === ordinary);
  const logits = engine.logits(line, line.length, Int32Array.from(gaps));
  return gaps.map((_, k) => {
    const row = logits.subarray(k * (ordinary + 1), k * (ordinary + 1) + ordinary);
    return row.indexOf(Math.max(...row));
  });
}

/**
 * A number that Python writes as JavaScript does.
 * @param {number} number
 */
const decimals = (number) => Math.round(number * 1e4) / 1e4;

/** Let messages in before the next step. */
const breath = () =>
  /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(null);
    })
  );

async function go() {
  if (running) return;
  running = true;
  /** @type {number[]} */
  let losses = [];
  let said = performance.now();
  while (running && !training.finished) {
    const started = performance.now();
    const loss = training.step();
    losses.push(loss);
    seconds += (performance.now() - started) / 1000;
    const heldOut = due.has(training.done) ? measured() : null;
    const seen = training.done * training.recipe.batch_size * training.recipe.length;
    const asked = heldOut === null ? null : decimals(heldOut);
    history.push([training.done, seen, decimals(seconds), decimals(loss), asked]);
    running &&= !training.finished;
    if (heldOut !== null || !running || performance.now() - said > BETWEEN) {
      postMessage({
        done: training.done,
        seconds,
        losses,
        heldOut,
        filled: filled(),
        ended: !running,
      });
      losses = [];
      said = performance.now();
    }
    await breath();
  }
  if (!training.finished)
    postMessage({
      done: training.done,
      seconds,
      losses,
      heldOut: null,
      filled: filled(),
      ended: true,
    });
  running = false;
}

addEventListener("message", ({ data }) => {
  if (data.begin) begin(data.begin);
  if (data.go) go();
  if (data.stop) running = false;
  if (data.save)
    written(training, data.save.corpus, history).then((saved) => postMessage({ saved }));
});
