// A view without knowledge: a widget writes the markup, this file keeps it alive, drawing it once a
// frame however often it changes, and says what the learner does. Markup asks for it by attributes:
//   data-do="name"       a click on a button, a change of a field (of a slider while it moves), a
//                        submitted form: {do: name, …}
//   data-with-…="value"  goes along: data-with-at="7" as {at: "7"}; a field adds {value}, a form
//                        what its fields hold
//   data-arrows="name"   arrows, Home and End move the focus among the buttons inside and say
//                        {do: name, at}; without a name they only move it
//   data-hover="name"    the mouse on a button inside says {do: name, at}, as the arrows do
//   data-leave="name"    the mouse that has left the buttons inside says {do: name}
//   data-span="name"     dragging over the buttons inside, or Shift with an arrow, says
//                        {do: name, start, end}
//   data-keys="name"     a letter typed anywhere in the widget but in a field says
//                        {do: name, at, key}, where at is the button that the arrows have reached
//   data-space="name"    Space anywhere in the widget but on what it presses says {do: name}
//   data-at-once         a field that says what it holds while it is typed, as a slider does
//   data-focus           a field that has the focus whenever the widget has it
//   data-full            a click on this button fills the screen, or no longer
//   class="present"      type as large as fits the place, at most --share of its width
//   data-key="name"      among its siblings the same thing as before: it moves to its new place
//   data-middle="5"      what is too wide for its place shows its current button in the middle first,
//                        and again when the value or the width of its place has changed
// A click anywhere inside keeps the keys in the widget; Escape gives them back to the notebook.
// What saves the notebook (Ctrl + S) or, anywhere but in a field, runs the cell (Shift + Enter), is
// the notebook's all the same.

/** @import { Shown } from "./widget.js" */

const TYPE = [14, 64]; // pixels: the least and the most in a lecture hall
const SLENDER = 0.6; // its place counts as no higher than that much of its width, and no wider
const FIELDS = "input:not([type=radio], [type=checkbox], [type=range], [readonly]), select";
const AT_ONCE = "[type=range], [data-at-once]"; // fields that say every change, and hold what is answered
const GONE = "Nothing here responds any more, because its kernel is gone. ";
const RUN = "Choose Run → Run All Above Selected Cell, then run this cell (Shift + Enter).";
const RELOAD = "Reload this page."; // where Voilà shows no cells
const LOST = "Jupyter cannot be reached. Is it still running, and is this computer connected?";
const MOTION = 250; // milliseconds
const ASK_EVERY = 2000; // milliseconds, and so long an answer may take

/**
 * Return all elements that match: the DOM's own function does not know that they are HTML.
 * @param {ParentNode} root
 * @param {string} css
 * @returns {NodeListOf<HTMLElement>}
 */
const all = (root, css) => root.querySelectorAll(css);

/** Where something has happened. */
const targetOf = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target);

/**
 * Ask Jupyter's server for the page's icon every two seconds, and call `tell` with whether it answers.
 * A kernel that is busy does not matter. Where there is no server, nothing is asked.
 * @param {(answers: boolean) => void} tell
 */
function watchServer(tell) {
  /** @type {HTMLLinkElement | null} */
  const link = document.querySelector('link[rel~="icon"]');
  const icon = link?.href;
  if (!icon || !document.getElementById("jupyter-config-data")) return 0;
  return setInterval(async () => {
    const signal = AbortSignal.timeout(ASK_EVERY);
    const answer = await fetch(icon, { cache: "no-store", signal }).catch(() => null);
    tell(answer !== null);
  }, ASK_EVERY);
}

/**
 * Whether an attribute says what is unfolded: once it is there, that is for its reader to choose.
 * @param {Node} element
 * @param {string} name
 */
const isFold = (element, name) => name === "open" && element.nodeName === "DETAILS";

const keyOf = (/** @type {Node} */ node) => /** @type {HTMLElement} */ (node).dataset?.key;

/**
 * Make `old` look like `fresh`, keeping every element that can stay: it keeps focus and typed text.
 * @param {ChildNode} old
 * @param {ChildNode} fresh
 */
function morph(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return;
  }
  if (!(old instanceof Element && fresh instanceof Element)) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old.isEqualNode(fresh)) return;
  const field = /** @type {HTMLInputElement & HTMLOptionElement} */ (old); // if it has such attributes
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isFold(old, name)) {
      old.removeAttribute(name);
      if (name === "checked" || name === "selected") field[name] = false;
    }
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) === value || isFold(old, name)) continue;
    old.setAttribute(name, value);
    if (name === "value") field.value = value;
    if (name === "checked" || name === "selected") field[name] = true;
  }
  const olds = [...old.childNodes];
  [...fresh.childNodes].forEach((node, i) => {
    const same = olds.findIndex((each) => keyOf(each) === keyOf(node));
    const [child] = same < 0 ? [node] : olds.splice(same, 1);
    if (old.childNodes[i] !== child) old.insertBefore(child, old.childNodes[i] ?? null);
    if (child !== node) morph(child, node);
  });
  for (const node of olds) node.remove();
}

