// What the page shows first: the gap, which can be played before anything else has come.

import Gap from "../src/cloze/explorer/gap.js";
import { render } from "../src/cloze/widgets/browser/view.js";
import { gapModel } from "./gap.js";

/**
 * The element of a name; page.html has one of each.
 * @param {string} id
 */
export const named = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

export const settings = JSON.parse(named("settings").textContent);
/** @type {PromiseWithResolvers<Awaited<Parameters<typeof gapModel>[1]>>} */
export const loaded = Promise.withResolvers();
export const gap = new Gap(gapModel(settings.gap, loaded.promise));
gap.refresh();
render({ widget: gap, el: named("gap") });
if (!location.hash) named("gap").querySelector("input")?.focus({ preventScroll: true });
