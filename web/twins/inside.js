// The inside of a model at one gap: src/cloze/explorer/inside.py, from what the engine's parts
// gave. The residual stream is the embedding and the sum of what the parts add, so all else is
// computed here from them.

import { partName } from "../../src/cloze/explorer/inside.js";
import { largest } from "../../src/cloze/explorer/parts.js";
import { ValueError } from "../../src/cloze/widgets/browser/widget.js";
import { PARTS, parametersOf } from "../engine/engine.js";
import { logSoftmax } from "./predictors.js";
import { GAP } from "./vocabulary.js";

/**
 * @import { Question } from "../../src/cloze/explorer/parts.js"
 * @import { Arc, Effect, Inside, Rung, Reading } from "../../src/cloze/explorer/inside.js"
 * @import { Engine } from "../engine/engine.js"
 * @import { MaskedPredictor } from "./predictors.js"
 *
 * @typedef {Map<string, Float32Array>} Measurements  What was measured inside a model, by the name of its tensor.
 *
 * @typedef {object} Changed  What is put in the place of a part: values from `first` on, of one head or all.
 * @property {number} layer
 * @property {keyof typeof PARTS} part
 * @property {number} head  -1 for all.
 * @property {number} first
 * @property {number} size
 * @property {(row: number) => Float32Array} values
 * @property {number[]} rows
 *
 * @typedef {object} Parts  What one pass gave.
 * @property {Record<keyof typeof PARTS, Float32Array>[]} layers  (length, d_model) each; in the last
 *   layer only the gap's row.
 * @property {Float32Array[]} values  By layer, (n_heads, length, d_head).
 * @property {number[][][]} weights  By layer, head and place, from the gap.
 * @property {Float64Array[]} streams  At the gap, by rung.
 */

const NAMES = /** @type {(keyof typeof PARTS)[]} */ (Object.keys(PARTS));
const BEST = 3; // how many guesses are shown
const LEAST_WEIGHT = 1e-4; // what a head weighs less moves too little to be drawn
const LEAST_MOVED = 0.05; // what moves less than this share of what moves most is not drawn

/** The parameters of a model by name, and what is computed with them. */
class Model {
  /** @param {Engine} engine */
  constructor(engine) {
    this.engine = engine;
    this.config = engine.config;
    for (let layer = 0; layer < engine.config.n_layers; layer++)
      for (const name of NAMES) engine.part(layer, name); // makes room, which voids older views
    const { parameters } = engine;
    /** @type {Map<string, Float32Array>} */
    this.tensors = new Map();
    for (const [name, , at, size] of parametersOf(engine.config))
      this.tensors.set(name, parameters.subarray(at, at + size));
  }

  /** @param {string} name */
  get(name) {
    return /** @type {Float32Array} */ (this.tensors.get(name));
  }

  /**
   * Read a line, and keep what its parts give; `changes` says what is put in their place.
   * @param {number[]} ids
   * @param {number} at
   * @param {Changed[]} changes
   * @returns {Parts}
   */
  run(ids, at, changes = []) {
    const { engine } = this;
    const { d_model: width, n_heads: heads, n_layers } = this.config;
    const layers = Array.from({ length: n_layers }, (_, n) => n);
    const marked = [];
    for (const { layer, part, head, first, values: given, rows } of changes) {
      const { values, replaced } = engine.part(layer, part);
      for (const row of rows) {
        values.set(given(row), row * width + first);
        const own = row * heads + Math.max(head, 0);
        replaced.fill(1, own, head < 0 ? own + heads : own + 1);
      }
      marked.push(replaced);
    }
    const weights = engine.attention(Int32Array.from(ids), at);
    const given = layers.map((layer) =>
      Object.fromEntries(
        NAMES.map((name) => [name, engine.part(layer, name).values.slice(0, ids.length * width)]),
      ),
    );
    const read = layers.map((layer) => engine.values(layer, ids.length).slice());
    for (const replaced of marked) replaced.fill(0); // the engine answers others, too
    const embedding = this.get("encoder.embedding.weight");
    const streams = [Float64Array.from(embedding.subarray(ids[at] * width, (ids[at] + 1) * width))];
    for (const { attention, feedForward } of given)
      for (const added of [attention, feedForward])
        streams.push(
          plus(streams[streams.length - 1], added.subarray(at * width, (at + 1) * width)),
        );
    return /** @type {Parts} */ ({
      layers: given,
      values: read,
      weights,
      streams,
    });
  }

