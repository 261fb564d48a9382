// Keeps a whole page, or a whole site, so that it opens without a network. build.py writes the first
// line: what there is, and a digest of it, so that what has changed is fetched again.
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const PREFIX = `cloze ${worker.registration.scope} `;
const CACHE = PREFIX + VERSION;

worker.addEventListener("install", (event) => {
  const fetched = FILES.map((name) => new Request(name, { cache: "no-cache" }));
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(fetched))
      .then(() => worker.skipWaiting()),
  );
});

worker.addEventListener("activate", (event) => {
  const old = (/** @type {string} */ name) => name.startsWith(PREFIX) && name !== CACHE;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
      .then(() => worker.clients.claim()),
  );
});

worker.addEventListener("fetch", (event) => {
  const stored = caches
    .open(CACHE)
    .then((cache) => cache.match(event.request, { ignoreSearch: true }));
  event.respondWith(stored.then((answer) => answer ?? fetch(event.request)));
});
