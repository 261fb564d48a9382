// The smallest widget, for test_widget.py.

import { button, element, form, join } from "../../src/cloze/widgets/browser/element.js";
import { ValueError, Widget } from "../../src/cloze/widgets/browser/widget.js";

export default class Counter extends Widget {
  count = 0;

  markup() {
    if (this.count > 3) throw new Error("no picture" + "x".repeat(10000));
    const clicked = button(`clicked ${this.count} times`, "twice");
    return join([clicked, form("add"), element("p", null, "<!--break-->")]);
  }

  do_add({ by }) {
    if (by > 9) throw new ValueError("The step is too large.");
    this.count += by;
  }

  do_twice() {
    this.do_add({ by: 1 });
    this.refresh();
    this.do_add({ by: 1 });
  }

  do_break() {
    throw new TypeError("no such thing");
  }
}
