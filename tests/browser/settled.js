// Settle when the window has the size that it was given, letters and pictures are there, nothing
// waits for an answer, what moves has arrived, and two frames in a row have the same layout.
async (/** @type {{ width: number } | null} */ size) => {
  const frame = () => new Promise(requestAnimationFrame);
  const layout = () => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return [innerWidth, scrollWidth, scrollHeight, document.querySelectorAll("*").length].join();
  };
  let before = "";
  do {
    before = layout();
    await document.fonts.ready;
    const shown = [...document.images].filter((each) => each.checkVisibility());
    await Promise.allSettled(shown.filter((each) => !each.complete).map((each) => each.decode()));
    const moving = document
      .getAnimations()
      .filter((each) => Number(each.effect?.getTiming().iterations) < 1e3);
    await Promise.allSettled(moving.map((each) => each.finished));
    await frame();
    await frame();
  } while (
    layout() !== before ||
    document.querySelector("[aria-busy='true']") ||
    (size && innerWidth !== size.width)
  );
};
