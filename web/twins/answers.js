// What the page answers where a notebook asks Python: src/cloze/explorer/answers.py, for
// the predictors of predictors.js.

import { bet, cost, ROOM, raised, who } from "../../src/cloze/explorer/hands.js";
import { UNTOUCHED } from "../../src/cloze/explorer/inside.js";
import { LEAST, largest } from "../../src/cloze/explorer/parts.js";
import { GAP } from "../../src/cloze/explorer/widget.js";
import { Model } from "../../src/cloze/widgets/browser/widget.js";
import { sum } from "../../src/cloze/widgets/browser/words.js";
import { inside } from "./inside.js";

/**
 * @import { Answers, Chart, Guesses, Line, Pairs, Question, Reader, Traits } from "../../src/cloze/explorer/parts.js"
 * @import { Settings } from "../../src/cloze/explorer/inside.js"
 * @import { Answer, MaskedPredictor, Symbols } from "./predictors.js"
 * @import { Paid } from "../../src/cloze/explorer/hands.js"
 *
 * @typedef {Record<string, { line: string, masked: string }>} Examples  By name.
 *
 * @typedef {() => Record<string, MaskedPredictor>} Cast  Who guesses now, by name.
 *
 * @typedef {object} Beginning  What `MaskExplorer.alone` in Python returns.
 * @property {string} line
 * @property {number[]} masked
 * @property {number} focus
 * @property {string} view
 * @property {Partial<Settings>} [inside]
 * @property {boolean} [tools]
 * @property {boolean | "once"} [guess_first]
 */

const SHOWN = 5; // how many candidates a chart has; the truth is added
const BEST = 3; // how many guesses of the last predictor are told for each gap
const PAIRS_SHOWN = 5;
/** @type {Record<string, string>} */
const TITLES = {
  left: "from the left",
  right: "from the right",
  both: "from both sides",
  yours: "yours",
};
/** @type {Record<string, number>} */
const WINGS = { left: 0, right: 2 }; // whose bars grow to the left, and whose to the right

/**
 * Read a question: what is predicted, the line with what was filled in, and what is known.
 * @param {Question} question
 */
function read({ truth, masked, filled }) {
  const open = masked.filter((at) => !(at in filled));
  const held = truth.map((symbol, at) => filled[at] ?? symbol);
  return { open, held, known: open.filter((at) => truth[at] !== GAP) };
}

/**
 * Return something of each position.
 * @template T
 * @param {number[]} positions
 * @param {(at: number) => T} of
 * @returns {Record<number, T>}
 */
const byPosition = (positions, of) => Object.fromEntries(positions.map((at) => [at, of(at)]));

/**
 * Answers the explorer's questions from the predictors of a cast; the last is the one that is spoken of.
 * @implements {Answers}
 */
export class Readers {
  #cast;
  #tally;
  #before = new AbortController(); // calls off what the question before this one still computes

  /**
   * @param {Cast} cast
   * @param {Model<{ paid: Paid[] }>} tally  Into it is entered what is paid for what a room guesses.
   */
  constructor(cast, tally) {
    this.#cast = cast;
    this.#tally = tally;
  }

  get #last() {
    return /** @type {MaskedPredictor} */ (Object.values(this.#cast()).at(-1));
  }

  /**
   * Return what is guessed.
   * @param {Question} question
   * @returns {Promise<Guesses>}
   */
  async guesses(question) {
    this.#before.abort();
    this.#before = new AbortController();
    const { symbols, baseline } = this.#last;
    const { truth } = question;
    const { open, held, known } = read(question);
    const answers = Object.entries(this.#cast()).map(([name, each]) => {
      return { name, title: TITLES[name] ?? name, answer: each.predict(held, open) };
    });
    const readers = answers.map(({ name, title, answer }) => {
      return { name, title, costs: byPosition(open, (at) => answer.cost(at)) };
    });
    this.#enter(question, known, readers);
    const last = answers[answers.length - 1].answer;
    return {
      readers,
      baseline: {
        text: baseline.text,
        costs: byPosition(known, (at) => baseline.cost(symbols.known.indexOf(truth[at]))),
      },
      best: byPosition(open, (at) =>
        largest(last.at(at), BEST).map((i) => [symbols.known[i], last.at(at)[i]]),
      ),
      chart: open.includes(question.focus) ? this.#chart(question, answers) : null,
    };
  }

