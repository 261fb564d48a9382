// Workers as browsers have them, in Node: each runs this file, and then the script that it was given.

import { parentPort, Worker as Thread, workerData } from "node:worker_threads";

globalThis.Worker = class extends Thread {
  constructor(script) {
    super(new URL(import.meta.url), { workerData: script });
    this.on("message", (data) => this.onmessage({ data }));
  }
  addEventListener(...given) {
    this.on(...given);
  }
};

if (parentPort) {
  globalThis.location = { href: workerData };
  globalThis.postMessage = (...sent) => parentPort.postMessage(...sent);
  globalThis.addEventListener = (_, hear) => parentPort.on("message", (data) => hear({ data }));
  await import(workerData);
}
