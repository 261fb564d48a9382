// views.js is written by widget.py from what is in the folder views.
import type { View } from "./parts.js";

export const VIEWS: Record<string, View>;
