// Who computes a step of training: this thread alone, or workers for it.
//
// A step is cut into jobs, always into the same ones. Each needs nothing but what it is given, and gives
// the same bytes whoever does it. So if a worker ends or falls silent, somebody else does its job.

/**
 * @import { Engine } from "./engine.js"
 * @import { Batch } from "./training.js"
 *
 * The gradient of a shard's loss, as a part of the mean over `among` questions; or a matrix of the
 * layers, to be straightened for Muon.
 * @typedef {{ shard: Batch, length: number, among: number, parameters: Float32Array }} Gradient
 * @typedef {{ at: number, shape: number[], numbers: Float32Array }} Matrix
 *
 * Of either: the shard's part of the loss, and numbers of gradients from `at` on.
 * @typedef {{ nats: number, at: number, numbers: Float32Array<ArrayBuffer> }} Result
 */

const PATIENCE = 1000; // milliseconds without an answer after which a job is somebody else's

/**
 * Do a job.
 * @param {Engine} engine
 * @param {Gradient | Matrix} job
 * @returns {Result}
 */
export function work(engine, job) {
  if ("at" in job) return { nats: 0, at: job.at, numbers: engine.straightened(job) };
  engine.parameters.set(job.parameters);
  const nats = engine.lossAndGradient(job.shard, job.length, job.among);
  return { nats, at: 0, numbers: engine.gradients.slice() };
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
   * @returns {Promise<any>}  Nothing if it does not answer in time; it is free again when it does.
   */
  #ask(worker, ask, given) {
    this.#free.delete(worker);
    worker.postMessage({ ask, given });
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
   * @param {Engine} engine  Of this thread.
   * @param {(Gradient | Matrix)[]} jobs
   * @returns {Promise<Result[]>}  In the order of the jobs.
   */
  async all(engine, jobs) {
    /** @type {Result[]} */
    const results = [];
    const left = [...jobs.keys()];
    const employ = async (/** @type {Worker} */ worker) => {
      for (let job = left.shift(); job !== undefined; job = left.shift()) {
        results[job] = await this.#ask(worker, "work", jobs[job]);
        if (!results[job]) return left.push(job);
      }
    };
    await Promise.all([...this.#free].map(employ));
    for (const job of left) results[job] = work(engine, jobs[job]);
    return results;
  }
}
