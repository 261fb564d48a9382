// The line that build.py writes first into sw.js.
declare const VERSION: string;
declare const FILES: string[];
