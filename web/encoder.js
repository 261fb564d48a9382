// The encoder and its head: src/cloze/encoder.py and heads.py in plain JavaScript, one line of ids
// in, logits out. The names are theirs; what is done in another way is done for speed:
//   - all numbers are doubles, JavaScript's own kind: others would be converted at every step;
//   - one function, `product`, does all multiplying, sixteen sums at a time;
//   - matrices are made once and used again: what a call returns in one, the next overwrites;
//   - what the first layer projects depends on the symbol alone, so it is a table, made at load;
//   - the last layer finishes the gaps alone, and a twin reads only what its gaps can see.

import { ValueError } from "../src/cloze/widgets/browser/widget.js";

/** @import { Vocabulary } from "./vocabulary.js" */

/**
 * @typedef {object} Config  As EncoderConfig of src/cloze/encoder.py.
 * @property {number} vocab_size
 * @property {number} d_model
 * @property {number} n_heads
 * @property {number} n_layers
 * @property {number} d_ff
 * @property {number} max_len
 * @property {number} rotary_base
 * @property {string} direction  "left", "right" or "both".
 *
 * @typedef {{ dtype: string, shape: number[], bytes: ArrayBuffer, values: Float64Array }} Tensor
 * @typedef {Map<string, Tensor>} Tensors  By name.
 */

// ── numbers ──

/** Rows of numbers, `stride` numbers from the beginning of one to that of the next. */
class Matrix {
  /**
   * @param {number} rows
   * @param {number} columns
   * @param {Float64Array} [values]
   * @param {number} [start]
   * @param {number} [stride]
   */
  constructor(
    rows,
    columns,
    values = new Float64Array(rows * columns),
    start = 0,
    stride = columns,
  ) {
    this.rows = rows;
    this.columns = columns;
    this.values = values;
    this.start = start;
    this.stride = stride;
  }

  /**
   * Some of the columns, in the same memory.
   * @param {number} first
   * @param {number} count
   */
  slice(first, count) {
    return new Matrix(this.rows, count, this.values, this.start + first, this.stride);
  }

  /**
   * Where a row begins.
   * @param {number} at
   */
  row(at) {
    return this.start + at * this.stride;
  }
}

/**
 * out = x · weightᵀ + bias, for the first m rows of x and n of weight, of k numbers each.
 *
 * Reading a number takes as long as multiplying by it, so four rows of each are read together: eight
 * numbers for sixteen products, whose sums stay in registers. At an edge, where fewer are left, the
 * last row stands in for those that are missing, and is computed again.
 * @param {Matrix} out
 * @param {Matrix} x
 * @param {Matrix} weight
 * @param {Float64Array | null} bias
 */
