/** Short news of what was done, read out by a screen reader, gone after some seconds. */
import { useSyncExternalStore } from "react";

interface Toast {
  readonly id: number;
  readonly text: string;
}

const shownMs = 6_000;
let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

export function toast(text: string): void {
  last += 1;
  const id = last;
  set([...toasts.slice(-2), { id, text }]);
  setTimeout(() => set(toasts.filter((each) => each.id !== id)), shownMs);
}

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <div className="toast" key={id}>
          {text}
        </div>
      ))}
    </div>
  );
}
