// The inside of a model at one gap of a line: what is known of it, and what a hand does. inside.py
// answers; inside_words.js says it in sentences and ladder.js draws it.

import { ValueError } from "../widgets/browser/widget.js";
import { capitalised, counted } from "../widgets/browser/words.js";

/**
 * @import { Cost, Guess, View } from "./parts.js"
 *
 * @typedef {"off" | "swap"} Change  Replaced by a mean, or by what the second line gives there.
 *
 * @typedef {object} Settings  How the inside is looked at, and what is changed in it.
 * @property {string} reader  The name of the model; "" for the last.
 * @property {boolean} untrained  Whether it is shown as it was before training.
 * @property {Change} doing  What a click on a part does.
 * @property {boolean} everywhere  Whether parts are changed at all positions, or at the gap only.
 * @property {string[]} other  The second line; empty while there is none.
 * @property {Record<string, Change>} parts  What is changed: "0.3" is head 4 of layer 1, "0" the
 *   feed-forward part of layer 1.
 * @property {string} pointed  The head that is pointed at.
 * @property {number} played  The rung that is told; -1 while nothing is played.
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
  doing: "off",
  everywhere: false,
  other: [],
  parts: {},
  pointed: "",
  played: -1,
};

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

/** @param {string} key */
export function partName(key) {
  const [layer, head] = key.split(".").map(Number);
  return head === undefined
    ? `feed-forward ${layer + 1}`
    : `head ${head + 1} of layer ${layer + 1}`;
}

/**
 * What the buttons do, for an explorer.
 * @type {View["actions"]}
 */
export const ACTIONS = {
  /**
   * Switch a part off, swap it in, or put it back.
   * @param {{ part: string }} sent
   */
  do_change({ part }) {
    const { settings, truth } = this.state;
    const { parts, doing, other } = settings;
    if (doing === "swap" && other.length !== truth.length)
      throw new ValueError(
        "Type a second line first, of the same length; it differs in a letter, say.",
      );
    const { [part]: before, ...others } = parts;
    const after = before === doing ? others : { ...others, [part]: doing };
    const announcement =
      before === doing ? "as it was" : doing === "off" ? "off" : "from the second line";
    this.look({ parts: after }, `${capitalised(partName(part))}: ${announcement}.`);
  },
  do_restore() {
    this.look({ parts: {} }, "All parts are as they were.");
  },
  /** @param {{ at: string }} sent */
  do_point({ at }) {
    if (at !== this.state.settings.pointed) this.look({ pointed: at }, this.announcement);
  },
  /** @param {{ value: string }} sent */
  do_reader({ value }) {
    this.look({ reader: value }, `Model: ${value}.`);
  },
  /** @param {{ value: string }} sent */
  do_weights({ value }) {
    const untrained = value === "untrained";
    const announcement = untrained
      ? "Weights as they are drawn, before the first step."
      : "Trained.";
    this.look({ untrained }, announcement);
  },
  /** @param {{ value: Change }} sent */
  do_doing({ value }) {
    const does = value === "off" ? "switches it off" : "takes it from the second line";
    this.look({ doing: value }, `A click on a part ${does}.`);
  },
  /** @param {{ value: string }} sent */
  do_where({ value }) {
    const everywhere = value === "everywhere";
    this.look({ everywhere }, `Parts are changed ${everywhere ? "everywhere" : "at the gap"}.`);
  },
  /**
   * Take a second line.
   * @param {{ text: string }} sent
   */
  async do_other({ text }) {
    const { truth, n } = await this.ask("read", { text });
    const { length } = this.state.truth;
    const { unit } = this.state.symbols;
    if (n !== length)
      throw new ValueError(
        `The second line has ${counted(n, unit)} and the first ${length}; make them equally long.`,
      );
    this.look({ other: truth }, "Second line taken.");
  },
  /**
   * Tell a rung; -1 ends it.
   * @param {{ rung: string }} sent
   */
  do_play({ rung }) {
    this.look({ played: Number(rung) }, "");
  },
};
