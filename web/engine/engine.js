// The engine as JavaScript calls it: engine.c compiled, one instance with one model.

/** @import { Batch } from "./training.js" */

/**
 * @typedef {object} Config  As EncoderConfig of src/cloze/encoder.py.
 * @property {number} vocab_size
 * @property {number} d_model
 * @property {number} n_heads
 * @property {number} n_layers
 * @property {number} d_ff
 * @property {number} max_len
 * @property {number} rotary_base
 * @property {number} neighbour_focus
 * @property {string} direction  "left", "right" or "both".
 */

export const LOOKS = /** @type {Record<string, number>} */ ({ left: -1, both: 0, right: 1 });

/** What can be read and replaced: what the heads gathered, and the two parts that are added. */
export const PARTS = { heads: 0, attention: 1, feedForward: 2 };

/**
 * The names and shapes of a model's parameters, in the order in which they lie in memory, which is
 * that of torch's state_dict; where each begins, and how many numbers it has.
 * @param {Config} config
 * @returns {[string, number[], number, number][]}
 */
export function parametersOf({ vocab_size: v, d_model: d, d_ff: f, n_layers: layers }) {
  /** @param {string} name */
  const norm = (name) => [
    [`${name}.weight`, [d]],
    [`${name}.bias`, [d]],
  ];
  /** @param {string} name @param {number} outputs @param {number} inputs */
  const linear = (name, outputs, inputs) => [
    [`${name}.weight`, [outputs, inputs]],
    [`${name}.bias`, [outputs]],
  ];
  /** @type {any[]} */
  const all = [["encoder.embedding.weight", [v, d]]];
  for (let n = 0; n < layers; n++) {
    const layer = `encoder.layers.${n}`;
    all.push(...norm(`${layer}.attention_norm`));
    for (const part of ["query", "key", "value", "output"]) {
      all.push(...linear(`${layer}.attention.${part}`, d, d));
    }
    all.push(...norm(`${layer}.feed_forward_norm`));
    all.push(
      ...linear(`${layer}.feed_forward.0`, f, d),
      ...linear(`${layer}.feed_forward.2`, d, f),
    );
  }
  all.push(...norm("encoder.norm"), ...linear("head", v, d));
  let at = 0;
  return all.map(([name, shape]) => {
    const size = shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b);
    at += size;
    return [name, shape, at - size, size];
  });
}

/**
 * Whether a parameter is a matrix of a layer, which Muon moves.
 * @param {string} name
 * @param {number[]} shape
 */
export const isMatrix = (name, shape) => name.includes("layers") && shape.length === 2;

/**
 * What engine.c exports; every address is a number of bytes.
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(v: number, l: number, d: number, h: number, n: number, f: number, looks: number,
 *   base: number, batch: number, trains: boolean) => number} make
 * @property {(seed: number) => void} seed
 * @property {(range: number) => number} below
 * @property {() => number} generator_at
 * @property {(n: number) => number} windows_at
 * @property {(n: number, rate: number, ordinary: number) => number} mask
 * @property {(seed: number, focus: number) => void} begin
 * @property {() => number} parameters_at
 * @property {() => number} gradients_at
 * @property {() => number} first_moments_at
 * @property {() => number} second_moments_at
 * @property {() => number} ids_at
 * @property {() => number} selected_at
 * @property {() => number} labels_at
 * @property {() => number} logits_at
 * @property {(layer: number) => number} weights_at
 * @property {(layer: number) => number} values_at
 * @property {() => number} streams_at
 * @property {(count: number) => void} answer
 * @property {(layer: number, part: number) => number} part_at
 * @property {(layer: number, part: number) => number} replaced_at
 * @property {(lines: number, length: number, selected: number) => void} forward
 * @property {(among: number) => number} loss
 * @property {() => void} backward
 * @property {(at: number, n: number) => void} look_ahead
 * @property {(at: number, out: number, inputs: number) => void} straighten
 * @property {(done: number, rate: number, matrix: number, queryKey: number, decay: number) => void} step
 */

/**
 * The rates of one step, as src/cloze/training.py names them.
 * @typedef {{ rate: number, matrix: number, queryKey: number, decay: number }} Rates
 */

const AT_ONCE = 4; // lines that a model reads which is only asked

/**
 * An engine with a model that is only asked.
 * @param {WebAssembly.Module} module
 * @param {Config} config
 * @param {Float32Array} parameters
 */
export async function engineOf(module, config, parameters) {
  const engine = new Engine(await WebAssembly.instantiate(module), config, AT_ONCE, false);
  engine.parameters.set(parameters);
  return engine;
}

export class Engine {
  /**
   * @param {WebAssembly.Instance} instance  Of engine.wasm; each model has one of its own.
   * @param {Config} config
   * @param {number} [lines]  The most lines that it will read at once.
   * @param {boolean} [trains]  Whether it will be trained, and not only asked.
   */
  constructor({ exports }, config, lines = 1, trains = true) {
    this.config = config;
    this.lines = lines;
    this.c = /** @type {Exports} */ (/** @type {unknown} */ (exports));
    this.size = this.c.make(
      config.vocab_size,
      config.max_len,
      config.d_model,
      config.n_heads,
      config.n_layers,
      config.d_ff,
      LOOKS[config.direction],
      config.rotary_base,
      lines,
      trains,
    );
  }

