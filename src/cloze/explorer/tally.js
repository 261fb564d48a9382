// The tally over the hour: what the room and the readers have paid for the gaps it was asked.

import { numberRow } from "../widgets/browser/cells.js";
import { button, element, join, status, tableOf } from "../widgets/browser/element.js";
import { Widget } from "../widgets/browser/widget.js";
import { counted, inNats } from "../widgets/browser/words.js";
import { best, guesserName, ROOM, standings } from "./hands.js";

/** @import { Paid } from "./hands.js" */

const HOW =
  "Guess first in an explorer: mask a letter, raise hands for what it may be, then press Reveal.";

/** @extends {Widget<{ paid: Paid[] }>} */
export default class Tally extends Widget {
  /** Forget all gaps: another hour begins. */
  do_restart() {
    this.set({ paid: [] });
  }

  markup() {
    const paid = this.get("paid");
    const first = best(paid);
    const heads = ["guesser", "nats per gap", "gaps"];
    const rows = Object.entries(standings(paid)).map(([name, { mean, nGaps }]) => {
      const look = first.includes(name) ? `${name} best` : name;
      return numberRow(called(name, paid), [inNats(mean), nGaps], look);
    });
    if (!paid.length) return join([status(inWords(paid)), element("p", null, HOW)]);
    return join([
      tableOf(heads, rows, "costs tally"),
      status(inWords(paid)),
      button("Start the tally over", "restart"),
    ]);
  }
}

/**
 * Return how somebody is called, in short.
 * @param {string} name
 * @param {Paid[]} paid
 */
function called(name, paid) {
  return name === ROOM ? guesserName(Math.max(...paid.map((each) => each.n_hands))) : name;
}

/**
 * Say how everybody stands.
 * @param {Paid[]} paid
 */
export function inWords(paid) {
  if (!paid.length) return "No gap has been guessed and revealed yet.";
  const means = Object.entries(standings(paid)).map(
    ([name, { mean }]) => `${called(name, paid)} ${inNats(mean)}`,
  );
  const first = best(paid).map((name) => called(name, paid));
  return (
    `After ${counted(paid.length, "gap")}, in nats per gap: ${means.join(", ")}. ` +
    `Best: ${first.join(" and ")}.`
  );
}
