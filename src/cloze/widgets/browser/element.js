// Markup that cannot be unsafe: what src/cloze/widgets/markup.py writes, character for character.

/**
 * @typedef {Markup | string | number | boolean | null | undefined} Child  What an element can hold.
 * @typedef {Record<string, string | number | boolean | null | undefined> | null} Attributes
 * @typedef {string | number | [value: string | number, name: string]} Option  Of a choice.
 */

/** Text that is markup already; anything else is escaped before it becomes part of it. */
export class Markup {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

/** @type {Record<string, string>} */
const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;" };

/** @param {Child} value */
function escaped(value) {
  if (value instanceof Markup) return value.text;
  return String(value).replace(/[&<>'"]/g, (sign) => SIGNS[sign]);
}

/**
 * Write one element; null children are left out. Of attributes `true` writes the bare name, null,
 * undefined and `false` leave it out, except that ARIA attributes say "true" and "false".
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export function element(tag, attributes, ...children) {
  const written = Object.entries(attributes ?? {}).map(([name, value]) => {
    if (typeof value === "boolean" && name.startsWith("aria-")) return ` ${name}="${value}"`;
    if (value === true) return ` ${name}`;
    return value == null || value === false ? "" : ` ${name}="${escaped(value)}"`;
  });
  const start = `<${tag}${written.join("")}>`;
  if (tag === "input" || tag === "br") return new Markup(start);
  const inside = children.filter((child) => child != null).map(escaped);
  return new Markup(`${start}${inside.join("")}</${tag}>`);
}

/**
 * Write one part after the other.
 * @param {Child[]} parts
 */
export function join(parts) {
  return new Markup(parts.map(escaped).join(""));
}

/**
 * Write a button that calls `do_…`.
 * @param {Child} label
 * @param {string} action
 * @param {Attributes} [attributes]
 */
export function button(label, action, attributes) {
  return element("button", { type: "button", "data-do": action, ...attributes }, label);
}

/**
 * Write a form that calls `do_…` when it is submitted, and shows what went wrong.
 * @param {string} action
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export function form(action, attributes, ...children) {
  const along = { "data-do": action, ...attributes };
  return element("form", along, ...children, problemOf(action));
}

/**
 * Write a form that takes a line of text as `text`.
 * @param {string} action
 * @param {Child} label
 * @param {Child} submit  What its button says.
 * @param {Attributes} [attributes]  Of the field.
 * @param {string} [look]  The button's class.
 */
export function lineForm(action, label, submit, attributes, look) {
  const line = { type: "text", name: "text", autocomplete: "off", ...attributes };
  const field = element("label", null, label, element("input", line));
  const go = element("button", { type: "submit", class: look }, submit);
  return form(action, { class: "row" }, field, go);
}

/** @param {Option} option */
const named = (option) =>
  Array.isArray(option) ? { value: option[0], name: option[1] } : { value: option, name: option };

/**
 * Write a row of buttons of which one is pressed; each calls `do_…` with its value.
 * @param {string} label
 * @param {string} action
 * @param {Option[]} options
 * @param {string | number} chosen  Its value.
 * @param {Attributes} [attributes]  Of each button.
 */
export function choice(label, action, options, chosen, attributes) {
  const buttons = options.map(named).map(({ value, name }) => {
    const pressed = { "data-with-value": value, "aria-pressed": value === chosen };
    return button(name, action, { ...pressed, ...attributes });
  });
  const group = { role: "group", "aria-label": label, class: "row" };
  return element("div", group, element("span", null, label), ...buttons);
}

/**
 * Write a labelled list of choices that calls `do_…` with the value.
 * @param {Child} label
 * @param {string} action
 * @param {Option[]} options
 * @param {string | number} [chosen]  Its value.
 * @param {Attributes} [attributes]  Of the list.
 */
export function select(label, action, options, chosen, attributes) {
  const listed = options
    .map(named)
    .map(({ value, name }) =>
      element("option", { value, selected: value === chosen || null }, name),
    );
  const list = element("select", { "data-do": action, ...attributes }, ...listed);
  return element("label", null, label, list);
}

/**
 * Write a table with a heading over each column.
 * @param {Child[]} heads
 * @param {Child[]} rows
 * @param {string} [name]  Its class.
 * @param {string} [caption]
 */
export function tableOf(heads, rows, name, caption) {
  const columns = heads.map((head) => element("th", { scope: "col" }, head));
  const head = element("thead", null, element("tr", null, ...columns));
  const above = caption && element("caption", null, caption);
  return element("table", { class: name }, above, head, element("tbody", null, ...rows));
}

/**
 * Write the line that screen readers speak whenever it changes.
 * @param {Child} text
 */
export function status(text) {
  return element("p", { role: "status", class: "status" }, text);
}

/**
 * Mark the place where a failure of `do_…` is shown; without a mark it is shown at the end.
 * @param {string} action
 */
export function problemOf(action) {
  return new Markup(`<!--${escaped(action)}-->`);
}
