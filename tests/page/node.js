// Runs functions in Node that use the page's modules, one for each line that it reads.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import "./worker.js";

const [, , folder] = process.argv; // of the page
const MODULES = [
  ...[
    "answers",
    "baselines",
    "checkpoint",
    "corpus",
    "generation",
    "inside",
    "predictors",
    "symbols",
  ].map((name) => `twins/${name}`),
  ...["twins/vocabulary", "engine/engine", "engine/generator", "engine/run_file"],
  ...["engine/training", "engine/crew", "../src/cloze/widgets/browser/widget"],
];
for (const name of MODULES)
  Object.assign(globalThis, await import(pathToFileURL(resolve(folder, `web/${name}.js`)).href));

/** @param {string} path  From the folder. */
const bytes = async (path) => new Uint8Array(readFileSync(resolve(folder, path))).buffer;
const module = new WebAssembly.Module(await bytes("engine.wasm"));
const script = pathToFileURL(resolve(folder, "web/engine/worker.js")).href;
Object.assign(globalThis, { bytes, module, script });
Object.assign(globalThis, { predictors: await loadPredictors(bytes, module) });

for await (const line of createInterface({ input: process.stdin })) {
  const [script, given] = JSON.parse(line);
  /** @type {object} */
  let answer;
  try {
    // biome-ignore lint/security/noGlobalEval: the tests send what is to be run
    answer = { value: await globalThis.eval(`(${script})`)(given) };
  } catch (error) {
    answer = { failure: error instanceof Error ? error.stack : `${error}` };
  }
  console.log(JSON.stringify(answer));
}
