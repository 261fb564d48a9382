// Rows and cells: of a table, and of a line of text.

import { element } from "./element.js";

/** @import { Child, Markup } from "./element.js" */

/**
 * Write parts side by side.
 * @param {...Child} parts
 */
export function row(...parts) {
  return element("div", { class: "row" }, ...parts);
}

/**
 * Write the head of a table's row.
 * @param {...Child} children
 */
export function rowHead(...children) {
  return element("th", { scope: "row" }, ...children);
}

/**
 * Write cells of a table that hold numbers.
 * @param {Child[]} numbers
 */
export function numberCells(numbers) {
  return numbers.map((number) => element("td", { class: "number" }, number));
}

/**
 * Write a table's row of numbers.
 * @param {Child} name
 * @param {Child[]} numbers
 * @param {string | null} [look]  Its class.
 */
export function numberRow(name, numbers, look) {
  return element("tr", { class: look }, rowHead(name), ...numberCells(numbers));
}

/**
 * A symbol of a line, and what became of it.
 * @typedef {object} Cell
 * @property {string} symbol
 * @property {string} [look]  Its class.
 * @property {Child[]} [notes]  What stands below the symbol, in small type.
 * @property {boolean} [ends]  Whether the line may be broken after it.
 */

/**
 * Write a line of text as a strip of cells, broken only between words.
 * @param {string} label  What screen readers say for it.
 * @param {Cell[]} cells
 * @param {string} [look]  Its class.
 */
export function strip(label, cells, look) {
  /** @type {Markup[][]} */
  const words = [[]];
  for (const { symbol, look = "", notes = [], ends } of cells) {
    const below = notes.map((note) => element("small", null, note || "\u00a0"));
    const name = look ? `cell ${look}` : "cell";
    words[words.length - 1].push(element("span", { class: name }, symbol, ...below));
    if (ends) words.push([]);
  }
  const parts = words.map((word) => element("span", { class: "word" }, ...word));
  return element("div", { role: "img", "aria-label": label, class: look }, ...parts);
}
