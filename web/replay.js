// For browsers that cannot run the engine: a recorded run, in the place of a training.

import { Model } from "../src/cloze/widgets/browser/widget.js";

/** @import { Settings } from "./train.js" */

/**
 * A run that was recorded in Python (measured.training.recorded), by the number of steps.
 * @typedef {object} Recorded
 * @property {Record<string, number>} points  Training losses in nats, averaged.
 * @property {Record<string, number>} measured  Held-out losses in nats.
 * @property {Record<string, string>} filled  What the line had in its gaps.
 */

/** The smallest module with an instruction of SIMD, which every part of the engine needs. */
const PROBE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3],
  ...[2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11],
);

/** Whether this browser can run the engine. */
export const runsEngine = () => typeof WebAssembly === "object" && WebAssembly.validate(PROBE);

export const LACKING =
  "This browser lacks WebAssembly SIMD, with which the models compute here. Chrome has it from " +
  "version 91, Firefox from 89 and Safari from 16.4.";
const SECONDS = 20;
export const REPLAYED =
  `${LACKING} So nothing is trained here: Start replays, in ${SECONDS} seconds, ` +
  "a run that was recorded in Python.";
const MESSAGES = 5; // a second

/**
 * What answers the widget of the loss curve in the place of a training.
 * @param {Settings} settings
 * @param {Recorded} recorded
 */
export function replaying(settings, recorded) {
  const { steps } = settings.recipe;
  let done = 0;
  /** @type {number | undefined} */
  let clock;

  /**
   * What was recorded up to now.
   * @template Kept
   * @param {Record<string, Kept>} byStep
   * @returns {[number, Kept][]}
   */
  const upToNow = (byStep) =>
    Object.entries(byStep)
      .map(([step, kept]) => /** @type {[number, Kept]} */ ([Number(step), kept]))
      .filter(([step]) => step <= done);

  function show() {
    const points = upToNow(recorded.points);
    const measured = upToNow(recorded.measured);
    const words = [`step ${Math.floor(done)} of ${steps}`];
    for (const [name, all] of /** @type {const} */ ([
      ["training", points],
      ["held-out", measured],
    ]))
      if (all.length) words.push(`${name} loss ${all[all.length - 1][1].toFixed(2)} nats`);
    model.set("points", points);
    model.set("measured", measured);
    model.set("filled", [...(upToNow(recorded.filled).pop()?.[1] ?? "")]);
    model.set("words", words.join(", "));
    const ready = done >= steps ? "Finished" : "Resume";
    model.set("action", clock === undefined ? ready : "Stop");
  }

  const model = new Model(
    {
      steps,
      points: /** @type {[number, number][]} */ ([]),
      measured: /** @type {[number, number][]} */ ([]),
      baselines: settings.baselines,
      plateau: settings.plateau,
      examples: settings.examples,
      action: "Start",
      words: `step 0 of ${steps}`,
      line: settings.line,
      filled: /** @type {string[]} */ ([]),
      failure: "",
    },
    {
      start() {
        clock ??= setInterval(() => {
          done = Math.min(steps, done + steps / SECONDS / MESSAGES);
          if (done >= steps) stop();
          show();
        }, 1000 / MESSAGES);
        show();
      },
      stop() {
        stop();
        show();
      },
    },
  );

  function stop() {
    clearInterval(clock);
    clock = undefined;
  }
  return model;
}
