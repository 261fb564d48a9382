// What has been trained, stored by the browser, so that neither a reload nor a closed tab costs it.
// Where a browser stores nothing for a page, everything else works.

const STORE = "kept";

/** @returns {Promise<IDBDatabase>} */
function database() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("cloze", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

/**
 * Do something with what is stored, and wait until it is done.
 * @template T
 * @param {(store: IDBObjectStore) => IDBRequest<T>} work
 * @returns {Promise<T | undefined>}  Nothing if the browser refuses.
 */
async function within(work) {
  try {
    const opened = await database();
    const transaction = opened.transaction(STORE, "readwrite");
    const request = work(transaction.objectStore(STORE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    opened.close();
    return request.result;
  } catch {
    return undefined; // no room, or a window that stores nothing
  }
}

/**
 * @param {"run" | "text"} name
 * @param {object | undefined} value
 */
export const store = (name, value) => within((stored) => stored.put(value, name));

/**
 * @param {"run" | "text"} name
 * @returns {Promise<any>}
 */
export const load = (name) => within((stored) => stored.get(name));

export const clear = () => within((stored) => stored.clear());