  /**
   * Return the guesses at the selected position, an open gap, as a table.
   * @param {Question} question
   * @param {{ name: string, title: string, answer: Answer }[]} answers
   * @returns {Chart}
   */
  #chart({ truth: line, focus, hands: raisedAt }, answers) {
    const { known } = this.#last.symbols;
    const truth = line[focus] === GAP ? null : line[focus];
    const hands = raisedAt[focus];
    const columns = answers.map(({ name, title, answer }) => {
      return { name, title, p: answer.at(focus), cost: answer.cost(focus) };
    });
    const last = columns[columns.length - 1].p;
    const most = known.map((symbol, i) =>
      Math.max(hands ? (hands[symbol] ?? 0) / raised(hands) : 0, ...columns.map(({ p }) => p[i])),
    );
    if (hands) {
      const p = known.map((symbol) => bet(hands, symbol, known.length));
      const paid = cost(hands, truth, known.length);
      columns.push({ name: ROOM, title: who(raised(hands)), p, cost: paid });
    }
    /** @param {{ name: string }} column */
    const wing = ({ name }) => WINGS[name] ?? 3;
    columns.sort((one, other) => wing(one) - wing(other));
    const shown = new Set(largest(most, SHOWN).filter((i) => most[i] >= LEAST));
    if (truth !== null) shown.add(known.indexOf(truth));
    const order = [...shown].sort((i, j) => last[j] - last[i] || i - j);
    return {
      columns: columns.map(({ name, title, cost }) => ({ name, title, cost })),
      rows: order.map((i) => {
        return { symbol: known[i], truth: known[i] === truth, p: columns.map(({ p }) => p[i]) };
      }),
      rest: {
        n: known.length - shown.size,
        p: columns.map(({ p }) => Math.max(0, 1 - sum(order.map((i) => p[i])))),
      },
    };
  }

  /**
   * Return what the last answer at the selected gap depends on; the next question calls it off.
   * @param {Question} question
   */
  occlusion(question) {
    const { open, held } = read(question);
    return this.#last.occlusion(held, open, question.focus, { signal: this.#before.signal });
  }

  /**
   * Return the way of one model to its answer at the selected gap, with the parts changed that are.
   * @param {Question} question
   */
  inside(question) {
    const predictor = this.#cast()[question.inside.reader] ?? this.#last;
    return inside(predictor, question);
  }

  /**
   * Return what each symbol of a line without gaps costs.
   * @param {Question} question
   */
  surprise({ truth }) {
    return this.#last.surprise(truth, { signal: this.#before.signal });
  }

  /**
   * Compare the guesses at the two open gaps nearest to the selected position.
   * @param {Question} question
   */
  async pair(question) {
    const { open, held } = read(question);
    /** @param {number} at */
    const distance = (at) => Math.abs(at - question.focus);
    const near = [...open].sort((a, b) => distance(a) - distance(b) || a - b);
    const [first, second] = near.slice(0, 2).sort((a, b) => a - b);
    const answer = this.#last.predict(held, open);
    const apart = answer.at(first).map((p) => answer.at(second).map((q) => p * q));
    const { signal } = this.#before;
    const together = await this.#last.joint(held, open, first, second, { signal });
    const { known } = this.#last.symbols;
    /** @type {(table: number[][]) => Pairs} */
    const pairs = (table) => {
      const flat = table.flat();
      return largest(flat, PAIRS_SHOWN).map((place) => {
        const [a, b] = [Math.floor(place / known.length), place % known.length];
        return [[known[a], known[b]], flat[place]];
      });
    };
    return { first, second, apart: pairs(apart), together: pairs(together) };
  }

  /**
   * Read a line as it was typed or pasted; of too many characters, the first.
   * @param {{ text: string }} sent
   */
  read({ text }) {
    const { symbols, maxLen } = this.#last;
    const { line, note } = symbols.read(text, Infinity);
    const truth = symbols.read(symbols.write(line.slice(0, maxLen)), maxLen).line;
    return { truth, words: wordsOf(symbols, truth), note, n: line.length };
  }

  /**
   * Read a symbol as it was typed.
   * @param {{ typed: string }} sent
   * @returns {string}
   */
  symbol({ typed }) {
    return this.#last.symbols.readSymbol(typed);
  }

  /**
   * Enter into the tally what was paid for what is revealed, each symbol of a line once.
   * @param {Question} question
   * @param {number[]} open
   * @param {Reader[]} readers
   */
  #enter({ truth, hands }, open, readers) {
    const { symbols } = this.#last;
    const line = symbols.write(truth);
    const before = this.#tally.get("paid");
    const fresh = open.filter(
      (at) => hands[at] && !before.some((each) => each.line === line && each.at === at),
    );
    const paid = fresh.map((at) => {
      /** @type {Paid["costs"]} */
      const costs = { [ROOM]: cost(hands[at], truth[at], symbols.known.length) };
      for (const reader of readers) costs[reader.name] = reader.costs[at];
      return { line, at, n_hands: raised(hands[at]), costs };
    });
    if (paid.length) this.#tally.set("paid", [...before, ...paid]);
  }
}

/** @type {(symbols: Symbols, line: string[]) => Line["words"]} */
const wordsOf = (symbols, line) =>
  symbols.words(line).map((word) => [word[0], word[word.length - 1] + 1]);

/**
 * Make the model of an explorer.
 * @param {Cast} cast
 * @param {Examples} examples
 * @param {Beginning | null} begin  Without it, the first letter of what the first example speaks of is
 *   hidden, to be guessed before the guesses are seen.
 * @param {Model<{ paid: Paid[] }>} paid  The model of a tally; what is paid is entered into it.
 * @returns {Model<Traits, Answers>}
 */
export function exploring(cast, examples, begin = null, paid = new Model({ paid: [] })) {
  const [first] = Object.values(cast());
  /** @type {Model<Traits, Answers>} */
  const model = new Model(beginning(first, examples, begin), new Readers(cast, paid));
  paid.on("change", () => model.set("paid", paid.get("paid")));
  return model;
}

/**
 * Return what an explorer's model knows at first.
 * @param {MaskedPredictor} predictor
 * @param {Examples} examples
 * @param {Beginning | null} begin
 * @returns {Traits}
 */
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
    inside: { ...UNTOUCHED, ...begin?.inside },
    guess_first: begin ? (begin.guess_first ?? false) : "once",
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
    revision: 0,
  };
}
