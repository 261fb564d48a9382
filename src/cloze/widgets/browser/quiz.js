// The checkpoint questions of a lesson as a form that answers.

import { button, element, join, Markup } from "./element.js";
import { Widget } from "./widget.js";
import { counted } from "./words.js";

/**
 * @typedef {object} State
 * @property {{ text: string, options: { text: string, right: boolean, explanation: string }[] }[]} questions
 *   Python has made markup of all texts.
 * @property {Record<string, string>} answers  The letter that was chosen, by number of a question.
 *
 * @typedef {{ text: Markup, right: boolean, explanation: Markup }} Option
 */

const letterOf = (/** @type {number} */ i) => String.fromCharCode("a".charCodeAt(0) + i);
const verdict = (/** @type {Option} */ option) => (option.right ? "Yes." : "No.");

/** @extends {Widget<State>} */
export default class Quiz extends Widget {
  at = 1; // the number of the question that a lecture hall sees

  /**
   * Choose an option and hear why it is right or wrong; any other may be tried after it.
   * @param {{ question: string, value: string }} sent
   */
  do_choose({ question, value }) {
    const option = /** @type {Option} */ (this.options(Number(question)).get(value));
    this.announcement = join([
      `Question ${question}, (${value}): ${verdict(option)} `,
      option.explanation,
    ]);
    this.set({ answers: { ...this.get("answers"), [question]: value } });
  }

  /**
   * Go to another question, where one is shown at a time.
   * @param {{ question: string }} sent
   */
  do_turn({ question }) {
    this.at = Number(question);
    this.announcement = `Question ${this.at} of ${this.get("questions").length}.`;
  }

  /** Forget all answers. */
  do_restart() {
    this.at = 1;
    this.announcement = "All answers are cleared.";
    this.set({ answers: {} });
  }

  /**
   * Return the options of a question by letter.
   * @param {number} number
   * @returns {Map<string, Option>}
   */
  options(number) {
    const options = this.get("questions")[number - 1].options;
    return new Map(
      options.map(({ text, right, explanation }, i) => [
        letterOf(i),
        { text: new Markup(text), right, explanation: new Markup(explanation) },
      ]),
    );
  }

  markup() {
    const n = this.get("questions").length;
    const answers = Object.entries(this.get("answers"));
    const right = answers.filter(
      ([number, letter]) => this.options(Number(number)).get(letter)?.right,
    );
    const numbers = this.present ? [this.at] : [...Array(n).keys()].map((i) => i + 1);
    const buttons = [button("Start over", "restart", { "aria-disabled": !answers.length || null })];
    const turn = (/** @type {string} */ label, /** @type {number} */ to) => {
      const ends = to < 1 || to > n || null;
      return button(label, "turn", { "data-with-question": to, "aria-disabled": ends });
    };
    if (this.present && n > 1)
      buttons.push(turn("Previous", this.at - 1), turn("Next", this.at + 1));
    return element(
      "div",
      { class: "quiz" },
      ...numbers.map((number) => this.form(number)),
      element(
        "p",
        { role: "status", class: "status" },
        element("span", { class: "spoken" }, this.announcement, " "),
        `${counted(n, "question")}: ${answers.length} answered, ${right.length} right.`,
      ),
      element("div", { class: "row" }, ...buttons),
    );
  }

  /**
   * Write one question: an option a line, below the chosen one why it is right or wrong.
   * @param {number} number
   */
  form(number) {
    const chosen = this.get("answers")[number];
    const lines = [...this.options(number)].map(([letter, option]) => {
      const radio = element("input", {
        type: "radio",
        name: `question-${number}`,
        value: letter,
        checked: letter === chosen,
        "data-do": "choose",
        "data-with-question": number,
      });
      const text = element("span", null, `(${letter}) `, option.text);
      const label = element("label", null, radio, text);
      return element("div", null, label, letter === chosen ? explained(option) : null);
    });
    const text = new Markup(this.get("questions")[number - 1].text);
    const legend = element("legend", null, `${number}. `, text);
    // A form each: radio buttons are a group within their form, whatever else is on the page.
    return element("form", null, element("fieldset", null, legend, ...lines));
  }
}

/** @param {Option} option */
function explained(option) {
  const look = option.right ? "explanation right" : "explanation wrong";
  const sign = element("b", null, option.right ? "✓ " : "✗ ", verdict(option));
  return element("p", { class: look }, sign, " ", option.explanation);
}
