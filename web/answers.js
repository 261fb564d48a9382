// What the page answers where a notebook asks Python: src/cloze/widgets/explorer/answers.py, for
// the predictors of predictor.js.

import { GAP } from "../src/cloze/widgets/browser/explorer.js";
import { ROOM, cost, raised } from "../src/cloze/widgets/browser/room.js";
import { Model } from "../src/cloze/widgets/browser/widget.js";

const LIKELIEST = 8; // how many symbols of each predictor an answer has
const PAIRS_SHOWN = 5;

/** Return the places of the `k` largest values, largest first. */
export function largest(values, k) {
  return [...values.keys()].sort((i, j) => values[j] - values[i] || i - j).slice(0, k);
}

/** Let a frame show what was clicked before anything is computed. */
function seen() {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 50); // where no frame is drawn
  });
}

/** Read a question: what is predicted, and the line with what was filled in. */
function read({ truth, masked, filled }) {
  const open = masked.filter((at) => !(at in filled));
  return { open, held: truth.map((symbol, at) => filled[at] ?? symbol) };
}

/** Answers the explorer's questions from predictors, by name; the last is the one that is spoken of. */
export class Readers {
  #predictors;
  #tally;
  #before = new AbortController(); // calls off what the question before this one still computes

  /** What is paid for what a room has guessed is entered into the model `tally`. */
  constructor(predictors, tally) {
    this.#predictors = predictors;
    this.#tally = tally;
  }

  get #last() {
    return Object.values(this.#predictors).at(-1);
  }

  /** Return what is guessed, and what the view shows besides. */
  async guesses(question) {
    this.#before.abort();
    this.#before = new AbortController();
    const { signal } = this.#before;
    await seen();
    const last = this.#last;
    const { known } = last.symbols;
    const { truth, focus, view, hands } = question;
    const { open, held } = read(question);
    const said = Object.values(this.#predictors).map((each) => each.predict(held, open));
    const shown = new Set();
    if (open.includes(focus)) {
      const named = [...Object.keys(hands[focus] ?? {}), truth[focus]].filter(
        (each) => each !== GAP,
      );
      for (const symbol of named) shown.add(known.indexOf(symbol));
      for (const answer of said) for (const i of largest(answer.at(focus), LIKELIEST)) shown.add(i);
    }
    const places = [...shown].sort((i, j) => i - j);
    const truths = open.filter((at) => truth[at] !== GAP);
    const costs = (of, at) => Object.fromEntries(at.map((each) => [each, of(each)]));
    const readers = Object.keys(this.#predictors).map((name, r) => ({
      name,
      p: places.map((i) => said[r].at(focus)[i]),
      costs: costs((at) => said[r].cost(at), open),
    }));
    const { text, probabilities } = last.baseline;
    this.#enter(question, truths, readers);
    return {
      symbols: places.map((i) => known[i]),
      readers,
      baseline: {
        text,
        p: places.map((i) => probabilities[i]),
        costs: costs((at) => last.baseline.cost(known.indexOf(truth[at])), truths),
      },
      pair:
        view === "pair" && open.length > 1
          ? await this.#pair(held, open, focus, said.at(-1), signal)
          : null,
      attention: view === "attention" ? last.attention(held, open, focus) : [],
      surprise:
        view === "surprise" && !truth.includes(GAP) ? await last.surprise(truth, { signal }) : [],
      n_layers: last.nLayers,
      n_heads: last.nHeads,
    };
  }

  /** Return what the last answer at the focus depends on; the next question calls it off. */
  occlusion(question) {
    const { open, held } = read(question);
    return this.#last.occlusion(held, open, question.focus, { signal: this.#before.signal });
  }

  /** Read a line as it was typed or pasted; of too many characters, the first. */
  read({ text }) {
    const { symbols, maxLen } = this.#last;
    const { line, note } = symbols.read(text, Infinity);
    const truth = symbols.read(symbols.write(line.slice(0, maxLen)), maxLen).line;
    return { truth, words: wordsOf(symbols, truth), note, n: line.length };
  }

  /** Read a symbol as it was typed. */
  symbol({ typed }) {
    return this.#last.symbols.readSymbol(typed);
  }

  /** Enter into the tally what was paid for what is revealed, each symbol of a line once. */
  #enter({ truth, hands }, open, readers) {
    const { symbols } = this.#last;
    const line = symbols.write(truth);
    const before = this.#tally.get("paid");
    const fresh = open.filter(
      (at) => hands[at] && !before.some((each) => each.line === line && each.at === at),
    );
    const paid = fresh.map((at) => {
      const costs = { [ROOM]: cost(hands[at], truth[at], symbols.known.length) };
      for (const reader of readers) costs[reader.name] = reader.costs[at];
      return { line, at, n_hands: raised(hands[at]), costs };
    });
    if (paid.length) this.#tally.set("paid", [...before, ...paid]);
  }

  /** Compare the guesses at the focus and at the gap nearest to it. */
  async #pair(held, open, focus, answer, signal) {
    const distance = (at) => Math.abs(at - focus);
    const near = [...open].sort((a, b) => distance(a) - distance(b) || a - b);
    const [first, second] = near.slice(0, 2).sort((a, b) => a - b);
    const apart = answer.at(first).map((p) => answer.at(second).map((q) => p * q));
    const together = await this.#last.joint(held, open, first, second, { signal });
    const { known } = this.#last.symbols;
    const pairs = (table) => {
      const flat = table.flat();
      return largest(flat, PAIRS_SHOWN).map((place) => {
        const [a, b] = [Math.floor(place / known.length), place % known.length];
        return [[known[a], known[b]], flat[place]];
      });
    };
    return { first, second, apart: pairs(apart), together: pairs(together) };
  }
}