function product(out, x, weight, bias, m = x.rows, n = weight.rows, k = weight.columns) {
  const [a, b, c] = [x.values, weight.values, out.values];
  for (let j = 0; j < n; j += 4) {
    const j1 = Math.min(j + 1, n - 1);
    const j2 = Math.min(j + 2, n - 1);
    const j3 = Math.min(j + 3, n - 1);
    const [b0, b1, b2, b3] = [weight.row(j), weight.row(j1), weight.row(j2), weight.row(j3)];
    const bias0 = bias ? bias[j] : 0;
    const bias1 = bias ? bias[j1] : 0;
    const bias2 = bias ? bias[j2] : 0;
    const bias3 = bias ? bias[j3] : 0;
    for (let i = 0; i < m; i += 4) {
      const i1 = Math.min(i + 1, m - 1);
      const i2 = Math.min(i + 2, m - 1);
      const i3 = Math.min(i + 3, m - 1);
      const [a0, a1, a2, a3] = [x.row(i), x.row(i1), x.row(i2), x.row(i3)];
      let s00 = bias0,
        s01 = bias1,
        s02 = bias2,
        s03 = bias3;
      let s10 = bias0,
        s11 = bias1,
        s12 = bias2,
        s13 = bias3;
      let s20 = bias0,
        s21 = bias1,
        s22 = bias2,
        s23 = bias3;
      let s30 = bias0,
        s31 = bias1,
        s32 = bias2,
        s33 = bias3;
      for (let at = 0; at < k; at++) {
        const v0 = b[b0 + at],
          v1 = b[b1 + at],
          v2 = b[b2 + at],
          v3 = b[b3 + at];
        const u0 = a[a0 + at];
        s00 += u0 * v0;
        s01 += u0 * v1;
        s02 += u0 * v2;
        s03 += u0 * v3;
        const u1 = a[a1 + at];
        s10 += u1 * v0;
        s11 += u1 * v1;
        s12 += u1 * v2;
        s13 += u1 * v3;
        const u2 = a[a2 + at];
        s20 += u2 * v0;
        s21 += u2 * v1;
        s22 += u2 * v2;
        s23 += u2 * v3;
        const u3 = a[a3 + at];
        s30 += u3 * v0;
        s31 += u3 * v1;
        s32 += u3 * v2;
        s33 += u3 * v3;
      }
      const [c0, c1, c2, c3] = [out.row(i), out.row(i1), out.row(i2), out.row(i3)];
      c[c0 + j] = s00;
      c[c0 + j1] = s01;
      c[c0 + j2] = s02;
      c[c0 + j3] = s03;
      c[c1 + j] = s10;
      c[c1 + j1] = s11;
      c[c1 + j2] = s12;
      c[c1 + j3] = s13;
      c[c2 + j] = s20;
      c[c2 + j1] = s21;
      c[c2 + j2] = s22;
      c[c2 + j3] = s23;
      c[c3 + j] = s30;
      c[c3 + j1] = s31;
      c[c3 + j2] = s32;
      c[c3 + j3] = s33;
    }
  }
}

/**
 * Copy row rows[r] of x to row r of out. Where rows ascend, out may be x itself.
 * @param {Matrix} out
 * @param {Matrix} x
 * @param {number[]} rows
 */
function gather(out, x, rows) {
  for (let r = 0; r < rows.length; r++) {
    const from = x.row(rows[r]);
    out.values.set(x.values.subarray(from, from + x.columns), out.row(r));
  }
}

/**
 * Add the first rows of another matrix to those of x.
 * @param {Matrix} x
 * @param {Matrix} more
 * @param {number} rows
 */
function add(x, more, rows) {
  const count = rows * x.columns;
  for (let i = 0; i < count; i++) x.values[i] += more.values[i];
}

// ── modules ──

/**
 * The tensor of a name; checkpoint.js has seen that it is there.
 * @param {Tensors} tensors
 * @param {string} name
 */
const tensor = (tensors, name) => /** @type {Tensor} */ (tensors.get(name));

/** @param {Tensor} tensor */
function matrix({ shape: [rows, columns], values }) {
  return new Matrix(rows, columns, values);
}

class Linear {
  /**
   * @param {Tensors} tensors
   * @param {string} name
   */
  constructor(tensors, name) {
    this.weight = matrix(tensor(tensors, `${name}.weight`));
    this.bias = tensor(tensors, `${name}.bias`).values;
  }

  /**
   * @param {Matrix} out
   * @param {Matrix} x
   * @param {number} rows
   */
  forward(out, x, rows) {
    product(out, x, this.weight, this.bias, rows);
  }
}

class LayerNorm {
  /**
   * @param {Tensors} tensors
   * @param {string} name
   */
  constructor(tensors, name) {
    this.weight = tensor(tensors, `${name}.weight`).values;
    this.bias = tensor(tensors, `${name}.bias`).values;
  }

  /**
   * @param {Matrix} out
   * @param {Matrix} x
   * @param {number} rows
   */
  forward(out, x, rows) {
    const { weight, bias } = this;
    const n = weight.length;
    for (let r = 0; r < rows; r++) {
      const from = x.row(r);
      const to = out.row(r);
      let mean = 0;
      for (let i = 0; i < n; i++) mean += x.values[from + i];
      mean /= n;
      let variance = 0;
      for (let i = 0; i < n; i++) variance += (x.values[from + i] - mean) ** 2;
      const scale = 1 / Math.sqrt(variance / n + 1e-5);
      for (let i = 0; i < n; i++) {
        out.values[to + i] = (x.values[from + i] - mean) * scale * weight[i] + bias[i];
      }
    }
  }
}

