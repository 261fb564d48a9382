// The inside of a model at one gap of a line: what is known of it, and what a hand does. inside.py
// answers; inside_words.js says it in sentences and picture.js draws it.

import { ValueError } from "../widgets/browser/widget.js";
import { capitalised, counted } from "../widgets/browser/words.js";
import { written } from "./parts.js";

/**
 * @import { Cost, Guess, State, View } from "./parts.js"
 *
 * @typedef {"off" | "swap"} Change  Replaced by a mean, or by what the second line gives there.
 *
 * @typedef {object} Settings  How the inside is looked at, and what is changed in it.
 * @property {string} reader  The name of the model; "" for the last.
 * @property {boolean} untrained  Whether it is shown as it was before training.
 * @property {"head" | "translator"} guesses  Who guesses at each step.
 * @property {Change} doing  What a click on a part does.
 * @property {boolean} bet  Whether one head is looked for: then a click takes back the one before.
 * @property {boolean} everywhere  Whether parts are changed at all positions, or at the gap only.
 * @property {string[]} other  The second line; empty while there is none.
 * @property {Record<string, Change>} parts  What is changed: "0.3" is head 4 of layer 1, "0" the
 *   feed-forward part of layer 1.
 * @property {string} pointed  The head that is pointed at.
 * @property {number} played  The rung that has been reached and is told; -1 before the first.
 *
 * @typedef {Pick<Settings, "reader" | "untrained" | "everywhere" | "other" | "parts">} Changes
 *
 * @typedef {[place: number, moves: number, weight: number]} Arc
 *
 * @typedef {{ guesses: Guess[], cost: Cost }} Reading
 *
 * @typedef {object} Rung
 * @property {"embedding" | "attention" | "feed-forward"} part
 * @property {number} layer
 * @property {Reading} own  What the model's head would answer here.
 * @property {Reading | null} translated  What the translator of this rung answers; null where there is none.
 * @property {Cost} before  What the truth costs here when nothing is changed.
 * @property {Arc[][]} heads  Of an attention part: where each reads, by place; what moves next to
 *   nothing is left out.
 *
 * @typedef {object} Effect  How far the answer follows, in logits of `here` less those of `there`.
 * @property {string} here  What is right in this line.
 * @property {string} there  And in the second.
 * @property {number} before
 * @property {number} after
 * @property {number | null} direct  What is reached without the parts that come later.
 * @property {number} other  In the second line.
 *
 * @typedef {object} Inside  What the explorer asks for it.
 * @property {Rung[]} rungs  From the embedding up.
 * @property {string} looks
 * @property {boolean} means  Whether a part that is off is replaced by its mean, or by zero.
 * @property {boolean} untrained  Whether the model can be shown as it was before training.
 * @property {Effect | null} effect
 */

/** @type {Settings} */
export const UNTOUCHED = {
  reader: "",
  untrained: false,
  guesses: "head",
  doing: "off",
  bet: false,
  everywhere: false,
  other: [],
  parts: {},
  pointed: "",
  played: -1,
};

/** What begins again with another line. */
export const AFRESH = { doing: /** @type {Change} */ ("off"), bet: false, other: [], played: -1 };

const PACE = 1200; // milliseconds from one rung to the next

/** Whether it may move by itself; otherwise each rung has its click. */
export const moves = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Return the settings that change an answer; a second line of another length is none.
 * @param {Settings} settings
 * @param {string[]} truth
 * @returns {Changes}
 */
export function relevant({ reader, untrained, everywhere, other, parts }, truth) {
  const second = other.length === truth.length ? other : [];
  const changes = Object.entries(parts).filter(([, change]) => change === "off" || second.length);
  return { reader, untrained, everywhere, other: second, parts: Object.fromEntries(changes) };
}

/**
 * Return the settings with the rung that was reached, or the last one of this model.
 * @param {Settings} settings
 * @param {Inside | null} answer
 */
export const within = (settings, answer) =>
  answer?.rungs?.length
    ? { ...settings, played: Math.min(settings.played, answer.rungs.length - 1) }
    : settings;

/** @type {("reader" | "guesses" | "untrained" | "everywhere" | "bet")[]} */
const CARRIED = ["reader", "guesses", "untrained", "everywhere", "bet"]; // by an address, as they are

/**
 * Return what an address carries: parts are counted from 1, as they are named.
 * @param {State} state
 */
export function toAddress({ settings, truth, symbols }) {
  const { other, parts } = relevant(settings, truth);
  const named = (/** @type {Change} */ which) =>
    Object.keys(parts)
      .filter((key) => parts[key] === which)
      .map((key) => key.replace(/\d+/g, (n) => `${Number(n) + 1}`));
  /** @type {Record<string, unknown>} */
  const carried = { second: written(symbols, other), off: named("off"), swap: named("swap") };
  if (settings.played >= 0) carried.step = settings.played + 1;
  for (const name of CARRIED)
    if (settings[name] !== UNTOUCHED[name]) carried[name] = settings[name];
  return Object.entries(carried).map(([name, value]) => [name, `${value}`]);
}

