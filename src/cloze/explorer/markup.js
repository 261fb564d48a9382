// How the explorer looks around its views. What needs an answer keeps showing the last one, visibly
// waiting, until the answer to what is seen has come.

import { numberRow, row } from "../widgets/browser/cells.js";
import {
  button,
  element,
  join,
  lineForm,
  select,
  status,
  tableOf,
} from "../widgets/browser/element.js";
import {
  capitalised,
  counted,
  fixed,
  inNats,
  spoken,
  sum,
  visible,
} from "../widgets/browser/words.js";
import { cost, guesserName, raised } from "./hands.js";
import { costsOf, mean, parts, titleOf } from "./parts.js";
import { inWords as standingsOf } from "./tally.js";
import { VIEWS } from "./views.js";

/**
 * @import { Markup } from "../widgets/browser/element.js"
 * @import { Seen, Shade, State, View } from "./parts.js"
 * @import Explorer from "./widget.js"
 */

const TERMS_SHOWN = 6; // how many terms of the sum are written out
const NOTHING = join([]);

/**
 * Write the whole explorer; what waits for an answer is what it was.
 * @param {Explorer} widget
 */
export function explorer(widget) {
  const { state, present, single, shown: before } = widget;
  const { unit, wide } = state.symbols;
  const fresh = widget.answered === widget.posed; // this question has been answered
  const answer = fresh ? widget.answer : null;
  const view = VIEWS[state.view];
  const more = fresh ? widget.more : null;
  const seen = { state, answer, more, present, playing: widget.playing > 0, line: NOTHING };
  seen.line = line(seen, view);
  const panel = view.panel(seen) ?? (fresh && !widget.waits ? NOTHING : null);
  const text = fresh || state.hidden ? summary(seen, view, widget.announcement) : null;
  const shown = {
    panel: panel ?? before.panel,
    holds: panel ? Boolean(view.holds) : before.holds,
    text: text ?? before.text,
    sums: state.hidden || !state.open.length || fresh ? sums(seen, view) : before.sums,
  };
  widget.shown = shown;
  const paid = widget.get("paid");
  const bare = !widget.get("tools");
  const tools = bare ? NOTHING : single ? typedLine() : controls(state, widget.get("examples"));
  const what = unit === "character" ? "letter" : unit;
  const click = `Click a ${what} to ${single ? "look into the model there" : "mask it, or drag over several"}.`;
  const asks = `Which ${what} is hidden? Type it or choose it, then press Reveal.`;
  const look = `explorer${wide ? " words" : ""}${state.once ? " once" : ""}`;
  return element(
    "div",
    { class: look },
    present && !bare && !single
      ? tools
      : element("p", { class: "quiet" }, state.once && state.hidden ? asks : click),
    shown.holds ? NOTHING : seen.line,
    announced(state, shown.text),
    present || bare || single ? NOTHING : views(state),
    element("div", { class: "panel", "aria-busy": panel === null || null }, shown.panel),
    element(
      "div", // always there, so that what comes and goes in it moves nothing else
      null,
      paid.length && state.guessFirst ? element("p", { class: "tally" }, standingsOf(paid)) : null,
      bare ? null : shown.sums,
    ),
    present ? NOTHING : tools,
  );
}

// ── the line ────────────────────────────────────────────────────────────────────────────────────

/**
 * Write one position of the line.
 * @param {State} state
 * @param {number} at
 * @param {Shade | null} shade
 * @param {boolean} bare  Whether it is shown even if it is masked.
 * @param {string | null} side  Which one-sided reader sees it.
 */
