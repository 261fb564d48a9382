// One gap of a line, and the model's way to its answer: the explorer with a single gap and a single
// view, Inside.

import { ValueError } from "../widgets/browser/widget.js";
import MaskExplorer from "./widget.js";

export default class Inside extends MaskExplorer {
  single = true;
  announcement = "";

  /**
   * Move the gap.
   * @param {{ at: number | string }} sent
   */
  do_toggle({ at }) {
    const { gaps } = this.state;
    if (gaps.length && !gaps.includes(Number(at)))
      throw new ValueError("This line has a gap of its own; type another line to move it.");
    this.mask([Number(at)], `The gap is at position ${at}.`, Number(at));
  }

  /**
   * Hide one position of a new line, for there is always a gap: what it hides itself, or the middle.
   * @param {import("./parts.js").Line & { masked?: number[] }} taken
   * @param {string} announcement
   */
  take(taken, announcement) {
    const { truth, masked = [] } = taken;
    const own = truth.indexOf("_");
    const at = masked[0] ?? (own < 0 ? Math.floor(truth.length / 2) : own);
    super.take({ ...taken, masked: [at] }, announcement);
  }
}
