// What engine.js uses of Node.
declare module "node:fs" {
  export function readFileSync(path: string): Uint8Array<ArrayBuffer>;
  export function readFileSync(path: string, encoding: "utf8"): string;
  export function writeFileSync(path: string, content: string | Uint8Array): void;
}
declare const process: { argv: string[] };
