/// <reference path="./node.d.ts" />
// Node's side of test_engine.py: reads a file of cases, answers each with the engine, and writes what
// came out into another file.

import { readFileSync, writeFileSync } from "node:fs";
import { Engine } from "../../web/engine/engine.js";
import { readFile, takeOver, written } from "../../web/engine/run_file.js";
import { Training } from "../../web/engine/training.js";

/** @import { Config, Rates } from "../../web/engine/engine.js" */
/** @import { Recipe } from "../../web/engine/training.js" */

/**
 * @typedef {{ ids: number[], selected: number[], labels: number[] }} Batch
 * @typedef {object} Case
 * @property {Config} config
 * @property {number} lines
 * @property {number} length
 * @property {number[]} parameters
 * @property {Batch[]} batches  A step is taken on each.
 * @property {Rates} rates
 * @property {number} [stop]  After so many steps, all goes on in another instance.
 * @property {{ layer: number, part: "heads" | "attention" | "feedForward" }} [without]  A part that
 *   gives nothing.
 */

const [, , module, given, answers] = process.argv;
const compiled = new WebAssembly.Module(readFileSync(module));
const instance = () => new WebAssembly.Instance(compiled);

/** @param {Case} one */
function answer(one) {
  let engine = new Engine(instance(), one.config, one.lines);
  engine.parameters.set(one.parameters);
  if (one.without) {
    const { values, replaced } = engine.part(one.without.layer, one.without.part);
    values.fill(0);
    replaced.fill(1);
  }
  const out = {
    nats: /** @type {number[]} */ ([]),
    logits: [0],
    gradients: [0],
    after: [0],
    last: [0],
  };
  one.batches.forEach((batch, n) => {
    if (n === one.stop) {
      const next = new Engine(instance(), one.config, one.lines);
      next.parameters.set(engine.parameters);
      for (const i of [0, 1]) next.moments[i].set(engine.moments[i]);
      engine = next;
    }
    const [ids, selected, labels] = [batch.ids, batch.selected, batch.labels].map((x) =>
      Int32Array.from(x),
    );
    if (n === 0) out.logits = [...engine.logits(ids, one.length, selected)];
    out.nats.push(engine.lossAndGradient(ids, one.length, selected, labels));
    if (n === 0) out.gradients = [...engine.gradients];
    engine.step(n + 1, one.rates);
    if (n === 0) out.after = [...engine.parameters];
  });
  out.last = [...engine.parameters];
  return out;
}

/**
 * Train as the page does, and say what Python needs to compare.
 * @param {{ config: Config & { neighbour_focus: number }, recipe: Recipe, text: number[], parameters: number[],
 *   steps: number }} one
 */
function train({ config, recipe, text, parameters, steps }) {
  const training = new Training(instance(), config, Int32Array.from(text), recipe);
  const own = [...training.engine.parameters];
  training.engine.parameters.set(parameters);
  const nats = Array.from({ length: steps }, () => training.step());
  return { nats, own, state: [...training.generator.state], last: [...training.engine.parameters] };
}

/**
 * Go on with a run in a file, or begin one, for some steps; then write it, and go on once more.
 * @param {{ config: Config & { neighbour_focus: number }, recipe: Recipe, text: number[], corpus: string,
 *   from?: string, to: string, steps: number }} one
 */
async function resume({ config, recipe, text, corpus, from, to, steps }) {
  const ids = Int32Array.from(text);
  let training = new Training(instance(), config, ids, recipe);
  /** @type {import("../../web/engine/run_file.js").Step[]} */
  let history = [];
  if (from) {
    try {
      const file = await readFile(new Uint8Array(readFileSync(from)).buffer, "x.safetensors");
      training = new Training(instance(), file.about.config, ids, file.about.recipe);
      takeOver(training, file);
      history = file.about.history;
    } catch (error) {
      return { refused: error instanceof Error && error.message };
    }
  }
  const nats = [];
  for (let n = 0; n < 2 * steps; n++) {
    if (n === steps) writeFileSync(to, await written(training, corpus, history));
    const loss = training.step();
    nats.push(loss);
    history.push([training.done, 256 * training.done, 0.5, Math.round(loss * 1e4) / 1e4, null]);
  }
  return { nats };
}

const cases = JSON.parse(readFileSync(given, "utf8"));
const made = cases.map((/** @type {any} */ one) =>
  "corpus" in one ? resume(one) : "text" in one ? train(one) : answer(one),
);
writeFileSync(answers, JSON.stringify(await Promise.all(made)));
