/// <reference path="./node.d.ts" />
// Node's side of test_text.py: reads each text as the page does, and says what Python needs to compare.

import { readFileSync, writeFileSync } from "node:fs";
import { Generator } from "../../web/engine/generator.js";
import { mask } from "../../web/engine/training.js";
import { baselineLosses } from "../../web/twins/baselines.js";
import { corpusOf, readText } from "../../web/twins/corpus.js";

const [, , given, answers] = process.argv;
const WINDOW = 64;

/** @param {{ path: string, baselines: boolean }} one */
async function read({ path, baselines }) {
  try {
    const raw = await readText(new Blob([readFileSync(path)]), path);
    const corpus = await corpusOf(raw, path, WINDOW);
    const asked = mask(corpus.heldOut, 0.15, 28, new Generator());
    return {
      ...corpus,
      text: [...corpus.text],
      heldOut: [...corpus.heldOut],
      baselines: baselines && baselineLosses(corpus.text, asked, WINDOW, 28),
    };
  } catch (error) {
    return { refused: error instanceof Error && error.message };
  }
}

const cases = JSON.parse(readFileSync(given, "utf8"));
writeFileSync(answers, JSON.stringify(await Promise.all(cases.map(read))));
