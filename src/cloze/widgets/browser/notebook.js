// A widget in a notebook: its model is the one that Jupyter keeps in step with an object in Python,
// whose methods answer_… answer what the widget asks.

import { render } from "./view.js";
import { Gone, ValueError } from "./widget.js";

/** Return what anywidget wants of a module: a function that makes a widget for each model. */
export function inNotebook(Class) {
  return () => {
    let widget;
    return {
      initialize({ model }) {
        widget = new Class(asking(model));
        widget.refresh();
      },
      render: ({ model, el }) =>
        render({ widget, el, onEnd: (ended) => model.on("comm_live_update", ended) }),
    };
  };
}

/** Let a model ask Python; a question has a name of its own, for several pages may hear an answer. */
function asking(model) {
  const waiting = new Map();
  const settle = (id, how, value) => {
    waiting.get(id)?.[how](value);
    waiting.delete(id);
  };
  model.on("msg:custom", ({ id, answer, problem }) => {
    if (problem) settle(id, "reject", new ValueError(problem));
    else settle(id, "resolve", answer);
  });
  model.on("comm_live_update", () => {
    for (const id of waiting.keys()) settle(id, "reject", new Gone());
  });
  const ask = (what, sent) =>
    new Promise((resolve, reject) => {
      const id = `${Math.random()}`;
      waiting.set(id, { resolve, reject });
      Promise.resolve()
        .then(() => model.send({ ask: what, id, sent }))
        .catch(() => settle(id, "reject", new Gone()));
    });
  return {
    get: (name) => model.get(name),
    set: (name, value) => model.set(name, value),
    save_changes: () => model.save_changes(),
    on: (event, listener) => model.on(event, listener),
    ask,
  };
}
