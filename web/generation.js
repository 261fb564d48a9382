// Generation: a line written by a model that fills gaps, in any order. The port of
// src/cloze/generation.py for one line, and what answers the widget that shows it.
//
// Each policy is a generator of steps {line, filled, remasked, said}: the line after the step, the
// positions that were written in it, those that are open again though they had been written, and
// by filled position the model's distribution when it was written. A reader is a predictor. What is
// drawn at a temperature above 0 is drawn by other numbers than in Python.

import { chanceOf } from "../src/cloze/widgets/browser/chance.js";
import { GAP } from "./vocabulary.js";
import { Model, ValueError } from "../src/cloze/widgets/browser/widget.js";

/** Draw the place of a symbol; of temperature 0 the likeliest is always taken. */
function draw(said, temperature, chance) {
  if (!temperature) return said.indexOf(Math.max(...said));
  const most = Math.max(...said);
  const bent = said.map((p) => (p / most) ** (1 / temperature));
  const total = bent.reduce((sum, p) => sum + p);
  let left = chance() * total;
  const drawn = bent.findIndex((p) => (left -= p) < 0);
  return drawn < 0 ? said.indexOf(most) : drawn;
}

/** Choose the `count` positions of highest priority; of equals the leftmost. */
function first(priority, among, count) {
  const order = [...among].sort((a, b) => priority[b] - priority[a] || a - b);
  return order.slice(0, count).sort((a, b) => a - b);
}

const gapsOf = (line) => [...line.keys()].filter((at) => line[at] === GAP);

/** Read the distributions at some of the gaps of a line, by position. */
function asked(reader, line, positions) {
  if (!positions.length) return {};
  const answer = reader.predict(line, positions);
  return Object.fromEntries(positions.map((at) => [at, Array.from(answer.at(at))]));
}

/** Write a symbol into each position that something is said of. */
function write(reader, line, said, { temperature, chance }) {
  const written = [...line];
  for (const [at, p] of Object.entries(said))
    written[at] = reader.symbols.known[draw(p, temperature, chance)];
  return written;
}

/** Fill gaps one after the other, or several in one forward pass; what is written stays. */
function* unmask(reader, line, options, order, steps = null) {
  let gaps = gapsOf(line);
  const total = gaps.length;
  const passes = steps ?? total;
  for (let step = 1; step <= passes; step++) {
    const count = gaps.length - (total - Math.floor((total * step) / passes));
    let chosen;
    let said;
    if (order === "easiest first") {
      said = asked(reader, line, gaps);
      const sure = Object.fromEntries(gaps.map((at) => [at, Math.max(...said[at])]));
      chosen = first(sure, gaps, count);
      said = Object.fromEntries(chosen.map((at) => [at, said[at]]));
    } else {
      const random = order === "random order";
      const priority = line.map((_, at) => (random ? options.chance() : -at));
      chosen = first(priority, gaps, count);
      said = asked(reader, line, chosen);
    }
    line = write(reader, line, said, options);
    gaps = gaps.filter((at) => !chosen.includes(at));
    yield { line, filled: chosen, remasked: [], said };
  }
}

/** Fill all gaps in one forward pass, remask what the model is least sure of, and fill again. */
function* maskPredict(reader, line, options) {
  const all = gapsOf(line);
  const steps = Math.min(10, all.length);
  const doubt = {};
  let open = all;
  for (let step = 1; step <= steps; step++) {
    const said = asked(reader, line, open);
    const written = write(reader, line, said, options);
    for (const at of open) doubt[at] = -said[at][reader.symbols.known.indexOf(written[at])];
    const again = first(doubt, all, all.length - Math.floor((all.length * step) / steps));
    line = written.map((symbol, at) => (again.includes(at) ? GAP : symbol));
    yield { line, filled: open, remasked: again, said };
    open = again;
  }
}

const ROUNDS = 3; // how often every symbol is drawn anew

/** Fill all gaps in one forward pass; then remask one symbol after the other and draw it anew. */
function* gibbs(reader, line, options) {
  const gaps = gapsOf(line);
  for (const step of unmask(reader, line, options, "left to right", 1)) {
    ({ line } = step);
    yield step;
  }
  for (let round = 0; round < ROUNDS; round++) {
    let left = gaps;
    while (left.length) {
      const priority = line.map(() => options.chance());
      const chosen = first(priority, left, 1);
      const hidden = line.map((symbol, at) => (chosen.includes(at) ? GAP : symbol));
      const said = asked(reader, hidden, chosen);
      line = write(reader, hidden, said, options);
      left = left.filter((at) => !chosen.includes(at));
      yield { line, filled: chosen, remasked: [], said };
    }
  }
}

/** Every way to fill gaps by its name: (reader, line, {temperature, chance}) to steps. */
const POLICIES = {
  "all at once": (reader, line, options) => unmask(reader, line, options, "left to right", 1),
  "left to right": (reader, line, options) => unmask(reader, line, options, "left to right"),
  "easiest first": (reader, line, options) => unmask(reader, line, options, "easiest first"),
  "random order": (reader, line, options) => unmask(reader, line, options, "random order"),
  "mask-predict": maskPredict,
  Gibbs: gibbs,
};

/**
 * Yield a line as it was typed, and then after each step in which its gaps are filled:
 * {line, fates, said}, a symbol, what has become of it, and where it is new its probability.
 */
function* framesOf(reader, shown, { policy, temperature, seed }) {
  const gaps = shown.map((symbol) => symbol === GAP);
  const fates = gaps.map((gap) => (gap ? "open" : "given"));
  yield { line: shown, fates, said: shown.map(() => 0) };
  const options = { temperature, chance: chanceOf(seed) };
  for (const { line, filled, remasked, said } of POLICIES[policy](reader, shown, options)) {
    const fate = (symbol, at) => {
      if (remasked.includes(at)) return "remasked";
      if (filled.includes(at)) return "new";
      if (!gaps[at]) return "given";
      return symbol === GAP ? "open" : "written";
    };
    const p = (symbol, at) => said[at]?.[reader.symbols.known.indexOf(symbol)] ?? 0;
    yield { line, fates: line.map(fate), said: line.map(p) };
  }
}

/** Return the model of an `Unmasking` whose lines a predictor writes. */
export function writing(reader, { line, policy = "easiest first", temperature = 1, seed = 0 }) {
  let begun; // {of, coming, seen}: none is computed twice in a row
  const engine = {
    read({ line: typed }) {
      const { line: shown, note } = reader.symbols.read(typed, reader.maxLen);
      if (shown.includes(GAP)) return { shown, note };
      throw new ValueError("The line has no gap; put a _ wherever something is missing.");
    },
    frames({ start, count, ...chosen }) {
      const of = JSON.stringify(chosen);
      if (begun?.of !== of)
        begun = { of, coming: framesOf(reader, engine.read(chosen).shown, chosen), seen: [] };
      while (begun.seen.length < start + count) {
        const { value, done } = begun.coming.next();
        if (done) break;
        begun.seen.push(value);
      }
      return begun.seen.slice(start, start + count);
    },
  };
  const { unit } = reader.symbols;
  const policies = Object.keys(POLICIES);
  const chosen = { line, policy, temperature, seed, at: 0 };
  return new Model({ ...chosen, ...engine.read({ line }), policies, unit, separator: "" }, engine);
}