/**
 * Return the settings that an address carries.
 * @param {URLSearchParams} carried
 * @param {string[]} other  The second line.
 * @returns {Settings}
 */
export function fromAddress(carried, other) {
  /** @type {Record<string, Change>} */
  const parts = {};
  for (const change of /** @type {Change[]} */ (["off", "swap"]))
    for (const part of carried.get(change)?.split(",") ?? []) {
      if (!/^[1-9]\d*(\.[1-9]\d*)?$/.test(part))
        throw new ValueError("A part is a layer, or a layer and one of its heads, as in 1.2.");
      parts[part.replace(/\d+/g, (n) => `${Number(n) - 1}`)] = change;
    }
  const plain = CARRIED.filter((name) => carried.has(name)).map((name) => [
    name,
    typeof UNTOUCHED[name] === "boolean" || carried.get(name),
  ]);
  const played = Number.parseInt(carried.get("step") ?? "0", 10) - 1 || 0;
  const doing = other.length ? "swap" : "off";
  return { ...UNTOUCHED, ...Object.fromEntries(plain), other, parts, doing, played };
}

/** @param {string} key */
export function partName(key) {
  const [layer, head] = key.split(".").map(Number);
  return head === undefined
    ? `feed-forward ${layer + 1}`
    : `head ${head + 1} of layer ${layer + 1}`;
}

/**
 * Whether a swap has turned the answer into that of the second line.
 * @param {Pick<Inside, "effect"> | null} answer
 */
export const flips = (answer) => Boolean(answer?.effect && answer.effect.after < 0);

/**
 * What the buttons do, for an explorer.
 * @type {View["actions"]}
 */
export const ACTIONS = {
  /** Play upwards, pause, or begin again. */
  do_play() {
    if (this.playing) return this.do_pause();
    const { played } = this.state.settings;
    if (this.more && played === this.more.rungs.length - 1) this.look({ played: -1 }, "");
    this.do_rise();
  },
  /** Reach the next rung, and after a while the one after it. */
  do_rise() {
    this.do_pause();
    const { view, settings, hidden } = this.state;
    if (view !== "inside" || hidden) return;
    const top = this.more?.rungs ? this.more.rungs.length - 1 : Infinity; // it is waited for
    const played = Number.isFinite(top) ? Math.min(settings.played + 1, top) : settings.played;
    this.look({ played, pointed: "" }, "");
    if (played < top && moves()) this.playing = setTimeout(() => this.act("rise"), PACE);
  },
  do_pause() {
    clearTimeout(this.playing);
    this.playing = 0;
  },
  /** @param {{ value: number | string }} sent */
  do_seek({ value }) {
    this.do_pause();
    const reached = Math.max(Math.trunc(Number(value)) || 0, 0);
    this.look({ played: reached - 1, pointed: "" }, `Step ${reached}.`);
  },
  /**
   * Switch a part off, swap it in, or put it back; what is above it plays on.
   * @param {{ part: string }} sent
   */
  do_change({ part }) {
    const { settings, truth } = this.state;
    const { doing, other, played, parts } = settings;
    if (doing === "swap" && other.length !== truth.length)
      throw new ValueError(
        "Type a second line first, of the same length; it differs in a letter, say.",
      );
    const { [part]: before, ...others } = parts;
    const bet = settings.bet && !flips(this.more);
    const after = before === doing ? others : { ...(bet ? {} : others), [part]: doing };
    const now = before === doing ? "as it was" : doing === "off" ? "off" : "from the second line";
    const ends = played === (this.more?.rungs.length ?? 0) - 1;
    const pointed = part.includes(".") ? part : "";
    this.look({ parts: after, bet, pointed }, `${capitalised(partName(part))}: ${now}.`);
    if (!ends && !this.playing) this.do_rise();
  },
  do_restore() {
    this.look({ parts: {} }, "All parts are as they were.");
  },
  /** @param {{ at?: string }} sent */
  do_point({ at = "" }) {
    if (at !== this.state.settings.pointed) this.look({ pointed: at }, this.announcement);
    if (this.problem) throw new ValueError(this.problem); // the mouse takes no message away
  },
  /**
   * Choose a setting by its name; of two that exclude each other, one has an empty value.
   * @param {{ name: keyof Settings, value: string }} sent
   */
  do_choose({ name, value }) {
    const { settings } = this.state;
    const chosen = typeof settings[name] === "boolean" ? Boolean(value) : value;
    this.look({ [name]: chosen, bet: settings.bet && name !== "doing" }, "");
  },
  /**
   * Take a second line.
   * @param {{ text: string }} sent
   */
  async do_other({ text }) {
    const { truth, n } = await this.ask("read", { text });
    const { truth: first, symbols } = this.state;
    if (n !== first.length)
      throw new ValueError(
        `The second line has ${counted(n, symbols.unit)} and the first ${first.length}; make them equally long.`,
      );
    this.look({ other: truth, doing: "swap" }, "Second line taken; a click on a dot swaps it in.");
  },
};
