import { Widget } from "./widget.js";

export default class Unmasking extends Widget<object> {
  constructor(model: object);
}