  /**
   * Return log P of the ordinary symbols, as the head answers at the end of a residual stream.
   * @param {ArrayLike<number>} stream
   * @param {number} n  How many are ordinary.
   */
  lens(stream, n) {
    return logSoftmax(this.engine.answer(stream).subarray(0, n));
  }
}

/**
 * Return matrix · x.
 * @param {ArrayLike<number>} matrix  (rows, x.length)
 * @param {ArrayLike<number>} x
 * @param {number} rows
 */
function times(matrix, x, rows) {
  const out = new Float64Array(rows);
  for (let i = 0, at = 0; i < rows; i++) {
    let sum = 0;
    for (let j = 0; j < x.length; j++) sum += matrix[at++] * x[j];
    out[i] = sum;
  }
  return out;
}

/**
 * @param {Float64Array} x
 * @param {ArrayLike<number>} y
 */
const plus = (x, y) => x.map((each, i) => each + y[i]);

/**
 * Return the way of a model to its answer at the selected gap, with the parts changed that are.
 * @param {MaskedPredictor} predictor
 * @param {Question} question
 * @returns {Promise<Inside>}
 */
export async function inside(predictor, question) {
  const { engine } = predictor;
  predictor.measured ??= await predictor.measurements();
  if (!question.inside.untrained) return answerTo(predictor, question, predictor.measured);
  const trained = engine.parameters.slice();
  engine.c.begin(0, engine.config.neighbour_focus); // as they are drawn before training
  try {
    return answerTo(predictor, question, null);
  } finally {
    engine.parameters.set(trained);
  }
}

/**
 * @param {MaskedPredictor} predictor
 * @param {Question} question
 * @param {Measurements | null} measurements
 * @returns {Inside}
 */
function answerTo(predictor, question, measurements) {
  const { truth: line, masked, filled, focus, inside: settings } = question;
  const model = new Model(predictor.engine);
  const { known, framed } = predictor.symbols;
  const at = focus + framed; // in what the model reads
  const gaps = masked.filter((each) => !(each in filled));
  const held = line.map((symbol, place) => filled[place] ?? symbol);
  const ids = predictor.masked(held, gaps);
  const other = settings.other.length
    ? model.run(predictor.masked(settings.other, gaps), at)
    : null;
  const base = model.run(ids, at);
  const changes = Object.entries(settings.parts)
    .filter(([, how]) => how === "off" || other)
    .map(([key, how]) =>
      changeOf(model, key, how, measurements, other, settings.everywhere, ids, at),
    );
  const now = changes.length ? model.run(ids, at, changes) : base;
  const truth = known.indexOf(line[focus]);
  /** @param {Float64Array} stream @returns {Reading} */
  const decoded = (stream) => {
    const logP = model.lens(stream, known.length);
    const p = Array.from(logP, Math.exp);
    return {
      guesses: largest(p, BEST).map((i) => [known[i], p[i]]),
      cost: truth < 0 ? null : -logP[truth],
    };
  };
  const { d_model: width } = model.config;
  const rungs = now.streams.map((stream, n) => {
    const layer = Math.max(0, Math.ceil(n / 2) - 1);
    const part = n === 0 ? "embedding" : n % 2 ? "attention" : "feed-forward";
    const name = ["resid_post", "resid_mid"][n % 2];
    const translator = `translator.${n === 0 ? "embed" : `${name}.${layer}`}`;
    const matrix = measurements?.get(`${translator}.weight`);
    const bias = measurements?.get(`${translator}.bias`);
    const own = decoded(stream);
    return /** @type {Rung} */ ({
      part,
      layer,
      own,
      translated:
        matrix && bias ? decoded(plus(plus(stream, times(matrix, stream, width)), bias)) : null,
      before: now === base ? own.cost : decoded(base.streams[n]).cost,
      heads: part === "attention" ? headsOf(model, now, layer, framed, line.length) : [],
    });
  });
  return {
    rungs,
    looks: model.config.direction,
    means: measurements !== null,
    untrained: true,
    effect: effectOf(model, question, at, known, { base, now, other }, changes),
  };
}

/**
 * Return one change of a part that the browser has named.
 * @param {Model} model
 * @param {string} key
 * @param {"off" | "swap"} how
 * @param {Measurements | null} measurements
 * @param {Parts | null} other
 * @param {boolean} everywhere
 * @param {number[]} ids
 * @param {number} at
 * @returns {Changed}
 */