const wordsOf = (symbols, line) => symbols.words(line).map((word) => [word[0], word.at(-1) + 1]);

/**
 * Make the model of an explorer. `examples` are {line, masked} by name; `begin` is what
 * `MaskExplorer.alone` in Python returns, or nothing: then the first letter of what the first
 * example speaks of is hidden. What is paid is entered in `paid`, the model of a tally.
 */
export function exploring(predictors, examples, begin = null, paid = new Model({ paid: [] })) {
  const names = begin?.readers ?? Object.keys(predictors);
  const asked = Object.fromEntries(names.map((name) => [name, predictors[name]]));
  const state = beginning(predictors.both, examples, begin);
  const model = new Model(state, new Readers(asked, paid));
  paid.on("change", () => model.set("paid", paid.get("paid")));
  return model;
}

export function beginning({ symbols, maxLen }, examples, begin = null) {
  const listed = Object.entries(examples).map(([name, { line, masked }]) => {
    const truth = symbols.read(line, maxLen).line;
    const start = masked ? line.indexOf(masked) : 0;
    const places = Array.from(masked, (_, i) => start + i);
    return { name, truth, words: wordsOf(symbols, truth), masked: places };
  });
  const [first] = listed;
  const truth = begin ? symbols.read(begin.line, maxLen).line : first.truth;
  const masked = begin ? begin.masked : first.masked.slice(0, 1);
  return {
    truth,
    words: wordsOf(symbols, truth),
    masked,
    filled: {},
    hands: {},
    focus: begin?.focus ?? masked[0] ?? 0,
    view: begin?.view ?? "guesses",
    layer: 0,
    head: 0,
    guess_first: false,
    revealed: false,
    symbols: {
      unit: symbols.unit,
      known: symbols.known,
      n: symbols.known.length,
      size: symbols.size,
      wide: false,
    },
    examples: listed,
    paid: [],
    tools: begin?.tools ?? true,
    seed: Math.floor(Math.random() * 2 ** 31),
    asked: 0,
  };
}