/**
 * Cosine and sine of the angle of each pair of a head, side by side; a row for each position.
 * @param {number} length
 * @param {number} dHead
 * @param {number} base
 */
function rotaryTurns(length, dHead, base) {
  const turns = new Matrix(length, dHead);
  for (let position = 0; position < length; position++) {
    for (let pair = 0; pair < dHead / 2; pair++) {
      const angle = position * base ** (-pair / (dHead / 2));
      turns.values[turns.row(position) + 2 * pair] = Math.cos(angle);
      turns.values[turns.row(position) + 2 * pair + 1] = Math.sin(angle);
    }
  }
  return turns;
}

/**
 * Turn each pair of numbers in every head by the angle of its row's position, in place.
 * @param {Matrix} x
 * @param {Matrix} turns
 * @param {number[]} positions
 */
function rotate(x, turns, positions) {
  for (let r = 0; r < positions.length; r++) {
    const turn = turns.row(positions[r]);
    for (let head = 0; head < x.columns; head += turns.columns) {
      const from = x.row(r) + head;
      for (let i = 0; i < turns.columns; i += 2) {
        const cos = turns.values[turn + i];
        const sin = turns.values[turn + i + 1];
        const real = x.values[from + i];
        const imaginary = x.values[from + i + 1];
        x.values[from + i] = real * cos - imaginary * sin;
        x.values[from + i + 1] = real * sin + imaginary * cos;
      }
    }
  }
}

/**
 * The first position that a position may look at, and the one behind the last.
 * @param {number} position
 * @param {number} length
 * @param {string} direction
 */
function sight(position, length, direction) {
  return [direction === "right" ? position : 0, direction === "left" ? position + 1 : length];
}

/** Multi-head self-attention with rotary positions. */
class Attention {
  /**
   * @param {Config} config
   * @param {Tensors} tensors
   * @param {string} name
   */
  constructor(config, tensors, name) {
    this.direction = config.direction;
    this.query = new Linear(tensors, `${name}.query`);
    this.key = new Linear(tensors, `${name}.key`);
    this.value = new Linear(tensors, `${name}.value`);
    this.output = new Linear(tensors, `${name}.output`);
    this.nHeads = config.n_heads;
    this.dHead = config.d_model / config.n_heads;
    this.turns = rotaryTurns(config.max_len, this.dHead, config.rotary_base);
    const [length, width] = [config.max_len, config.d_model];
    this.asked = new Matrix(length, width);
    this.queries = new Matrix(length, width);
    this.keys = new Matrix(length, width);
    this.values = new Matrix(length, width);
    this.valuesAcross = new Matrix(width, length); // a row for each number, a column for each position
    this.scores = new Matrix(length, length);
    this.gathered = new Matrix(length, width);
    /** @type {Record<"query" | "key" | "value", Matrix> | null} */
    this.tables = null;
  }

  /**
   * Project each symbol once and for all; x holds a row for each.
   * @param {Matrix} x
   */
  tabulate(x) {
    const table = (/** @type {Linear} */ projection) => {
      const out = new Matrix(x.rows, x.columns);
      projection.forward(out, x, x.rows);
      return out;
    };
    this.tables = { query: table(this.query), key: table(this.key), value: table(this.value) };
  }

