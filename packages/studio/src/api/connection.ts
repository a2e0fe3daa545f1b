/**
 * Whether the control plane answers, as one value that the banner and the queries share. A request that does not get
 * through turns it to `lost`; the first that does turns it back, and everything on the page is asked anew.
 */

export type Connection = "answering" | "lost";

let now: Connection = "answering";
const listeners = new Set<() => void>();

export function connectionNow(): Connection {
  return now;
}

export function setConnection(next: Connection): void {
  if (next === now) return;
  now = next;
  for (const listener of listeners) listener();
}

/** For `useSyncExternalStore`. */
export function onConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
