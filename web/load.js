// Files beside a page.

import { ValueError } from "../src/cloze/widgets/browser/widget.js";

/**
 * @typedef {(name: string, told?: (n: number) => void) => Promise<ArrayBuffer>} Bytes  Gives a file by its
 *   name, and tells meanwhile how many bytes have come.
 */

/**
 * @param {string | URL} folder
 * @returns {Bytes}
 */
export const loader =
  (folder) =>
  async (name, told = () => {}) => {
    const answer = await fetch(new URL(name, folder)).catch(() => null);
    if (!answer?.ok)
      throw new ValueError(
        `${name} cannot be loaded (${answer?.status ?? "no answer"}); reload the page.`,
      );
    let n = 0;
    const count = new TransformStream({
      transform(part, passed) {
        n += part.length;
        told(n);
        passed.enqueue(part);
      },
    });
    return new Response(answer.body?.pipeThrough(count)).arrayBuffer();
  };
