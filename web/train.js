// The training of the page: what answers the widget of the loss curve, where Python does elsewhere.

import { Model, ValueError } from "../src/cloze/widgets/browser/widget.js";
import { VOCABULARY } from "./vocabulary.js";

/** @import { Progress } from "./engine/worker.js" */

/**
 * What the page is told of it by build.py.
 * @typedef {object} Settings
 * @property {any} config
 * @property {any} recipe
 * @property {Record<string, number>} baselines
 * @property {[string, boolean][][]} line  By word: symbols, and whether they are hidden.
 * @property {string} masked  The line as the model reads it, _ for a gap.
 * @property {number | null} plateau
 * @property {any} examples
 * @property {string} corpus  The digest of the text.
 * @property {string | null} text  What is trained on and what is held out; null for corpus.gz.
 * @property {number} heldOut  How many characters at the end of the text are held out.
 */

const POINTS = 150;

/**
 * @param {Settings} settings
 * @param {(name: string) => Promise<ArrayBuffer>} bytes
 * @param {() => Worker} start  Make the thread that trains.
 */
export function training(settings, bytes, start) {
  const { recipe } = settings;
  /** @type {Worker | undefined} */
  let worker;
  /** @type {number[]} */
  const losses = [];
  /** @type {[number, number][]} */
  const measured = [];
  /** @type {((file: Uint8Array) => void) | undefined} */
  let saving;

  async function begun() {
    const [module, written] = await Promise.all([
      bytes("engine.wasm"),
      settings.text ?? bytes("corpus.gz").then(unpacked),
    ]);
    const all = idsOf(written);
    const text = all.slice(0, -settings.heldOut);
    const heldOut = all.slice(-settings.heldOut);
    const line = idsOf(settings.masked);
    const made = start();
    made.onmessage = ({ data }) => (data.saved ? saving?.(data.saved) : show(data));
    made.onerror = ({ message }) => {
      worker = undefined;
      become({
        action: "Start",
        failure: `Training has ended: ${message}; press Start to begin anew.`,
      });
    };
    made.postMessage({ begin: { module, config: settings.config, recipe, text, heldOut, line } });
    return made;
  }

  /** @param {Progress} progress */
  function show({ done, seconds, losses: more, heldOut, filled, ended }) {
    losses.push(...more);
    if (heldOut !== null) measured.push([done, heldOut]);
    const ready = done >= recipe.steps ? "Finished" : "Resume";
    const recent = losses.slice(-20);
    const words = [`step ${done} of ${recipe.steps}`];
    words.push(`training loss ${(sum(recent) / recent.length).toFixed(2)} nats`);
    if (measured.length)
      words.push(`held-out loss ${measured[measured.length - 1][1].toFixed(2)} nats`);
    words.push(
      done < recipe.steps
        ? `about ${((seconds / done) * (recipe.steps - done)).toFixed(0)} seconds left`
        : `${seconds.toFixed(0)} seconds`,
    );
    become({
      points: averaged(losses, recipe.steps),
      measured: [...measured],
      words: words.join(", "),
      action: ended ? ready : "Stop",
      filled: filled.map((id) => VOCABULARY.symbols[id]),
    });
  }

  /** @param {Record<string, any>} values */
  function become(values) {
    for (const [name, value] of Object.entries(values)) model.set(/** @type {any} */ (name), value);
  }

  const model = new Model(
    {
      steps: recipe.steps,
      points: /** @type {[number, number][]} */ ([]),
      measured: /** @type {[number, number][]} */ ([]),
      baselines: settings.baselines,
      plateau: settings.plateau,
      examples: settings.examples,
      action: "Start",
      words: `step 0 of ${recipe.steps}`,
      line: settings.line,
      filled: /** @type {string[]} */ ([]),
      failure: "",
    },
    {
      async start() {
        if (typeof DecompressionStream === "undefined")
          throw new ValueError(
            "This browser is too old to train in; open the page in a newer one.",
          );
        become({ action: "Stop", failure: "" });
        try {
          worker ??= await begun();
        } catch (error) {
          become({ action: "Start" });
          throw error;
        }
        worker.postMessage({ go: true });
      },
      async stop() {
        worker?.postMessage({ stop: true });
      },
    },
  );
  /**
   * The run as a file with which `python -m cloze train --resume` goes on.
   * @returns {Promise<Uint8Array>}
   */
  function save() {
    if (!worker) throw new ValueError("Nothing has been trained yet; press Start.");
    if (!globalThis.crypto?.subtle)
      throw new ValueError("A browser seals files only on pages that came over https.");
    worker.postMessage({ save: { corpus: settings.corpus } });
    return new Promise((resolve) => {
      saving = resolve;
    });
  }
  return { model, save };
}

/** @param {ArrayBuffer} packed */
function unpacked(packed) {
  const text = new Response(packed).body?.pipeThrough(new DecompressionStream("gzip"));
  return new Response(text).text();
}

/** @param {string} text */
function idsOf(text) {
  const ids = new Map(VOCABULARY.ordinary.map((symbol, id) => [symbol, id]));
  return Int32Array.from(text, (symbol) => ids.get(symbol) ?? VOCABULARY.maskId);
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/**
 * Neighbouring steps averaged into some 150 points, because one batch is a noisy sample.
 * @param {number[]} losses
 * @param {number} steps
 * @returns {[number, number][]}
 */
function averaged(losses, steps) {
  const size = Math.max(1, Math.floor(steps / POINTS));
  const groups = Array.from({ length: Math.ceil(losses.length / size) }, (_, i) =>
    losses.slice(i * size, (i + 1) * size),
  );
  return groups.map((group, i) => [i * size + group.length, sum(group) / group.length]);
}
