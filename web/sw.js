// Keeps a whole page, or a whole site, so that it opens without a network. build.py writes the first
// lines: what there is, what is kept once somebody has asked for it, and a digest of it all, so that what
// has changed is fetched again.
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const { scope } = worker.registration;
const PREFIX = `cloze ${scope} `;
const CACHE = PREFIX + VERSION;

worker.addEventListener("install", (event) => {
  const keep = async () => {
    const before = await Promise.all(LATER.map((name) => caches.match(name)));
    const names = [...FILES, ...LATER.filter((_, i) => before[i])];
    const cache = await caches.open(CACHE);
    await cache.addAll(names.map((name) => new Request(name, { cache: "no-cache" })));
    await worker.skipWaiting();
  };
  event.waitUntil(keep());
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
  const { request } = event;
  const find = async () => {
    const cache = await caches.open(CACHE);
    const stored = await cache.match(request, { ignoreSearch: true });
    const folder = request.url.replace(/\/?$/, "/"); // a server adds the slash that was not typed
    const page = !stored && (await cache.match(`${folder}index.html`));
    if (page) return request.url === folder ? page : Response.redirect(folder);
    const answer = stored ?? (await fetch(request));
    const later = LATER.some((name) => request.url === new URL(name, scope).href);
    if (!stored && later && answer.ok) event.waitUntil(cache.put(request, answer.clone()));
    return answer;
  };
  event.respondWith(find());
});