/**
 * Let what has a key glide from where it was, and what is new unfold, unless motion is unwanted.
 * @param {HTMLElement} root
 * @param {() => void} change
 */
function glide(root, change) {
  const tops = new Map();
  for (const each of all(root, "[data-key]")) tops.set(each, each.offsetTop);
  change();
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const each of all(root, "[data-key]")) {
    const moved = tops.get(each) - each.offsetTop;
    if (moved === 0) continue;
    const transform = tops.has(each) ? `translateY(${moved}px)` : "scaleY(0)";
    each.animate([{ transform }, {}], { duration: MOTION, easing: "ease-out" });
  }
}

/**
 * The button that an arrow key leads to: along the line, or to the nearest one in another row.
 * @param {HTMLElement[]} buttons
 * @param {HTMLElement} from
 * @param {string} key
 */
function neighbour(buttons, from, key) {
  const at = buttons.indexOf(from);
  if (key === "Home") return buttons[0];
  if (key === "End") return buttons[buttons.length - 1];
  if (key === "ArrowLeft") return buttons[at - 1];
  if (key === "ArrowRight") return buttons[at + 1];
  const here = from.getBoundingClientRect();
  const away = buttons.map((button) => {
    const { top, left } = button.getBoundingClientRect();
    return { button, down: top - here.top, aside: Math.abs(left - here.left) };
  });
  const ahead = away.filter(({ down }) => (key === "ArrowUp" ? -down : down) > here.height / 2);
  const nearest = Math.min(...ahead.map(({ down }) => Math.abs(down))) + 1;
  const row = ahead.filter(({ down }) => Math.abs(down) < nearest);
  return row.sort((one, other) => one.aside - other.aside)[0]?.button;
}

/**
 * How high a widget may be so that all of it is seen at once.
 * @param {HTMLElement} root
 */
function height(root) {
  if (document.fullscreenElement) return innerHeight;
  let high = innerHeight;
  for (let each = /** @type {HTMLElement | null} */ (root); each; each = each.parentElement)
    if (/auto|scroll/.test(getComputedStyle(each).overflowY))
      high = Math.min(innerHeight, each.clientHeight);
  return high;
}

/**
 * In a lecture hall: type as large as --share of its place, and smaller if not all of it is seen.
 * @param {HTMLElement} root
 */
function fit(root) {
  /** @type {HTMLElement | null} */
  const shown = root.querySelector(".present");
  if (!shown) return;
  const high = height(root);
  const boxes = [shown, ...shown.querySelectorAll(".scroll")];
  let scrolls = false;
  const fits = (/** @type {number} */ size) => {
    shown.style.fontSize = `${size}px`;
    const wide = boxes.some((each) => each.scrollWidth > each.clientWidth + 1);
    return shown.offsetHeight <= high && (scrolls || !wide);
  };
  let [low, top] = TYPE;
  scrolls = !fits(low); // whatever is too wide even so
  const share = Number(getComputedStyle(shown).getPropertyValue("--share"));
  top = Math.max(low, Math.min(top, share * Math.min(root.clientWidth, high / SLENDER)));
  if (fits(top)) return;
  while (top - low > 0.5) {
    const middle = (low + top) / 2;
    if (fits(middle)) low = middle;
    else top = middle;
  }
  fits(low);
}

/**
 * Scroll what is too wide for its place to its current button.
 * @param {HTMLElement} box
 */
function centre(box) {
  const [current] = all(box, "[aria-current=true]");
  const { left, width } = current.getBoundingClientRect();
  box.scrollLeft += left + width / 2 - box.getBoundingClientRect().left - box.clientWidth / 2;
}

/**
 * Show a widget in a place, and return how to end that.
 * @param {object} wanted
 * @param {Shown} wanted.widget
 * @param {HTMLElement} wanted.el
 * @param {(end: () => void) => void} [wanted.onEnd]  Is given what to call when nobody will answer
 *   any more.
 */