  /**
   * Let the selected positions gather what they need from the positions they may look at.
   * @param {Matrix} out
   * @param {Matrix} x
   * @param {number[]} inputIds
   * @param {number[]} everywhere
   * @param {number[]} selected
   */
  forward(out, x, inputIds, everywhere, selected) {
    const { dHead, scores, valuesAcross, values } = this;
    this.project(x, inputIds, everywhere, selected);
    for (let r = 0; r < everywhere.length; r++) {
      for (let i = 0; i < values.columns; i++) {
        valuesAcross.values[valuesAcross.row(i) + r] = values.values[values.row(r) + i];
      }
    }
    for (let head = 0; head < this.nHeads; head++) {
      this.weights(head, everywhere.length, selected);
      const { values, columns } = valuesAcross;
      const across = new Matrix(dHead, columns, values, valuesAcross.row(head * dHead));
      const gathered = this.gathered.slice(head * dHead, dHead);
      product(gathered, scores, across, null, selected.length, dHead, everywhere.length);
    }
    this.output.forward(out, this.gathered, selected.length);
  }

  /**
   * Project to queries at the selected positions, and to keys and values everywhere.
   * @param {Matrix} x
   * @param {number[]} inputIds
   * @param {number[]} everywhere
   * @param {number[]} selected
   */
  project(x, inputIds, everywhere, selected) {
    const { tables, asked, queries, keys, values } = this;
    if (tables) {
      gather(keys, tables.key, inputIds);
      gather(values, tables.value, inputIds);
      gather(
        queries,
        tables.query,
        selected.map((at) => inputIds[at]),
      );
    } else {
      this.key.forward(keys, x, everywhere.length);
      this.value.forward(values, x, everywhere.length);
      gather(asked, x, selected);
      this.query.forward(queries, asked, selected.length);
    }
    rotate(keys, this.turns, everywhere);
    rotate(queries, this.turns, selected);
  }

  /**
   * Write how much each query looks at each key into the rows of `scores`; each sums to 1.
   * @param {number} head
   * @param {number} length
   * @param {number[]} selected
   */
  weights(head, length, selected) {
    const { dHead, scores } = this;
    const [queries, keys] = [this.queries, this.keys].map((x) => x.slice(head * dHead, dHead));
    product(scores, queries, keys, null, selected.length, length);
    const scale = 1 / Math.sqrt(dHead);
    for (let r = 0; r < selected.length; r++) {
      const [first, end] = sight(selected[r], length, this.direction);
      const row = scores.values.subarray(scores.row(r), scores.row(r) + length);
      let most = -Infinity;
      for (let i = first; i < end; i++) if (row[i] > most) most = row[i];
      let sum = 0;
      for (let i = first; i < end; i++) sum += row[i] = Math.exp((row[i] - most) * scale);
      for (let i = 0; i < first; i++) row[i] = 0;
      for (let i = first; i < end; i++) row[i] /= sum;
      for (let i = end; i < length; i++) row[i] = 0;
    }
  }
}

/** Attention, then a feed-forward network, each added to its input. */
class Layer {
  /**
   * @param {Config} config
   * @param {Tensors} tensors
   * @param {string} name
   */
  constructor(config, tensors, name) {
    this.attentionNorm = new LayerNorm(tensors, `${name}.attention_norm`);
    this.attention = new Attention(config, tensors, `${name}.attention`);
    this.feedForwardNorm = new LayerNorm(tensors, `${name}.feed_forward_norm`);
    this.widen = new Linear(tensors, `${name}.feed_forward.0`);
    this.narrow = new Linear(tensors, `${name}.feed_forward.2`);
    this.normed = new Matrix(config.max_len, config.d_model);
    this.more = new Matrix(config.max_len, config.d_model);
    this.wide = new Matrix(config.max_len, config.d_ff);
  }

  /**
   * Refine x in place, so that its first rows are those of the selected positions.
   * @param {Matrix} x
   * @param {number[]} inputIds
   * @param {number[]} everywhere
   * @param {number[]} selected
   */
  forward(x, inputIds, everywhere, selected) {
    const { normed, more, wide } = this;
    const rows = selected.length;
    if (!this.attention.tables) this.attentionNorm.forward(normed, x, everywhere.length);
    this.attention.forward(more, normed, inputIds, everywhere, selected);
    gather(x, x, selected);
    add(x, more, rows);
    this.feedForwardNorm.forward(normed, x, rows);
    this.widen.forward(wide, normed, rows);
    const count = rows * wide.columns;
    for (let i = 0; i < count; i++) wide.values[i] = Math.max(0, wide.values[i]) ** 2; // squared ReLU
    this.narrow.forward(more, wide, rows);
    add(x, more, rows);
  }
}

