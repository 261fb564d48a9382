// The visible texts within `root` whose contrast ratio (WCAG 2) is below `least`.
(/** @type {HTMLElement} */ root, /** @type {number} */ least) => {
  /** @typedef {{ rgb: number[], alpha: number }} Colour */
  const pen = /** @type {OffscreenCanvasRenderingContext2D} */ (
    new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
  );
  // Whatever notation a computed colour has, painting a pixel turns it into numbers.
  /** @type {(css: string) => Colour} */
  const parse = (css) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = css;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    return { rgb: [red, green, blue], alpha: alpha / 255 };
  };
  /** @type {(under: number[], over: number[], share: number) => number[]} */
  const mix = (under, over, share) => under.map((value, i) => value + (over[i] - value) * share);
  /** @type {(under: number[], over: Colour) => number[]} */
  const paint = (under, { rgb, alpha }) => mix(under, rgb, alpha);

  /** @type {(element: Element) => Element[]} */
  const lineage = (element) => {
    const above = element.parentElement ?? /** @type {ShadowRoot} */ (element.getRootNode()).host;
    return above ? [...lineage(above), element] : [element];
  };
  // One pixel of the innermost element: every ancestor paints its background and then, as
  // transparent as its opacity makes it, all that is within.
  /** @type {(lineage: Element[], ink: Colour[], backdrop: number[]) => number[]} */
  const pixel = ([element, ...inner], ink, backdrop) => {
    const style = getComputedStyle(element);
    const own = paint(backdrop, parse(style.backgroundColor));
    const full = inner.length ? pixel(inner, ink, own) : ink.reduce(paint, own);
    return mix(backdrop, full, Number(style.opacity));
  };

  /** @type {(rgb: number[]) => number} */
  const luminance = (rgb) => {
    const [red, green, blue] = rgb
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  /** @type {(one: number[], other: number[]) => number} */
  const ratio = (one, other) => {
    const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };

  /** @type {(element: Element) => Colour} */
  const ink = (element) => {
    const style = getComputedStyle(element);
    if (!(element instanceof SVGElement)) return parse(style.color);
    const { rgb, alpha } = parse(style.fill);
    return { rgb, alpha: alpha * Number(style.fillOpacity) };
  };
  // In a picture, what lies under a text is no ancestor but a shape drawn before it.
  /** @type {(element: Element) => Colour[]} */
  const shapesUnder = (element) => {
    if (!(element instanceof SVGElement)) return [];
    const box = element.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return [...(element.ownerSVGElement?.querySelectorAll("rect") ?? [])]
      .filter((shape) => shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)
      .filter((shape) => {
        const { left, right, top, bottom } = shape.getBoundingClientRect();
        return left <= x && x <= right && top <= y && y <= bottom;
      })
      .map((shape) => {
        const { rgb, alpha } = ink(shape);
        return { rgb, alpha: alpha * Number(getComputedStyle(shape).opacity) };
      });
  };

  /** @type {(element: Element) => boolean} */
  const seen = (element) => {
    const { width, height } = element.getBoundingClientRect();
    const clipped = getComputedStyle(element).clipPath !== "none";
    const shown = element.checkVisibility({ visibilityProperty: true });
    return shown && !clipped && width > 1 && height > 1;
  };
  /** @type {(element: Element) => string} */
  const text = (element) =>
    element.matches("input:not([type=checkbox], [type=radio]), select, textarea")
      ? /** @type {HTMLInputElement} */ (element).value
      : [...element.childNodes]
          .filter((node) => node instanceof Text)
          .map((node) => node.data)
          .join("");

  return [root, ...root.querySelectorAll("*")]
    .filter((element) => text(element).trim() && seen(element))
    .filter((element) => !element.closest(":disabled, [aria-disabled=true]"))
    .map((element) => {
      const shapes = shapesUnder(element);
      const ancestors = lineage(element);
      const white = [255, 255, 255];
      const ground = pixel(ancestors, shapes, white);
      const figure = pixel(ancestors, [...shapes, ink(element)], white);
      return { ratio: ratio(ground, figure), text: text(element).trim() };
    })
    .filter((found) => found.ratio < least)
    .map((found) => `${found.ratio.toFixed(2)} ${found.text}`);
};
