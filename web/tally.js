// The tally over the hour: what the room and the readers have paid for the gaps it was asked. The
// port of src/cloze/widgets/explorer/tally.py.

import { button, element, join, status, tableOf } from "./element.js";
import { ROOM, best, standings, who } from "./room.js";
import { Widget } from "./widget.js";
import { counted, inBits, inNats } from "./words.js";

export class Tally extends Widget {
  static actions = { restart: [] };
  #paid = new Map();

  constructor() {
    super();
    this.refresh();
  }

  /** What was paid, gap by gap. */
  get paid() {
    return [...this.#paid.values()];
  }

  /** Enter what was paid for a symbol of a line, unless that has been entered before. */
  note(line, at, paid) {
    const gap = `${at} ${line}`;
    if (this.#paid.has(gap)) return;
    this.#paid.set(gap, paid);
    this.refresh();
  }

  do_restart() {
    this.#paid.clear();
  }

  markup() {
    const { paid } = this;
    const heads = ["guesser", "bits per gap", "nats per gap", "gaps"];
    const rows = Object.entries(standings(paid)).map(([name, { mean, nGaps }]) =>
      element(
        "tr",
        { class: name },
        element("th", { scope: "row" }, called(name, paid)),
        ...[inBits(mean), inNats(mean), nGaps].map((each) =>
          element("td", { class: "number" }, each),
        ),
      ),
    );
    return join([
      rows.length ? tableOf(heads, rows, "costs") : join([]),
      status(inWords(paid)),
      button("Start the tally over", "restart", { "aria-disabled": !paid.length || null }),
    ]);
  }
}

/** Return how somebody is called, in short. */
function called(name, paid) {
  return name === ROOM ? who(Math.max(...paid.map(({ nHands }) => nHands))) : name;
}

/** Say how everybody stands. */
export function inWords(paid) {
  if (!paid.length) return "No gap has been guessed and revealed yet.";
  const means = Object.entries(standings(paid)).map(
    ([name, { mean }]) => `${called(name, paid)} ${inBits(mean)}`,
  );
  const first = best(paid).map((name) => called(name, paid));
  return (
    `After ${counted(paid.length, "gap")}, in bits per gap: ${means.join(", ")}. ` +
    `Best: ${first.join(" and ")}.`
  );
}