function letter(state, at, shade, bare, side) {
  const masked = state.masked.includes(at);
  const filled = state.filled[at];
  const truth = masked && state.hidden ? null : state.truthAt(at);
  const hands = Object.entries(state.hands[at] ?? {});
  const label = [`position ${at}`];
  const classes = side ? ["letter", `seen-${side}`] : ["letter"];
  let shown;
  let below = "";
  if (masked && !bare) {
    classes.push(filled ? "filled" : "masked");
    shown = filled ? visible(filled) : visible(shade?.shown ?? "?");
    label.push(filled ? `masked, filled with ${spoken(filled)}` : "masked");
    const own = state.once ? Object.keys(state.hands[at] ?? {})[0] : undefined;
    if (truth) {
      label.push(`the truth is ${spoken(truth)}`);
      below = visible(truth);
      if (state.once && !filled && !shade) {
        [shown, below] = [truth, own && own !== truth ? `${own} ✗` : ""];
        classes.push("told");
      }
    } else if (hands.length) {
      const most = Math.max(...hands.map(([, n]) => n));
      const [first] = hands.find(([, n]) => n === most) ?? hands[0];
      const each = hands.map(([symbol, n]) => `${spoken(symbol)} ${n}`).join(", ");
      const alone = hands.length === 1 && most === 1;
      label.push(alone ? `you guess ${spoken(first)}` : `hands: ${each}`);
      below = `${visible(first)}?`;
    }
  } else {
    const symbol = state.truth[at];
    shown = symbol === " " ? "" : visible(symbol);
    label.push(spoken(symbol));
    if (/\s/.test(symbol)) classes.push("space");
  }
  if (shade) {
    classes.push(`heat ${shade.kind}`);
    if (shade.label) label.push(shade.label);
    below = shade.below ?? below;
  }
  const current = at === state.focus;
  const glyphs = [element("span", null, shown), element("small", null, below)];
  if (shade?.high !== undefined) {
    classes.push("grown");
    glyphs.unshift(element("i", { style: `--high: ${fixed(shade.high, 2)}` }));
  }
  return button(join(glyphs), "toggle", {
    class: classes.join(" "),
    style: shade && `--heat: ${shade.heat}%${shade.wide ? `; --wide: ${shade.wide}` : ""}`,
    "data-with-at": at,
    tabindex: current ? 0 : -1,
    "aria-pressed": masked,
    "aria-current": current ? "true" : null,
    "aria-label": label.join(", "),
  });
}

/**
 * Return which one-sided reader sees a position, if one guesses at the selected gap.
 * @param {Seen} seen
 * @param {View} view
 * @param {number} at
 */
function sideOf({ state, answer }, view, at) {
  if (!view.sides || !answer?.candidates || at === state.focus) return null;
  const side = at < state.focus ? "left" : "right";
  return answer.readers.some(({ name }) => name === side) ? side : null;
}

/**
 * Write the line, broken only between words.
 * @param {Seen} seen
 * @param {View} view
 */
function line(seen, view) {
  const { state } = seen;
  const words = parts(state).map((part) => {
    const letters = part.map((at) => {
      const shade = view.shade?.(seen, at) ?? null;
      return letter(state, at, shade, Boolean(view.bare && shade), sideOf(seen, view, at));
    });
    return element("span", { class: "word" }, ...letters);
  });
  const { unit, known, wide } = state.symbols;
  return element(
    "div",
    {
      role: "group",
      "aria-label":
        `The line, ${counted(state.truth.length, unit)}. Space masks, arrows move, ` +
        "Shift and an arrow mask as they move.",
      class: "line",
      "data-arrows": "focus",
      "data-span": "span",
      "data-keys": state.hidden && known && !wide ? "guess" : null,
    },
    ...words,
  );
}

// ── the whole line ──────────────────────────────────────────────────────────────────────────────

/**
 * Write L = −Σ log P with its numbers in it.
 * @param {number[]} costs
 */
function formula(costs) {
  const more = costs.length - TERMS_SHOWN;
  const shown = costs.slice(0, TERMS_SHOWN);
  const logs = shown.map((cost) => `log ${fixed(Math.exp(-cost), 2)}`).join(" + ");
  const rest = more > 0 ? ` + … (${more} more)` : "";
  const middle = costs.length > 1 ? ` = ${shown.map(inNats).join(" + ")}${rest}` : "";
  return `L = −Σ log P(x_i | x̃) = −(${logs}${rest})${middle} = ${inNats(sum(costs))} nats`;
}

/**
 * Write the loss of the whole line, against log|V| and the unigram.
 * @param {Seen} seen
 * @param {View} view
 */
