import { Widget } from "./widget.js";

export default class GuessingGame extends Widget<object> {
  constructor(model: object);
}
