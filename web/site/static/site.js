// What is wider than the page scrolls, and who has no mouse scrolls it with the arrow keys.
const SCROLLING = ".highlight > pre, .formula, .table-wrapper, .cell_output .output";
const WORDS = "Wider than the page: scroll with the arrow keys";
const REACHED = { tabindex: "0", role: "group", "aria-label": WORDS };

function reachable() {
  for (const part of document.querySelectorAll(SCROLLING))
    for (const [name, value] of Object.entries(REACHED))
      if (part.scrollWidth > part.clientWidth + 1) part.setAttribute(name, value);
      else part.removeAttribute(name);
}

reachable();
addEventListener("resize", reachable);
addEventListener("load", reachable);
document.addEventListener("toggle", reachable, true); // what <details> had hidden has no width

// Sphinx's search quotes a page around the first word that was found: let it quote the prose.
// @ts-expect-error - on the page of results there is a Search
const search = typeof Search === "object" ? Search : {};
const { htmlToText } = search;
/** @type {(page: string, anchor: string) => string} */
search.htmlToText = (page, anchor) => htmlToText(page.replace(/<pre.*?<\/pre>/gs, ""), anchor);

// Once one page of the site was open, all of them open without a network.
if ("serviceWorker" in navigator)
  navigator.serviceWorker
    .register(`${document.documentElement.dataset.content_root}sw.js`)
    .catch(() => {});
