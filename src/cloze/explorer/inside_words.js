// What the ladder of Inside shows, in sentences.

import {
  capitalised,
  counted,
  fixed,
  inNats,
  signed,
  spoken,
  visible,
} from "../widgets/browser/words.js";
import { placeOf } from "./arcs.js";
import { partName, relevant } from "./inside.js";

/**
 * @import { Change, Effect, Inside, Rung, Reading } from "./inside.js"
 * @import { Guess, State } from "./parts.js"
 */

/** What the numbers mean, and do not mean. */
export const NOTES = [
  "The output head, which turns a vector into guesses, was trained on the last rung only. Its guess " +
    "on a lower rung shows how far the vector already points to an answer in that head's language; " +
    "the model itself says nothing there. A translator is one small matrix for each rung, trained to " +
    "say from there what the model will answer. What it finds is there to be found; whether the model " +
    "uses it, only a change can show.",
  "An arc is as thick as what a head moves to the gap: its attention weight times the length of " +
    "the value that it carries. That is more than the weight alone tells, and still no proof that the " +
    "answer needs it. Switch the head off and see what the truth costs.",
  "Before training, the weights are drawn at random. Only where the heads look is no accident: " +
    "they begin by looking at neighbours, so arcs are there before there is anything to say. " +
    "Such a model has no translators, and a part that is off adds zero.",
  "A late part that is swapped in flips the answer merely because everything passes through it. " +
    "The direct effect is what a part tells the output head itself; the rest of the total effect goes " +
    "through the parts above it.",
  "Where each of these comes from: notebook 14 and its references.",
];

/** @param {Rung} rung */
export function nameOf({ part, layer }) {
  return part === "embedding" ? part : `${part} ${layer + 1}`;
}

/** @param {Guess[]} guesses */
const listed = (guesses) =>
  guesses.map(([symbol, p]) => `${spoken(symbol)} ${fixed(p, 2)}`).join(", ");

/**
 * Say what a rung does, and what comes of it.
 * @param {State} state
 * @param {Inside} answer
 * @param {number} n
 */
export function rungInWords(state, { rungs }, n) {
  const rung = rungs[n];
  const { own, translated, heads } = rung;
  const truth = state.truthAt(state.focus);
  const { unit } = state.symbols;
  const before = rungs[n - 1];
  const name = capitalised(nameOf(rung));
  let work = `${name}: the gap begins as the vector of the mask. Nothing else has been read.`;
  if (rung.part === "attention") {
    const most = heads.map((read, head) => {
      const [best] = [...read].sort(([, a], [, b]) => b - a);
      return best ? `head ${head + 1} ${placeOf(state.held, state.focus, best)}` : "";
    });
    const named = most.filter(Boolean).join(", ");
    work = `${name} reads other ${unit}s and adds what its heads bring: ${named || "next to nothing"}.`;
  } else if (rung.part === "feed-forward") {
    work = `${name} reads no other ${unit}: it works on what the gap has gathered so far.`;
  }
  const sentences = [work, `If the model ended here, it would say ${listed(own.guesses)}.`];
  if (truth !== null && own.cost !== null) {
    const cost = Number(own.cost);
    const change = before ? `, ${signed(cost - Number(before.own.cost))}` : "";
    sentences.push(`The truth, ${spoken(truth)}, costs ${inNats(cost)} nats${change}.`);
  }
  if (translated) sentences.push(`A translator would say ${listed(translated.guesses)}.`);
  if (n === rungs.length - 1) sentences.push("This is the model's answer.");
  return sentences.join(" ");
}

/**
 * Return the first rung from which on a symbol is the first guess; -1 if it is not in the end.
 * @param {(Reading | null)[]} readings
 * @param {string} symbol
 */
function settledAt(readings, symbol) {
  let first = -1;
  for (let n = readings.length - 1; n >= 0 && readings[n]?.guesses[0][0] === symbol; n--) first = n;
  return first;
}

/**
 * Say where the answer appears, and what the changes have cost.
 * @param {State} state
 * @param {Inside} answer
 */
export function summary(state, { rungs, means, effect }) {
  const { settings } = state;
  const last = rungs[rungs.length - 1];
  const truth = state.truthAt(state.focus);
  const [[best, p]] = last.own.guesses;
  const own = rungs.map((rung) => rung.own);
  const translated = rungs.map((rung) => rung.translated ?? rung.own);
  const first = rungs[settledAt(own, best)];
  const from = (/** @type {Rung} */ rung) =>
    rung.part === "embedding" ? "the embedding" : nameOf(rung);
  const sentences = [
    `${settings.untrained ? "Before training, the" : "The"} model answers ${visible(best)} (${fixed(p, 2)}). It is the first guess from ${from(first)} on` +
      (first === last ? ", the last rung." : "."),
  ];
  const sooner = rungs[settledAt(translated, best)];
  if (sooner !== first) sentences.push(`A translator has it from ${from(sooner)} on.`);
  if (settings.untrained && truth !== null)
    sentences.push(`The truth, ${visible(truth)}, costs ${inNats(Number(last.own.cost))} nats.`);
  const changes = Object.entries(relevant(settings, state.truth).parts);
  if (!changes.length) return sentences.join(" ");
  const where = settings.everywhere ? "at every position" : "at the gap";
  /** @param {Change} which */
  const named = (which) =>
    changes
      .filter(([, change]) => change === which)
      .map(([key]) => partName(key))
      .join(", ");
  const off = named("off");
  const swapped = named("swap");
  if (off)
    sentences.push(`Off ${where}, with ${means ? "the mean" : "zero"} in its place: ${off}.`);
  if (swapped) sentences.push(`Taken from the second line ${where}: ${swapped}.`);
  if (truth !== null && last.before !== null)
    sentences.push(
      `The truth, ${visible(truth)}, costs ${inNats(Number(last.own.cost))} nats instead of ` +
        `${inNats(Number(last.before))}.`,
    );
  if (effect && swapped) sentences.push(followed(effect));
  return sentences.join(" ");
}

/**
 * Say how far the answer follows the second line, directly and in all.
 * @param {Effect} effect
 */
function followed({ here, there, before, after, direct, other }) {
  const [a, b] = [visible(here), visible(there)];
  const total = before - after;
  const straight = direct === null ? null : before - direct;
  const sentence =
    `Logit of ${a} less that of ${b}: ${signed(before)} before, ${signed(after)} now, ` +
    `${signed(other)} in the second line. The total effect is ${signed(-total)}`;
  if (straight === null) return `${sentence}.`;
  return `${sentence}; the direct effect, past all later parts, is ${signed(-straight)}.`;
}

/**
 * Say how the ladder is read, and which side of the line a one-sided model may not read.
 * @param {State} state
 * @param {Inside} answer
 */
export function howToRead({ focus, truth, symbols }, { looks, means }) {
  const off = means
    ? "A part that is off is replaced by its mean over held-out gaps."
    : "There are no means for this model, so a part that is off adds zero.";
  if (looks === "both") return `Read it from the bottom up. ${off}`;
  const n = looks === "left" ? truth.length - 1 - focus : focus;
  const side = looks === "left" ? "right" : "left";
  const unread = `the ${counted(n, symbols.unit)} to the ${side}`;
  return `Read it from the bottom up. This model may not read ${unread}: those arcs are dotted. ${off}`;
}
