// What is beside the loss curve: a text of one's own to train on, and files to save and to load.

import { button, element, form, join, status } from "../src/cloze/widgets/browser/element.js";
import { save } from "../src/cloze/widgets/browser/share.js";
import { ValueError, Widget } from "../src/cloze/widgets/browser/widget.js";

/** @import { Own } from "./engine/worker.js" */

/**
 * @typedef {object} State
 * @property {string} note  What has become of a text or a file.
 * @property {string} own  The name of the text of one's own, "" for the series'.
 * @property {boolean} kept  Whether there is a run.
 * @property {string} offered  The name of what would take its place, "" if there is nothing.
 *
 * @typedef {object} Answers
 * @property {(given: Own) => Promise<void>} read
 * @property {(given: Own) => Promise<void>} load
 * @property {(wanted: { what: "run" | "model" | "text" }) => Promise<Own>} save
 * @property {() => Promise<void>} again  Forgets the run, and takes in what is offered.
 * @property {() => Promise<void>} forget
 */

const NO_TEXT = "There is no text yet; type or paste one, or open a file.";

/** @extends {Widget<State, Answers>} */
export default class Files extends Widget {
  static presents = false;

  markup() {
    const [own, offered] = [this.get("own"), this.get("offered")];
    const field = element("textarea", {
      name: "text",
      rows: 4,
      "aria-label": "A text of your own",
      placeholder: "Type or paste some text",
    });
    const saves = ["run", "model", ...(own ? ["text"] : [])].map((what) =>
      button(`Save the ${what}`, "save", { "data-with-what": what }),
    );
    if (this.get("kept")) saves.push(button("Forget the run", "forget"));
    else if (own) saves.push(button("Back to the series’ text", "forget"));
    const told = offered ? `${offered} would take the place of your run.` : this.get("note");
    if (offered) saves.push(button(`Start over with ${offered.replace("Your", "your")}`, "again"));
    return join([
      form(
        "read",
        { class: "pasted" },
        field,
        element("button", { type: "submit" }, "Take this text"),
        button("Open a file …", "choose"),
      ),
      element("div", { class: "row" }, ...saves),
      status(told),
    ]);
  }

  /** @param {{ text: string }} typed */
  do_read({ text }) {
    if (!text.trim()) throw new ValueError(NO_TEXT);
    return this.ask("read", { file: new Blob([text]), name: "Your text" });
  }

  do_choose() {
    const field = document.createElement("input");
    field.type = "file";
    field.onchange = () => field.files?.[0] && this.act("open", { file: field.files[0] });
    field.click();
  }

  /** @param {{ file: File }} chosen  Or dropped. */
  do_open({ file }) {
    const what = file.name.endsWith(".safetensors") ? "load" : "read";
    return this.ask(what, { file, name: file.name });
  }

  /** @param {{ what: "run" | "model" | "text" }} wanted */
  async do_save(wanted) {
    const { file, name } = await this.ask("save", wanted);
    save(file, name);
  }

  do_again() {
    return this.ask("again");
  }

  do_forget() {
    return this.ask("forget");
  }
}
