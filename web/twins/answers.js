// What the page answers where a notebook asks Python: src/cloze/explorer/answers.py, for
// the predictors of predictors.js.

import { UNTOUCHED } from "../../src/cloze/explorer/inside.js";
import { largest } from "../../src/cloze/explorer/parts.js";
import { unmasked } from "./generation.js";
import { inside } from "./inside.js";
import { GAP } from "./vocabulary.js";

/**
 * @import { Answers, Guesses, Line, Question, Traits } from "../../src/cloze/explorer/parts.js"
 * @import { Settings } from "../../src/cloze/explorer/inside.js"
 * @import { MaskedPredictor, Options } from "./predictors.js"
 * @import { Symbols } from "./symbols.js"
 * @import { Chosen } from "./generation.js"
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

const SHOWN = 5; // how many symbols each reader contributes to the chart
const BEST = 3; // how many guesses of the last reader are listed for each gap
const PAIRS_SHOWN = 5;
const FEW = 500; // up to this many symbols are listed to choose from; of more, one is typed

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
  #before = new AbortController(); // calls off what the question before this one still computes

  /** @param {Cast} cast */
  constructor(cast) {
    this.#cast = cast;
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
    const { truth, focus } = question;
    const { open, held, known } = read(question);
    const answers = Object.entries(this.#cast()).map(([name, each]) => {
      return { name, answer: each.predict(held, open) };
    });
    const last = answers[answers.length - 1].answer;
    return {
      readers: answers.map(({ name, answer }) => {
        return { name, costs: byPosition(open, (at) => answer.cost(at)) };
      }),
      baseline: baseline && {
        text: baseline.text,
        costs: byPosition(
          known,
          (at) => -Math.log(baseline.probabilities[symbols.known.indexOf(truth[at])]),
        ),
      },
      best: byPosition(open, (at) =>
        largest(last.at(at), BEST).map((i) => [symbols.known[i], last.at(at)[i]]),
      ),
      candidates: open.includes(focus)
        ? this.#candidates(
            question,
            answers.map(({ answer }) => answer.at(focus)),
          )
        : null,
    };
  }

  /**
   * Return what any reader finds likeliest, what hands were raised for, and the truth.
   * @param {Question} question
   * @param {number[][]} columns
   */
  #candidates({ truth, focus, hands }, columns) {
    const { known } = this.#last.symbols;
    const shown = new Set(columns.flatMap((p) => largest(p, SHOWN)));
    const named = [...Object.keys(hands[focus] ?? {}), truth[focus]];
    return known
      .map((symbol, i) => ({ symbol, i, p: columns.map((p) => p[i]) }))
      .filter(({ symbol, i }) => shown.has(i) || named.includes(symbol))
      .map(({ symbol, p }) => ({ symbol, p }));
  }

  /**
   * Compute for a while; the next question calls it off, and then nobody waits for the answer.
   * @template Result
   * @param {(options: Options) => Promise<Result>} work
   * @returns {Promise<any>}
   */
  #awhile(work) {
    const { signal } = this.#before;
    return work({ signal }).catch((error) => {
      if (!signal.aborted) throw error;
    });
  }

  /**
   * Return what the last answer at the selected gap depends on.
   * @param {Question} question
   */
  occlusion(question) {
    const { open, held } = read(question);
    return this.#awhile((options) => this.#last.occlusion(held, open, question.focus, options));
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
    return this.#awhile((options) => this.#last.surprise(truth, options));
  }

  /**
   * Compare the guesses at the two open gaps nearest to the selected position.
   * @param {Question} question
   */
  pair(question) {
    const { open, held } = read(question);
    /** @param {number} at */
    const distance = (at) => Math.abs(at - question.focus);
    const near = [...open].sort((a, b) => distance(a) - distance(b) || a - b);
    const [first, second] = near.slice(0, 2).sort((a, b) => a - b);
    return this.#awhile(async (options) => {
      const pairs = this.#last.pairs(held, open, first, second, PAIRS_SHOWN, options);
      const [apart, together] = await pairs;
      return { first, second, apart, together };
    });
  }

  /**
   * Read a line as it was typed or pasted; of too many characters, the first.
   * @param {{ text: string }} sent
   */
  read({ text }) {
    const { symbols, maxLen } = this.#last;
    const { line, note } = symbols.read(text, symbols.wide ? maxLen : Infinity);
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
   * Write a line with gaps, for an `Unmasking`.
   * @param {Chosen} chosen
   */
  write(chosen) {
    return unmasked(this.#last, chosen);
  }

  /**
   * Answer one of these questions, by its name.
   * @param {string} what
   * @param {any} sent
   * @returns {any}
   */
  ask(what, sent) {
    return /** @type {Record<string, any>} */ (/** @type {unknown} */ (this))[what](sent);
  }
}

/** @type {(symbols: Symbols, line: string[]) => Line["words"]} */
const wordsOf = (symbols, line) =>
  symbols.words(line).map((word) => [word[0], word[word.length - 1] + 1]);

/**
 * Return where a part of a line is in it: "" is nowhere, and nothing is returned if it is cut elsewhere.
 * @param {string[]} line
 * @param {string[]} part
 */
function placesOf(line, part) {
  const start = line.findIndex((_, at) => part.every((symbol, i) => line[at + i] === symbol));
  return start < 0 ? undefined : part.map((_, i) => start + i);
}

/**
 * Return what an explorer's model knows at first.
 * @param {Pick<MaskedPredictor, "symbols" | "maxLen">} predictor
 * @param {Examples} examples
 * @param {Beginning | null} begin  Without it, the first letter of what the first example speaks of is
 *   hidden, to be guessed before the guesses are seen.
 * @returns {Traits}
 */
export function beginning({ symbols, maxLen }, examples, begin = null) {
  const listed = Object.entries(examples).flatMap(([name, { line, masked: part }]) => {
    const truth = symbols.read(line, maxLen).line;
    const masked = placesOf(truth, part ? symbols.read(part, maxLen).line : []);
    return masked ? { name, truth, words: wordsOf(symbols, truth), masked } : [];
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
      known: symbols.known.length > FEW ? null : symbols.known,
      n: symbols.known.length,
      size: symbols.size,
      wide: symbols.wide,
    },
    examples: listed,
    paid: [],
    tools: begin?.tools ?? true,
    revision: 0,
  };
}
