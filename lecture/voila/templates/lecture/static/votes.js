// The room votes by phone: what a screen asks is asked of the phones as well, and what they chose
// comes back. A vote on a hidden letter raises a hand in the explorer; those on a question are shown
// at the foot of the screen once the vote is closed. Loaded after lecture.js, and only if there are
// votes.
//   V  the address and its code, for all to see
//   R  on a question: closes the vote and shows it
(() => {
  const EVERY = 1000; // milliseconds

  /**
   * @typedef {object} Asked
   * @property {string} text
   * @property {[key: string, text: string][]} options
   * @property {number | null} at  The position of the hidden letter; null for a question.
   * @property {HTMLElement} root  The widget's.
   *
   * @typedef {Record<string, number>} Counts  Of votes, by key.
   */

  const join = /** @type {HTMLDialogElement} */ (document.getElementById("join"));
  const address = join.querySelector(".address")?.textContent ?? "";
  const strip = document.createElement("aside");
  strip.id = "votes";
  strip.setAttribute("aria-label", "Votes by phone");
  /** @type {Map<string, Counts>} */
  const counted = new Map(); // by question, as far as the page knows
  /** @type {Set<string>} */
  const closed = new Set(); // what the lecturer has closed
  const nameOf = (/** @type {Asked} */ { text, options }) => JSON.stringify([text, options]);

  /** @returns {Asked | null} */
  function onScreen() {
    /** @type {HTMLElement | null} */
    const root = document.querySelector(".screen:not([hidden]) .cloze-root:has(.hands, .quiz)");
    if (!root) return null;
    const keys = [
      .../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".keys button")),
    ];
    if (keys.length)
      return {
        text: [...root.querySelectorAll(".line .letter")].map(written).join(""),
        options: keys.map(({ dataset, firstChild }) => [
          dataset.withKey ?? "",
          firstChild?.textContent ?? "",
        ]),
        at: Number(keys[0].dataset.withAt),
        root,
      };
    const labels = [...root.querySelectorAll(".quiz label")];
    if (!labels.length) return null;
    return {
      text: root.querySelector(".quiz legend")?.textContent ?? "",
      options: labels.map((each) => [each.querySelector("input")?.value ?? "", each.textContent]),
      at: null,
      root,
    };
  }

  /**
   * Write a letter of the line as a phone shows it: ? for the gap that is asked about.
   * @param {Element} letter
   */
  function written(letter) {
    const shown = letter.querySelector("span")?.textContent ?? "";
    if (letter.matches(".masked")) return letter.matches("[aria-current]") ? "?" : "·";
    return shown === "␣" ? " " : shown;
  }

  const answered = (/** @type {Asked} */ { root }) =>
    Boolean(root.querySelector(".quiz input:checked"));
  const total = (/** @type {Counts} */ counts) =>
    Object.values(counts).reduce((sum, n) => sum + n, 0);

  /**
   * Raise or take back as many hands as phones have voted since.
   * @param {Asked} asked
   * @param {Counts} counts
   */
  function raise({ root, at }, counts, before = /** @type {Counts} */ ({})) {
    if (!root.querySelector(".keys .raised")) before = {}; // the line was another one meanwhile
    for (const key of new Set([...Object.keys(counts), ...Object.keys(before)])) {
      const n = (counts[key] ?? 0) - (before[key] ?? 0);
      const detail = { name: "guess", sent: { at, key, n } };
      if (n) root.dispatchEvent(new CustomEvent("cloze-act", { detail }));
    }
  }

  /** @param {Asked | null} asked */
  function show(asked) {
    const counts = asked && counted.get(nameOf(asked));
    const where = document.createElement("b");
    where.textContent = address;
    const parts = [where];
    const add = (/** @type {string} */ text, /** @type {string} */ tag = "span") => {
      const part = document.createElement(tag);
      part.textContent = text;
      parts.push(part);
      return part;
    };
    if (asked && counts) {
      const n = total(counts);
      add(n === 1 ? "1 vote" : `${n} votes`);
      if (asked.at === null && (answered(asked) || closed.has(nameOf(asked)))) {
        for (const [key] of asked.options) {
          const bar = add(`${key} ${counts[key] ?? 0}`);
          bar.className = "bar";
          bar.style.setProperty("--share", `${(counts[key] ?? 0) / Math.max(1, n)}`);
        }
      } else if (asked.at === null) {
        const button = add("Close the vote", "button");
        button.onclick = close;
      }
    }
    strip.replaceChildren(...parts);
  }

  function close() {
    const asked = onScreen();
    if (!asked || asked.at !== null) return;
    closed.add(nameOf(asked));
    show(asked);
  }

  /** What shows that a question comes from this page. */
  const mine = () => /(?:^|; )_xsrf=([^;]*)/.exec(document.cookie)?.[1] ?? "";

  let asking = false;
  async function ask() {
    if (asking) return;
    asking = true;
    const asked = onScreen();
    const open = asked && !answered(asked) && !closed.has(nameOf(asked));
    const question = open ? { text: asked.text, options: asked.options } : null;
    try {
      const where = join.dataset.ask ?? "";
      if (!mine()) await fetch(where);
      const headers = { "X-XSRFToken": mine() };
      const body = JSON.stringify(question);
      const answer = await fetch(where, { method: "POST", headers, body });
      const told = answer.ok ? await answer.json() : null;
      if (told && asked && onScreen()?.text === asked.text) {
        const before = counted.get(nameOf(asked));
        counted.set(nameOf(asked), told.counts);
        if (asked.at !== null) raise(asked, told.counts, before);
      }
    } catch {
      // The widgets say that the server cannot be reached.
    }
    asking = false;
    show(onScreen());
  }

  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest?.("input, select, textarea, .cloze-root") && !join.open) return;
    const key = event.key.toLowerCase();
    if (key === "v") join.open ? join.close() : join.showModal();
    else if (key === "r" && !join.open) close();
  });
  join.addEventListener("click", () => join.close());
  document.body.append(strip);
  show(null);
  setInterval(ask, EVERY);
})();
