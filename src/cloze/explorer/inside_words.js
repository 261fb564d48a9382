// What the picture of Inside shows, in sentences.

import { capitalised, counted, fixed, inNats, signed, spoken } from "../widgets/browser/words.js";
import { placeOf } from "./arcs.js";
import { flips, partName, relevant } from "./inside.js";
import { written } from "./parts.js";

/**
 * @import { Change, Effect, Inside, Rung } from "./inside.js"
 * @import { Guess, State } from "./parts.js"
 */

/** What the numbers mean, and do not mean. */
export const NOTES = [
  "The output head, which turns a vector into guesses, was trained on the last step only. Its guess " +
    "at an earlier step shows how far the vector already points to an answer in that head's language. " +
    "A translator, one small matrix for each step, was trained to say from there what the model will " +
    "answer. What it finds is there; whether the model uses it, only a change can show.",
  "An arc is as thick as what a head moves to the gap: its attention weight times the length of " +
    "the value that it carries. That is still no proof that the answer needs it. Switch the head off " +
    "and see what the truth costs. In place of a part that is off stands its mean over held-out gaps, " +
    "or zero if there is none.",
  "Before training, the weights are drawn at random, but the heads begin by looking at neighbours, so " +
    "arcs are there before there is anything to say. Such a model has no translators and no means.",
  "A late part that is swapped in flips the answer merely because everything passes through it. " +
    "The direct effect is what a part tells the output head itself; the rest of the total effect goes " +
    "through the parts above it. Where each of these comes from: notebook 14 and its references.",
];

/** @param {Rung} rung */
export function nameOf({ part, layer }) {
  return part === "embedding" ? part : `${part} ${layer + 1}`;
}

/** @param {Guess[]} guesses */
const listed = (guesses) =>
  guesses.map(([symbol, p]) => `${spoken(symbol)} ${fixed(p, 2)}`).join(", ");

/**
 * Say what a part does.
 * @param {State} state
 * @param {Inside} answer
 * @param {number} n
 */
function work({ symbols: { unit }, focus, truth }, { rungs, looks }, n) {
  const rung = rungs[n];
  const name = capitalised(nameOf(rung));
  if (rung.part === "embedding")
    return `${name}: the gap holds the mask, and no ${unit} is read yet.`;
  if (rung.part === "feed-forward")
    return `${name} reads no other ${unit}; it works on what the gap has gathered so far.`;
  if (looks === "both") return `${name} reads other ${unit}s: an arc is what a head brings.`;
  const [n_unread, side] = looks === "left" ? [truth.length - 1 - focus, "right"] : [focus, "left"];
  return `${name} may not read the ${counted(n_unread, unit)} to the ${side}.`;
}

/**
 * Whether a one-sided model may not read a position.
 * @param {string} looks
 * @param {number} focus
 * @param {number} at
 */
export const unread = (looks, focus, at) =>
  (looks === "left" && at > focus) || (looks === "right" && at < focus);

/**
 * Say what a rung does, what its heads read and what comes of it, to somebody who sees no picture.
 * @param {State} state
 * @param {Inside} answer
 * @param {number} n
 */
export function rungInWords(state, answer, n) {
  const { rungs } = answer;
  const { own, translated, heads } = rungs[n];
  const last = rungs.length - 1;
  const truth = state.settings.played === last ? state.truthAt(state.focus) : null; // it comes last
  const before = rungs[n - 1];
  const sentences = [work(state, answer, n)];
  const most = heads.map((read, head) => {
    const [best] = [...read].sort(([, a], [, b]) => b - a);
    return best ? `head ${head + 1} ${placeOf(state.held, state.focus, best)}` : "";
  });
  const named = most.filter(Boolean).join(", ");
  if (named) sentences.push(`Most of it comes from: ${named}.`);
  sentences.push(`If the model ended here, it would say ${listed(own.guesses)}.`);
  if (truth !== null && own.cost !== null) {
    const cost = Number(own.cost);
    const change = before ? `, ${signed(cost - Number(before.own.cost))}` : "";
    sentences.push(`The truth, ${spoken(truth)}, costs ${inNats(cost)} nats${change}.`);
  }
  if (translated) sentences.push(`A translator would say ${listed(translated.guesses)}.`);
  if (n === last) sentences.push("This is the model's answer.");
  return sentences.join(" ");
}

