// The lines that build.py writes first into sw.js.
declare const VERSION: string;
declare const FILES: string[];
declare const LATER: string[];
