import type { Markup } from "./element.js";
import type { Hands, Paid } from "./room.js";
import { Widget } from "./widget.js";

/** In the truth, where not even the line knows it. */
export const GAP: "_";

/** What is seen, as a question. */
export interface Question {
  truth: string[];
  /** Positions, ascending. */
  masked: number[];
  /** Symbols by position. */
  filled: Record<number, string>;
  /** By position. */
  hands: Record<number, Hands>;
  focus: number;
  view: string;
}

/** What a reader says: P of each symbol at the focus, −log P of the truth by position. */
export interface Said {
  p: number[];
  costs: Record<number, number | null>;
}

/** The likeliest pairs of symbols, and how likely they are. */
export type Pairs = [pair: [string, string], probability: number][];

export interface Guesses {
  symbols: string[];
  readers: (Said & { name: string })[];
  baseline: Said & { text: string };
  pair: { first: number; second: number; apart: Pairs; together: Pairs } | null;
  /** By layer, head and position. */
  attention: number[][][];
  surprise: number[];
  n_layers: number;
  n_heads: number;
}

export interface Line {
  truth: string[];
  /** Where each word begins and ends. */
  words: [start: number, stop: number][];
}

export interface Answers {
  guesses(question: Question): Promise<Guesses>;
  occlusion(question: Question): Promise<number[]>;
  read(sent: { text: string }): Line & { note: string; n: number };
  symbol(sent: { typed: string }): string;
}

export interface State extends Question, Line {
  layer: number;
  head: number;
  guess_first: boolean;
  revealed: boolean;
  symbols: { unit: string; known: string[]; n: number; size: number; wide: boolean };
  examples: (Line & { name: string; masked: number[] })[];
  paid: Paid[];
  tools: boolean;
  seed: number;
  asked: number;
}

export default class Explorer extends Widget<State, Answers> {
  get state(): State & { gaps: number[] };
  markup(): Markup;
  become(values: Partial<State>, said: string): void;
  take(line: Line & { masked?: number[] }, said: string): void;
}
