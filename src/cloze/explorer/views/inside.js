// The way to the answer at the selected gap: what each part of the model adds, and what without it.

import { ACTIONS } from "../inside.js";
import { summary } from "../inside_words.js";
import { picture, shade } from "../picture.js";

/** @import { View } from "../parts.js" */

/** @type {View} */
export default {
  title: "Inside",
  place: 2,
  asks: ({ open, focus, hidden }) => (open.includes(focus) && !hidden ? "inside" : null),
  panel: picture,
  shade,
  holds: true,
  summary: ({ state, more }) => (more?.rungs.length ? summary(state, more) : more && ""),
  actions: ACTIONS,
};