/** Ids in, one vector for every position out, informed by all positions it may see. */
class Encoder {
  /**
   * @param {Config} config
   * @param {Tensors} tensors
   */
  constructor(config, tensors) {
    this.config = config;
    this.embedding = matrix(tensor(tensors, "encoder.embedding.weight"));
    this.layers = Array.from(
      { length: config.n_layers },
      (_, l) => new Layer(config, tensors, `encoder.layers.${l}`),
    );
    this.norm = new LayerNorm(tensors, "encoder.norm");
    this.x = new Matrix(config.max_len, config.d_model);
    const normed = new Matrix(config.vocab_size, config.d_model);
    this.layers[0].attentionNorm.forward(normed, this.embedding, config.vocab_size);
    this.layers[0].attention.tabulate(normed);
  }

  /**
   * Compute the hidden states of the selected positions (ascending), the first rows of a Matrix.
   * @param {number[]} inputIds
   * @param {number[]} selected
   */
  forward(inputIds, selected) {
    const everywhere = this.read(inputIds);
    this.layers.forEach((layer, l) => {
      layer.forward(
        this.x,
        inputIds,
        everywhere,
        l < this.layers.length - 1 ? everywhere : selected,
      );
    });
    this.norm.forward(this.x, this.x, selected.length);
    return this.x;
  }

  /**
   * Where every head of every layer looks from a position: weights that sum to 1.
   * @param {number[]} inputIds
   * @param {number} position
   */
  attention(inputIds, position) {
    const everywhere = this.read(inputIds);
    return this.layers.map((layer) => {
      const { attention, attentionNorm, normed } = layer;
      attentionNorm.forward(normed, this.x, inputIds.length);
      attention.project(normed, inputIds, everywhere, [position]);
      const heads = Array.from({ length: this.config.n_heads }, (_, head) => {
        attention.weights(head, inputIds.length, [position]);
        return [...attention.scores.values.subarray(0, inputIds.length)];
      });
      layer.forward(this.x, inputIds, everywhere, everywhere);
      return heads;
    });
  }

  /**
   * Put the embedding of a line into x, and number the line's positions.
   * @param {number[]} inputIds
   */
  read(inputIds) {
    if (inputIds.length > this.config.max_len) {
      throw new ValueError(
        `The line has ${inputIds.length} symbols, but this encoder reads at most ` +
          `max_len = ${this.config.max_len}.`,
      );
    }
    gather(this.x, this.embedding, inputIds);
    return Array.from(inputIds, (_, i) => i);
  }
}

/** An encoder with the head that predicts the symbol at every position. */
export class MaskedLM {
  /**
   * @param {Config} config
   * @param {Vocabulary} vocabulary
   * @param {Tensors} tensors
   */
  constructor(config, vocabulary, tensors) {
    this.config = config;
    this.vocabulary = vocabulary;
    this.encoder = new Encoder(config, tensors);
    this.head = new Linear(tensors, "head");
    this.logits = new Matrix(config.max_len, config.vocab_size);
  }

  /**
   * @param {number[]} inputIds
   * @param {number[]} selected  Positions, ascending, at least one.
   * @returns {Float64Array[]} Logits at each, |V| numbers.
   */
  logitsAt(inputIds, selected) {
    // Rotary positions know distances only, so what no gap can see may be left out altogether.
    const { direction } = this.config;
    const [first] = sight(selected[0], inputIds.length, direction);
    const [, end] = sight(selected[selected.length - 1], inputIds.length, direction);
    const read = inputIds.slice(first, end);
    const states = this.encoder.forward(
      read,
      selected.map((at) => at - first),
    );
    this.head.forward(this.logits, states, selected.length);
    return selected.map((_, r) => {
      const from = this.logits.row(r);
      return this.logits.values.slice(from, from + this.logits.columns);
    });
  }
}
