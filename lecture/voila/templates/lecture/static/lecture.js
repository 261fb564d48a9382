// The screens of a lecture: forward and back, and the window of the lecturer. Type is sized by
// lecture.css and, in widgets, by view.js.
//   PageDown, PageUp          always, for they are what a presenter remote sends
//   arrows, Space, Home, End  unless a widget, a field or a button has the focus (Escape leaves it)
//   a number and Enter        go to that screen, also in the overview, where arrows, Home and End work
//   one more for each button  which says in index.html.j2 which one; after B, any key ends the black
// biome-ignore lint/correctness/noUnusedVariables: index.html.j2 calls `arrived` after every cell
const lecture = (() => {
  /** @type {Record<string, number>} */
  const MOVES = {
    PageDown: 1,
    PageUp: -1,
    ArrowRight: 1,
    ArrowDown: 1,
    " ": 1,
    ArrowLeft: -1,
    ArrowUp: -1,
    Home: -Infinity,
    End: Infinity,
  };
  // What shows the next answer of a screen.
  const REVEALS = '[data-do="reveal"]:not([aria-disabled="true"]), details:not([open]) > summary';
  // What index.html.j2 has for this program.
  const template = (/** @type {string} */ id) =>
    /** @type {HTMLTemplateElement} */ (document.getElementById(id)).innerHTML;

  const numberInAddress = () => Math.max(0, Number.parseInt(location.hash.slice(1), 10) - 1 || 0);
  let at = numberInAddress(); // the screen shown
  /** @type {Window | null} */
  let notesWindow = null;
  let entered = Date.now(); // when this screen was entered
  let typed = ""; // the digits of a screen's number
  const overview = document.createElement("dialog");
  overview.id = "overview";
  overview.setAttribute("aria-label", "All screens");
  const bar = document.createElement("footer");
  bar.id = "bar";
  bar.innerHTML = template("bar-parts");
  const part = (/** @type {string} */ css) => /** @type {HTMLElement} */ (bar.querySelector(css));
  const screens = () => [
    .../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".screen")),
  ];
  /** @typedef {Element | undefined} Screen  None after the last. */
  const title = (/** @type {Screen} */ screen) =>
    screen?.querySelector("h1, h2")?.textContent.replace("¶", "") ?? "the end";
  const notes = (/** @type {Screen} */ screen) =>
    screen?.querySelector("template.notes")?.innerHTML ?? "";
  const minutes = (/** @type {Screen} */ screen) =>
    Number(/(\d+) min/.exec(notes(screen))?.[1] ?? 0);
  const sum = (/** @type {Element[]} */ list) =>
    list.reduce((total, each) => total + minutes(each), 0);

  // ── the screens ──────────────────────────────────────────────────────────────────────────────

  /** @param {number} to */
  function go(to) {
    const all = screens();
    at = Math.min(Math.max(0, to), Math.max(0, all.length - 1));
    all.forEach((screen, i) => {
      screen.hidden = i !== at;
    });
    history.replaceState(null, "", `#${at + 1}`);
    entered = Date.now();
    all[at]?.focus({ preventScroll: true });
    update();
  }

  /** @param {number} by */
  function move(by) {
    if (by > 0 && !started()) start(); // the first step forward starts the clock
    go(at + by);
  }

  function openOverview() {
    const list = document.createElement("ol");
    screens().forEach((screen, i) => {
      const button = document.createElement("button");
      const number = document.createElement("span");
      number.textContent = `${i + 1}`;
      button.append(number, title(screen));
      button.autofocus = i === at;
      button.onclick = () => {
        overview.close();
        go(i);
      };
      const item = document.createElement("li");
      item.append(button);
      list.append(item);
    });
    overview.replaceChildren(list);
    overview.showModal();
  }

  /**
   * Go to another title in the overview.
   * @param {number} by
   */
  function choose(by) {
    const titles = [...overview.querySelectorAll("button")];
    const here = titles.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    titles[Math.min(Math.max(0, here + by), titles.length - 1)].focus();
  }

  /** Show the next answer of this screen. */
  function reveal() {
    /** @type {HTMLElement | null | undefined} */
    const next = screens()[at]?.querySelector(REVEALS);
    next?.click();
  }

  /** @param {string} digits */
  function type(digits) {
    typed = digits;
    part(".message").textContent = digits && `Enter goes to screen ${digits}.`;
    overview.querySelectorAll("button")[Number(digits) - 1]?.focus(); // if it is open
  }

  // ── getting ready ────────────────────────────────────────────────────────────────────────────

  let complete = false;
  /**
   * @param {number} cell
   * @param {number} cells
   */
  function arrived(cell, cells) {
    if (!cell)
      watcher.observe(/** @type {Element} */ (document.querySelector("main")), {
        childList: true,
        subtree: true,
        characterData: true,
      });
    Object.assign(part("progress"), { value: cell, max: cells + 1 });
    part(".message").textContent = `Getting ready: ${cell} of ${cells}`;
    complete = cell === cells;
    if (complete) document.body.append(bar); // after the screens in the order of the Tab key
    const here = screens()[at];
    if (here ? here.hidden : complete)
      go(at); // the screen has arrived, or there is none with this number
    else update();
  }

  function ended() {
    if (complete) return;
    const cell = screens().length;
    part(".message").textContent =
      `Something failed on screen ${cell}, and nothing after it ran. The terminal says what it was.`;
    part("progress").remove();
  }

  function ready() {
    const asleep = (/** @type {Element} */ area) =>
      area.querySelector(".cloze-asleep") && !area.querySelector(".cloze:not(.still)");
    const areas = [...document.querySelectorAll(".live")];
    if (!complete || areas.some((area) => asleep(area) || area.querySelector("script"))) return;
    if (!part("progress")) return;
    part("progress").remove();
    part(".message").textContent = "";
    document.body.dataset.ready = "true";
  }

  // ── the clock, and the lecturer's window ─────────────────────────────────────────────────────

  const started = () => Number(sessionStorage.getItem("started")) || 0;
  const start = () => sessionStorage.setItem("started", `${Date.now()}`);
  const clock = (/** @type {number} */ seconds) => {
    const whole = Math.abs(Math.round(seconds));
    return `${seconds < 0 ? "−" : ""}${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  };

  function openNotes() {
    const opened = window.open("", "cloze-notes", "popup,width=760,height=700");
    notesWindow = opened;
    if (!opened) {
      part(".message").textContent =
        "The browser blocked the second window. Please allow pop-ups for this page, then press N again.";
      return;
    }
    part(".message").textContent = "";
    opened.document.documentElement.innerHTML = template("notes-window");
    opened.document.documentElement.lang = "en";
    /** @type {(id: string, does: () => void) => void} */
    const press = (id, does) => opened.document.getElementById(id)?.addEventListener("click", does);
    press("back", () => move(-1));
    press("next", () => move(1));
    press("start", () => {
      if (started()) sessionStorage.removeItem("started");
      else start();
      update();
    });
    opened.document.onkeydown = pressed;
    opened.focus();
    update();
  }

  // Show the place in the bar, and everything for the lecturer alone in the notes.
  function update() {
    const all = screens();
    part(".place").textContent = complete ? `${at + 1} / ${all.length}` : `${at + 1}`;
    document.title = title(all[at]);
    if (!notesWindow || notesWindow.closed) return;
    const inNotes = notesWindow.document;
    const element = (/** @type {string} */ id) =>
      /** @type {HTMLElement} */ (inNotes.getElementById(id));
    /** @type {(id: string, text: string) => void} */
    const show = (id, text) => {
      element(id).textContent = text;
    };
    const seconds = started() ? (Date.now() - started()) / 1000 : 0;
    const until = 60 * sum(all.slice(0, at + 1));
    const late = Math.round((seconds - until) / 60);
    show("elapsed", clock(seconds));
    show("left", clock(60 * sum(all) - seconds));
    show("start", started() ? "Reset the clock" : "Start the clock");
    show(
      "plan",
      `${minutes(all[at])} min planned here, ${clock((Date.now() - entered) / 1000)} spent; done by ${clock(until)}${late > 0 ? `, ${late} min late` : ""}`,
    );
    show("here", `${at + 1} / ${all.length} · ${title(all[at])}`);
    show("after", `Next: ${title(all[at + 1])}`);
    element("notes").innerHTML = notes(all[at]);
  }

  // ── keys and buttons ─────────────────────────────────────────────────────────────────────────

  /** @type {Record<string, () => unknown>} */
  const ACTIONS = {
    back: () => move(-1),
    next: () => move(1),
    notes: openNotes,
    overview: openOverview,
    theme: () => {
      document.body.dataset.jpThemeLight = `${document.body.dataset.jpThemeLight === "false"}`;
    },
    full: () =>
      document.fullscreenElement
        ? document.exitFullscreen()
        : document.documentElement.requestFullscreen(),
    black: () => document.body.classList.add("black"),
    reveal,
  };
  const targetOf = (/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.target);

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { key } = event;
    const digits = typed;
    if (digits) type(""); // unless it goes on
    const paging = key === "PageDown" || key === "PageUp";
    const taken =
      !overview.open &&
      targetOf(event).closest?.("input, select, textarea, button, summary, a, .cloze-root");
    /** @type {HTMLElement | null} */
    const button = bar.querySelector(`[aria-keyshortcuts~="${CSS.escape(key)}" i]`);
    if (document.body.classList.contains("black")) document.body.classList.remove("black");
    else if (/^\d$/.test(key) && !taken) type(digits + key);
    else if (digits && key === "Enter") {
      overview.close();
      go(Number(digits) - 1);
    } else if (overview.open) {
      if (!(key in MOVES) || key === " ") return; // Space presses the button
      choose(MOVES[key]);
    } else if (paging || (key in MOVES && !taken)) move(MOVES[key]);
    else if (button && (key === "F5" || !taken)) button.click();
    else return;
    event.preventDefault();
  }

  document.addEventListener("keydown", pressed);
  bar.addEventListener("click", (event) =>
    ACTIONS[targetOf(event).closest("button")?.dataset.does ?? ""]?.(),
  );
  document.body.append(bar, overview);
  addEventListener("pagehide", () => notesWindow?.close());
  addEventListener("hashchange", () => go(numberInAddress()));
  setInterval(update, 1000);
  const watcher = new MutationObserver(ready);
  return { arrived, ended };
})();

Object.assign(window, { voila_heartbeat() {} });
