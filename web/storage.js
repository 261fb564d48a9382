// What has been trained, kept by the browser, so that neither a reload nor a closed tab costs it. Where
// a browser keeps nothing for a page, all works as it does without.

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
 * Do something with what is kept, and wait until it is done.
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
    return undefined; // no room, or a window that keeps nothing
  }
}

/**
 * Keep something under a name, in place of what was there.
 * @param {"run" | "text"} name
 * @param {object | undefined} value
 */
export const keep = (name, value) => within((store) => store.put(value, name));

/**
 * @param {"run" | "text"} name
 * @returns {Promise<any>}
 */
export const kept = (name) => within((store) => store.get(name));

export const forget = () => within((store) => store.clear());
