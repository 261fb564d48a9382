// Markup that cannot be unsafe: what src/cloze/widgets/markup.py writes, character for character.

/** Text that is markup already; whatever is not, is escaped before it becomes a part of one. */
export class Markup {
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;" };

function escaped(value) {
  if (value instanceof Markup) return value.text;
  return String(value).replace(/[&<>'"]/g, (sign) => SIGNS[sign]);
}

/**
 * Write one element; null children are left out. Of attributes `true` writes the bare name, null,
 * undefined and `false` leave it out, except that ARIA attributes say "true" and "false".
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

/** Write one part after the other. */
export function join(parts) {
  return new Markup(parts.map(escaped).join(""));
}

/** Write a button that calls `do_…`. */
export function button(label, action, attributes) {
  return element("button", { type: "button", "data-do": action, ...attributes }, label);
}

/** Write a form that calls `do_…` when it is submitted, and says in itself what went wrong. */
export function form(action, attributes, ...children) {
  const along = { "data-do": action, ...attributes };
  return element("form", along, ...children, problemOf(action));
}

/** Write a labelled list of choices, `[value, name]` each, that calls `do_…` with the value. */
export function select(label, action, options, chosen) {
  const listed = options.map(([value, name]) =>
    element("option", { value, selected: value === chosen || null }, name),
  );
  return element("label", null, label, element("select", { "data-do": action }, ...listed));
}

/** Write a table with a heading over each column. */
export function tableOf(heads, rows, name) {
  const columns = heads.map((head) => element("th", { scope: "col" }, head));
  const head = element("thead", null, element("tr", null, ...columns));
  return element("table", { class: name }, head, element("tbody", null, ...rows));
}

/** Write the line that screen readers speak whenever it changes. */
export function status(text) {
  return element("p", { role: "status", class: "status" }, text);
}

/** Mark the place where a failure of `do_…` is told; without a mark it is told at the end. */
export function problemOf(action) {
  return new Markup(`<!--${escaped(action)}-->`);
}
