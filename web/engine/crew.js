// Who computes a step of training: this thread alone, or workers for it.
//
// A step is cut into jobs, always into the same ones. Each needs nothing but the weights and what it is
// given, and gives the same bytes whoever does it. So if a worker ends or falls silent, somebody else
// does its jobs.

/**
 * @import { Engine } from "./engine.js"
 * @import { Batch } from "./training.js"
 *
 * The gradient of a shard's loss, as a part of the mean over `among` questions; or a matrix of the
 * layers, to be straightened for Muon.
 * @typedef {{ shard: Batch, length: number, among: number }} Gradient
 * @typedef {{ at: number, shape: number[], numbers: Float32Array }} Matrix
 *
 * Some of either; the weights where they have changed, and memory for gradients, to be used again.
 * @typedef {{ jobs: (Gradient | Matrix)[], parameters?: Float32Array, spare: Gradients[] }} Order
 *
 * @typedef {Float32Array<ArrayBuffer>} Gradients
 *
 * Of either: the shard's part of the loss, and numbers of gradients from `at` on.
 * @typedef {{ nats: number, at: number, numbers: Gradients }} Result
 */

const PATIENCE = 1000; // milliseconds without an answer after which a job is somebody else's

/**
 * Do some jobs.
 * @param {Engine} engine
 * @param {Order} order
 * @returns {Result[]}
 */
export function work(engine, { jobs, parameters, spare }) {
  if (parameters) engine.parameters.set(parameters);
  return jobs.map((job) => {
    if ("at" in job) return { nats: 0, at: job.at, numbers: engine.straightened(job) };
    const nats = engine.lossAndGradient(job.shard, job.length, job.among);
    const numbers = spare.pop() ?? new Float32Array(engine.size);
    numbers.set(engine.gradients);
    return { nats, at: 0, numbers };
  });
}

/**
 * Start a worker.
 * @param {string | Blob} script  The address of a module, or a script.
 */
export const run = (script) =>
  script instanceof Blob
    ? new Worker(URL.createObjectURL(script))
    : new Worker(script, { type: "module" });

export class Crew {
  /** @type {Set<Worker>} Those that have answered, and wait for a job. */
  #free = new Set();
  /** @type {Gradients[]} Memory of gradients that have been added up. */
  spare = [];

  /**
   * Have a worker work for this thread, as soon as it says that it can.
   * @param {Worker} worker
   * @param {object} given  What its engine is made of.
   */
  hire(worker, given) {
    worker.onerror = (event) => event.preventDefault(); // it has fallen silent, and that is all
    return this.#ask(worker, "help", given);
  }

  /**
   * @param {Worker} worker
   * @param {string} ask
   * @param {object} given
   * @param {ArrayBuffer[]} [lent]  Of its memory.
   * @returns {Promise<any>}  Nothing if it does not answer in time; it is free again when it does.
   */
  #ask(worker, ask, given, lent = []) {
    this.#free.delete(worker);
    worker.postMessage({ ask, given }, lent);
    return new Promise((resolve) => {
      const late = setTimeout(resolve, PATIENCE);
      worker.onmessage = ({ data: { answer } }) => {
        clearTimeout(late);
        if (answer) this.#free.add(worker);
        resolve(answer);
      };
    });
  }

  /**
   * Have jobs done by whoever is free, and do here what nobody has done.
   * @param {Engine} engine  Of this thread, with the weights.
   * @param {(Gradient | Matrix)[]} jobs
   * @returns {Promise<Result[]>}  In the order of the jobs.
   */
  async all(engine, jobs) {
    /** @type {Result[]} */
    const results = [];
    const left = [...jobs.keys()];
    const workers = [...this.#free];
    const shards = jobs.some((job) => "shard" in job);
    const weights = shards ? engine.parameters.slice() : undefined;
    const employ = async (/** @type {Worker} */ worker) => {
      let parameters = weights;
      while (left.length) {
        // Several at first, because each message takes time; one in the end, so that nobody waits long.
        const some = left.splice(0, Math.ceil(left.length / workers.length / 2));
        const spare = shards ? this.spare.splice(0, some.length) : [];
        const order = { jobs: some.map((job) => jobs[job]), parameters, spare };
        const lent = spare.map(({ buffer }) => buffer);
        const done = await this.#ask(worker, "work", order, lent);
        if (!done) return left.push(...some);
        for (const [n, job] of some.entries()) results[job] = done.results[n];
        parameters = undefined;
      }
    };
    await Promise.all(workers.map(employ));
    for (const job of left) [results[job]] = work(engine, { jobs: [jobs[job]], spare: this.spare });
    return results;
  }
}