function sums({ state, answer, present }, view) {
  if (present || !view.sums) return NOTHING;
  const n = state.open.filter((at) => state.truthAt(at) !== null).length;
  if (!n) return NOTHING;
  if (state.hidden) return element("p", { class: "quiet" }, "The loss is shown when you reveal.");
  if (!answer) return NOTHING;
  const { readers, baseline } = answer;
  const { size, unit } = state.symbols;
  /** @type {(name: string, total: number, reader?: string) => Markup} */
  const line = (name, total, reader) => numberRow(name, [inNats(total), inNats(total / n)], reader);
  const rows = readers.map((each) => line(titleOf(each.name), sum(costsOf(each)), each.name));
  if (baseline) {
    const text = `unigram: how frequent each ${unit} is in ${baseline.text}`;
    rows.push(line(text, sum(costsOf(baseline))));
  }
  rows.push(line(`log|V|: all ${size} symbols equally likely`, n * Math.log(size)));
  const heads = ["guesser", "L in nats", "nats per gap"];
  return element(
    "details",
    null,
    element("summary", null, `The whole line, ${counted(n, "gap")}, in the formula`),
    element("p", { class: "formula number" }, formula(costsOf(readers[readers.length - 1]))),
    tableOf(heads, rows, "costs"),
  );
}

// ── what is said, and what acts on the line ─────────────────────────────────────────────────────

/**
 * Say in one or two sentences what happened and what is guessed at the selected position; null while
 * the view waits for what it says of it.
 * @param {Seen} seen
 * @param {View} view
 * @param {string} announcement
 */
function summary(seen, view, announcement) {
  const { hidden, focus, hands } = seen.state;
  const { answer } = seen;
  const sentences = announcement ? [announcement] : [];
  if (answer && !hidden && view.summary && view.asks?.(seen.state)) {
    const own = view.summary(seen);
    return own === null ? null : [...sentences, own].join(" ");
  }
  if (answer && !hidden) {
    const last = answer.readers[answer.readers.length - 1];
    if (answer.candidates) {
      const [first, second] = answer.best[focus].map(
        ([symbol, p]) => `${spoken(symbol)} ${fixed(p, 2)}`,
      );
      sentences.push(
        `${capitalised(titleOf(last.name))}: ${second ? `${first}, ${second}` : first}.`,
      );
      const truth = seen.state.truthAt(focus);
      if (hands[focus] && truth !== null && !seen.state.once) {
        const nats = cost(hands[focus], truth, seen.state.symbols.n);
        const name = capitalised(guesserName(raised(hands[focus])));
        sentences.push(
          `${name}: ${fixed(Math.exp(-nats), 2)} for the truth, ${inNats(nats)} nats.`,
        );
      }
    }
    const costs = costsOf(last);
    if (costs.length)
      sentences.push(`Loss ${inNats(mean(costs))} nats per gap, ${counted(costs.length, "gap")}.`);
  }
  return sentences.join(" ");
}

/**
 * Write what is said, beside the button that ends the guessing.
 * @param {State} state
 * @param {string} text
 */
function announced({ guessFirst, revealed }, text) {
  if (!guessFirst) return status(text);
  const reveal = button("Reveal", "reveal", {
    class: "primary",
    "aria-disabled": revealed || null,
  });
  return row(reveal, status(text));
}

const typedLine = () =>
  lineForm("line", "Your line", "Use it", { size: 30, placeholder: "type or paste, _ for a gap" });

/**
 * Write what acts on the whole line.
 * @param {State} state
 * @param {{ name: string }[]} examples
 */
function controls(state, examples) {
  const keptBack = state.hidden && state.masked.length > 0;
  const buttons = [
    button("Mask a word", "word"),
    button("Mask 15% at random", "random"),
    button("Unmask all", "unmask", { "aria-disabled": keptBack || null }),
    button("Guess first", "guess_first", { "aria-pressed": state.guessFirst }),
  ];
  const chosen = examples.length
    ? select("Examples", "example", [["", "choose one"], ...examples.map(({ name }) => name)])
    : null;
  return element("div", { class: "controls" }, row(...buttons), row(typedLine(), chosen));
}

/**
 * Write the choice of a view.
 * @param {State} state
 */
function views(state) {
  const buttons = Object.entries(VIEWS)
    .sort(([, one], [, other]) => one.place - other.place)
    .map(([view, { title }]) =>
      button(title, "view", { "data-with-view": view, "aria-pressed": view === state.view }),
    );
  return element("div", { role: "group", "aria-label": "View", class: "row views" }, ...buttons);
}
