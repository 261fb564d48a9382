// A widget in a notebook: its model is the one that Jupyter keeps in step with an object in Python,
// whose methods answer_… answer what the widget asks.

import { render } from "./view.js";
import { Gone, ValueError } from "./widget.js";

/** @import { Widget, WidgetModel } from "./widget.js" */

/**
 * What Python says to a question; of answer and problem it is one.
 * @typedef {{ id: string, answer?: unknown, problem?: string }} Reply
 */

/**
 * @typedef {object} NotebookModel  What anywidget hands over, as far as it is used here.
 * @property {(name: string) => unknown} get
 * @property {(name: string, value: unknown) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, listener: (reply: Reply) => void) => void} on
 * @property {(content: { ask: string, id: string, sent: object }) => void} send
 */

/**
 * Return what anywidget wants of a module: a function that makes a widget for each model.
 * @param {new (model: WidgetModel<object>) => Widget<object>} Class
 */
export function inNotebook(Class) {
  return () => {
    /** @type {Widget<object>} */
    let widget;
    return {
      /** @param {{ model: NotebookModel }} place */
      initialize({ model }) {
        widget = new Class(asking(model));
        widget.refresh();
      },
      /** @param {{ model: NotebookModel, el: HTMLElement }} place */
      render: ({ model, el }) =>
        render({ widget, el, onEnd: (end) => model.on("comm_live_update", end) }),
    };
  };
}

/**
 * Let a model ask Python; a question has a name of its own, for several pages may hear an answer.
 * @param {NotebookModel} model
 * @returns {WidgetModel<object>}
 */
function asking(model) {
  /** @type {Map<string, { resolve: (answer: unknown) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  model.on("msg:custom", ({ id, answer, problem }) => {
    if (problem) waiting.get(id)?.reject(new ValueError(problem));
    else waiting.get(id)?.resolve(answer);
    waiting.delete(id);
  });
  model.on("comm_live_update", () => {
    for (const { reject } of waiting.values()) reject(new Gone());
    waiting.clear();
  });
  const ask = (/** @type {string} */ what, /** @type {object} */ sent) =>
    new Promise((resolve, reject) => {
      const id = `${Math.random()}`;
      waiting.set(id, { resolve, reject });
      Promise.resolve()
        .then(() => model.send({ ask: what, id, sent }))
        .catch(() => {
          reject(new Gone());
          waiting.delete(id);
        });
    });
  return /** @type {WidgetModel<object>} */ ({ ...model, ask });
}