function changeOf({ config }, key, how, measurements, other, everywhere, ids, at) {
  const [layer, head = -1] = key.split(".").map(Number);
  const { d_model: width, n_heads } = config;
  if (layer >= config.n_layers || head >= n_heads)
    throw new ValueError(`This model has no ${partName(key)}.`);
  const part = /** @type {keyof typeof PARTS} */ (head < 0 ? "feedForward" : "heads");
  const size = head < 0 ? width : width / n_heads;
  const first = Math.max(head, 0) * size;
  // The last layer is computed at the gap alone, which elsewhere changes nothing there.
  const rows = everywhere && layer < config.n_layers - 1 ? [...ids.keys()] : [at];
  const mean = measurements?.get(`mean.${head < 0 ? "mlp_out" : "z"}.${layer}`);
  /** @param {number} row */
  const values = (row) => {
    if (how === "off") return mean ? mean.subarray(first, first + size) : new Float32Array(size);
    const from = row * width + first;
    return /** @type {Parts} */ (other).layers[layer][part].subarray(from, from + size);
  };
  return { layer, part, head, first, size, values, rows };
}

/**
 * Return what each head of a layer moves to the gap, and from where: how long weight times value is,
 * through the output projection.
 * @param {Model} model
 * @param {Parts} parts
 * @param {number} layer
 * @param {number} framed  How many special symbols are read before the line.
 * @param {number} length  Of the line.
 * @returns {Arc[][]}
 */
function headsOf(model, { values, weights }, layer, framed, length) {
  const { d_model: width, n_heads } = model.config;
  const size = width / n_heads;
  const output = model.get(`encoder.layers.${layer}.attention.output.weight`);
  const heads = weights[layer].map((looks, head) =>
    looks.map((weight, place) => {
      const from = (head * looks.length + place) * size;
      let square = 0;
      for (let i = 0; i < width && weight > LEAST_WEIGHT; i++) {
        let sum = 0;
        for (let j = 0; j < size; j++)
          sum += output[i * width + head * size + j] * values[layer][from + j];
        square += sum * sum;
      }
      return /** @type {Arc} */ ([place - framed, weight * Math.sqrt(square), weight]);
    }),
  );
  const least = LEAST_MOVED * Math.max(...heads.flat().map(([, moves]) => moves));
  return heads.map((arcs) =>
    arcs.slice(framed, framed + length).filter(([, moves]) => moves >= least),
  );
}

/**
 * Say how far the answer follows the second line, in logits of one symbol less another's. The direct
 * effect holds all that comes after the changed parts as it was.
 * @param {Model} model
 * @param {Question} question
 * @param {number} at  Where the gap is in what the model reads.
 * @param {string[]} known
 * @param {{ base: Parts, now: Parts, other: Parts | null }} runs
 * @param {Changed[]} changes
 * @returns {Effect | null}
 */
function effectOf(model, { truth, focus, inside: settings }, at, known, runs, changes) {
  const { base, now, other } = runs;
  if (!other) return null;
  const last = base.streams.length - 1;
  const [before, after, elsewhere] = [base, now, other].map(({ streams }) =>
    model.lens(streams[last], known.length),
  );
  const here = truth[focus] === GAP ? known[largest(before, 1)[0]] : truth[focus];
  const symbol = settings.other[focus];
  const there = symbol === GAP || symbol === here ? known[largest(elsewhere, 1)[0]] : symbol;
  if (here === there) return null;
  const { d_model: width } = model.config;
  let stream = base.streams[last];
  for (const { layer, part, head, first, size, values } of changes) {
    const old = base.layers[layer][part].subarray(at * width + first, at * width + first + size);
    const change = new Float64Array(width);
    change.set(
      Array.from(values(at), (value, i) => value - old[i]),
      first,
    );
    const output = model.get(`encoder.layers.${layer}.attention.output.weight`);
    stream = plus(stream, head < 0 ? change : times(output, change, width));
  }
  const held = model.lens(stream, known.length);
  const [a, b] = [known.indexOf(here), known.indexOf(there)];
  const [lead, now_, direct, theirs] = [before, after, held, elsewhere].map((p) => p[a] - p[b]);
  return { here, there, before: lead, after: now_, direct, other: theirs };
}