  /**
   * Numbers in the engine's memory; a view, which is void once the memory has grown.
   * @param {number} at
   * @param {number} [n]
   */
  floats(at, n = this.size) {
    return new Float32Array(this.c.memory.buffer, at, n);
  }

  /** All parameters, in the order of `parametersOf`. */
  get parameters() {
    return this.floats(this.c.parameters_at());
  }

  /** The gradient of the last loss at each of them. */
  get gradients() {
    return this.floats(this.c.gradients_at());
  }

  /** What the optimizers remember: Muon's momentum, or AdamW's mean and mean square. */
  get moments() {
    return [this.floats(this.c.first_moments_at()), this.floats(this.c.second_moments_at())];
  }

  /**
   * Logits at some positions of lines of one length.
   * @param {Int32Array} ids  (lines · length)
   * @param {number} length
   * @param {Int32Array} selected  Where: numbers of rows, line · length + position, ascending.
   * @returns {Float32Array}  (selected · |V|), a view.
   */
  logits(ids, length, selected) {
    const { buffer } = this.c.memory;
    new Int32Array(buffer, this.c.ids_at(), ids.length).set(ids);
    new Int32Array(buffer, this.c.selected_at(), selected.length).set(selected);
    this.c.forward(ids.length / length, length, selected.length);
    return this.floats(this.c.logits_at(), selected.length * this.config.vocab_size);
  }

  /**
   * Logits at the end of a residual stream: what the final norm and the head make of it.
   * @param {ArrayLike<number>} stream  (d_model)
   * @returns {Float32Array}  (|V|), a view.
   */
  answer(stream) {
    this.floats(this.c.streams_at(), stream.length).set(stream);
    this.c.answer(1);
    return this.floats(this.c.logits_at(), this.config.vocab_size);
  }

  /**
   * The values that the heads of a layer read in the last pass over one line.
   * @param {number} layer
   * @param {number} length
   * @returns {Float32Array}  (n_heads · length · d_head), a view.
   */
  values(layer, length) {
    return this.floats(this.c.values_at(layer), length * this.config.d_model);
  }

  /**
   * Where every head of every layer looks from a position of one line: weights that sum to 1.
   * @param {Int32Array} ids
   * @param {number} position
   */
  attention(ids, position) {
    const { n_layers, n_heads } = this.config;
    this.logits(ids, ids.length, Int32Array.of(position));
    return Array.from({ length: n_layers }, (_, layer) => {
      // The last layer has asked from the position alone, the others from everywhere.
      const [rows, row] = layer < n_layers - 1 ? [ids.length, position] : [1, 0];
      const weights = this.floats(this.c.weights_at(layer), n_heads * rows * ids.length);
      return Array.from({ length: n_heads }, (_, head) => {
        const at = (head * rows + row) * ids.length;
        return [...weights.subarray(at, at + ids.length)];
      });
    });
  }

  /**
   * What a part of a layer gave in the last pass (in the last layer at the selected rows alone), and
   * what it gives from the next pass on wherever `replaced` is 1: for each row and head, for the two
   * parts that are added for all heads alike.
   * @param {number} layer
   * @param {keyof typeof PARTS} part
   */
  part(layer, part) {
    const rows = this.lines * this.config.max_len;
    const at = this.c.part_at(layer, PARTS[part]);
    return {
      values: this.floats(at, rows * this.config.d_model),
      replaced: new Uint8Array(
        this.c.memory.buffer,
        this.c.replaced_at(layer, PARTS[part]),
        rows * this.config.n_heads,
      ),
    };
  }

  /**
   * The mean of −log P(label), in nats.
   * @param {Batch} batch
   * @param {number} length
   * @param {number} [among]  How many labels there are, or more where these are a part of them.
   */
  loss({ ids, selected, labels }, length, among = labels.length) {
    this.logits(ids, length, selected);
    new Int32Array(this.c.memory.buffer, this.c.labels_at(), labels.length).set(labels);
    return this.c.loss(among);
  }

  /**
   * The same; and its gradient at every parameter is kept for `step`.
   * @param {Batch} batch
   * @param {number} length
   * @param {number} [among]
   */
  lossAndGradient(batch, length, among) {
    const nats = this.loss(batch, length, among);
    this.c.backward();
    return nats;
  }

  /** The matrices of the layers, as they are to be straightened for Muon. */
  ahead() {
    return parametersOf(this.config).flatMap(([name, shape, at, size]) => {
      if (!isMatrix(name, shape)) return [];
      this.c.look_ahead(at, size);
      return [{ at, shape, numbers: this.gradients.slice(at, at + size) }];
    });
  }

  /**
   * A matrix with all of its singular values near 1.
   * @param {{ at: number, shape: number[], numbers: Float32Array }} matrix  One of those.
   */
  straightened({ at, shape: [out, inputs], numbers }) {
    this.gradients.set(numbers, at);
    this.c.straighten(at, out, inputs);
    return this.gradients.slice(at, at + numbers.length);
  }

  /**
   * Move every parameter against its gradient, and each matrix of a layer against that straightened:
   * step number `done`, counted from 1.
   * @param {number} done
   * @param {Rates} rates
   */
  step(done, { rate, matrix, queryKey, decay }) {
    this.c.step(done, rate, matrix, queryKey, decay);
  }
}