export function render({ widget, el, onEnd = () => {} }) {
  const root = document.createElement("div");
  root.tabIndex = -1; // so that a click beside a control leaves the focus here
  root.dataset.lmSuppressShortcuts = "true";
  root.className = "cloze-root";
  // Shown when a message could not be sent, or when Jupyter says that none can be any more.
  const gone = document.createElement("p");
  gone.className = "cloze-gone";
  gone.setAttribute("role", "alert");
  const ended = GONE + (document.body.dataset.voila ? RELOAD : RUN);
  const shows = (/** @type {boolean} */ broken, /** @type {string} */ reason) => {
    const now = gone.textContent ?? "";
    if (broken !== (now === reason)) gone.textContent = broken ? reason : "";
  };
  const watching = watchServer((answers) => shows(!answers, LOST));
  el.replaceChildren(gone, root);

  /** @type {WeakMap<HTMLElement, string>} */
  const middles = new WeakMap();
  const show = () => {
    const hadFocus = root.contains(document.activeElement);
    const template = document.createElement("template");
    template.innerHTML = widget.html;
    shows(widget.gone, ended);
    // On the focused element itself: JupyterLab asks it first, and "dd" would delete the cell.
    for (const node of all(template.content, "button, input, select, [tabindex]"))
      node.dataset.lmSuppressShortcuts = "true";
    const fresh = /** @type {HTMLElement} */ (root.cloneNode());
    fresh.append(template.content);
    glide(root, () => {
      morph(root, fresh);
      // It may have been moved further than it can go, and then nothing else has changed.
      for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (all(root, AT_ONCE)))
        field.value = field.defaultValue;
      fit(root);
    });
    for (const each of all(root, "[data-middle]")) {
      const middle = each.dataset.middle ?? "";
      if (middles.get(each) === middle) continue; // it is for its reader to scroll
      middles.set(each, middle);
      centre(each);
    }
    if (hadFocus) all(root, "[data-focus]")[0]?.focus();
    if (hadFocus && !root.contains(document.activeElement))
      (all(root, '[data-arrows] [tabindex="0"]')[0] ?? root.querySelector("button"))?.focus();
  };

  /**
   * @param {HTMLElement} element
   * @param {string} name
   * @param {object} [extra]
   */
  const say = (element, name, extra = {}) => {
    /** @type {Record<string, string | undefined>} */
    const along = {};
    for (const [key, value] of Object.entries(element.dataset))
      if (key.startsWith("with")) along[key.slice(4).toLowerCase()] = value;
    widget.act(name, { ...along, ...extra });
  };

  root.addEventListener("click", (event) => {
    /** @type {HTMLElement | null} */
    const button = targetOf(event).closest("button[data-do]");
    if (!button || button.getAttribute("aria-disabled") === "true") return;
    if (button.matches("[data-full]") && document.fullscreenElement) document.exitFullscreen();
    else {
      // A page that may not fill the screen writes large in its place.
      if (button.matches('[data-full][aria-pressed="false"]'))
        root.requestFullscreen?.().catch(() => {});
      say(button, button.dataset.do ?? "");
    }
  });
  root.addEventListener("fullscreenchange", () => {
    const [button] = all(root, '[data-full][aria-pressed="true"]');
    if (button?.dataset.do && !document.fullscreenElement) say(button, button.dataset.do);
    fit(root);
  });
  const fieldChanged = (/** @type {Event} */ event) => {
    const target = targetOf(event);
    if (target.matches(AT_ONCE) !== (event.type === "input")) return;
    const value = target.type === "checkbox" ? target.checked : target.value;
    if (target.dataset.do) say(target, target.dataset.do, { value });
  };
  root.addEventListener("change", fieldChanged);
  root.addEventListener("input", fieldChanged);
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.dataset.do) say(form, form.dataset.do, Object.fromEntries(new FormData(form)));
  });

  // JupyterLab looks at a key on its way down, at the document: a step before, it is let through.
  const letThrough = (/** @type {KeyboardEvent} */ event) => {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    const target = targetOf(event);
    const runs = key === "Enter" && (shiftKey || ctrlKey || metaKey || altKey);
    const saves = key.toLowerCase() === "s" && (ctrlKey || metaKey) && !shiftKey && !altKey;
    if (!(runs || saves) || !root.contains(target)) return;
    const held = [target, root];
    for (const each of held) delete each.dataset.lmSuppressShortcuts;
    setTimeout(() => {
      for (const each of held) each.dataset.lmSuppressShortcuts = "true";
    });
  };

  root.addEventListener("keydown", (event) => {
    const target = targetOf(event);
    // JupyterLab takes the line break, and with it the submit, from every field in a cell.
    if (event.key === "Enter" && target.matches("form[data-do] input")) {
      event.preventDefault();
      target.form?.requestSubmit();
      return;
    }
    if (event.key === "Escape") {
      event.stopPropagation();
      const focused = () => /** @type {HTMLElement} */ (document.activeElement);
      /** @type {HTMLElement | null | undefined} */
      const outside = el.parentElement?.closest("[tabindex]");
      (outside ?? focused()).focus();
      if (root.contains(focused())) focused().blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [spaced] = all(root, "[data-space]");
    if (
      spaced &&
      event.key === " " &&
      !target.closest("button, summary, select, [type=text]:not([readonly])")
    ) {
      event.preventDefault();
      if (!event.repeat) say(spaced, spaced.dataset.space ?? "");
      return;
    }
    const [keyed] = all(root, "[data-keys]");
    if (keyed && !event.repeat && /^[a-zA-Z]$/.test(event.key) && !target.matches(FIELDS)) {
      const [reached] = all(keyed, 'button[tabindex="0"]');
      say(reached ?? keyed, keyed.dataset.keys ?? "", { key: event.key });
      return;
    }
    const button = target.closest("button");
    /** @type {HTMLElement | null | undefined} */
    const group = button?.closest("[data-arrows]");
    if (!button || !group) return;
    if (/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) {
      const next = neighbour([...group.querySelectorAll("button")], button, event.key);
      event.preventDefault();
      event.stopPropagation();
      if (!next) return;
      next.focus();
      [button.tabIndex, next.tabIndex] = [-1, 0];
      if (event.shiftKey && group.dataset.span)
        say(group, group.dataset.span, { start: button.dataset.withAt, end: next.dataset.withAt });
      else if (group.dataset.arrows) say(next, group.dataset.arrows);
    }
  });

  /** @type {HTMLElement[]} */
  let dragged = []; // the buttons that a drag may pass over
  let first = -1; // where it began among them
  let last = -1; // and has come to
  let leaves = ""; // what is said when the mouse leaves the button that it is on
  const paint = () => {
    const [start, end] = [first, last].sort((a, b) => a - b);
    dragged.forEach((button, i) => {
      button.classList.toggle("dragged", first !== last && i >= start && i <= end);
    });
  };
  const drop = (/** @type {Event} */ event) => {
    const [start, end] = [first, last].map((i) => dragged[i]?.dataset.withAt);
    const group = /** @type {HTMLElement | undefined} */ (dragged[0]?.closest("[data-span]"));
    if (group && first !== last && event.type === "pointerup")
      say(group, group.dataset.span ?? "", { start, end });
    last = first;
    paint();
    dragged = [];
  };
  root.addEventListener("pointerdown", (event) => {
    const target = targetOf(event);
    const group = event.button === 0 ? target.closest("[data-span]") : null;
    dragged = group ? [...all(group, "button")] : [];
    first = dragged.findIndex((button) => button.contains(target));
    last = first;
    if (first < 0) dragged = [];
    // Touch would keep all to the element under the finger, which may be the glyph in a button.
    else if (target.hasPointerCapture(event.pointerId))
      target.releasePointerCapture(event.pointerId);
  });
  root.addEventListener("pointerover", (event) => {
    const target = targetOf(event);
    /** @type {HTMLElement | null} */
    const hovered = target.closest?.("[data-hover] button");
    /** @type {HTMLElement | null | undefined} */
    const group = hovered?.closest("[data-hover]");
    if (event.pointerType === "mouse" && hovered && group && !dragged.length)
      say(hovered, group.dataset.hover ?? "");
    if (leaves && !hovered) say(root, leaves);
    leaves = hovered ? (group?.dataset.leave ?? "") : "";
    const at = dragged.findIndex((button) => button.contains(target));
    if (at < 0) return;
    last = at;
    paint();
  });
  const ending = new AbortController();
  const { signal } = ending;
  window.addEventListener("keydown", letThrough, { capture: true, signal });
  window.addEventListener("pointerup", drop, { signal });
  window.addEventListener("pointercancel", drop, { signal });

  let wide = 0;
  const observer = new ResizeObserver(() => {
    if (el.clientWidth !== wide) {
      fit(root);
      all(root, "[data-middle]").forEach(centre);
    }
    wide = el.clientWidth;
  });
  observer.observe(el);
  window.addEventListener("resize", () => fit(root), { signal });

  let due = 0;
  const unlisten = widget.listen(() => {
    due ||= requestAnimationFrame(() => {
      due = 0;
      show();
    });
  });
  onEnd(() => shows(true, ended));
  show();
  return () => {
    unlisten();
    cancelAnimationFrame(due);
    clearInterval(watching);
    observer.disconnect();
    ending.abort();
  };
}
