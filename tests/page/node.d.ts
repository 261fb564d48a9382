// What node.js uses of Node.
declare module "node:fs" {
  export function readFileSync(path: string): Uint8Array<ArrayBuffer>;
}
declare module "node:path" {
  export function resolve(...parts: string[]): string;
}
declare module "node:url" {
  export function pathToFileURL(path: string): URL;
}
declare module "node:readline" {
  export function createInterface(options: { input: unknown }): AsyncIterable<string>;
}
declare const process: { argv: string[]; stdin: unknown };
declare function loadPredictors(
  bytes: (name: string) => Promise<ArrayBuffer>,
  module: WebAssembly.Module,
): Promise<object>;
