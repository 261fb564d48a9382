// What predictors answer to a state of the explorer: the port of
// src/cloze/widgets/explorer/answers.py.

const PAIRS_SHOWN = 5;

/** Return the places of the `k` largest values, largest first. */
export function largest(values, k) {
  const places = [...values.keys()];
  return places.sort((i, j) => values[j] - values[i] || i - j).slice(0, k);
}

/** What predictors answer to a state; the parts that its view does not show may be empty. */
export class Answers {
  asked; // the state that they answer
  byName; // the answers at the open positions, the one that the words speak of last
  baseline = null;
  pair = null; // {first, second, apart, together}: what is guessed at two gaps
  attention = []; // where the chosen head looks from the focus, by position
  nLayers = 0;
  nHeads = 0;
  surprise = []; // −log P of each symbol in nats when it alone is masked
  occlusion = []; // what it costs the last answer at the focus to hide each symbol too, in nats

  constructor(fields) {
    Object.assign(this, fields);
  }

  with(fields) {
    return new Answers({ ...this, ...fields });
  }

  /** The name and the answer that the words speak of. */
  get last() {
    return Object.entries(this.byName).at(-1);
  }
}

const lastOf = (predictors) => Object.values(predictors).at(-1);

/**
 * Ask all predictors for the open positions, and the last one for what the view shows besides;
 * of earlier answers of the same predictors, `before`, what is still true is kept.
 */
export async function ask(state, predictors, before = null) {
  const last = lastOf(predictors);
  const { held, open } = state;
  const byName = {};
  for (const [name, each] of Object.entries(predictors))
    byName[name] = await each.predict(held, open);
  const sameLine = before && before.asked.truth.join("") === state.truth.join("");
  const sameQuestion = before && question(before.asked) === question(state);
  let surprise = sameLine ? before.surprise : [];
  if (state.view === "surprise" && !state.gaps.length && !surprise.length)
    surprise = await last.surprise(state.truth);
  const looked = state.view === "attention" && last.nHeads;
  const paired = state.view === "pair" && open.length > 1;
  return new Answers({
    asked: state,
    byName,
    baseline: last.baseline,
    pair: paired ? await compared(state, last, byName) : null,
    attention: looked
      ? await last.attention(held, open, state.focus, state.layer, state.head)
      : [],
    nLayers: last.nLayers,
    nHeads: last.nHeads,
    surprise,
    occlusion: sameQuestion ? before.occlusion : [],
  });
}

/**
 * Ask the last predictor what its answer depends on, if the view shows it and nobody knows yet.
 * One guess for each symbol of the line, so it comes after all else, and can be called off.
 */
export async function askOcclusion(answers, predictors, signal) {
  const state = answers.asked;
  const wanted = state.view === "guesses" && !state.hidden && state.open.includes(state.focus);
  if (answers.occlusion.length || !wanted) return answers;
  const last = lastOf(predictors);
  return answers.with({
    occlusion: await last.occlusion(state.held, state.open, state.focus, { signal }),
  });
}

/** Return all that the occlusion depends on. */
function question(state) {
  return JSON.stringify([state.held, state.open, state.focus]);
}

/** Compare the guesses at the focus and at the gap nearest to it. */
async function compared(state, last, byName) {
  const distance = (at) => Math.abs(at - state.focus);
  const near = [...state.open].sort((a, b) => distance(a) - distance(b) || a - b);
  const [first, second] = near.slice(0, 2).sort((a, b) => a - b);
  const answer = Object.values(byName).at(-1);
  const apart = Array.from(answer.at(first), (p) => Array.from(answer.at(second), (q) => p * q));
  const together = await last.joint(state.held, state.open, first, second);
  const { known } = state.symbols;
  return { first, second, apart: pairs(apart, known), together: pairs(together, known) };
}

/** Return the most probable pairs of symbols, each with its probability, best first. */
function pairs(table, known) {
  const flat = table.flatMap((row) => Array.from(row));
  return largest(flat, PAIRS_SHOWN).map((place) => {
    const [a, b] = [Math.floor(place / known.length), place % known.length];
    return [[known[a], known[b]], flat[place]];
  });
}
