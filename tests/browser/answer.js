// Promise how long, in seconds, it takes from the next press of the mouse within `root` until its
// text has changed into one that matches `wanted`, and until the frame that shows it.
(/** @type {HTMLElement} */ root, /** @type {[string, number]} */ [wanted, patience]) => {
  const pattern = new RegExp(wanted);
  const answer = new Promise((resolve, reject) => {
    const begin = (/** @type {MouseEvent} */ press) => {
      const before = root.textContent;
      const observer = new MutationObserver(() => {
        const { textContent } = root;
        if (textContent === before || !pattern.test(textContent)) return;
        observer.disconnect();
        const passed = () => (performance.now() - press.timeStamp) / 1000;
        const html = passed();
        requestAnimationFrame(() => resolve([html, passed()]));
      });
      observer.observe(root, { subtree: true, childList: true, characterData: true });
    };
    root.addEventListener("mousedown", begin, { once: true, capture: true });
    setTimeout(() => reject(new Error(`No answer like ${pattern}.`)), patience * 1000);
  });
  return { answer }; // in an object, since a promise itself would be waited for
};
