// What a widget hands to the device: a file to save, and a picture to share. Nothing is sent anywhere.

/**
 * @typedef {{ symbol: string, hidden: boolean, guess: string | undefined }} Filled  A symbol, and what a
 *   model says there.
 */

const [WIDTH, HEIGHT, MARGIN] = [1200, 630, 60]; // pixels: as large as previews of links are
/** @type {Record<string, string[]>} The colours of a symbol: below it, and its own. */
const LOOKS = { seen: ["paper", "ink"], right: ["good", "paper"], wrong: ["gap", "ink"] };
/** @type {Filled} */
const SPACE = { symbol: " ", hidden: false, guess: " " };

/**
 * Save a file.
 * @param {Blob} file
 * @param {string} name
 */
export function save(file, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/**
 * Draw what a run has come to, and share it where the device can, or save it.
 * @param {Filled[][][]} lines  What was filled before and after, by word.
 * @param {string} words
 */
export async function share(lines, words) {
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const colours = getComputedStyle(/** @type {Element} */ (document.querySelector(".cloze")));
  const dip = (/** @type {string} */ colour) => {
    pen.fillStyle = colours.getPropertyValue(`--${colour}`);
  };
  /** @type {(text: string, font: string, left: number, top: number) => void} */
  const write = (text, font, left, top) => {
    pen.font = `600 ${font}`;
    pen.fillText(text, left, top, WIDTH - 2 * MARGIN);
  };
  dip("paper");
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  dip("both");
  write("I trained a language model on my own device", "46px system-ui", MARGIN, 140);
  write(words, "26px system-ui", MARGIN, 530);
  lines.forEach((line, row) => {
    const symbols = line.flatMap((word) => [...word, SPACE]);
    const wide = (WIDTH - 2 * MARGIN) / symbols.length;
    symbols.forEach(({ symbol, hidden, guess = "" }, i) => {
      const [left, top] = [MARGIN + i * wide, 290 + 130 * row];
      const [ground, ink] = LOOKS[!hidden ? "seen" : guess === symbol ? "right" : "wrong"];
      dip(ground);
      pen.fillRect(left, top - 1.5 * wide, wide - 1, 2 * wide);
      dip(ink);
      write(guess, `${1.6 * wide}px ui-monospace, monospace`, left, top);
    });
  });
  const picture = await new Promise((done) => canvas.toBlob(done));
  const file = new File([picture], "cloze.png", { type: "image/png" });
  if (!navigator.canShare?.({ files: [file] })) return save(file, file.name);
  return navigator.share({ files: [file] }).catch(() => {}); // somebody has thought better of it
}
