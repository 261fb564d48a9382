// Beat the encoder: a letter of a held-out line, and how sure one is of it, paid for in nats.

import { standings } from "../../explorer/hands.js";
import Gap from "../../explorer/gap.js";
import { element } from "../../widgets/browser/element.js";
import { inNats, percent, spoken } from "../../widgets/browser/words.js";

/** @import { Guesses } from "../../explorer/parts.js" */

export default class GuessingGame extends Gap {
  complete = true;
  sure = 0.5; // of the letter

  async load() {}

  /** A letter has been typed, and can still be changed. */
  chosen() {
    this.announcement = `Your letter: ${spoken(this.typed)}. How sure are you?`;
  }

  /**
   * Say how sure one is, in percent.
   * @param {{ value: string }} sent
   */
  do_sure({ value }) {
    this.sure = Number(value) / 100;
  }

  /** Enter what everybody has paid. What is left of one's own bet is shared by frequency. */
  count() {
    const { typed, missing, sure } = this;
    const { truth, focus: at } = this.state;
    const frequencies = /** @type {any} */ (this).get("frequencies");
    const left = ((1 - sure) * frequencies[missing]) / (1 - frequencies[typed]);
    const { readers, baseline } = /** @type {Guesses} */ (this.answer);
    const named = readers.map(({ name, costs }) => [name, Number(costs[at])]);
    const costs = Object.fromEntries([
      ["you", -Math.log(typed === missing ? sure : left)],
      ...named,
      ["letter counts", Number(baseline?.costs[at])],
    ]);
    const round = { line: truth.join(""), at, n_hands: 1, costs, bet: [typed, sure] };
    this.become({ paid: [...(this.at ? this.get("paid") : []), round] }, "");
    this.finished ||= this.last;
  }

  get label() {
    return "Bet";
  }

  /** @param {string} asks */
  stake(asks) {
    const sure = percent(this.sure);
    const slider = element("input", {
      type: "range",
      "data-do": "sure",
      min: 5,
      max: 99,
      value: Math.round(100 * this.sure),
      "aria-label": "How sure are you?",
      "aria-valuetext": sure,
    });
    const label = element("label", null, "How sure are you?", slider, element("b", null, sure));
    return element("div", { class: "asks" }, element("p", null, asks), label);
  }

  /**
   * @param {string} name
   * @param {number} [p]
   */
  note(name, p = this.sure) {
    const last = this.get("paid").at(-1);
    return last && this.over ? `pays ${inNats(Number(last.costs[name]))}` : percent(p);
  }

  sentence() {
    const { you, both } = standings(this.get("paid"));
    if (!this.last) return super.sentence();
    const end = you.mean < both.mean ? "You beat it." : "It won this time.";
    const paid = `you have paid ${inNats(you.mean)} nats per gap and the encoder ${inNats(both.mean)}`;
    return `${super.sentence()} Over all gaps, ${paid}. ${end}`;
  }

  tally() {
    const means = Object.entries(standings(this.get("paid"))).map(([name, { mean }]) =>
      element("span", { class: name }, `${name} `, element("b", { class: "number" }, inNats(mean))),
    );
    return element("p", { class: "score" }, means.length ? "nats per gap: " : "", ...means);
  }
}