/**
 * Return the one symbol in which the second line differs, if one head is looked for that carries it.
 * @param {State} state
 */
function carried({ settings, truth, focus }) {
  const { other } = relevant(settings, truth);
  const differ = truth.filter((symbol, at) => other.length && at !== focus && symbol !== other[at]);
  return settings.bet && differ.length === 1 ? differ[0] : null;
}

/**
 * Say what the picture shows now.
 * @param {State} state
 * @param {Inside} answer
 */
export function summary(state, answer) {
  const { settings, symbols } = state;
  const { rungs } = answer;
  const { played } = settings;
  const symbol = carried(state);
  const dots = rungs.flatMap(({ heads }) => heads).length;
  const asks = symbol
    ? `One of the ${dots} dots carries the ${spoken(symbol)} into the gap. Which one? ` +
      `A click makes it read “${written(symbols, settings.other)}”.`
    : "";
  if (played < 0)
    return `Play shows how the model fills this gap, in ${counted(rungs.length, "step")}. ${asks}`;
  if (played === rungs.length - 1) return ending(state, answer, symbol, asks);
  const { own, translated } = rungs[played];
  const translates = settings.guesses === "translator" && translated;
  const [[guess, p]] = (translates || own).guesses;
  const says = translates ? "A translator says" : "If the model ended here, it would say";
  return `${work(state, answer, played)} ${says} ${spoken(guess)} (${fixed(p, 2)}).`;
}

/**
 * Say what the model answers, where the answer appears, and what the changes have cost.
 * @param {State} state
 * @param {Inside} answer
 * @param {string | null} symbol  What a head is looked for that carries it.
 * @param {string} asks
 */
function ending(state, { rungs, means, effect }, symbol, asks) {
  const { settings, focus } = state;
  const { untrained, everywhere } = settings;
  const last = rungs[rungs.length - 1];
  const truth = state.truthAt(focus);
  const [[best, p]] = last.own.guesses;
  const changes = Object.entries(relevant(settings, state.truth).parts);
  const named = (/** @type {Change} */ which) =>
    changes.flatMap(([key, change]) => (change === which ? partName(key) : [])).join(", ");
  const [off, swapped] = [named("off"), named("swap")];
  const first = rungs[rungs.findLastIndex(({ own }) => own.guesses[0][0] !== best) + 1];
  const from = first === rungs[0] ? "the embedding" : nameOf(first);
  const since = first === last ? ", at its last step." : `, from ${from} on.`;
  const verdict = flips({ effect })
    ? `. You have found the one that carries the ${spoken(symbol ?? "")}.`
    : " as before. Try another.";
  const judged = symbol && swapped ? verdict : changes.length ? "." : since;
  const sentences = [
    `${untrained ? "Before training, the" : "The"} model answers ${spoken(best)} (${fixed(p, 2)})${judged}`,
  ];
  if (!changes.length) sentences.push(asks);
  const costs = `The truth, ${spoken(truth ?? "")}, costs ${inNats(Number(last.own.cost))} nats`;
  const before = changes.length ? ` instead of ${inNats(Number(last.before))}` : "";
  if (truth !== null && (changes.length || untrained)) sentences.push(`${costs}${before}.`);
  const where = everywhere ? "at every position" : "at the gap";
  const stands = `with ${means ? "the mean" : "zero"} in its place`;
  if (off) sentences.push(`Off ${where}, ${stands}: ${off}.`);
  if (swapped && !symbol) sentences.push(`Taken from the second line ${where}: ${swapped}.`);
  return sentences.join(" ").trim();
}

/**
 * Say how far the answer follows the second line, directly and in all.
 * @param {Effect} effect
 */
export function followed({ here, there, before, after, direct, other }) {
  const [a, b] = [spoken(here), spoken(there)];
  const straight = direct === null ? "" : `, ${signed(direct - before)} of it directly`;
  const now =
    after === before ? "" : `, ${signed(after)} now (${signed(after - before)}${straight})`;
  return `Logit of ${a} less that of ${b}: ${signed(before)} here${now}, ${signed(other)} in the second line.`;
}
